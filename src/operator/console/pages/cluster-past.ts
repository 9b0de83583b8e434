// The last hour on the cluster page: figures over time, and events of slots and shards.

import { html, type Markup } from '../../../http/pages/markup.ts';
import type { ClusterEvent } from '../../cluster-history.ts';
import type { ClusterWatch } from '../../cluster-watch.ts';
import { clockTime, count, empty, foreign, moment, plural } from '../parts/parts.ts';
import { type TimePlot, timePlot } from '../parts/time-plot.ts';
import { known, milliseconds, P99_MS_MAX } from './cluster-figures.ts';

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

export function plots(watch: ClusterWatch, nowMs: number): Markup {
  const samples = watch.samples();
  const since = watch.startedAtMs;
  return html`
    <div class="time-plots">${PLOTS.map((plot) => timePlot(plot, samples, nowMs))}</div>
    <p class="hint">
      Each point is the highest value of 15 seconds. Shaded: no samples.${' '}
      ${since === undefined ? undefined : html`This console has been taking samples since ${moment(since)}.`}
    </p>`;
}

function what(event: ClusterEvent): Markup {
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

export function eventsList(events: readonly ClusterEvent[]): Markup {
  if (events.length === 0) {
    return empty(
      'No slot has moved',
      'Slot moves and lost shards that this console observed in the last hour appear here.',
    );
  }
  return html`<ol class="moves">${events.map((event) => {
    const { atMs, afterMs } = event;
    const since = atMs - afterMs > EXACT_MS_MAX ? html`<small>after ${clockTime(afterMs)}</small>` : undefined;
    return html`<li>${moment(atMs)} ${since} ${what(event)}</li>`;
  })}</ol>`;
}
