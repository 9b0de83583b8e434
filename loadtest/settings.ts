// The settings of the scenarios: one table, read by k6 from its environment, by the runner for its options, and by the
// test of the README. It imports nothing from k6 or Node, because both run it.

import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from './scenarios.ts';

/** An invalid value, in words that follow the name of the setting. */
class WrongValue extends Error {}

/** Kubernetes sets these in every pod if the name of a Service starts with `load`. */
const SERVICE_LINK = /^LOAD_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

const RATE_MAX = 1_000_000;
const VUS_MAX = 20_000;
const VUS_MIN = 20;

function numberParser(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new WrongValue(`must be a number from ${min} to ${max}, not "${text}"`);
    return value;
  };
}

function wholeParser(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      throw new WrongValue(`must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return value;
  };
}

const SECONDS_IN: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const DURATION_SECONDS_MAX = 7 * 24 * 3600;

function parseDuration(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const seconds = Number(digits) * (SECONDS_IN[unit] ?? 0);
  if (!(seconds >= 1 && seconds <= DURATION_SECONDS_MAX)) {
    throw new WrongValue(`must be a duration like 30s, 20m or 2h, not "${text}"`);
  }
  return seconds;
}

function parseUrl(text: string): string {
  if (!/^https?:\/\/[^\s/]+(\/\S*)?$/.test(text)) throw new WrongValue(`must be an http or https URL, not "${text}"`);
  return text.replace(/\/+$/, '');
}

const parseUrls = (text: string): readonly string[] => text.split(',').map((each) => parseUrl(each.trim()));
const parseText = (text: string): string => text;

export function renderDuration(seconds: number): string {
  for (const unit of ['h', 'm']) {
    const length = SECONDS_IN[unit] ?? 1;
    if (seconds >= length && seconds % length === 0) return `${seconds / length}${unit}`;
  }
  return `${seconds}s`;
}

export interface LoadSetting<Value> {
  readonly name: string;
  readonly form: string;
  /** The scenarios that use it; by default all. */
  readonly scenarios: readonly ScenarioName[];
  /** Whether these do not run without it. */
  readonly required: boolean;
  /** Its text if it is not set. */
  readonly defaultOf: (scenario: ScenarioName) => string | undefined;
  /** The default in words, if it is not a text. */
  readonly unset?: string;
  readonly parse: (text: string) => Value;
  readonly description: string;
}

interface SettingRow<Value> {
  readonly name: string;
  readonly form: string;
  readonly scenarios?: readonly ScenarioName[];
  readonly required?: boolean;
  readonly default?: string | ((scenario: ScenarioName) => string);
  readonly unset?: string;
  readonly parse: (text: string) => Value;
  readonly description: string;
}

function setting<Value>({ default: given, ...row }: SettingRow<Value>): LoadSetting<Value> {
  return {
    scenarios: SCENARIO_NAMES,
    required: false,
    ...row,
    defaultOf: typeof given === 'function' ? given : () => given,
  };
}

export const SETTINGS = {
  baseUrl: setting({
    name: 'LOAD_BASE_URL',
    form: 'URL',
    required: true,
    parse: parseUrl,
    description: 'The public API to test. The runner takes it from `dev.json`.',
  }),
  tenantsFile: setting({
    name: 'LOAD_TENANTS_FILE',
    form: 'path',
    required: true,
    parse: parseText,
    description: 'The tenants and their keys, as written by `seed`. The runner seeds tenants if you name no file.',
  }),
  rate: setting({
    name: 'LOAD_RATE',
    form: '1 to 1000000',
    default: (name) => String(SCENARIOS[name].rate),
    parse: wholeParser(1, RATE_MAX),
    description:
      'Iterations started per second, whether earlier ones have finished or not. An iteration is one request, in `smoke` eight. In `breakpoint` this is the initial rate.',
  }),
  durationSeconds: setting({
    name: 'LOAD_DURATION',
    form: 'like 30s, 20m, 2h',
    default: (name) => renderDuration(SCENARIOS[name].durationSeconds),
    parse: parseDuration,
    description: 'For how long new iterations start.',
  }),
  vus: setting({
    name: 'LOAD_VUS',
    form: `1 to ${VUS_MAX}`,
    unset: `as many as start in 1 s (\`smoke\` 4 s, \`shard-loss\` 6 s, \`breakpoint\` 0.1 s at its last rate), ${VUS_MIN} at least`,
    parse: wholeParser(1, VUS_MAX),
    description: 'Maximum number of iterations in flight. k6 drops any beyond it, which fails the run.',
  }),
  p99Ms: setting({
    name: 'LOAD_P99_MS',
    form: 'milliseconds',
    default: (name) => String(SCENARIOS[name].p99Ms),
    parse: numberParser(0.001, 600_000),
    description: 'The 99th percentile of each kind of request must stay below this.',
  }),
  failedMax: setting({
    name: 'LOAD_FAILED_MAX',
    form: 'share, 0 to 1',
    default: '0',
    parse: numberParser(0, 1),
    description: 'The share of requests that may fail or get no response. A wrong answer is never allowed.',
  }),
  bulkSize: setting({
    name: 'LOAD_BULK_SIZE',
    form: '2 to 100',
    scenarios: ['smoke', 'bulk'],
    default: '100',
    parse: wholeParser(2, 100),
    description: 'Checks in one bulk.',
  }),
  paretoShape: setting({
    name: 'LOAD_PARETO_SHAPE',
    form: '1.01 to 10',
    scenarios: ['tenant-skew'],
    default: '1.16',
    parse: numberParser(1.01, 10),
    description:
      'How uneven the load is: with 1.16, a fifth of the tenants get four fifths of the requests; higher values are more even.',
  }),
  rateMax: setting({
    name: 'LOAD_RATE_MAX',
    form: '1 to 1000000',
    scenarios: ['breakpoint'],
    default: '10000',
    parse: wholeParser(1, RATE_MAX),
    description: 'The rate at the end of the duration, if nothing fails before.',
  }),
  opsUrls: setting({
    name: 'LOAD_OPS_URLS',
    form: 'comma-separated URLs',
    scenarios: ['soak'],
    required: true,
    parse: parseUrls,
    description: 'The ops ports of the processes whose memory to sample. The runner takes that of `dev.json`.',
  }),
  memoryGrowthMax: setting({
    name: 'LOAD_MEMORY_GROWTH_MAX',
    form: 'percent an hour',
    scenarios: ['soak'],
    default: '10',
    parse: numberParser(0, 100_000),
    description:
      'How fast the resident memory of each process may grow, in percent of its mean: the slope of the samples of the second half.',
  }),
  summaryFile: setting({
    name: 'LOAD_SUMMARY_FILE',
    form: 'path',
    unset: 'none',
    parse: parseText,
    description: 'File to which k6 also writes everything it measured, as JSON.',
  }),
} as const;

type Value<Each> = Each extends LoadSetting<infer Inner> ? Inner : never;
export type LoadSettings = { readonly [Key in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[Key]> | undefined };

export const SETTING_ROWS: readonly LoadSetting<unknown>[] = Object.values(SETTINGS);

export interface ReadSettings {
  readonly values: LoadSettings;
  /** One line per problem, beginning with the name; with any problem, no request may be sent. */
  readonly problems: readonly string[];
}

/** The problem of a setting with this text or without one; undefined if there is none. */
function findProblem(row: LoadSetting<unknown>, text: string | undefined): string | undefined {
  if (text === undefined) return row.required ? `${row.name} must be set (${row.form})` : undefined;
  try {
    row.parse(text);
    return undefined;
  } catch (error) {
    if (error instanceof WrongValue) return `${row.name} ${error.message}`;
    throw error;
  }
}

/** Never throws. An invalid value counts as not set; `problems` lists it. */
export function readSettings(
  scenario: ScenarioName,
  environment: Readonly<Record<string, string | undefined>>,
): ReadSettings {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries(SETTINGS) as [string, LoadSetting<unknown>][]) {
    if (!row.scenarios.includes(scenario)) continue;
    // An empty variable counts as not set, as in the service's own settings.
    const given = environment[row.name] || undefined;
    const text = given ?? row.defaultOf(scenario);
    const problem = findProblem(row, text);
    if (problem !== undefined) problems.push(problem);
    const usable = problem === undefined ? text : row.defaultOf(scenario);
    values[key] = usable === undefined ? undefined : row.parse(usable);
  }
  const known = new Set(SETTING_ROWS.map(({ name }) => name));
  for (const name of Object.keys(environment)) {
    if (name.startsWith('LOAD_') && !known.has(name) && !SERVICE_LINK.test(name))
      problems.push(`${name} is no setting`);
  }
  // The loop above has given every key the type of its own row.
  return { values: values as unknown as LoadSettings, problems };
}

/** How many iterations can be in flight at once if the settings do not say. */
export function defaultVus(scenario: ScenarioName, rate: number): number {
  return Math.min(VUS_MAX, Math.max(VUS_MIN, Math.ceil(rate * SCENARIOS[scenario].waitSeconds)));
}
