// A tenant's requests over a range of time, against its limit, drawn on the server as SVG. Every bucket of the plot is
// an average per minute, whatever the range, so that it compares with the limit.

import { scaleLinear, scaleUtc } from 'd3-scale';
import { area, curveStepAfter, line } from 'd3-shape';
import { formatTimestamp, MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from '../../../../src/core/text/timestamps.ts';
import type { UsageBucket } from '../../../../src/front/front.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { count, swatch } from './parts.ts';
import { LINE_SHOWN_TIMES, round, tickLine } from './plots.ts';

export interface UsageRange {
  /** In the address. */
  readonly name: string;
  /** Completes “the last …”. */
  readonly text: string;
  readonly lengthMs: number;
  /** One step of the plot. */
  readonly stepMs: number;
  /** One row of the table. */
  readonly rowMs: number;
  readonly refreshMs: number;
  /** `each` step, in words. */
  readonly step: string;
}

const timeOfDay = (timestamp: string): string => timestamp.slice(11, 16);
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const dayOfMonth = (timestamp: string): string =>
  `${Number(timestamp.slice(8, 10))} ${MONTHS[Number(timestamp.slice(5, 7)) - 1]}`;

const HOUR: UsageRange = {
  ...{ name: 'hour', text: 'hour', step: 'minute', refreshMs: 10_000 },
  ...{ lengthMs: MS_PER_HOUR, stepMs: MS_PER_MINUTE, rowMs: MS_PER_MINUTE },
};

export const USAGE_RANGES: readonly UsageRange[] = [
  HOUR,
  {
    ...{ name: 'day', text: 'day', step: '10 minutes', refreshMs: 30_000 },
    ...{ lengthMs: MS_PER_DAY, stepMs: 10 * MS_PER_MINUTE, rowMs: MS_PER_HOUR },
  },
  {
    ...{ name: 'week', text: 'week', step: 'hour', refreshMs: 60_000 },
    ...{ lengthMs: 7 * MS_PER_DAY, stepMs: MS_PER_HOUR, rowMs: MS_PER_DAY },
  },
  {
    ...{ name: 'month', text: '30 days', step: '4 hours', refreshMs: 60_000 },
    ...{ lengthMs: 30 * MS_PER_DAY, stepMs: 4 * MS_PER_HOUR, rowMs: MS_PER_DAY },
  },
];

/** The range with that name; the hour by default. */
export const usageRangeOf = (name: string): UsageRange => USAGE_RANGES.find((range) => range.name === name) ?? HOUR;

/**
 * A bucket for each stretch of `stepMs`, from the one with `fromMs` to the present one, those without a request
 * included.
 */
export function usageSteps(
  buckets: readonly UsageBucket[],
  stepMs: number,
  fromMs: number,
  nowMs: number,
): readonly UsageBucket[] {
  const startOf = (atMs: number): number => Math.floor(atMs / stepMs) * stepMs;
  const byStart = Map.groupBy(buckets, ({ atMs }) => startOf(atMs));
  const steps: UsageBucket[] = [];
  for (let atMs = startOf(fromMs); atMs <= nowMs; atMs += stepMs) {
    const inside = byStart.get(atMs) ?? [];
    const plan = inside.findLast((bucket) => bucket.plan !== undefined)?.plan;
    const sums = { requests: 0, refused: 0, checks: 0 };
    for (const { requests, refused, checks } of inside) {
      sums.requests += requests;
      sums.refused += refused;
      sums.checks += checks;
    }
    steps.push({ atMs, ...sums, ...(plan === undefined ? {} : { plan }) });
  }
  return steps;
}

export interface Limit {
  readonly requests: number;
  readonly windowSeconds: number;
}

/** The limit of each step; undefined: none. A step without requests has that of the step before. */
export function limitsOf(
  steps: readonly UsageBucket[],
  now: Limit | undefined,
  ofPlan: (plan: string) => Limit | undefined,
): readonly (number | undefined)[] {
  const perMinute = (limit: Limit | undefined): number | undefined => limit && limitPerMinute(limit);
  const first = steps.find(({ plan }) => plan !== undefined)?.plan;
  let last = first === undefined ? perMinute(now) : perMinute(ofPlan(first));
  return steps.map(({ plan }) => {
    if (plan !== undefined) last = perMinute(ofPlan(plan));
    return last;
  });
}

/** The limit, converted to requests per minute. */
export const limitPerMinute = ({ requests, windowSeconds }: Limit): number => (requests * 60) / windowSeconds;

/** A tenant may be younger than the range: then the days alone would be the same all along. */
const isShort = (steps: readonly UsageBucket[]): boolean =>
  (steps.at(-1)?.atMs ?? 0) - (steps[0]?.atMs ?? 0) < 2 * MS_PER_DAY;

/** Texts scale with the picture, so the picture is drawn twice, and the style sheet shows the one that fits. */
export function usagePlot(
  range: UsageRange,
  steps: readonly UsageBucket[],
  limits: readonly (number | undefined)[],
): Markup {
  const unit =
    range.stepMs === MS_PER_MINUTE ? 'requests per minute' : `requests per minute, the average of each ${range.step}`;
  return html`${drawUsage(range, steps, limits, 'wide')}${drawUsage(range, steps, limits, 'narrow')}
    <ul class="legend">
      <li>${swatch('plot-area')} accepted</li><li>${swatch('plot-refused')} refused, on top</li>
      <li><small>${unit}${!isShort(steps) && ', days in UTC'}</small></li>
    </ul>`;
}

const PLOT_SIZES = { wide: [1180, 250], narrow: [345, 200] } as const;
const TICKS_OF_TIME = { wide: 8, narrow: 4 } as const;
/** Half the width of a time, so that one centred on its tick is not cut off at the edge. */
const TIME_TEXT_HALF = 18;

/** Requests of a step, per minute. */
interface Rate {
  readonly atMs: number;
  readonly accepted: number;
  readonly all: number;
}

function ratesOf(steps: readonly UsageBucket[], stepMs: number): readonly Rate[] {
  const minutes = stepMs / MS_PER_MINUTE;
  const rates = steps.map(({ atMs, requests, refused }) => ({
    atMs,
    accepted: (requests - refused) / minutes,
    all: requests / minutes,
  }));
  const last = rates.at(-1);
  return last === undefined ? [] : [...rates, { ...last, atMs: last.atMs + stepMs }];
}

interface Axes {
  readonly x: (atMs: number) => number;
  readonly y: (requests: number) => number;
}

/** A line over each stretch with the same limit, and the limit in words where it begins to hold. */
function limitLines(
  rates: readonly Rate[],
  limits: readonly (number | undefined)[],
  shownMax: number,
  { x, y }: Axes,
): Markup {
  const lines: Markup[] = [];
  for (let from = 0, to = 0; from < limits.length; from = to) {
    const limit = limits[from];
    to = from + 1;
    while (to < limits.length && limits[to] === limit) to += 1;
    // A limit far above the usage would flatten the plot: then only words mention it.
    if (limit === undefined || limit > shownMax) continue;
    const [left, right] = [x(rates[from]?.atMs ?? 0), x(rates[to]?.atMs ?? 0)];
    const height = y(limit);
    const isLast = to === limits.length;
    lines.push(html`<g class="plot-limit">
      <line x1=${round(left)} x2=${round(right)} y1=${round(height)} y2=${round(height)} />
      <text x=${round(isLast ? right : left)} y=${round(height - 5)} text-anchor=${isLast ? 'end' : 'start'}>limit ${count(limit)}</text>
    </g>`);
  }
  return lines;
}

const shown = (rate: number): string => rate.toLocaleString('en', { maximumFractionDigits: rate < 10 ? 1 : 0 });

/** Allowed requests below and refused ones on top. */
function drawUsage(
  range: UsageRange,
  steps: readonly UsageBucket[],
  limits: readonly (number | undefined)[],
  size: keyof typeof PLOT_SIZES,
): Markup {
  const [width, height] = PLOT_SIZES[size];
  const [left, right, bottom, top] = [56, width - 8, 26, 16];
  const rates = ratesOf(steps, range.stepMs);
  const most = Math.max(0, ...rates.map(({ all }) => all));
  const shownMax = Math.max(most, 1) * LINE_SHOWN_TIMES;
  const shownLimits = limits.filter((limit) => limit !== undefined).filter((limit) => limit <= shownMax);
  const x = scaleUtc([rates[0]?.atMs ?? 0, rates.at(-1)?.atMs ?? 0], [left, right]);
  const y = scaleLinear([0, Math.max(most, ...shownLimits, 4)], [height - bottom, top]).nice(4);
  const across = ({ atMs }: Rate): number => x(atMs);
  const shape = area<Rate>().x(across).curve(curveStepAfter).digits(1);
  const edge = line<Rate>()
    .x(across)
    .y(({ all }) => y(all))
    .curve(curveStepAfter)
    .digits(1);
  const ticks = y.ticks(4).map((tick) => tickLine(y(tick), left, right, 8, shown(tick)));
  const showsTimes = isShort(steps);
  const times = x
    .ticks(TICKS_OF_TIME[size])
    // A day is named once, where it begins.
    .filter((at) => showsTimes || at.getTime() % MS_PER_DAY === 0)
    .filter((at) => x(at) > left + TIME_TEXT_HALF && x(at) < right - TIME_TEXT_HALF)
    .map((at) => {
      const timestamp = formatTimestamp(at.getTime());
      const text = (showsTimes ? timeOfDay : dayOfMonth)(timestamp);
      const local = showsTimes ? { 'data-as': 'hour', 'data-at': timestamp } : {};
      return html`<text class="plot-time" x=${round(x(at))} y=${height - 6} text-anchor="middle" ...${local}>${text}</text>`;
    });
  const refused = steps.reduce((sum, step) => sum + step.refused, 0);
  return html`<svg class="plot ${size}" viewBox="0 0 ${width} ${height}" role="img"
    aria-label="Requests per minute in the last ${range.text}, at most ${shown(most)}; ${count(refused)} refused in total; the table below has the figures">
    ${ticks}${times}
    <path class="plot-area" d=${shape.y0(y(0)).y1(({ accepted }) => y(accepted))(rates)} />
    <path class="plot-refused" d=${shape.y0(({ accepted }) => y(accepted)).y1(({ all }) => y(all))(rates)} />
    <path class="plot-line" d=${edge(rates)} />
    ${limitLines(rates, limits, shownMax, { x, y })}
  </svg>`;
}
