// Plans: the rate limit and the bounds of a tenant. The built-in ones can be replaced and added to by configuration.

export interface Plan {
  readonly name: string;
  /** Requests let through per window; undefined: no limit and no headers. */
  readonly requests: number | undefined;
  readonly windowSeconds: number;
  readonly namespacesMax: number;
  readonly keysMax: number;
  /** Live grants; undefined: no limit. */
  readonly grantsMax: number | undefined;
}

export type Plans = ReadonlyMap<string, Plan>;

export const NAMESPACES_MAX_DEFAULT = 1000;
export const KEYS_MAX_DEFAULT = 1000;
/** Of a plan that is configured without a bound and is none of the built-in ones. */
export const GRANTS_MAX_DEFAULT = 10_000_000;

/** The plan of a new tenant, and of a tenant whose stored plan this process does not know. */
export const DEFAULT_PLAN_NAME = 'free';

/**
 * What each API key may revoke, apart from the plan's window and from every other key: whoever floods with a leaked key
 * uses up the plan's window and the reserve of that key, and the owner revokes it with another one.
 */
export const REVOCATION_RESERVE = Object.freeze({ requests: 60, windowSeconds: 60 });

const plan = (name: string, requests: number | undefined, windowSeconds: number, grantsMax: number | undefined): Plan =>
  Object.freeze({
    name,
    requests,
    windowSeconds,
    namespacesMax: NAMESPACES_MAX_DEFAULT,
    keysMax: KEYS_MAX_DEFAULT,
    grantsMax,
  });

const FREE_PLAN = plan(DEFAULT_PLAN_NAME, 600, 60, 1_000_000);

export const BUILT_IN_PLANS: Plans = new Map(
  [
    FREE_PLAN,
    plan('standard', 200, 1, 10_000_000),
    plan('scale', 10_000, 1, 100_000_000),
    plan('unlimited', undefined, 1, undefined),
  ].map((each) => [each.name, each]),
);

/** The plan of that name; an unknown one acts as `free`. */
export function resolvePlan(plans: Plans, name: string): Plan {
  return plans.get(name) ?? plans.get(DEFAULT_PLAN_NAME) ?? FREE_PLAN;
}
