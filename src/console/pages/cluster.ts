// The cluster page: who is there, who owns what, what is asked of them, and what moved. It renews itself every two seconds
// while somebody sees it.

import { GrantdError } from '../../core/errors.ts';
import type { MemberView, ShardLoad, SlotView } from '../../front/front.ts';
import type { Look, Move } from '../cluster-watch.ts';
import { html, type Markup } from './markup.ts';
import { type Page, type PageCall, type PageDependencies, pathTo } from './page.ts';
import { code, count, empty, foreign, moment, pager, plural, span, table } from './parts.ts';
import { sparkline } from './plots.ts';
import { colourClass, slotsPicture } from './slots-picture.ts';

/** A look has to be over before the next one is asked for. */
const LOOK_MS_MAX = 4000;
const SLOTS_PER_PAGE = 256;
const SLOTS_NAMED_MAX = 8;

interface OwnerRow {
  readonly shardName: string;
  readonly members: readonly MemberView[];
  readonly slots: readonly SlotView[];
  readonly load: ShardLoad | undefined;
}

const lagOf = ({ logEnd, checkpoint }: SlotView): number | undefined =>
  logEnd === undefined || checkpoint === undefined ? undefined : logEnd - checkpoint;

function lagMax(slots: readonly SlotView[]): number | undefined {
  const lags = slots.map(lagOf).filter((lag) => lag !== undefined);
  return lags.length === 0 ? undefined : Math.max(...lags);
}

const NOT_KNOWN = '–';
/** Milliseconds with one digit, so that a column of them lines up. */
const precise = (ms: number | undefined): string => (ms === undefined ? NOT_KNOWN : ms.toFixed(1));
const known = (number: number | undefined, digits = 0): string =>
  number === undefined ? NOT_KNOWN : number.toLocaleString('en', { maximumFractionDigits: digits });

function ownersOf({ slots, members, loads }: Look): readonly OwnerRow[] {
  const live = (members ?? []).filter(({ state }) => state !== 'dead');
  const names = new Set([...live.map(({ shardName }) => shardName), ...slots.map(({ shardName }) => shardName)]);
  return [...names]
    .filter((name) => name !== undefined)
    .sort()
    .map((shardName) => ({
      shardName,
      members: live.filter((member) => member.shardName === shardName),
      slots: slots.filter((slot) => slot.shardName === shardName),
      load: loads?.find((load) => load.shardName === shardName),
    }));
}

const tile = (
  title: string,
  value: Markup,
  more: Markup,
  alarming = false,
): Markup => html`<div class="tile ${alarming ? 'alarming' : ''}">
  <dt>${title}</dt><dd><strong>${value}</strong>${more === undefined ? undefined : html`<small>${more}</small>`}</dd>
</div>`;

function tiles(look: Look, owners: readonly OwnerRow[]): Markup {
  const { slots, loads, rates } = look;
  const serving = slots.filter(({ state }) => state === 'serving').length;
  const total = (pick: (load: ShardLoad) => number): number | undefined =>
    loads?.reduce((sum, load) => sum + pick(load), 0);
  const latencies = (loads ?? []).map(({ p99Ms }) => p99Ms).filter((p99Ms) => p99Ms !== undefined);
  const failures = total(({ failuresPerSecond }) => failuresPerSecond);
  const values = rates.map(({ checksPerSecond }) => checksPerSecond);
  return html`<dl class="tiles">
    ${tile('Slots serving', `${count(serving)} / ${count(slots.length)}`, plural(owners.length, 'shard'), serving < slots.length)}
    ${tile('Checkpoint lag', known(lagMax(slots)), 'entries, the slot furthest behind')}
    ${tile('Checks', html`${known(total(({ checksPerSecond }) => checksPerSecond))}<span class="unit"> / s</span>`, sparkline(values, 'Checks per second at the last looks'))}
    ${tile('p99 of checks', html`${precise(latencies.length === 0 ? undefined : Math.max(...latencies))}<span class="unit"> ms</span>`, 'the slowest shard, at the fronts')}
    ${tile('Failures', html`${known(failures, 1)}<span class="unit"> / s</span>`, 'answers of 500 and above', (failures ?? 0) > 0)}
  </dl>`;
}

function swatch(colour: string): Markup {
  return html`<svg class="swatch" viewBox="0 0 12 12" aria-hidden="true"><rect class=${colour} width="12" height="12" rx="3" /></svg>`;
}

function ownersTable(owners: readonly OwnerRow[], look: Look): Markup {
  return table<OwnerRow>(
    'Shards',
    [
      {
        title: 'Shard',
        cell: ({ shardName }) => html`${swatch(colourClass(look.colours, shardName))} ${foreign(shardName)}`,
      },
      {
        title: 'Session',
        cell: ({ members }) =>
          members.length === 0
            ? html`<span class="badge">not there</span>`
            : members.map(({ state }) => html`<span class="badge member-${state}">${state}</span>`),
      },
      {
        title: 'Lease left',
        kind: 'number',
        cell: ({ members }) => {
          const leaseLeftMs = members[0]?.leaseLeftMs;
          return leaseLeftMs === undefined ? NOT_KNOWN : `${(leaseLeftMs / 1000).toFixed(1)} s`;
        },
      },
      { title: 'Slots', kind: 'number', cell: ({ slots }) => count(slots.length) },
      { title: 'Lag', kind: 'number', cell: ({ slots }) => known(lagMax(slots)) },
      { title: 'Checks/s', kind: 'number', cell: ({ load }) => known(load?.checksPerSecond) },
      { title: 'p99 ms', kind: 'number', cell: ({ load }) => precise(load?.p99Ms) },
      { title: 'Failures/s', kind: 'number', cell: ({ load }) => known(load?.failuresPerSecond, 1) },
      { title: 'Address', cell: ({ members, slots }) => code(members[0]?.address ?? slots[0]?.address ?? NOT_KNOWN) },
      {
        title: 'Up for',
        cell: ({ members }) => (members[0] === undefined ? NOT_KNOWN : span(look.atMs - members[0].startedAtMs)),
      },
    ],
    owners,
  );
}

function movesList(moves: readonly Move[]): Markup {
  if (moves.length === 0) {
    return empty('No slot has moved', 'Moves between shards appear here as they happen, while this page is open.');
  }
  const name = (shardName: string | undefined): Markup =>
    shardName === undefined ? html`<em>no owner</em>` : foreign(shardName);
  return html`<ol class="moves">${moves.map(({ atMs, slots, from, to }) => {
    const named = slots.slice(0, SLOTS_NAMED_MAX).join(', ');
    const more = slots.length > SLOTS_NAMED_MAX ? ' …' : '';
    return html`<li>
      ${moment(atMs)} <strong>${plural(slots.length, 'slot')}</strong> from ${name(from)} to ${name(to)}${' '}
      <small>${named}${more}</small>
    </li>`;
  })}</ol>`;
}

function lookMarkup(look: Look): Markup {
  const owners = ownersOf(look);
  const others = look.slots.filter(({ shardName }) => shardName === undefined).length;
  return html`
    ${tiles(look, owners)}
    <section aria-labelledby="slots-title">
      <h2 id="slots-title">Slots</h2>
      ${slotsPicture(look.slots, look.colours)}
      <ul class="legend">
        ${owners.map(({ shardName, slots }) => html`<li>${swatch(colourClass(look.colours, shardName))} ${foreign(shardName)} <small>${count(slots.length)}</small></li>`)}
        ${others === 0 ? undefined : html`<li>${swatch('slot owner-none')} no owner <small>${count(others)}</small></li>`}
      </ul>
      <p><a href=${pathTo(['cluster', 'slots'])}>All slots as a table</a></p>
    </section>
    <section aria-labelledby="shards-title">
      <h2 id="shards-title">Shards</h2>
      ${look.members === undefined ? html`<p class="form-error">The members cannot be read now; what the slots say is shown.</p>` : undefined}
      ${ownersTable(owners, look)}
    </section>
    <section aria-labelledby="moves-title"><h2 id="moves-title">Moves</h2>${movesList(look.moves)}</section>`;
}

async function liveMarkup({ watch, clock }: PageDependencies, call: PageCall): Promise<Markup> {
  const context = { ...call.context(), deadlineMs: clock.monotonicMs() + LOOK_MS_MAX };
  let content: Markup;
  try {
    content = lookMarkup(await watch.look(context));
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code === 'internal') throw error;
    content = html`<div class="empty alarming" role="status">
      <p class="empty-title">No shard answers</p>
      <p>${error.message} This page goes on asking. Look whether shards run, and whether this console can reach them.</p>
    </div>`;
  }
  return html`<div
    id="live" data-live hx-get=${pathTo(['cluster', 'live'])} hx-trigger="every 2s, refresh" hx-swap="outerMorph"
    hx-status:4xx="swap:none" hx-status:5xx="swap:none"
  >${content}</div>`;
}

interface SlotCursor {
  readonly from: number;
}

function slotsTable(slots: readonly SlotView[], { from }: SlotCursor): Markup {
  const shown = slots.slice(from, from + SLOTS_PER_PAGE);
  return html`
    ${table<SlotView>(
      'Slots',
      [
        { title: 'Slot', kind: 'number', cell: ({ slot }) => count(slot) },
        { title: 'State', cell: ({ state }) => html`<span class="badge slot-${state}">${state}</span>` },
        { title: 'Owner', cell: ({ shardName }) => (shardName === undefined ? NOT_KNOWN : foreign(shardName)) },
        { title: 'Epoch', kind: 'number', cell: ({ epoch }) => known(epoch) },
        { title: 'End of log', kind: 'number', cell: ({ logEnd }) => known(logEnd) },
        { title: 'Checkpoint', kind: 'number', cell: ({ checkpoint }) => known(checkpoint) },
        { title: 'Lag', kind: 'number', cell: (slot) => known(lagOf(slot)) },
        { title: 'Tenants', kind: 'number', cell: ({ tenants }) => known(tenants) },
      ],
      shown,
    )}
    ${pager({
      parts: ['cluster', 'slots'],
      query: {},
      cursor: from === 0 ? undefined : String(from),
      next: from + SLOTS_PER_PAGE < slots.length ? String(from + SLOTS_PER_PAGE) : undefined,
    })}`;
}

export function clusterPages(dependencies: PageDependencies): readonly Page[] {
  return [
    {
      method: 'GET',
      path: '/cluster',
      name: 'page-cluster',
      async run(call) {
        const body = html`<h1>Cluster</h1>
          <p class="stale" data-stale hidden role="status">This page could not be renewed. What it shows may be out of date.</p>
          ${await liveMarkup(dependencies, call)}`;
        return { kind: 'page', status: 200, title: 'Cluster', body };
      },
    },
    {
      method: 'GET',
      path: '/cluster/live',
      name: 'page-cluster-live',
      unattended: true,
      run: async (call) => ({ kind: 'part', body: await liveMarkup(dependencies, call) }),
    },
    {
      method: 'GET',
      path: '/cluster/slots',
      name: 'page-slots',
      async run(call) {
        const cursor = call.query.text('cursor');
        const from = /^[0-9]{1,4}$/.test(cursor) ? Number(cursor) : 0;
        const { slots } = await dependencies.watch.look(call.context());
        const body = html`<p class="crumb"><a href=${pathTo(['cluster'])}>Cluster</a></p>
          <h1>Slots</h1>${slotsTable(slots, { from })}`;
        return { kind: 'page', status: 200, title: 'Slots', body };
      },
    },
  ];
}
