// Shared by all scenarios: their settings, their tenants, and the options for k6.

import { SharedArray } from 'k6/data';
import http from 'k6/http';
import type { Scenario as K6Scenario, Options } from 'k6/options';
import type { Caller } from './calls.ts';
import { SCENARIOS, type Scenario, type ScenarioName } from './scenarios.ts';
import { defaultVus, type LoadSettings, readSettings } from './settings.ts';
import { renderSummary, type SummaryData } from './summary.ts';
import { parseTenants, type Tenant } from './tenants.ts';

/** Tags that k6 uses to distinguish servers, protocols and pages are left out: here there is one of each. */
const SYSTEM_TAGS = ['status', 'name', 'method', 'scenario', 'error_code', 'expected_response'];

export interface LoadTest {
  readonly scenario: Scenario;
  readonly settings: LoadSettings;
  readonly rate: number;
  readonly durationSeconds: number;
  /** Iterations that can be in flight at once. */
  readonly vus: number;
  readonly tenants: readonly Tenant[];
  /** A random tenant, all equally likely. */
  pickCaller(tags?: Readonly<Record<string, string>>): Caller;
  callerAt(index: number, tags?: Readonly<Record<string, string>>): Caller;
  /** Runs `exec`, an exported function of the scenario, at the rate of the settings for their duration. */
  steady(exec: string): K6Scenario;
  options(options: Options): Options;
  /** Throws if a setting is invalid or missing, or if the service does not know the tenants. */
  setup(): void;
  handleSummary(data: SummaryData): Record<string, string>;
}

export function openTest(name: ScenarioName): LoadTest {
  const scenario = SCENARIOS[name];
  // `setup` reports problems: before that, k6 may only be reading the options, without any settings.
  const { values: settings, problems } = readSettings(name, __ENV);
  const { baseUrl = '', tenantsFile, rate = scenario.rate, durationSeconds = scenario.durationSeconds } = settings;
  const vus = settings.vus ?? defaultVus(name, Math.max(rate, settings.rateMax ?? 0));
  // One copy for all virtual users.
  const tenants = new SharedArray<Tenant>('tenants', () =>
    tenantsFile === undefined ? [] : [...parseTenants(open(tenantsFile), tenantsFile)],
  );

  const callerAt: LoadTest['callerAt'] = (index, tags = {}) => {
    const tenant = tenants[index];
    if (tenant === undefined) throw new RangeError(`There is no tenant ${index}.`);
    return { baseUrl, tenant, tags };
  };

  return {
    scenario,
    settings,
    rate,
    durationSeconds,
    vus,
    tenants,
    callerAt,
    pickCaller: (tags) => callerAt(Math.floor(Math.random() * tenants.length), tags),
    steady: (exec) => ({
      executor: 'constant-arrival-rate',
      rate,
      timeUnit: '1s',
      duration: `${durationSeconds}s`,
      preAllocatedVUs: vus,
      exec,
    }),
    options: (options) => ({
      ...options,
      systemTags: SYSTEM_TAGS,
      summaryTrendStats: ['count', 'med', 'p(95)', 'p(99)', 'max'],
      // Without it, k6 logs every request without a response.
      throw: true,
      userAgent: `grantd-loadtest/${name}`,
    }),
    setup() {
      const lines = problems.map((problem) => `\n  ${problem}`);
      if (lines.length > 0) throw new Error(`These settings are wrong:${lines.join('')}`);
      const { tenant } = callerAt(0);
      const answer = http.get(`${baseUrl}/v1/namespaces`, {
        headers: { Authorization: `Bearer ${tenant.key}` },
        tags: { operation: 'setup', name: 'setup' },
      });
      if (answer.status !== 200)
        throw new Error(`${baseUrl} does not serve the tenants of ${tenantsFile}: ${answer.status} ${answer.body}`);
    },
    handleSummary: (data) => {
      const facts = { name, baseUrl, tenants: tenants.length, rate, rateMax: settings.rateMax, durationSeconds };
      const files =
        settings.summaryFile === undefined ? {} : { [settings.summaryFile]: JSON.stringify(data, undefined, 2) };
      return { stdout: renderSummary(data, facts), ...files };
    },
  };
}
