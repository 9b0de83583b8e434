// The cluster page: the shards, the slots that they own, their load, and the last hour. The figures refresh every two
// seconds while the page is visible. Invariant: an outdated figure says so, with its age.

import { GrantdError } from '../../../core/errors.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import type { ClusterEvent } from '../../cluster-history.ts';
import type { Look } from '../../cluster-watch.ts';
import { type ConsolePage, type PageDependencies, pathTo } from '../page.ts';
import { asOf, count, foreign, moment } from '../parts/parts.ts';
import { colourClass, slotChooser, slotsPicture } from '../parts/slots-picture.ts';
import { ownersOf, ownersTable, swatch, tiles } from './cluster-figures.ts';
import { eventsList, plots } from './cluster-past.ts';

const FIGURES_SECONDS = 2;
/** Plots change only with their samples, and are several times as long as the figures. */
const PAST_SECONDS = 10;

const slotsOf = (shard: string): Markup =>
  html`<a href=${pathTo(['cluster', 'slots'], { shard })}>${foreign(shard)}</a>`;

function lookMarkup(look: Look, events: readonly ClusterEvent[]): Markup {
  const owners = ownersOf(look, events);
  const others = look.slots.filter(({ shardName }) => shardName === undefined).length;
  return html`
    ${tiles(look, owners)}
    <section aria-labelledby="slots-title">
      <h2 id="slots-title">Slots</h2>
      ${slotsPicture(look.slots, look.colours)}
      ${look.slots.length === 0 ? undefined : slotChooser(look.slots)}
      <ul class="legend">
        ${owners.filter(({ ended }) => ended === undefined).map(({ shardName, slots }) => html`<li>${swatch(colourClass(look.colours, shardName))} ${slotsOf(shardName)} <small>${count(slots.length)}</small></li>`)}
        ${others === 0 ? undefined : html`<li>${swatch('owner-none')} no owner <small>${count(others)}</small></li>`}
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

export function clusterPages(dependencies: PageDependencies): readonly ConsolePage[] {
  return [
    {
      method: 'GET',
      path: '/cluster',
      name: 'page-cluster',
      access: 'read-only',
      async run() {
        const body = html`<h1>Cluster</h1>
          <p class="warning" data-stale hidden>
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
  ];
}
