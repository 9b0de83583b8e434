// The results of a run for people, from the data that k6 provides at its end. Imports nothing from k6.

import type { ScenarioName } from './scenarios.ts';

interface Metric {
  readonly type: string;
  readonly values: Readonly<Record<string, number>>;
  readonly thresholds?: Readonly<Record<string, { readonly ok: boolean }>>;
}

/** The fields that are read from the data for `handleSummary`. */
export interface SummaryData {
  readonly state: { readonly testRunDurationMs: number };
  readonly metrics: Readonly<Record<string, Metric>>;
}

export interface RunFacts {
  readonly name: ScenarioName;
  readonly baseUrl: string;
  readonly tenants: number;
  readonly rate: number;
  /** The rate at the end, if it rises. */
  readonly rateMax: number | undefined;
  readonly durationSeconds: number;
}

const ANSWERS: readonly (readonly [metric: string, label: string])[] = [
  ['positive_checks', 'positive checks'],
  ['negative_checks', 'negative checks'],
  ['listings', 'listings'],
  ['writes', 'writes'],
];
const LABEL_WIDTH = 26;
const MIB = 1024 * 1024;
const MS_PER_HOUR = 3_600_000;

const whole = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
const digits = (value: number): string => value.toFixed(Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0);
const line = (label: string, text: string): string => `  ${label.padEnd(LABEL_WIDTH)}${text}`;
/** `http_req_duration{operation:check}` is about `check`. */
const partOf = (metric: string): string => /\{[^:}]*:([^}]*)\}$/.exec(metric)?.[1] ?? '';

function answerLines({ metrics }: SummaryData): string[] {
  return ANSWERS.flatMap(([name, label]) => {
    const { passes: right = 0, fails: wrong = 0 } = metrics[name]?.values ?? {};
    if (right + wrong === 0) return [];
    return [line(label, `${whole(right + wrong)}, ${wrong === 0 ? 'all right' : `${whole(wrong)} WRONG`}`)];
  });
}

function requestLines({ metrics, state }: SummaryData): string[] {
  // In a rate that counts failures, `passes` are the counted failures.
  const { passes: failed = 0, fails: answered = 0 } = metrics.failed_requests?.values ?? {};
  const dropped = metrics.dropped_iterations?.values.count ?? 0;
  const total = failed + answered;
  const perSecond = total / (state.testRunDurationMs / 1000);
  const text = `${whole(total)} (${whole(perSecond)} a second), ${whole(failed)} failed`;
  return [line('requests', text), line('dropped', `${whole(dropped)} that could not start in time`)];
}

function durationLines({ metrics }: SummaryData): string[] {
  return Object.entries(metrics)
    .filter(([name, { values }]) => /^http_req_duration\{(operation|phase|tenants):/.test(name) && values.count !== 0)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, { values }]) => {
      const [median = 0, p95 = 0, p99 = 0, max = 0] = ['med', 'p(95)', 'p(99)', 'max'].map((each) => values[each]);
      const count = values.count === undefined ? '' : `${whole(values.count)} × `;
      return line(
        `duration, ${partOf(name)}`,
        `${count}p50 ${digits(median)}  p95 ${digits(p95)}  p99 ${digits(p99)}  max ${digits(max)} ms`,
      );
    });
}

function memoryLines({ metrics, state }: SummaryData): string[] {
  const { passes = 0, fails = 0 } = metrics.failed_requests?.values ?? {};
  const requestsPerHour = (passes + fails) / (state.testRunDurationMs / MS_PER_HOUR);
  return Object.entries(metrics)
    .filter(([name]) => name.startsWith('memory_growth_percent_per_hour{'))
    .map(([name, { values }]) => {
      const part = name.slice(name.indexOf('{'));
      const slope = metrics[`memory_slope_mib_per_hour${part}`]?.values.value ?? 0;
      const mean = metrics[`memory_mean_mib${part}`]?.values.value ?? 0;
      const growth = `${digits(slope)} MiB (${digits(values.value ?? 0)} %) an hour`;
      const each = `${digits((slope * MIB) / requestsPerHour)} bytes a request`;
      return line(`memory, process ${partOf(name)}`, `${digits(mean)} MiB, growing by ${growth}: ${each}`);
    });
}

/** The rate that a rising load had reached when it ended. */
function riseLines({ state }: SummaryData, { rate, rateMax, durationSeconds }: RunFacts): string[] {
  if (rateMax === undefined) return [];
  const share = Math.min(1, state.testRunDurationMs / 1000 / durationSeconds);
  return [line('rate at the end', `${whole(rate + (rateMax - rate) * share)} a second`)];
}

function brokenThresholds({ metrics }: SummaryData): string[] {
  return Object.entries(metrics).flatMap(([name, { thresholds = {} }]) =>
    Object.entries(thresholds)
      .filter(([, { ok }]) => !ok)
      .map(([threshold]) => `  ${name}: ${threshold}`),
  );
}

function verdict(data: SummaryData, { rateMax }: RunFacts, broken: readonly string[]): string {
  const { passes = 0, fails = 0 } = data.metrics.failed_requests?.values ?? {};
  if (passes + fails === 0) return 'NOT RUN, no request was sent';
  // A rising load is expected to end at some failure, but a wrong answer is another matter.
  const wrong = ANSWERS.some(([name]) => (data.metrics[name]?.values.fails ?? 0) > 0);
  if (rateMax !== undefined && !wrong) return broken.length === 0 ? 'limit not reached' : 'limit reached';
  return broken.length === 0 ? 'passed' : 'NOT PASSED';
}

export function renderSummary(data: SummaryData, facts: RunFacts): string {
  const { name, baseUrl, tenants, rate, rateMax } = facts;
  const seconds = digits(data.state.testRunDurationMs / 1000);
  const broken = brokenThresholds(data);
  const rates = rateMax === undefined ? `${whole(rate)}` : `${whole(rate)} to ${whole(rateMax)}`;
  return `${[
    '',
    `${name}: ${verdict(data, facts, broken)}`,
    line('target', `${baseUrl}, ${whole(tenants)} tenants`),
    line('for', `${seconds} s, ${rates} iterations a second`),
    ...riseLines(data, facts),
    ...requestLines(data),
    ...answerLines(data),
    ...durationLines(data),
    ...memoryLines(data),
    ...(broken.length === 0 ? [] : ['', 'Failed thresholds:', ...broken]),
  ].join('\n')}\n\n`;
}
