// A tenant's requests of the last hour against its limit, drawn on the server as SVG: a step for each minute, allowed
// requests below and refused ones on top. The shapes come from d3; every number in them is rounded, so that pages stay
// small.

import { scaleLinear } from 'd3-scale';
import { area, curveStep, line } from 'd3-shape';
import { MS_PER_MINUTE } from '../../../core/text/timestamps.ts';
import type { UsageMinute } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { clockTime, count } from './parts.ts';
import { LINE_SHOWN_TIMES, round, tickLine } from './plot-parts.ts';

const MINUTES = 60;

export interface Limit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** Every minute of the hour, including those without a request; the last one is the current minute. */
export function everyMinute(minutes: readonly UsageMinute[], nowMs: number): readonly UsageMinute[] {
  const known = new Map(minutes.map((minute) => [minute.atMs, minute]));
  const lastMs = Math.floor(nowMs / MS_PER_MINUTE) * MS_PER_MINUTE;
  return Array.from({ length: MINUTES }, (_, index) => {
    const atMs = lastMs - (MINUTES - 1 - index) * MS_PER_MINUTE;
    return known.get(atMs) ?? { atMs, requests: 0, refused: 0, checks: 0 };
  });
}

/** The limit of each minute; undefined: none. A minute without requests has that of the minute before. */
export function limitsOf(
  minutes: readonly UsageMinute[],
  now: Limit | undefined,
  ofPlan: (plan: string) => Limit | undefined,
): readonly (number | undefined)[] {
  const perMinute = (limit: Limit | undefined): number | undefined => limit && limitPerMinute(limit);
  const first = minutes.find(({ plan }) => plan !== undefined)?.plan;
  let last = first === undefined ? perMinute(now) : perMinute(ofPlan(first));
  return minutes.map(({ plan }) => {
    if (plan !== undefined) last = perMinute(ofPlan(plan));
    return last;
  });
}

/** The limit, converted to requests per minute. */
export const limitPerMinute = ({ requests, windowSeconds }: Limit): number => (requests * 60) / windowSeconds;

/** Texts scale with the picture, so the picture is drawn twice, and the style sheet shows the one that fits. */
export function usagePlot(minutes: readonly UsageMinute[], limits: readonly (number | undefined)[]): Markup {
  const swatch = (name: string): Markup =>
    html`<svg class="swatch" viewBox="0 0 12 12" aria-hidden="true"><rect class=${name} width="12" height="12" rx="3" /></svg>`;
  return html`${drawUsage(minutes, limits, 'wide')}${drawUsage(minutes, limits, 'narrow')}
    <ul class="legend">
      <li>${swatch('plot-area')} accepted</li><li>${swatch('plot-refused')} refused, on top</li>
      <li><small>requests per minute, times in UTC</small></li>
    </ul>`;
}

const PLOT_SIZES = { wide: [1180, 250], narrow: [345, 200] } as const;

interface Axes {
  readonly x: (index: number) => number;
  readonly y: (requests: number) => number;
}

/** A line over each stretch of minutes with the same limit, and the limit in words where it begins to hold. */
function limitLines(limits: readonly (number | undefined)[], shownMax: number, { x, y }: Axes): Markup {
  const lines: Markup[] = [];
  for (let from = 0, to = 0; from < limits.length; from = to) {
    const limit = limits[from];
    to = from + 1;
    while (to < limits.length && limits[to] === limit) to += 1;
    // A limit far above the usage would flatten the plot: then only words mention it.
    if (limit === undefined || limit > shownMax) continue;
    const [left, right] = [x(Math.max(0, from - 0.5)), x(Math.min(limits.length - 1, to - 0.5))];
    const height = y(limit);
    const isLast = to === limits.length;
    lines.push(html`<g class="plot-limit">
      <line x1=${round(left)} x2=${round(right)} y1=${round(height)} y2=${round(height)} />
      <text x=${round(isLast ? right : left)} y=${round(height - 5)} text-anchor=${isLast ? 'end' : 'start'}>limit ${count(limit)}</text>
    </g>`);
  }
  return lines;
}

function timesBelow(minutes: readonly UsageMinute[], shown: readonly number[], x: Axes['x'], bottom: number): Markup {
  return shown.map((index) => {
    const minute = minutes[index];
    const text = minute === undefined ? '' : clockTime(minute.atMs).slice(0, 5);
    const anchor = index === minutes.length - 1 ? 'end' : index === 0 ? 'start' : 'middle';
    return html`<text class="plot-time" x=${round(x(index))} y=${bottom} text-anchor=${anchor}>${text}</text>`;
  });
}

function drawUsage(
  minutes: readonly UsageMinute[],
  limits: readonly (number | undefined)[],
  size: keyof typeof PLOT_SIZES,
): Markup {
  const [width, height] = PLOT_SIZES[size];
  const [left, bottom, top] = [56, 26, 16];
  const most = Math.max(...minutes.map(({ requests }) => requests));
  const shownMax = Math.max(most, 1) * LINE_SHOWN_TIMES;
  const shownLimits = limits.filter((limit) => limit !== undefined).filter((limit) => limit <= shownMax);
  const last = minutes.length - 1;
  const x = scaleLinear([0, last], [left, width - 8]);
  const y = scaleLinear([0, Math.max(most, ...shownLimits, 4)], [height - bottom, top]).nice(4);
  const shape = area<UsageMinute>()
    .x((_, index) => x(index))
    .curve(curveStep)
    .digits(1);
  const edge = line<UsageMinute>()
    .x((_, index) => x(index))
    .y(({ requests }) => y(requests))
    .curve(curveStep)
    .digits(1);
  const ticks = y.ticks(4).map((tick) => tickLine({ y: y(tick), left, right: width - 8, gap: 8, text: count(tick) }));
  const times = timesBelow(minutes, size === 'wide' ? [0, 15, 30, 45, last] : [0, 30, last], x, height - 6);
  const through = ({ requests, refused }: UsageMinute): number => requests - refused;
  const refused = minutes.reduce((sum, minute) => sum + minute.refused, 0);
  return html`<svg class="plot ${size}" viewBox="0 0 ${width} ${height}" role="img"
    aria-label="Requests per minute in the last hour, at most ${count(most)}; ${count(refused)} refused in total; the table below shows every minute">
    ${ticks}${times}
    <path class="plot-area" d=${shape.y0(y(0)).y1((minute) => y(through(minute)))(minutes)} />
    <path class="plot-refused" d=${shape.y0((minute) => y(through(minute))).y1(({ requests }) => y(requests))(minutes)} />
    <path class="plot-line" d=${edge(minutes)} />
    ${limitLines(limits, shownMax, { x, y })}
  </svg>`;
}
