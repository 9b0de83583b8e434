// Small histories for the tests of the checker, and a judge of them that is slow and plain: it tries every order.

import type { Tuple } from '../../../src/core/tuples.ts';
import type { GrantOutcome, Operation } from '../../kit/history/history.ts';
import { tupleText } from '../../kit/history/registers.ts';

export const tuple = (object: number): Tuple => ({ subject: 'user:a', relation: 'viewer', object: `doc:${object}` });

/** A script of what clients do, and of the chances of a service that answers rightly. */
export interface Plan {
  readonly call: 'grant' | 'revoke' | 'check' | 'bulk' | 'list';
  readonly objects: readonly number[];
  /** Moments: when it begins, how long until it takes effect, and from there to its answer. */
  readonly start: number;
  readonly delay: number;
  readonly rest: number;
  /** Of a write: no answer; the second: nor any effect. */
  readonly fate: 'answered' | 'open' | 'lost';
}

/** What clients see when every call takes effect at one moment: a history that is right by construction. */
export function play(plans: readonly Plan[]): Operation[] {
  const grants = new Map<string, { grantId: string; createdAt: string }>();
  const operations: Operation[] = [];
  let created = 0;
  const moments = plans.map((plan, index) => ({ plan, index, at: plan.start + plan.delay }));
  for (const { plan, index, at } of moments.sort((left, right) => left.at - right.at)) {
    const [first = tuple(0)] = plan.objects.map(tuple);
    const call = { client: `c${index}`, tenant: 'ten_1', invokedAt: plan.start };
    const isWrite = plan.call === 'grant' || plan.call === 'revoke';
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

type Grant = { id: string | undefined };

/** Whether one was over before another began. */
const precedes = (one: Operation, other: Operation): boolean =>
  one.outcome !== undefined && (one.returnedAt ?? Number.POSITIVE_INFINITY) < other.invokedAt;

/** Whether some order explains every answer: tries them all. Grants, revocations, checks and bulk checks only. */
export function isLinearizable(operations: readonly Operation[]): boolean {
  const createdIds = new Set<string>();
  for (const { kind, outcome } of operations)
    if (kind === 'grant' && outcome?.kind === 'created') createdIds.add(outcome.grantId);
  const answered = operations.filter(({ outcome }) => outcome !== undefined);

  /** The state after an operation at this moment, or undefined if its answer is wrong then. */
  const after = (state: ReadonlyMap<string, Grant>, used: ReadonlySet<string>, operation: Operation) => {
    const { kind, outcome } = operation;
    const next = new Map(state);
    const nextUsed = new Set(used);
    const ok = { state: next, used: nextUsed };
    if (outcome?.kind === 'unauthorized' || outcome?.kind === 'refused') return ok;
    switch (kind) {
      case 'grant': {
        const text = tupleText(operation.input);
        const at = state.get(text);
        if (outcome === undefined) {
          if (at === undefined) next.set(text, { id: undefined });
          return ok;
        }
        if (outcome.kind === 'created') {
          if (at !== undefined || used.has(outcome.grantId)) return undefined;
          next.set(text, { id: outcome.grantId });
          nextUsed.add(outcome.grantId);
          return ok;
        }
        if (at === undefined) return undefined;
        if (at.id !== undefined) return at.id === outcome.grantId ? ok : undefined;
        if (used.has(outcome.grantId) || createdIds.has(outcome.grantId)) return undefined;
        next.set(text, { id: outcome.grantId });
        nextUsed.add(outcome.grantId);
        return ok;
      }
      case 'revoke': {
        const text = tupleText(operation.input);
        if (outcome !== undefined && (outcome.kind === 'revoked') !== state.has(text)) return undefined;
        next.delete(text);
        return ok;
      }
      case 'check':
        return outcome === undefined || outcome.authorized === state.has(tupleText(operation.input)) ? ok : undefined;
      case 'bulk':
        return outcome === undefined ||
          operation.input.every((each, index) => outcome.authorized[index] === state.has(tupleText(each)))
          ? ok
          : undefined;
      case 'list':
      case 'revoke-key':
        throw new TypeError('Not judged here.');
    }
  };

  const search = (
    done: ReadonlySet<Operation>,
    state: ReadonlyMap<string, Grant>,
    used: ReadonlySet<string>,
  ): boolean => {
    const waiting = operations.filter((operation) => !done.has(operation));
    if (answered.every((operation) => done.has(operation))) return true;
    return waiting.some((operation) => {
      if (waiting.some((other) => precedes(other, operation))) return false;
      const next = after(state, used, operation);
      return next !== undefined && search(new Set(done).add(operation), next.state, next.used);
    });
  };
  return search(new Set(), new Map(), new Set());
}
