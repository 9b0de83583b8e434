// What tuples in memory answer at a time of their slot, as far as grants may expire.

import { assert } from '../../core/assert.ts';
import type { GrantAttributes } from '../../core/grant-attributes.ts';
import type { Tenure } from '../log/tenure.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import type { TimedAnswer } from '../shard.ts';

/** Undefined: the log has to reach `nowMs` first. */
export function answersOf(tuples: readonly WatchedTuple[], { slotTime }: Tenure, nowMs: number): boolean[] | undefined {
  const answers: boolean[] = [];
  for (const { facts } of tuples) {
    assert(facts !== undefined, 'a held tuple is known');
    const holds = slotTime.holds(facts, nowMs);
    if (holds === undefined) return undefined;
    answers.push(holds);
  }
  return answers;
}

export const timed = ({ slotTime }: Tenure, authorized: boolean): TimedAnswer => ({
  authorized,
  checkedAtMs: slotTime.nowMs,
});

/** Undefined: the page does not know the tuple, or the log has to reach the present first. */
export function timedAnswer({ slotTime }: Tenure, facts: GrantAttributes | null | undefined): TimedAnswer | undefined {
  if (facts === undefined) return undefined;
  const { nowMs } = slotTime;
  const authorized = slotTime.holds(facts, nowMs);
  return authorized === undefined ? undefined : { authorized, checkedAtMs: nowMs };
}
