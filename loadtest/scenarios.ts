// The load scenarios by name, with their default settings. k6, the runner and the test of the README read it, so it
// imports nothing.

export const SCENARIO_NAMES = [
  'smoke',
  'check',
  'bulk',
  'mixed',
  'tenant-skew',
  'shard-loss',
  'soak',
  'breakpoint',
] as const;

export type ScenarioName = (typeof SCENARIO_NAMES)[number];

export interface Scenario {
  readonly name: ScenarioName;
  readonly summary: string;
  /** Iterations started per second, whether or not earlier ones have finished. Most have one request each. */
  readonly rate: number;
  readonly durationSeconds: number;
  /** For every kind of request, unless one has a bound of its own. */
  readonly p99Ms: number;
  /** How long every iteration may take before a new one cannot start in time. */
  readonly waitSeconds: number;
  /** The tenants that the runner creates if there is no file of tenants. */
  readonly tenants: number;
  readonly grantsPerTenant: number;
}

const USUAL = { p99Ms: 100, waitSeconds: 1, tenants: 10, grantsPerTenant: 1000 } as const;

export const SCENARIOS: Readonly<Record<ScenarioName, Scenario>> = {
  smoke: {
    ...USUAL,
    name: 'smoke',
    summary:
      'every operation at a low rate: checks, a bulk, a listing, and a grant created, checked, revoked and checked again',
    rate: 5,
    durationSeconds: 5,
    p99Ms: 500,
    waitSeconds: 4,
  },
  check: {
    ...USUAL,
    name: 'check',
    summary: 'single checks at a steady rate, half of them authorized',
    rate: 500,
    durationSeconds: 30,
  },
  bulk: {
    ...USUAL,
    name: 'bulk',
    summary: 'bulk checks at a steady rate, half of each authorized',
    rate: 50,
    durationSeconds: 30,
  },
  mixed: {
    ...USUAL,
    name: 'mixed',
    summary: 'of 100 requests, 95 checks, 4 listings and 1 write; a check after each write must see it',
    rate: 300,
    durationSeconds: 60,
  },
  'tenant-skew': {
    ...USUAL,
    name: 'tenant-skew',
    summary:
      'checks of 10,000 tenants by the Pareto principle; the few busy tenants and the others are judged separately',
    rate: 300,
    durationSeconds: 60,
    tenants: 10_000,
    grantsPerTenant: 10,
  },
  'shard-loss': {
    ...USUAL,
    name: 'shard-loss',
    summary: 'checks and writes before, during and after you kill a shard on a prompt; each phase is judged separately',
    rate: 100,
    durationSeconds: 90,
    waitSeconds: 6,
    tenants: 100,
    grantsPerTenant: 100,
  },
  soak: {
    ...USUAL,
    name: 'soak',
    summary: 'the load of `mixed` for a long time; the memory of each process must stay level',
    rate: 1000,
    durationSeconds: 1200,
  },
  breakpoint: {
    ...USUAL,
    name: 'breakpoint',
    summary: 'checks at a rising rate until something fails; the run ends there and reports the rate',
    rate: 100,
    durationSeconds: 300,
    waitSeconds: 0.1,
  },
};
