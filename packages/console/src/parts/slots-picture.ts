// The slots as a picture: one cell each, coloured by owner. Colour is never the only sign: a slot that does not serve
// has another shape, the console's script describes the slot under the pointer or chosen with the keys, and tables give
// the same information as text. Invariant: cells that look alike are one path, so that the picture grows by some
// 20 bytes a slot.

import type { SlotView } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { plural, swatch } from './parts.ts';

/** Distinguishable on either ground; further shards share them. */
const COLOURS = [
  'light-dark(#2563eb, #6d9dff)',
  'light-dark(#d97706, #f2a33c)',
  'light-dark(#0f8a5f, #3fc48f)',
  'light-dark(#c026a3, #ec7ad6)',
  'light-dark(#0e8fb5, #45c4e6)',
  'light-dark(#7c3aed, #b08cff)',
  'light-dark(#b0413e, #f08a85)',
  'light-dark(#65801a, #adc84f)',
  'light-dark(#8a6a4f, #cda785)',
  'light-dark(#5b6b80, #a3b2c6)',
] as const;
/** Distance from one cell to the next. */
const CELL = 20;
/** Side of the filled part, which begins at `INSET`; the line around it rounds its corners. */
const SIDE = 13;
const INSET = 2;

/** The colour of a shard, as an attribute of what is drawn; undefined: the slot has no owner. */
export function colourOf(colours: ReadonlyMap<string, number>, shardName: string | undefined): string | undefined {
  const colour = shardName === undefined ? undefined : colours.get(shardName);
  return colour === undefined ? undefined : COLOURS[colour % COLOURS.length];
}

/** What stands for a shard, or for slots without an owner, in texts about the picture. */
export const ownerSwatch = (colour: string | undefined): Markup =>
  swatch(colour === undefined ? 'owner-none' : 'owner', colour);

const columnsFor = (slots: number): number => (slots <= 64 ? 16 : slots <= 256 ? 32 : slots <= 1024 ? 64 : 128);

export function slotsPicture(slots: readonly SlotView[], colours: ReadonlyMap<string, number>): Markup {
  const columns = columnsFor(slots.length);
  const rows = Math.ceil(slots.length / columns);
  const cell = (index: number): string => {
    const [left, top] = [(index % columns) * CELL + INSET, Math.floor(index / columns) * CELL + INSET];
    return `M${left} ${top}h${SIDE}v${SIDE}h-${SIDE}z`;
  };
  const alike = Map.groupBy(
    slots.map((slot, index) => ({ ...slot, index })),
    ({ shardName, state }) => (shardName === undefined ? state : `${shardName}, ${state}`),
  );
  const paths = [...alike].map(([title, [first, ...others]]) =>
    first === undefined
      ? undefined
      : html`<path class="slot slot-${first.state} ${first.shardName === undefined ? 'owner-none' : ''}"
          color=${colourOf(colours, first.shardName)}
          d=${[first, ...others].map(({ index }) => cell(index)).join('')}><title>${title}</title></path>`,
  );
  const serving = slots.filter(({ state }) => state === 'serving').length;
  return html`<svg class="slots" viewBox="0 0 ${columns * CELL} ${rows * CELL}" role="img"
    data-slots=${slots.length} data-columns=${columns} data-cell=${CELL}
    aria-label="${plural(slots.length, 'slot')}, ${serving} of them serving; the tables below contain the same data"
    >${paths}<rect class="slot-chosen" width=${CELL - 2} height=${CELL - 2} rx="4" /></svg>`;
}

/** Chooses a slot of the picture by keyboard or touch. It needs the script, and is hidden without it. */
export function slotChooser(slots: readonly SlotView[]): Markup {
  return html`<div class="slot-chooser">
    <label for="slot-number">Slot</label>
    <input type="range" id="slot-number" min="0" max=${slots.length - 1} step="1" />
    <span id="slot-description">Point at a cell, or choose a slot here with the arrow keys.</span>
  </div>`;
}
