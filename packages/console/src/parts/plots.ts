// Plots of the last hour, drawn on the server as SVG: a figure of the cluster over time. Invariant: nothing is drawn
// where nothing was sampled. The shapes come from d3; every number in them is rounded, so that pages stay small.

import { scaleLinear, scaleUtc } from 'd3-scale';
import { area, line } from 'd3-shape';
import { formatTimestamp, MS_PER_MINUTE } from '../../../../src/core/text/timestamps.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { type Figure, HISTORY_MS, type Sample } from '../cluster-history.ts';
import { clockTime, count } from './parts.ts';

/** A line more than this many times above the highest figure would flatten the plot: then only words mention it. */
export const LINE_SHOWN_TIMES = 8;

/** Rounds a length or position in a picture. */
export const round = (number: number): string => number.toFixed(1);

/** A line across the plot, with its figure on the left. `gap`: between the text and the line. */
export const tickLine = (
  y: number,
  left: number,
  right: number,
  gap: number,
  text: string,
): Markup => html`<g class="plot-tick">
  <line x1=${left} x2=${right} y1=${round(y)} y2=${round(y)} />
  <text x=${left - gap} y=${round(y + 4)} text-anchor="end">${text}</text>
</g>`;

const timeText = (x: number, y: number, anchor: 'start' | 'middle' | 'end', atMs: number): Markup =>
  html`<text class="plot-time" x=${round(x)} y=${y} text-anchor=${anchor} data-as="hour" data-at=${formatTimestamp(atMs)}
    >${clockTime(atMs).slice(0, 5)}</text>`;

/**
 * Samples are grouped into buckets, which stay the same from one drawing to the next. A bucket shows its highest
 * sample, so that no peak is lost; one without a sample is a gap. It spans three samples, so that it contains at least
 * one even if the machine is too busy to take each in time.
 */
const BUCKET_MS = 15_000;
/** The shortest time that a plot shows, however young its first sample is. */
const SHOWN_MS_MIN = 5 * MS_PER_MINUTE;
const WIDTH = 380;
const HEIGHT = 132;
const EDGES = { left: 44, right: 6, top: 8, bottom: 20 };
const TICKS_OF_TIME = 5;
/** Half the width of a time, so that one centred on its tick is not cut off at the edge. */
const TIME_TEXT_HALF = 14;
const TICKS_OF_FIGURE = 3;

interface Bucket {
  readonly atMs: number;
  readonly sampled: boolean;
  readonly value: number | undefined;
}

const startOf = (atMs: number): number => Math.floor(atMs / BUCKET_MS) * BUCKET_MS;

/** From the first sample of the hour to the last bucket that has ended or has one. */
export function bucketsOf(samples: readonly Sample[], figure: Figure, nowMs: number): readonly Bucket[] {
  const byStart = Map.groupBy(samples, ({ atMs }) => startOf(atMs));
  const buckets: Bucket[] = [];
  const earliestMs = Math.ceil((nowMs - HISTORY_MS) / BUCKET_MS) * BUCKET_MS;
  const firstMs = Math.max(earliestMs, startOf(samples[0]?.atMs ?? 0));
  for (let atMs = firstMs; atMs <= nowMs; atMs += BUCKET_MS) {
    const inside = byStart.get(atMs);
    if (inside === undefined && atMs + BUCKET_MS > nowMs) break;
    const values = (inside ?? []).map((sample) => sample[figure]).filter((value) => value !== undefined);
    const value = values.length === 0 ? undefined : Math.max(...values);
    buckets.push({ atMs, sampled: inside !== undefined, value });
  }
  return buckets;
}

export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The stretches without samples, oldest first. */
export function gapsIn(buckets: readonly Bucket[]): readonly Gap[] {
  const gaps: { readonly fromMs: number; toMs: number }[] = [];
  for (const { atMs, sampled } of buckets) {
    if (sampled) continue;
    const last = gaps.at(-1);
    if (last?.toMs === atMs) last.toMs += BUCKET_MS;
    else gaps.push({ fromMs: atMs, toMs: atMs + BUCKET_MS });
  }
  return gaps;
}

export interface TimePlot {
  readonly title: string;
  readonly figure: Figure;
  readonly format: (value: number) => string;
  /** The figure has whole numbers only, so the axis has no labels in between. */
  readonly isWhole?: boolean;
  /** Values above it are marked. */
  readonly bound?: { readonly value: number; readonly name: string };
}

const middle = ({ atMs }: Bucket): number => atMs + BUCKET_MS / 2;

/** The plot in words. */
function summary(plot: TimePlot, buckets: readonly Bucket[], gaps: readonly Gap[]): string {
  const { title, format, bound } = plot;
  const known = buckets.filter((bucket) => bucket.value !== undefined);
  const last = known.at(-1);
  const peak = known.reduce((most, each) => ((each.value ?? 0) > (most?.value ?? -1) ? each : most), last);
  if (last?.value === undefined || peak?.value === undefined) return `${title}, last hour: no data`;
  const parts = [
    `${title}, last hour: ${format(last.value)} at ${clockTime(last.atMs)}`,
    `at most ${format(peak.value)} at ${clockTime(peak.atMs)}`,
  ];
  if (bound !== undefined) {
    const above = known.filter(({ value = 0 }) => value > bound.value).length * BUCKET_MS;
    parts.push(above === 0 ? `never above ${bound.name}` : `above ${bound.name} for ${above / 1000} seconds`);
  }
  for (const { fromMs, toMs } of gaps) parts.push(`no samples from ${clockTime(fromMs)} to ${clockTime(toMs)}`);
  return `${parts.join('; ')} (UTC)`;
}

export function timePlot(plot: TimePlot, samples: readonly Sample[], nowMs: number): Markup {
  const { title, format, bound } = plot;
  const buckets = bucketsOf(samples, plot.figure, nowMs);
  const gaps = gapsIn(buckets);
  const most = Math.max(0, ...buckets.map(({ value = 0 }) => value));
  const showsBound = bound !== undefined && bound.value <= most * LINE_SHOWN_TIMES;
  const { left, right, top, bottom } = EDGES;
  const [floor, end] = [HEIGHT - bottom, WIDTH - right];
  const firstMs = Math.min(buckets[0]?.atMs ?? nowMs, nowMs - SHOWN_MS_MIN);
  const x = scaleUtc([Math.max(firstMs, nowMs - HISTORY_MS), nowMs], [left, end]);
  const y = scaleLinear([0, Math.max(most, showsBound ? bound.value : 0) || 1], [floor, top]).nice(TICKS_OF_FIGURE);
  const inside = (atMs: number): number => Math.min(end, Math.max(left, x(atMs)));
  const isKnown = ({ value }: Bucket): boolean => value !== undefined;
  const isAbove = ({ value = 0 }: Bucket): boolean => bound !== undefined && value > bound.value;
  const height = ({ value = 0 }: Bucket): number => y(value);
  const across = (bucket: Bucket): number => inside(middle(bucket));
  const shape = area<Bucket>().defined(isKnown).x(across).y0(floor).y1(height).digits(1);
  const edge = line<Bucket>().defined(isKnown).x(across).y(height).digits(1);
  const over = line<Bucket>().defined(isAbove).x(across).y(height).digits(1);
  const tickText = plot.isWhole === true ? count : y.tickFormat(TICKS_OF_FIGURE);
  return html`<figure class="time-plot">
    <figcaption>${title}</figcaption>
    <svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${summary(plot, buckets, gaps)}>
      ${gaps.map(({ fromMs, toMs }) => {
        const from = inside(fromMs);
        return html`<rect class="plot-gap" x=${round(from)} y=${top} width=${round(inside(toMs) - from)} height=${floor - top}
          ><title>No samples from ${clockTime(fromMs)} to ${clockTime(toMs)} UTC</title></rect>`;
      })}
      ${y
        .ticks(TICKS_OF_FIGURE)
        .filter((tick) => plot.isWhole !== true || Number.isInteger(tick))
        .map((tick) => tickLine(y(tick), left, end, 6, tickText(tick)))}
      ${x
        .ticks(TICKS_OF_TIME)
        .filter((at) => x(at) < end - TIME_TEXT_HALF)
        .map((at) => timeText(x(at), HEIGHT - 5, 'middle', at.getTime()))}
      <path class="plot-area" d=${shape(buckets)} />
      <path class="plot-line" d=${edge(buckets)} />
      ${
        showsBound
          ? html`<g class="plot-limit">
              <line x1=${left} x2=${end} y1=${round(y(bound.value))} y2=${round(y(bound.value))} />
              <text x=${left + 4} y=${round(Math.max(top + 10, y(bound.value) - 4))}>${format(bound.value)}</text>
            </g>
            <path class="plot-over" d=${over(buckets)} />`
          : undefined
      }
    </svg>
  </figure>`;
}
