// The messages to and from the process of an attack.

/** The time limit for preparations before the attack counts, and for responses to one-time requests. */
export const PREPARATION_MS_MAX = 30_000;

/**
 * All that an attacker can have: addresses, and keys of its own tenant; for a careless import, the operator's token.
 */
export interface AttackTarget {
  readonly baseUrl: string;
  readonly consoleUrl: string;
  /** The ops ports of all processes under attack. */
  readonly opsUrls: readonly string[];
  readonly tenantId: string;
  /** With the scopes check:read and grant:write. */
  readonly key: string;
  /** With all scopes; only for an attack by somebody who may write the rules of the tenant. */
  readonly adminKey: string;
  readonly operatorToken: string;
  /** How many subjects with many grants the store has. */
  readonly largeSubjects: number;
  /** The duration of an attack that does not end by itself. */
  readonly durationMs: number;
}

export interface AttackReport {
  /** How often each status was received, and each other outcome, such as `reset`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** What must not happen: a wrong response, or a bound that does not hold. */
  readonly unexpected: number;
  readonly firstUnexpected: string | undefined;
  /**
   * For an attack that floods the service with connections: from the first connection until the service has responded
   * to the first request of each, or closed it. The operating system hands connections over in order of arrival, so a
   * new connection of any other client waits at most this long.
   */
  readonly floodMs: number | undefined;
}

export type FromAttack =
  | { readonly kind: 'done'; readonly report: AttackReport }
  | { readonly kind: 'failed'; readonly message: string };
