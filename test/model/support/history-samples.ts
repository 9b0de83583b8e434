// Small histories for the tests of the checker, and a judge of them that is slow and plain: it tries every order.

import type { Tuple } from '../../../src/core/tuples.ts';
import { type GrantOutcome, isGrantWrite, type Operation } from '../../kit/history/history.ts';
import { tupleText } from '../../kit/history/registers.ts';

export const tuple = (object: number): Tuple => ({ subject: 'user:a', relation: 'viewer', object: `doc:${object}` });

/** A script of what clients do, and of the chances of a service that answers rightly. */
export interface Plan {
  readonly call: 'grant' | 'revoke' | 'check' | 'bulk' | 'list' | 'write-bulk' | 'clear';
  readonly objects: readonly number[];
  /** Moments: when it begins, how long until it takes effect, and from there to its answer. */
  readonly start: number;
  readonly delay: number;
  readonly rest: number;
  /** Of a write: no answer; the second: nor any effect. */
  readonly fate: 'answered' | 'open' | 'lost';
}

type Grants = Map<string, { grantId: string; createdAt: string }>;
type BulkInput = Extract<Operation, { kind: 'write-bulk' }>['input'];

/** Every third object of a plan is granted, revoked, and asked about before; some are also changed. */
function bulkOf({ objects, start, delay, rest }: Plan): BulkInput {
  const role = (wanted: number) => objects.filter((_, index) => (rest + index) % 3 === wanted).map(tuple);
  const [grants, revocations, asked] = [role(0), role(1), role(2)];
  const changed = rest % 2 === 0 ? [...grants, ...revocations].slice(0, 1) : [];
  const preconditions = [...asked, ...changed].map((each, index) => ({
    ...each,
    exists: (start + delay + index) % 2 === 0,
  }));
  return { grants, revocations, preconditions };
}

function writeBulk(
  grants: Grants,
  input: BulkInput,
  takesEffect: boolean,
  newId: () => string,
): NonNullable<Extract<Operation, { kind: 'write-bulk' }>['outcome']> {
  const unmet = input.preconditions.findIndex((each) => grants.has(tupleText(each)) !== each.exists);
  if (unmet >= 0) return { kind: 'unmet', precondition: unmet };
  const created = input.grants.map((each): GrantOutcome => {
    const known = grants.get(tupleText(each));
    if (known !== undefined) return { kind: 'exists', ...known };
    const record = { grantId: newId(), createdAt: `t${newId()}` };
    if (takesEffect) grants.set(tupleText(each), record);
    return { kind: 'created', ...record };
  });
  const revoked = input.revocations.map((each) => grants.has(tupleText(each)));
  if (takesEffect) for (const each of input.revocations) grants.delete(tupleText(each));
  return { kind: 'written', grants: created, revoked };
}

/** What clients see when every call takes effect at one moment: a history that is right by construction. */
export function play(plans: readonly Plan[]): Operation[] {
  const grants: Grants = new Map();
  const operations: Operation[] = [];
  let created = 0;
  const moments = plans.map((plan, index) => ({ plan, index, at: plan.start + plan.delay }));
  for (const { plan, index, at } of moments.sort((left, right) => left.at - right.at)) {
    const [first = tuple(0)] = plan.objects.map(tuple);
    const call = { client: `c${index}`, tenant: 'ten_1', invokedAt: plan.start };
    const isWrite = isGrantWrite(plan.call);
    const answered = !isWrite || plan.fate === 'answered';
    const returnedAt = answered ? at + plan.rest : undefined;
    const known = grants.get(tupleText(first));
    const takesEffect = !isWrite || plan.fate !== 'lost';
    switch (plan.call) {
      case 'grant': {
        created += 1;
        const record = known ?? { grantId: `grt_${created}`, createdAt: `t${created}` };
        if (takesEffect) grants.set(tupleText(first), record);
        const outcome: GrantOutcome = { kind: known ? 'exists' : 'created', ...record };
        operations.push({ ...call, kind: 'grant', input: first, returnedAt, outcome: answered ? outcome : undefined });
        break;
      }
      case 'revoke': {
        if (takesEffect) grants.delete(tupleText(first));
        const outcome = { kind: known ? ('revoked' as const) : ('not-found' as const) };
        operations.push({ ...call, kind: 'revoke', input: first, returnedAt, outcome: answered ? outcome : undefined });
        break;
      }
      case 'check': {
        const outcome = { kind: 'answer' as const, authorized: known !== undefined };
        operations.push({ ...call, kind: 'check', input: first, returnedAt, outcome });
        break;
      }
      case 'bulk': {
        const input = plan.objects.map(tuple);
        const authorized = input.map((each) => grants.has(tupleText(each)));
        operations.push({ ...call, kind: 'bulk', input, returnedAt, outcome: { kind: 'answer', authorized } });
        break;
      }
      case 'write-bulk': {
        const input = bulkOf(plan);
        const outcome = writeBulk(grants, input, takesEffect, () => {
          created += 1;
          return `grt_${created}`;
        });
        operations.push({ ...call, kind: 'write-bulk', input, returnedAt, outcome: answered ? outcome : undefined });
        break;
      }
      case 'clear': {
        const held = [...grants.keys()].sort();
        const removed = held.slice(0, 1 + (plan.rest % 3));
        if (takesEffect) for (const each of removed) grants.delete(each);
        const outcome = { kind: 'cleared' as const, count: removed.length, complete: removed.length === held.length };
        const input = { of: { subject: first.subject }, relation: plan.delay % 2 === 0 ? first.relation : undefined };
        operations.push({ ...call, kind: 'clear', input, returnedAt, outcome: answered ? outcome : undefined });
        break;
      }
      case 'list': {
        const { subject, relation } = first;
        const objects = [...grants.keys()].map((text) => text.split(' ')[2] ?? '').sort();
        const outcome = { kind: 'answer' as const, objects, more: false };
        operations.push({ ...call, kind: 'list', input: { subject, relation }, returnedAt, outcome });
        break;
      }
    }
  }
  return operations;
}

/** A history in which one answer was replaced by another one that a service could give. */
export function spoil(operations: readonly Operation[], which: number): Operation[] {
  const index = which % Math.max(operations.length, 1);
  return operations.map((operation, position): Operation => {
    if (position !== index || operation.outcome === undefined) return operation;
    const { kind, outcome } = operation;
    if (kind === 'check' && outcome.kind === 'answer')
      return { ...operation, outcome: { ...outcome, authorized: !outcome.authorized } };
    if (kind === 'bulk' && outcome.kind === 'answer')
      return {
        ...operation,
        outcome: { ...outcome, authorized: outcome.authorized.map((each, at) => (at === 0 ? !each : each)) },
      };
    if (kind === 'revoke')
      return { ...operation, outcome: { kind: outcome.kind === 'revoked' ? 'not-found' : 'revoked' } };
    if (kind === 'clear' && outcome.kind === 'cleared') {
      const other = which % 2 === 0 ? { count: outcome.count + 1 } : { complete: !outcome.complete };
      return { ...operation, outcome: { ...outcome, ...other } };
    }
    if (kind === 'write-bulk') return { ...operation, outcome: spoilBulk(operation, which) };
    if (kind === 'grant' && outcome.kind === 'created')
      return { ...operation, outcome: { ...outcome, kind: 'exists' } };
    if (kind === 'grant' && outcome.kind === 'exists') {
      const other = operations.find((each) => each.kind === 'grant' && each.outcome?.kind === 'created');
      const record = which % 2 === 0 ? other?.outcome : undefined;
      if (record?.kind === 'created' && record.grantId !== outcome.grantId)
        return { ...operation, outcome: { ...record, kind: 'exists' } };
      return { ...operation, outcome: { kind: 'created', grantId: `grt_new${index}`, createdAt: 'later' } };
    }
    return operation;
  });
}

function spoilBulk(
  { input, outcome }: Operation & { readonly kind: 'write-bulk' },
  which: number,
): NonNullable<Extract<Operation, { kind: 'write-bulk' }>['outcome']> | undefined {
  if (outcome?.kind !== 'written') return outcome as undefined;
  if (which % 3 === 0 && input.preconditions.length > 0) return { kind: 'unmet', precondition: 0 };
  if (which % 3 === 1 || outcome.grants.length === 0) {
    return { ...outcome, revoked: outcome.revoked.map((each, at) => (at === 0 ? !each : each)) };
  }
  const grants = outcome.grants.map((grant, at): GrantOutcome => {
    if (at > 0) return grant;
    return grant.kind === 'created' ? { ...grant, kind: 'exists' } : { ...grant, kind: 'created', grantId: 'grt_new' };
  });
  return { ...outcome, grants };
}

type Grant = { id: string | undefined };
type State = ReadonlyMap<string, Grant>;
interface Reached {
  readonly state: State;
  /** Identities that were given. */
  readonly used: ReadonlySet<string>;
}

/** Whether one was over before another began. */
const precedes = (one: Operation, other: Operation): boolean =>
  one.outcome !== undefined && (one.returnedAt ?? Number.POSITIVE_INFINITY) < other.invokedAt;

/** A grant at a moment, or undefined if its answer is wrong then. */
function grantAfter(
  { state, used }: Reached,
  text: string,
  outcome: GrantOutcome | undefined,
  createdIds: ReadonlySet<string>,
): Reached | undefined {
  const at = state.get(text);
  if (outcome === undefined) {
    return at === undefined ? { state: new Map(state).set(text, { id: undefined }), used } : { state, used };
  }
  const given = { state: new Map(state).set(text, { id: outcome.grantId }), used: new Set(used).add(outcome.grantId) };
  if (outcome.kind === 'created') return at !== undefined || used.has(outcome.grantId) ? undefined : given;
  if (at === undefined) return undefined;
  if (at.id !== undefined) return at.id === outcome.grantId ? { state, used } : undefined;
  return used.has(outcome.grantId) || createdIds.has(outcome.grantId) ? undefined : given;
}

function revokeAfter({ state, used }: Reached, text: string, existed: boolean | undefined): Reached | undefined {
  if (existed !== undefined && existed !== state.has(text)) return undefined;
  const next = new Map(state);
  next.delete(text);
  return { state: next, used };
}

function bulkAfter(
  from: Reached,
  { input, outcome }: Operation & { readonly kind: 'write-bulk' },
  createdIds: ReadonlySet<string>,
): Reached | undefined {
  const unmet = input.preconditions.findIndex((each) => from.state.has(tupleText(each)) !== each.exists);
  if (outcome === undefined && unmet >= 0) return from;
  if (outcome?.kind === 'unmet') return outcome.precondition === unmet ? from : undefined;
  if (unmet >= 0 || (outcome !== undefined && outcome.kind !== 'written')) return undefined;
  let at: Reached | undefined = from;
  for (const [index, each] of input.grants.entries()) {
    at = at && grantAfter(at, tupleText(each), outcome?.grants[index], createdIds);
  }
  for (const [index, each] of input.revocations.entries()) {
    at = at && revokeAfter(at, tupleText(each), outcome?.revoked[index]);
  }
  return at;
}

/** All grants match, in the order of their texts. */
function clearAfter(from: Reached, { outcome }: Operation & { readonly kind: 'clear' }): Reached[] {
  const held = [...from.state.keys()].sort();
  const without = (count: number): Reached => {
    const next = new Map(from.state);
    for (const text of held.slice(0, count)) next.delete(text);
    return { state: next, used: from.used };
  };
  if (outcome === undefined) return held.map((_, index) => without(index + 1));
  if (outcome.kind !== 'cleared' || outcome.count > held.length) return [];
  return outcome.complete && outcome.count < held.length ? [] : [without(outcome.count)];
}

/** What may be after an operation at this moment. Empty: its answer is wrong then. */
function after(from: Reached, operation: Operation, createdIds: ReadonlySet<string>): readonly Reached[] {
  const { kind, outcome } = operation;
  if (outcome?.kind === 'unauthorized' || outcome?.kind === 'refused') return [from];
  const { state } = from;
  const one = (reached: Reached | undefined): Reached[] => (reached === undefined ? [] : [reached]);
  switch (kind) {
    case 'grant':
      return one(grantAfter(from, tupleText(operation.input), outcome, createdIds));
    case 'revoke':
      return one(revokeAfter(from, tupleText(operation.input), outcome && outcome.kind === 'revoked'));
    case 'check':
      return outcome === undefined || outcome.authorized === state.has(tupleText(operation.input)) ? [from] : [];
    case 'bulk': {
      const { input } = operation;
      const right = input.every((each, index) => outcome?.authorized[index] === state.has(tupleText(each)));
      return outcome === undefined || right ? [from] : [];
    }
    case 'write-bulk':
      return one(bulkAfter(from, operation, createdIds));
    case 'clear':
      return clearAfter(from, operation);
    default:
      throw new TypeError('Not judged here.');
  }
}

function createdIdsOf(operations: readonly Operation[]): ReadonlySet<string> {
  const grants = operations.flatMap(({ kind, outcome }): readonly GrantOutcome[] => {
    if (kind === 'grant' && outcome?.kind === 'created') return [outcome];
    return kind === 'write-bulk' && outcome?.kind === 'written' ? outcome.grants : [];
  });
  return new Set(grants.filter(({ kind }) => kind === 'created').map(({ grantId }) => grantId));
}

/** Whether some order explains every answer: tries them all. Writes, checks and bulk checks only. */
export function isLinearizable(operations: readonly Operation[]): boolean {
  const createdIds = createdIdsOf(operations);
  const answered = operations.filter(({ outcome }) => outcome !== undefined);
  const search = (done: ReadonlySet<Operation>, from: Reached): boolean => {
    const waiting = operations.filter((operation) => !done.has(operation));
    if (answered.every((operation) => done.has(operation))) return true;
    return waiting.some((operation) => {
      if (waiting.some((other) => precedes(other, operation))) return false;
      const next = new Set(done).add(operation);
      return after(from, operation, createdIds).some((reached) => search(next, reached));
    });
  };
  return search(new Set(), { state: new Map(), used: new Set() });
}
