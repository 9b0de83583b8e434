// The slots as a picture: one cell each, coloured by owner. Colour is never the only sign: every cell names its slot
// and owner, a slot that does not serve has another shape, and tables give the same information as text.

import { scaleBand } from 'd3-scale';
import type { SlotView } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { plural } from './parts.ts';

/** The number of distinguishable colours; further shards share them. */
const PALETTE_SIZE = 10;
const CELL = 20;
const GAP = 0.16;

export function colourClass(colours: ReadonlyMap<string, number>, shardName: string | undefined): string {
  const colour = shardName === undefined ? undefined : colours.get(shardName);
  return colour === undefined ? 'owner-none' : `owner-${colour % PALETTE_SIZE}`;
}

const columnsFor = (slots: number): number => (slots <= 64 ? 16 : slots <= 1024 ? 32 : 64);

export function slotsPicture(slots: readonly SlotView[], colours: ReadonlyMap<string, number>): Markup {
  const columns = columnsFor(slots.length);
  const rows = Math.ceil(slots.length / columns);
  const x = scaleBand<number>(
    Array.from({ length: columns }, (_, index) => index),
    [0, columns * CELL],
  ).paddingInner(GAP);
  const y = scaleBand<number>(
    Array.from({ length: rows }, (_, index) => index),
    [0, rows * CELL],
  ).paddingInner(GAP);
  const cells = slots.map(({ slot, state, shardName }, index) => {
    const left = (x(index % columns) ?? 0).toFixed(1);
    const top = (y(Math.floor(index / columns)) ?? 0).toFixed(1);
    const title = `Slot ${slot}: ${shardName === undefined ? state : `${shardName}, ${state}`}`;
    return html`<rect
      class="slot slot-${state} ${colourClass(colours, shardName)}"
      x=${left} y=${top} width=${x.bandwidth().toFixed(1)} height=${y.bandwidth().toFixed(1)} rx="3"
      ><title>${title}</title></rect>`;
  });
  const serving = slots.filter(({ state }) => state === 'serving').length;
  return html`<svg class="slots" viewBox="0 0 ${columns * CELL} ${rows * CELL}" role="img"
    aria-label="${plural(slots.length, 'slot')}, ${serving} of them serving; the tables below contain the same data"
    >${cells}</svg>`;
}
