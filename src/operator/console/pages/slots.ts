// The slots as a table, page by page: all of them, one range, those of one shard, or those in one state.

import type { SlotView } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { lagOf } from '../../cluster-history.ts';
import { type Refusal, refuse } from '../forms.ts';
import { type ConsolePage, type PageCall, type PageDependencies, type PageResult, pathTo } from '../page.ts';
import { type Filled, selectField, submit, textField } from '../parts/form-parts.ts';
import { count, empty, foreign, pager, plural, table } from '../parts/parts.ts';
import { known, NOT_KNOWN } from './cluster-figures.ts';

/** Some 3,000 px on a wide screen. */
const SLOTS_PER_PAGE = 64;
const PATH = ['cluster', 'slots'];

type State = SlotView['state'];
const STATES: Readonly<Record<State, true>> = {
  serving: true,
  opening: true,
  releasing: true,
  unreachable: true,
  unclaimed: true,
  unowned: true,
};

interface Asked {
  readonly slots: string;
  readonly shard: string;
  readonly state: string;
}

/** `17` or `16-31`; empty: all. */
function rangeOf(text: string): readonly [from: number, to: number] | undefined {
  if (text === '') return [0, Number.MAX_SAFE_INTEGER];
  const [, from, to = from] = /^([0-9]{1,4})(?: ?[-–] ?([0-9]{1,4}))?$/.exec(text) ?? [];
  return from === undefined || Number(from) > Number(to) ? undefined : [Number(from), Number(to)];
}

function slotsTable(slots: readonly SlotView[]): Markup {
  return table<SlotView>(
    'Slots',
    [
      { title: 'Slot', kind: 'number', cell: ({ slot }) => count(slot) },
      { title: 'State', cell: ({ state }) => html`<span class="badge slot-${state}">${state}</span>` },
      { title: 'Owner', cell: ({ shardName }) => (shardName === undefined ? NOT_KNOWN : foreign(shardName)) },
      { title: 'Epoch', kind: 'number', cell: ({ epoch }) => known(epoch) },
      { title: 'Log end', kind: 'number', cell: ({ logEnd }) => known(logEnd) },
      { title: 'Checkpoint', kind: 'number', cell: ({ checkpoint }) => known(checkpoint) },
      { title: 'Lag', kind: 'number', cell: (slot) => known(lagOf(slot)) },
      { title: 'Tenants', kind: 'number', cell: ({ tenants }) => known(tenants) },
    ],
    slots,
  );
}

function filterForm(asked: Asked, shards: readonly string[], filled: Filled): Markup {
  const choices = (texts: readonly string[]) => [
    { value: '', text: 'any' },
    ...texts.map((text) => ({ value: text, text })),
  ];
  // A shard that has lost its last slot stays chosen.
  const named = asked.shard === '' || shards.includes(asked.shard) ? shards : [...shards, asked.shard];
  return html`<search><form method="get" action=${pathTo(PATH)} class="form-row" novalidate>
    ${textField({ name: 'slots', label: 'Slots', value: asked.slots, hint: 'such as 17 or 16-31' }, filled)}
    ${selectField({ name: 'shard', label: 'Owner', choices: choices(named), value: asked.shard }, filled)}
    ${selectField({ name: 'state', label: 'State', choices: choices(Object.keys(STATES)), value: asked.state }, filled)}
    ${submit('Show', 'secondary')}
  </form></search>`;
}

async function slotsPage({ watch }: PageDependencies, { query }: PageCall): Promise<PageResult> {
  const asked = { slots: query.text('slots').trim(), shard: query.text('shard'), state: query.text('state') };
  const { slots } = await watch.look();
  const range = rangeOf(asked.slots);
  const refusal: Refusal | undefined =
    range === undefined ? refuse('slots', 'This must be a slot, such as 17, or a range, such as 16-31.') : undefined;
  const [first, last] = range ?? [0, -1];
  const matching = slots.filter(
    ({ slot, shardName, state }) =>
      slot >= first &&
      slot <= last &&
      (asked.shard === '' || shardName === asked.shard) &&
      (asked.state === '' || state === asked.state),
  );
  const cursor = query.text('cursor');
  const from = /^[0-9]{1,4}$/.test(cursor) ? Number(cursor) : 0;
  const shown = matching.slice(from, from + SLOTS_PER_PAGE);
  const shards = [...new Set(slots.flatMap(({ shardName }) => shardName ?? []))].sort();
  const isFiltered = Object.values(asked).some((text) => text !== '');
  const all = html`<a href=${pathTo(PATH)}>Show all slots</a>`;
  const listing = html`<p class="hint">${plural(matching.length, 'slot')}${isFiltered ? html` of ${count(slots.length)}. ${all}` : '.'}</p>
    ${shown.length === 0 ? empty('No slot matches', all) : slotsTable(shown)}
    ${pager({
      parts: PATH,
      query: asked,
      cursor: from === 0 ? undefined : String(from),
      next: from + SLOTS_PER_PAGE < matching.length ? String(from + SLOTS_PER_PAGE) : undefined,
    })}`;
  const body = html`<p class="crumb"><a href=${pathTo(['cluster'])}>Cluster</a></p>
    <h1>Slots</h1>
    ${filterForm(asked, shards, { fields: query, refusal })}
    ${refusal === undefined ? listing : undefined}`;
  return { kind: 'page', status: refusal?.status ?? 200, title: 'Slots', body };
}

export function slotsPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const run = (call: PageCall): Promise<PageResult> => slotsPage(dependencies, call);
  return [{ method: 'GET', path: '/cluster/slots', name: 'page-slots', access: 'read-only', run }];
}
