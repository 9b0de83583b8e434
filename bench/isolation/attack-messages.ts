// What an attack is told and what it reports, as messages between processes.

/** For what an attack needs before its time begins to count, and for the responses to what it asks once. */
export const PREPARATION_MS_MAX = 30_000;

/**
 * All that an attacker can have: addresses, and keys of a tenant of its own; the operator's token for a careless
 * import.
 */
export interface AttackTarget {
  readonly baseUrl: string;
  readonly consoleUrl: string;
  /** Of every process that is under attack. */
  readonly opsUrls: readonly string[];
  readonly tenantId: string;
  /** Scopes check:read and grant:write. */
  readonly key: string;
  readonly operatorToken: string;
  /** How many subjects of many grants the store holds. */
  readonly largeSubjects: number;
  /** So long an attack goes on that would not end by itself. */
  readonly durationMs: number;
}

export interface AttackReport {
  /** How often each status was received, and what else happened to a request: `reset`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** What the attacker must not have seen: a wrong response, a bound that does not hold. */
  readonly unexpected: number;
  readonly firstUnexpected: string | undefined;
  /**
   * Of an attack that floods the service with connections: from the first of them until the service had answered the
   * first request of each, or ended it. The system hands connections over in the order in which they came, so that a
   * new one of anybody waits as long, at most.
   */
  readonly floodMs: number | undefined;
}

export type FromAttack =
  | { readonly kind: 'done'; readonly report: AttackReport }
  | { readonly kind: 'failed'; readonly message: string };
