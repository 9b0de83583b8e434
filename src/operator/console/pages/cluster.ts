// The cluster page: the shards, the slots that they own, their load, and the last hour. The figures refresh every two
// seconds while the page is visible. Invariant: an outdated figure says so, with its age.

import { GrantdError } from '../../../core/errors.ts';
import type { SlotView } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { type ClusterEvent, lagOf } from '../../cluster-history.ts';
import type { Look } from '../../cluster-watch.ts';
import { type ConsolePage, type PageDependencies, pathTo } from '../page.ts';
import { asOf, count, foreign, moment, pager, table } from '../parts/parts.ts';
import { colourClass, slotsPicture } from '../parts/slots-picture.ts';
import { known, NOT_KNOWN, ownersOf, ownersTable, swatch, tiles } from './cluster-figures.ts';
import { eventsList, plots } from './cluster-past.ts';

const SLOTS_PER_PAGE = 256;
const FIGURES_SECONDS = 2;
/** Plots change only with their samples, and are several times as long as the figures. */
const PAST_SECONDS = 10;

function lookMarkup(look: Look, events: readonly ClusterEvent[]): Markup {
  const owners = ownersOf(look, events);
  const others = look.slots.filter(({ shardName }) => shardName === undefined).length;
  return html`
    ${tiles(look, owners)}
    <section aria-labelledby="slots-title">
      <h2 id="slots-title">Slots</h2>
      ${slotsPicture(look.slots, look.colours)}
      <ul class="legend">
        ${owners.filter(({ ended }) => ended === undefined).map(({ shardName, slots }) => html`<li>${swatch(colourClass(look.colours, shardName))} ${foreign(shardName)} <small>${count(slots.length)}</small></li>`)}
        ${others === 0 ? undefined : html`<li>${swatch('slot owner-none')} no owner <small>${count(others)}</small></li>`}
      </ul>
      <p><a href=${pathTo(['cluster', 'slots'])}>All slots as a table</a></p>
    </section>
    <section aria-labelledby="shards-title">
      <h2 id="shards-title">Shards</h2>
      ${look.members === undefined ? html`<p class="form-error">The members cannot be read at the moment. The table shows only what is known from the slots.</p>` : undefined}
      ${ownersTable(owners, look)}
    </section>`;
}

/** Before the first successful look, there is nothing to show. */
function lastMarkup(last: Look | undefined, message: string, events: readonly ClusterEvent[], nowMs: number): Markup {
  return html`<div class="empty alarming" role="status">
      <p class="empty-title">No shard responds</p>
      <p>${message} This page keeps retrying. Check that the shards are running and that this console can reach them.</p>
      ${last === undefined ? undefined : html`<p>The figures below are ${asOf(last.atMs, nowMs)} (${moment(last.atMs)} UTC).</p>`}
    </div>
    ${last === undefined ? undefined : html`<div class="outdated">${lookMarkup(last, events)}</div>`}`;
}

/** A part that refreshes itself; while it cannot, the page's script shows its age. */
const live = (id: string, path: readonly string[], seconds: number, content: Markup): Markup => html`<div
    id=${id} data-live=${seconds * 1000} hx-get=${pathTo(path)} hx-trigger="every ${seconds}s, refresh" hx-swap="outerMorph"
    hx-status:4xx="swap:none" hx-status:5xx="swap:none"
  >${content}</div>`;

async function figuresPart({ watch, clock }: PageDependencies): Promise<Markup> {
  let content: Markup;
  try {
    content = lookMarkup(await watch.look(), watch.events());
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code === 'internal') throw error;
    content = lastMarkup(watch.last, error.message, watch.events(), clock.wallMs());
  }
  const events = html`<section aria-labelledby="moves-title"><h2 id="moves-title">Slot moves and lost shards <small>in the last hour, UTC</small></h2>${eventsList(watch.events())}</section>`;
  return live('live', ['cluster', 'live'], FIGURES_SECONDS, [content, events]);
}

const pastPart = ({ watch, clock }: PageDependencies): Markup =>
  live('past', ['cluster', 'past'], PAST_SECONDS, plots(watch, clock.wallMs()));

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
        { title: 'Log end', kind: 'number', cell: ({ logEnd }) => known(logEnd) },
        { title: 'Checkpoint', kind: 'number', cell: ({ checkpoint }) => known(checkpoint) },
        { title: 'Lag', kind: 'number', cell: (slot) => known(lagOf(slot)) },
        { title: 'Tenants', kind: 'number', cell: ({ tenants }) => known(tenants) },
        { title: 'Uncounted', kind: 'number', cell: ({ tenantsUncounted }) => known(tenantsUncounted) },
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

export function clusterPages(dependencies: PageDependencies): readonly ConsolePage[] {
  return [
    {
      method: 'GET',
      path: '/cluster',
      name: 'page-cluster',
      access: 'read-only',
      async run() {
        const body = html`<h1>Cluster</h1>
          <p class="stale" data-stale hidden>
            <span role="status">This page could not be updated. It keeps retrying.</span>${' '}
            The figures are <span data-stale-age>out of date</span>.
          </p>
          ${await figuresPart(dependencies)}
          <section aria-labelledby="past-title"><h2 id="past-title">Figures <small>of the last hour, UTC</small></h2>${pastPart(dependencies)}</section>`;
        return { kind: 'page', status: 200, title: 'Cluster', body };
      },
    },
    {
      method: 'GET',
      path: '/cluster/live',
      name: 'page-cluster-live',
      access: 'read-only',
      unattended: true,
      run: async () => ({ kind: 'part', body: await figuresPart(dependencies) }),
    },
    {
      method: 'GET',
      path: '/cluster/past',
      name: 'page-cluster-past',
      access: 'read-only',
      unattended: true,
      run: async () => ({ kind: 'part', body: pastPart(dependencies) }),
    },
    {
      method: 'GET',
      path: '/cluster/slots',
      name: 'page-slots',
      access: 'read-only',
      async run(call) {
        const cursor = call.query.text('cursor');
        const from = /^[0-9]{1,4}$/.test(cursor) ? Number(cursor) : 0;
        const { slots } = await dependencies.watch.look();
        const body = html`<p class="crumb"><a href=${pathTo(['cluster'])}>Cluster</a></p>
          <h1>Slots</h1>${slotsTable(slots, { from })}`;
        return { kind: 'page', status: 200, title: 'Slots', body };
      },
    },
  ];
}
