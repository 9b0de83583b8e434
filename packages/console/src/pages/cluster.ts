// The cluster page: the shards, the slots that they own, their load, and the last hour. The figures refresh every two
// seconds while the page is visible. Invariant: an outdated figure says so, with its age.

import { GrantdError } from '../../../../src/core/errors.ts';
import type { SlotView } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { ClusterEvent } from '../cluster-history.ts';
import type { Look } from '../cluster-watch.ts';
import { type ConsoleLinks, type PageCall, type PageResult, page, pathTo } from '../page.ts';
import {
  asOf,
  count,
  empty,
  foreign,
  moment,
  plural,
  refreshing,
  section,
  staleWarning,
  timeOfDay,
} from '../parts/parts.ts';
import { type TimePlot, timePlot } from '../parts/plots.ts';
import { colourOf, ownerSwatch, slotChooser, slotsPicture } from '../parts/slots-picture.ts';
import {
  crowdedWarnings,
  known,
  milliseconds,
  ownersOf,
  ownersTable,
  P99_MS_MAX,
  readersTable,
  tiles,
} from './cluster-figures.ts';

const FIGURES_MS = 2000;
/** Plots change only with their samples, and are several times as long as the figures. */
const PAST_MS = 10_000;
/** The figures refresh every two seconds. */
const READERS_SHOWN_MAX = 32;
/** If two looks are further apart, the time of an event between them is uncertain. */
const EXACT_MS_MAX = 15_000;

const PLOTS: readonly TimePlot[] = [
  { title: 'Checks per second', figure: 'checksPerSecond', format: (value) => known(value), isWhole: true },
  {
    title: `p99 of checks in ms, slowest shard (limit: ${P99_MS_MAX} ms)`,
    figure: 'p99Ms',
    format: (value) => `${milliseconds(value)} ms`,
    bound: { value: P99_MS_MAX, name: `${P99_MS_MAX} ms` },
  },
  { title: 'Failures per second', figure: 'failuresPerSecond', format: (value) => known(value, 1) },
  { title: 'Slots not serving', figure: 'slotsDown', format: count, isWhole: true },
];

const heading = (text: string, small: string): Markup => html`${text} <small>${small}</small>`;

/** A cluster without readers has no such section. */
function readersSection(slots: readonly SlotView[]): Markup {
  const rows = slots.flatMap(({ slot, readers }) => readers.map((reader) => ({ slot, ...reader })));
  if (rows.length === 0) return html``;
  rows.sort((left, right) => right.calls - left.calls);
  const shown = rows.slice(0, READERS_SHOWN_MAX);
  const more = rows.length - shown.length;
  return section(
    'readers',
    heading('Readers', 'shards that answer reads of a tenant beside its owner; counts since the shard started'),
    html`${readersTable(shown)}${more === 0 ? undefined : html`<p class="hint">The busiest of ${count(rows.length)}. The command <code>grantd slots</code> lists all.</p>`}`,
  );
}

function lookMarkup(look: Look, events: readonly ClusterEvent[], links: ConsoleLinks): Markup {
  const owners = ownersOf(look, events);
  const others = look.slots.filter(({ shardName }) => shardName === undefined).length;
  const legend = owners
    .filter(({ ended }) => ended === undefined)
    .map(({ shardName: shard, slots }) => {
      const link = html`<a href=${pathTo(['cluster', 'slots'], { shard })}>${foreign(shard)}</a>`;
      return html`<li>${ownerSwatch(colourOf(look.colours, shard))} ${link} <small>${count(slots.length)}</small></li>`;
    });
  const slots = html`<div class="slots-part">${slotsPicture(look.slots, look.colours)}
    <div>
      <ul class="legend">
        ${legend}
        ${others === 0 ? undefined : html`<li>${ownerSwatch(undefined)} no owner <small>${count(others)}</small></li>`}
      </ul>
      ${look.slots.length === 0 ? undefined : slotChooser(look.slots)}
      <p><a href=${pathTo(['cluster', 'slots'])}>All slots as a table</a></p>
    </div></div>`;
  const shards = html`
    ${look.members === undefined ? html`<p class="form-error">The members cannot be read at the moment. The table shows only what is known from the slots.</p>` : undefined}
    ${crowdedWarnings(look)}${ownersTable(owners, look)}`;
  return html`${tiles(look, owners, links)}${section('slots', 'Slots', slots)}${section('shards', 'Shards', shards)}${readersSection(look.slots)}`;
}

/** Before the first successful look, there is nothing to show. */
const lastMarkup = (
  last: Look | undefined,
  message: string,
  events: readonly ClusterEvent[],
  { clock, links }: PageCall,
): Markup => html`<div class="empty alarming" role="status">
    <p class="empty-title">No shard responds</p>
    <p>${message} This page keeps retrying. Check that the shards are running and that this console can reach them.</p>
    ${last && html`<p>The figures below are ${asOf(last.atMs, clock.wallMs())} (${moment(last.atMs)}).</p>`}
  </div>
  ${last && html`<div class="outdated">${lookMarkup(last, events, links)}</div>`}`;

function eventMarkup(event: ClusterEvent): Markup {
  switch (event.kind) {
    case 'moved': {
      const { slots, slotCount, from, to } = event;
      const name = (shardName: string | undefined): Markup =>
        shardName === undefined ? html`<em>no owner</em>` : foreign(shardName);
      const more = slotCount > slots.length ? ' …' : '';
      return html`<strong>${plural(slotCount, 'slot')}</strong> from ${name(from)} to ${name(to)}${' '}
        <small>${slots.join(', ')}${more}</small>`;
    }
    case 'lost':
      return html`<span class="badge member-dead">lost</span> <strong>${foreign(event.shardName)}</strong> was declared dead`;
    case 'left':
      return html`<strong>${foreign(event.shardName)}</strong> left after handing over its slots`;
    case 'draining':
      return html`<strong>${foreign(event.shardName)}</strong> started to hand over its slots`;
    default:
      return html`<strong>${foreign(event.shardName)}</strong> joined`;
  }
}

function eventsList(events: readonly ClusterEvent[]): Markup {
  if (events.length === 0) {
    return empty(
      'No slot has moved',
      'Slot moves and lost shards that this console observed in the last hour appear here.',
    );
  }
  const items = events.map((event) => {
    const { atMs, afterMs } = event;
    const since = atMs - afterMs > EXACT_MS_MAX ? html`<small>after ${timeOfDay(afterMs)}</small>` : undefined;
    return html`<li>${moment(atMs)} ${since} ${eventMarkup(event)}</li>`;
  });
  return html`<ol class="moves">${items}</ol>`;
}

async function figures(call: PageCall): Promise<Markup> {
  const { watch, links } = call;
  let content: Markup;
  try {
    content = lookMarkup(await watch.look(), watch.events(), links);
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code === 'internal') throw error;
    content = lastMarkup(watch.last, error.message, watch.events(), call);
  }
  const events = section(
    'moves',
    heading('Slot moves and lost shards', 'in the last hour'),
    eventsList(watch.events()),
  );
  return html`<div id="live" ...${refreshing(pathTo(['cluster', 'live']), FIGURES_MS)}>${content}${events}</div>`;
}

function past({ watch, clock, links: { dashboardUrl } }: PageCall): Markup {
  const [samples, since] = [watch.samples(), watch.startedAtMs];
  return html`<div id="past" ...${refreshing(pathTo(['cluster', 'past']), PAST_MS)}>
    <div class="time-plots">${PLOTS.map((plot) => timePlot(plot, samples, clock.wallMs()))}</div>
    <p class="hint">
      Each point is the highest value of 15 seconds. Shaded: no samples.${' '}
      ${since && html`This console has been taking samples since ${moment(since)}.`}${' '}
      ${dashboardUrl && html`For more than an hour: <a href=${dashboardUrl} target="_blank" rel="noreferrer">the dashboard</a>.`}
    </p>
  </div>`;
}

export async function clusterPage(call: PageCall): Promise<PageResult> {
  const stale = html`<span role="status">This page could not be updated. It keeps retrying.</span> The figures are`;
  return page(
    'Cluster',
    html`<h1>Cluster</h1>
      ${staleWarning(stale)}${await figures(call)}
      ${section('past', heading('Figures', 'of the last hour'), past(call))}`,
  );
}

export const clusterFigures = async (call: PageCall): Promise<PageResult> => ({
  kind: 'part',
  body: await figures(call),
});

export const clusterPast = (call: PageCall): PageResult => ({ kind: 'part', body: past(call) });
