// Checks by grants alone, single and in bulk: from pages in memory if possible, otherwise as soon as the tuples are
// read.

import { assert } from '../../core/assert.ts';
import type { GrantAttributes } from '../../core/grant-attributes.ts';
import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import type { TupleColumns } from '../../core/tuples.ts';
import type { ServedTenure } from '../log/tenure.ts';
import type { WatchedTuple } from '../memory/watched-tuples.ts';
import type { BulkAnswer, CheckAnswer, TimedAnswer } from '../shard.ts';
import { answerAt, answerNow } from './check-answers.ts';
import { countLookups } from './grant-writes.ts';
import { atPosition, CHECK_READ, type Handle } from './handles.ts';
import type { Handler, Peer } from './peer.ts';
import { checkBulkByRules, checkByRules } from './ruled-checks.ts';

/** The hot path: answers synchronously if memory decides. `isConfirmed`: the reader has confirmed its position. */
export function check(
  peer: Peer,
  id: number,
  subject: string,
  relation: number,
  object: string,
  isConfirmed = false,
): CheckAnswer | Promise<CheckAnswer> {
  let handle = peer.handles.find(id);
  const { reader } = handle;
  if (reader !== undefined && !isConfirmed) {
    const at = reader.at(peer.positions);
    if (at === undefined) return reader.confirmed().then(() => check(peer, id, subject, relation, object, true));
    handle = atPosition(handle, at);
  }
  reader?.tally.answers('check');
  peer.handles.assertMay(handle, CHECK_READ);
  if (handle.memory.isRuled) return checkByRules(peer, handle, subject, relation, object);
  const page = handle.memory.pages.get(subject);
  if (page !== undefined) {
    const authorized = page.holds(relation, object);
    if (authorized !== undefined) {
      peer.shard.lookups.hit(handle, page);
      // If grants of the tenant expire, a denial may be due to that.
      return answerNow(handle, authorized, authorized);
    }
    if (page.contingent) {
      const answer = timedAnswer(handle.tenure, page.find(relation, object));
      if (answer !== undefined) {
        peer.shard.lookups.hit(handle, page);
        return answer;
      }
    }
  } else if (handle.memory.lacks(subject)) {
    peer.shard.lookups.hits += 1;
    return answerNow(handle, false);
  }
  return checkSlowly(peer, handle, subject, relation, object);
}

async function checkSlowly(
  peer: Peer,
  handle: Handle,
  subject: string,
  relation: number,
  object: string,
): Promise<CheckAnswer> {
  peer.shard.lookups.misses += 1;
  using held = await handle.memory.pages.hold(subject, relation, object);
  const { authorized, checkedAtMs } = await answer(peer, handle, held.tuples);
  // The tenant got its first rules in the meantime: grants alone no longer make an answer.
  if (handle.memory.isRuled) return checkByRules(peer, handle, subject, relation, object);
  const [tuple] = held.tuples;
  const expires = tuple?.facts?.expiresAtMs !== undefined;
  return expires
    ? { authorized: authorized[0] === true, checkedAtMs }
    : answerAt(handle, authorized[0] === true, checkedAtMs);
}

/** Answers held tuples at one moment. From there to the reply there is no await. */
async function answer(peer: Peer, handle: Handle, tuples: readonly WatchedTuple[]): Promise<BulkAnswer> {
  const { tenure } = handle;
  peer.handles.assertGood(handle);
  const nowMs = tenure.slotTime.nowMs;
  const authorized = answersOf(tuples, tenure, nowMs);
  if (authorized !== undefined) return { authorized, checkedAtMs: nowMs };
  await tenure.advance();
  peer.handles.assertGood(handle);
  // The log itself leaves nothing open at its own time.
  const { loggedMs } = tenure.slotTime;
  const settled = answersOf(tuples, tenure, loggedMs);
  assert(settled !== undefined, 'the log has reached its own time');
  return { authorized: settled, checkedAtMs: loggedMs };
}

export const checkBulk: Handler<'checkBulk'> = async (peer, by, checks) => {
  assert(checks.subjects.length <= BULK_CHECKS_MAX, 'a bulk call carries at most 100 checks');
  const handle = peer.handles.use(by.handle);
  if (handle.memory.isRuled) return checkBulkByRules(peer, handle, checks);
  const nowMs = handle.tenure.slotTime.nowMs;
  const authorized = decide(peer, handle, checks, nowMs);
  if (authorized !== undefined) return { authorized, checkedAtMs: nowMs };
  countLookups(peer.shard, handle.memory, checks);
  using held = await handle.memory.pages.holdAll(checks);
  const answered = await answer(peer, handle, held.tuples);
  return !handle.memory.isRuled ? answered : await checkBulkByRules(peer, handle, checks);
};

/** All results from pages in memory, or undefined if one of them cannot be decided there now. */
function decide(
  peer: Peer,
  handle: Handle,
  { subjects, relations, objects }: TupleColumns,
  nowMs: number,
): boolean[] | undefined {
  const { tenure, memory } = handle;
  const found = memory.pages.getMany(subjects);
  for (const [index, page] of found.entries()) {
    if (page !== undefined) page.referenced = true;
    else if (!memory.lacks(subjects[index] ?? '')) return undefined;
  }
  const authorized: boolean[] = [];
  for (let index = 0; index < subjects.length; index += 1) {
    const page = found[index];
    const relation = relations[index] ?? 0;
    const object = objects[index] ?? '';
    let holds = page === undefined ? false : page.holds(relation, object);
    if (holds === undefined && page?.contingent === true) {
      const facts = page.find(relation, object);
      holds = facts === undefined ? undefined : tenure.slotTime.holds(facts, nowMs);
    }
    if (holds === undefined) return undefined;
    authorized.push(holds);
  }
  peer.shard.lookups.hitMany(handle, subjects.length, (index) => found[index]?.entity);
  return authorized;
}

// ---- answers at a time of the slot, as far as grants may expire ----

/** Undefined: the log has to reach `nowMs` first. */
function answersOf(tuples: readonly WatchedTuple[], { slotTime }: ServedTenure, nowMs: number): boolean[] | undefined {
  const answers: boolean[] = [];
  for (const { facts } of tuples) {
    assert(facts !== undefined, 'a held tuple is known');
    const holds = slotTime.holds(facts, nowMs);
    if (holds === undefined) return undefined;
    answers.push(holds);
  }
  return answers;
}

/** Undefined: the page does not know the tuple, or the log has to reach the present first. */
function timedAnswer({ slotTime }: ServedTenure, facts: GrantAttributes | null | undefined): TimedAnswer | undefined {
  if (facts === undefined) return undefined;
  const { nowMs } = slotTime;
  const authorized = slotTime.holds(facts, nowMs);
  return authorized === undefined ? undefined : { authorized, checkedAtMs: nowMs };
}
