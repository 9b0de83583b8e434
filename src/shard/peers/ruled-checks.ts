// Checks by name, and those of tenants with rules: from pages in memory if possible, otherwise as soon as they are
// loaded.

import { assert } from '../../core/assert.ts';
import { contextOf, contextScope } from '../../core/call-context.ts';
import { relationOf, type TupleColumns } from '../../core/tuples.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import { decideNow, evaluateChecks, grantingPage, listHeldNames } from '../evaluation/evaluate-checks.ts';
import { checkKey } from '../memory/answer-cache.ts';
import type { BulkAnswer, CheckAnswer, NamedAnswer, NamedChecks } from '../shard.ts';
import { answerAt, answerNow } from './check-answers.ts';
import { atPosition, CHECK_READ, type Handle } from './handles.ts';
import { cursorAt, positionOf } from './listings.ts';
import type { Handler, Peer, ReadHandler } from './peer.ts';

/** A check of a tenant with rules. */
export function checkByRules(
  peer: Peer,
  handle: Handle,
  subject: string,
  relation: number,
  object: string,
): CheckAnswer | Promise<CheckAnswer> {
  const known = isGranted(peer, handle, subject, relation, object)
    ? answerNow(handle, true, true)
    : keptAnswer(peer, handle, subject, relation, object);
  if (known !== undefined) return known;
  const name = relationOf(relation);
  assert(name !== undefined, 'a check on the wire has a built-in relation');
  const checks = strictly([{ subject, relation: name, object }], '');
  const answers = decideInMemory(peer, handle, checks);
  return answers === undefined
    ? evaluate(peer, handle, checks).then((evaluated) => onlyOf(handle, evaluated))
    : onlyOf(handle, answers);
}

/** Answers a check by name from memory, without an evaluation. Undefined: that is not possible. */
export function checkKnown(peer: Peer, id: number, { subject, relation, object }: NamedTuple): CheckAnswer | undefined {
  const found = peer.handles.find(id);
  const at = found.reader === undefined ? found.tenure : found.reader.at(peer.positions);
  // The reader first asks how far the log is.
  if (at === undefined) return undefined;
  const handle = atPosition(found, at);
  peer.handles.assertMay(handle, CHECK_READ);
  const { memory } = handle;
  const rules = memory.tenant.rulesRevision === undefined ? undefined : memory.rules.ready?.compiled;
  const number = rules?.numberOf(relation);
  if (rules === undefined || number === undefined) return undefined;
  // A derived name may have the number of a relation that the rules no longer have: its pages are not asked.
  const isHeld = rules.isRelation(number) && isGranted(peer, handle, subject, number, object);
  const known = isHeld ? answerNow(handle, true, true) : keptAnswer(peer, handle, subject, number, object);
  if (known !== undefined) handle.reader?.tally.answers('check');
  return known;
}

/** Whether a page has the grant, which counts whatever the rules are. */
function isGranted(peer: Peer, handle: Handle, subject: string, relation: number, object: string): boolean {
  const page = handle.memory.pages.get(subject);
  if (page?.holds(relation, object) !== true) return false;
  peer.shard.lookups.hit(handle, page);
  return true;
}

/** What was answered since the last commit. */
function keptAnswer(
  peer: Peer,
  handle: Handle,
  subject: string,
  number: number,
  object: string,
): CheckAnswer | undefined {
  const known = handle.memory.answers.check(checkKey(subject, number, object));
  if (known === undefined) return undefined;
  peer.shard.lookups.hitAnswer(handle, subject, object);
  return answerNow(handle, known);
}

export async function checkBulkByRules(
  peer: Peer,
  handle: Handle,
  { subjects, relations, objects }: TupleColumns,
): Promise<BulkAnswer> {
  const named = subjects.map((subject, index) => {
    const relation = relationOf(relations[index] ?? 0);
    assert(relation !== undefined, 'a check on the wire has a built-in relation');
    return { subject, relation, object: objects[index] ?? '' };
  });
  const checks = strictly(named, 'checks');
  return decideInMemory(peer, handle, checks) ?? (await evaluate(peer, handle, checks));
}

/** Rejects with `invalid-relation` for a name that no rule of the tenant defines, unless it is to be denied. */
export const checkNamed: Handler<'checkNamed'> = async (peer, by, checks) => {
  const handle = peer.handles.use(by.handle);
  if (checks.explain || handle.memory.tenant.rulesRevision === undefined) return evaluate(peer, handle, checks);
  return grantedNow(peer, handle, checks) ?? decideInMemory(peer, handle, checks) ?? evaluate(peer, handle, checks);
};

export const listNames: ReadHandler<'listNames'> = async (context, listing, query) => {
  const { subject, object, limit, cursor } = query;
  const scope = ['names', listing.memory.tenantId, subject, object, ...contextScope(query)];
  const after = positionOf(context, scope, cursor)?.[0] ?? '';
  const held = await listHeldNames({ ...listing, clock: context.clock }, { subject, object }, after, contextOf(query));
  const items = held.slice(0, limit);
  const last = held.length > limit ? items.at(-1) : undefined;
  return { items, nextCursor: last === undefined ? undefined : cursorAt(context, scope, [last]) };
};

/** By a grant of the asked name, of a single check. */
function grantedNow(peer: Peer, handle: Handle, checks: NamedChecks): NamedAnswer | undefined {
  const { nowMs } = handle.tenure.slotTime;
  const page = grantingPage(handle.memory, nowMs, checks);
  if (page === undefined) return undefined;
  peer.shard.lookups.hit(handle, page);
  return { authorized: [true], checkedAtMs: nowMs, because: [], proofs: [], reasons: [], undefinedAt: [], hints: [] };
}

function decideInMemory(peer: Peer, handle: Handle, checks: NamedChecks): NamedAnswer | undefined {
  const answers = decideNow(handle, checks);
  if (answers !== undefined) peer.shard.lookups.hits += checks.checks.length;
  return answers;
}

async function evaluate(peer: Peer, handle: Handle, checks: NamedChecks): Promise<NamedAnswer> {
  peer.shard.lookups.misses += checks.checks.length;
  const { clock } = peer.shard;
  const answers = await evaluateChecks({ ...peer.listing(handle), clock }, checks);
  peer.handles.assertGood(handle);
  return answers;
}

const strictly = (checks: readonly NamedTuple[], list: string): NamedChecks => ({
  checks,
  list,
  explain: false,
  denyUndefined: false,
});

function onlyOf(handle: Handle, { authorized: [authorized], checkedAtMs }: NamedAnswer): CheckAnswer {
  assert(authorized !== undefined, 'a check has an answer');
  return answerAt(handle, authorized, checkedAtMs);
}
