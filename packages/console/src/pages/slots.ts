// The slots as a table, page by page: all of them, one range, those of one shard, or those in one state.

import type { SlotView } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { lagOf } from '../cluster-history.ts';
import { refuse } from '../forms.ts';
import { type PageCall, type PageResult, page, pathTo, type Query } from '../page.ts';
import { choicesOf, type FormContent, queryForm, selectField, submit, textField } from '../parts/form-parts.ts';
import { count, crumb, empty, foreign, pager, plural, table } from '../parts/parts.ts';
import { known, NOT_KNOWN } from './cluster-figures.ts';

/** About 3,000 px on a wide screen. */
const SLOTS_PER_PAGE = 64;
const PATH = pathTo(['cluster', 'slots']);

const STATES: Readonly<Record<SlotView['state'], true>> = {
  serving: true,
  opening: true,
  releasing: true,
  unreachable: true,
  unclaimed: true,
  unowned: true,
};

/** `17` or `16-31`; empty: all. */
function rangeOf(text: string): readonly [from: number, to: number] | undefined {
  if (text === '') return [0, Number.MAX_SAFE_INTEGER];
  const [, from, to = from] = /^([0-9]{1,4})(?: ?[-–] ?([0-9]{1,4}))?$/.exec(text) ?? [];
  return from === undefined || Number(from) > Number(to) ? undefined : [Number(from), Number(to)];
}

const slotsTable = (slots: readonly SlotView[]): Markup =>
  table<SlotView>('Slots', slots, [
    ['Slot', ({ slot }) => count(slot), 'number'],
    ['State', ({ state }) => html`<span class="badge slot-${state}">${state}</span>`],
    ['Owner', ({ shardName }) => (shardName === undefined ? NOT_KNOWN : foreign(shardName))],
    ['Epoch', ({ epoch }) => known(epoch), 'number'],
    ['Log end', ({ logEnd }) => known(logEnd), 'number'],
    ['Checkpoint', ({ checkpoint }) => known(checkpoint), 'number'],
    ['Lag', (slot) => known(lagOf(slot)), 'number'],
    ['Tenants', ({ tenants }) => known(tenants), 'number'],
  ]);

function filterForm({ query }: PageCall, shards: readonly string[], filled: FormContent): Markup {
  const shard = query.text('shard');
  // A shard that has lost its last slot stays chosen.
  const named = shard === '' || shards.includes(shard) ? shards : [...shards, shard];
  const fields = html`
    ${textField({ name: 'slots', label: 'Slots', hint: 'such as 17 or 16-31' }, filled)}
    ${selectField({ name: 'shard', label: 'Owner', choices: choicesOf('any', named) }, filled)}
    ${selectField({ name: 'state', label: 'State', choices: choicesOf('any', Object.keys(STATES)) }, filled)}
    ${submit('Show', 'secondary')}`;
  return html`<search>${queryForm(PATH, fields)}</search>`;
}

export async function slotsPage(call: PageCall): Promise<PageResult> {
  const { query, watch } = call;
  const asked = { slots: query.typed('slots'), shard: query.text('shard'), state: query.text('state') };
  const { slots } = await watch.look();
  const range = rangeOf(asked.slots);
  const refusal =
    range === undefined ? refuse('slots', 'This must be a slot, such as 17, or a range, such as 16-31.') : undefined;
  const [first, last] = range ?? [0, -1];
  const matching = slots.filter(
    ({ slot, shardName, state }) =>
      slot >= first &&
      slot <= last &&
      (asked.shard === '' || shardName === asked.shard) &&
      (asked.state === '' || state === asked.state),
  );
  const shards = [...new Set(slots.flatMap(({ shardName }) => shardName ?? []))].sort();
  const body = html`${crumb(pathTo(['cluster']), 'Cluster')}
    <h1>Slots</h1>
    ${filterForm(call, shards, { fields: query, refusal })}
    ${refusal === undefined ? listing(matching, slots.length, asked, query.text('cursor')) : undefined}`;
  return page('Slots', body, refusal);
}

function listing(matching: readonly SlotView[], total: number, asked: Query, cursor: string): Markup {
  const from = /^[0-9]{1,4}$/.test(cursor) ? Number(cursor) : 0;
  const end = from + SLOTS_PER_PAGE;
  const shown = matching.slice(from, end);
  const isFiltered = Object.values(asked).some((text) => text !== '');
  const all = html`<a href=${PATH}>Show all slots</a>`;
  return html`<p class="hint">${plural(matching.length, 'slot')}${isFiltered ? html` of ${count(total)}. ${all}` : '.'}</p>
    ${shown.length === 0 ? empty('No slot matches', all) : slotsTable(shown)}
    ${pager(PATH, asked, from === 0 ? undefined : String(from), end < matching.length ? String(end) : undefined)}`;
}
