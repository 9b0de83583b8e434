// What the calls for checks take and return, as part of the port of a shard (shard.ts).

import type { Grant } from '../core/tuples.ts';
import type { NamedTuple } from '../rules/questions.ts';
import type { PageQuery } from './grant-calls.ts';

/** A boolean, if it does not matter when exactly it was decided; else with that time, of the slot. */
export type CheckAnswer = boolean | TimedAnswer;

export interface TimedAnswer {
  readonly authorized: boolean;
  /** Before the expiry of the grant that authorizes; not before that of one that has expired. */
  readonly checkedAtMs: number;
}

export interface BulkAnswer {
  /** In the order of the checks. */
  readonly authorized: readonly boolean[];
  readonly checkedAtMs: number;
}

export interface NamedChecks {
  /** At most 100. */
  readonly checks: readonly NamedTuple[];
  /** What the caller calls them in its messages; empty: it is a single check. */
  readonly list: string;
  /** Whether the answers are to name the grants on which they rest. */
  readonly explain: boolean;
  /** Whether a check of a name that no rule defines is denied; otherwise it refuses the call. */
  readonly denyUndefined: boolean;
}

/** What a subject may do on an object: see `CompiledRules.actionsOn`. */
export interface NamesQuery extends PageQuery {
  readonly subject: string;
  readonly object: string;
}

export interface NamedAnswer extends BulkAnswer {
  /** By check, if asked for: a shortest chain of grants from the subject to the object; empty unless authorized. */
  readonly because: readonly (readonly Grant[])[];
  /** With `denyUndefined`: indices of the checks that were denied because no rule defines their name, ascending. */
  readonly undefinedAt: readonly number[];
}
