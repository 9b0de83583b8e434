// Plans: the rate limit and the other limits of a tenant. Configuration can replace the built-in plans and add others.

import type { ReadersSetting, Tenant } from './tenants.ts';

export interface Plan {
  readonly name: string;
  /** Requests allowed per window; undefined: no limit, and no rate-limit headers. */
  readonly requests: number | undefined;
  readonly windowSeconds: number;
  readonly namespacesMax: number;
  readonly keysMax: number;
  /** Live grants; undefined: no limit. */
  readonly grantsMax: number | undefined;
  /** Streams of the change feed that one front holds open. */
  readonly streamsMax: number;
  /** Shards that answer reads of the tenant beside its owner. */
  readonly readers: ReadersSetting;
  /** The most that `auto` chooses, 0 to READERS_MAX. */
  readonly readersMax: number;
}

/**
 * The owner sends every commit to each reader, and tells each how far its log is. With more readers, a write would cost
 * the owner more than the reads that they take off it.
 */
export const READERS_MAX = 16;

/** The bound of `auto` in a plan that does not set it. */
export const READERS_AUTO_MAX_DEFAULT = 4;

export type Plans = ReadonlyMap<string, Plan>;

export const NAMESPACES_MAX_DEFAULT = 1000;
export const KEYS_MAX_DEFAULT = 1000;
/** For a configured plan that is not built in and does not set it. */
export const GRANTS_MAX_DEFAULT = 10_000_000;
/** The same. */
export const STREAMS_MAX_DEFAULT = 100;

/** The plan of a new tenant, and of a tenant whose stored plan is unknown to this process. */
export const DEFAULT_PLAN_NAME = 'free';

/**
 * Revocations that each API key may make, separate from the plan's window and from other keys. A flood with a leaked
 * key uses up the plan's window and that key's reserve; the owner can still revoke the key with another one.
 */
export const REVOCATION_RESERVE = Object.freeze({ requests: 60, windowSeconds: 60 });

/** Failed authentications of different keys that a front allows from each client network. */
export const AUTHENTICATION_FAILURES = Object.freeze({ requests: 60, windowSeconds: 60 });
/** Failures of one key: with the limit above, owners look up about 10 such keys a second for each client network. */
export const KEY_FAILURES = Object.freeze({ requests: 10, windowSeconds: AUTHENTICATION_FAILURES.windowSeconds });

const plan = (
  name: string,
  requests: number | undefined,
  windowSeconds: number,
  grantsMax: number | undefined,
  streamsMax: number,
): Plan =>
  Object.freeze({
    name,
    requests,
    windowSeconds,
    namespacesMax: NAMESPACES_MAX_DEFAULT,
    keysMax: KEYS_MAX_DEFAULT,
    grantsMax,
    streamsMax,
    readers: 0,
    readersMax: READERS_AUTO_MAX_DEFAULT,
  });

const FREE_PLAN = plan(DEFAULT_PLAN_NAME, 600, 60, 1_000_000, 10);

export const BUILT_IN_PLANS: Plans = new Map(
  [
    FREE_PLAN,
    plan('standard', 200, 1, 10_000_000, STREAMS_MAX_DEFAULT),
    plan('scale', 10_000, 1, 100_000_000, 2000),
    plan('unlimited', undefined, 1, undefined, 5000),
  ].map((each) => [each.name, each]),
);

/** The plan with that name; an unknown plan acts as `free`. */
export function resolvePlan(plans: Plans, name: string): Plan {
  return plans.get(name) ?? plans.get(DEFAULT_PLAN_NAME) ?? FREE_PLAN;
}

/** The readers of the tenant: what its operator has set, or what its plan says. */
export const readersOf = (plans: Plans, { plan: name, readers }: Pick<Tenant, 'plan' | 'readers'>): ReadersSetting =>
  readers ?? resolvePlan(plans, name).readers;
