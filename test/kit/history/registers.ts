// The operations of one tenant as steps on registers, one register per tuple: absent, or present as a grant with an id.
// A bulk check reads its tuples at one moment. A page of a listing is no snapshot: for each object in the range that
// the page covers it is a read of its own, with a moment of its own: so an object that was granted throughout the page
// must be in it, one that was revoked throughout must not, and one that changed meanwhile may be or not. So is a page
// of an export.
//
// What was done under a key took effect before anyone was told that the key was revoked.

import { compareUtf8, type Tuple } from '../../../src/core/tuples.ts';
import { isGrantWrite, type Operation } from './history.ts';
import { cellsOf, type Effect, type Step } from './linearizer.ts';

export interface RegisterStep extends Step {
  readonly operation: Operation;
}

export interface Registers {
  readonly steps: readonly RegisterStep[];
  /** The text of a cell's tuple. */
  readonly nameOf: (cell: number) => string;
}

export const tupleText = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

/** A write that a client does not know the outcome of. Such a read says nothing, and is left out. */
const isOpenWrite = ({ kind, outcome }: Operation): boolean => outcome === undefined && isGrantWrite(kind);

class Cells {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #tuples: Tuple[] = [];
  /** Objects by subject and relation, and subjects by object and relation. */
  readonly #objects = new Map<string, Map<string, number>>();
  readonly #subjects = new Map<string, Map<string, number>>();

  of(tuple: Tuple): number {
    const name = tupleText(tuple);
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const cell = this.#names.push(name) - 1;
    this.#tuples.push(tuple);
    this.#numbers.set(name, cell);
    const { subject, relation, object } = tuple;
    this.#objects.getOrInsertComputed(`${subject} ${relation}`, () => new Map()).set(object, cell);
    this.#subjects.getOrInsertComputed(`${object} ${relation}`, () => new Map()).set(subject, cell);
    return cell;
  }

  nameOf(cell: number): string {
    return this.#names[cell] ?? '';
  }

  /** All, by number. */
  get tuples(): readonly Tuple[] {
    return this.#tuples;
  }

  objectsOf(subject: string, relation: string): ReadonlyMap<string, number> {
    return this.#objects.get(`${subject} ${relation}`) ?? new Map();
  }

  holdersOf(object: string, relation: string): ReadonlyMap<string, number> {
    return this.#subjects.get(`${object} ${relation}`) ?? new Map();
  }
}

function effectOf(operation: Operation, cells: Cells): Effect | undefined {
  const { kind, input, outcome } = operation;
  if (outcome?.kind === 'unauthorized' || outcome?.kind === 'refused') return undefined;
  switch (kind) {
    case 'grant': {
      const cell = cells.of(input);
      if (outcome === undefined) return { kind: 'create', cell, identity: '' };
      return { kind: outcome.kind === 'created' ? 'create' : 'read-identity', cell, identity: outcome.grantId };
    }
    case 'revoke': {
      const cell = cells.of(input);
      if (outcome?.kind === 'not-found') return { kind: 'read', needs: [{ cell, present: false }] };
      return { kind: 'remove', cell };
    }
    case 'check':
      return outcome && { kind: 'read', needs: [{ cell: cells.of(input), present: outcome.authorized }] };
    case 'bulk': {
      const needs = input.map((tuple, index) => ({
        cell: cells.of(tuple),
        present: outcome?.authorized[index] === true,
      }));
      return outcome && { kind: 'read', needs };
    }
    case 'write-bulk':
      return effectOfBulk(operation, cells);
    case 'clear':
    case 'list':
    case 'holders':
    case 'export':
    case 'subjects':
    case 'keys':
    case 'create-key':
    case 'revoke-key':
      return undefined;
  }
}

function effectOfBulk({ input, outcome }: Operation & { kind: 'write-bulk' }, cells: Cells): Effect | undefined {
  const needs = input.preconditions.map((tuple) => ({ cell: cells.of(tuple), present: tuple.exists }));
  const granted = input.grants.map((tuple) => cells.of(tuple));
  const revoked = input.revocations.map((tuple) => cells.of(tuple));
  switch (outcome?.kind) {
    case undefined:
      return { kind: 'open-transaction', needs, creates: granted, removes: revoked };
    case 'unmet': {
      const met = needs.slice(0, outcome.precondition);
      const unmet = needs.slice(outcome.precondition, outcome.precondition + 1);
      return { kind: 'read', needs: [...met, ...unmet.map(({ cell, present }) => ({ cell, present: !present }))] };
    }
    case 'written': {
      const named = outcome.grants.map((grant, index) => ({ ...grant, cell: granted[index] ?? -1 }));
      const identitiesOf = (kind: 'created' | 'exists') =>
        named.filter((grant) => grant.kind === kind).map(({ cell, grantId }) => ({ cell, identity: grantId }));
      const absent = revoked.filter((_, index) => outcome.revoked[index] !== true);
      return {
        kind: 'transaction',
        needs: [...needs, ...absent.map((cell) => ({ cell, present: false }))],
        identities: identitiesOf('exists'),
        creates: identitiesOf('created'),
        removes: revoked.filter((_, index) => outcome.revoked[index] === true),
      };
    }
    default:
      return undefined;
  }
}

type Filter = Extract<Operation, { kind: 'clear' }>['input'];

export function matches({ of, relation }: Filter, tuple: Tuple): boolean {
  const isOf = 'subject' in of ? tuple.subject === of.subject : tuple.object === of.object;
  return isOf && (relation === undefined || relation === tuple.relation);
}

/** Call this once all tuples of the history are known. */
function effectOfClear({ input, outcome }: Operation & { kind: 'clear' }, cells: Cells): Effect | undefined {
  if (outcome !== undefined && outcome.kind !== 'cleared') return undefined;
  const matching = [...cells.tuples.entries()]
    .filter(([, tuple]) => matches(input, tuple))
    .sort(([, left], [, right]) => compareUtf8(left.relation, right.relation) || compareTuples(left, right))
    .map(([cell]) => cell);
  if (outcome === undefined) return { kind: 'clear', cells: matching, count: undefined, all: false };
  const { count, complete } = outcome;
  if (count > 0) return { kind: 'clear', cells: matching, count, all: complete };
  return complete ? { kind: 'read', needs: matching.map((cell) => ({ cell, present: false })) } : undefined;
}

export function compareTuples(left: Tuple, right: Tuple): number {
  return (
    compareUtf8(left.subject, right.subject) ||
    compareUtf8(left.relation, right.relation) ||
    compareUtf8(left.object, right.object)
  );
}

/** The order of a listing of grants: those on one object ascend by relation and subject. */
export function orderOf({ object }: { readonly object?: string | undefined }): typeof compareTuples {
  if (object === undefined) return compareTuples;
  return (left, right) => compareUtf8(left.relation, right.relation) || compareUtf8(left.subject, right.subject);
}

interface PageRead {
  readonly effect: Effect;
  /** Whether it lies before the first item of the page. */
  readonly ahead: boolean;
}

/** Reads of single tuples that a page of objects, or of subjects, amounts to. */
function* readsOfNames(
  known: ReadonlyMap<string, number>,
  { namespace, after }: { readonly namespace?: string | undefined; readonly after?: string | undefined },
  items: readonly string[],
  more: boolean,
): Generator<PageRead> {
  const listed = new Set(items);
  const [first, last] = [items[0], items.at(-1)];
  for (const [name, cell] of known) {
    if (namespace !== undefined && !name.startsWith(`${namespace}:`)) continue;
    if (after !== undefined && compareUtf8(name, after) <= 0) continue;
    if (more && (last === undefined || compareUtf8(name, last) > 0)) continue;
    const ahead = first === undefined || compareUtf8(name, first) < 0;
    yield { effect: { kind: 'read', needs: [{ cell, present: listed.has(name) }] }, ahead };
  }
}

/** Reads of single tuples that a page amounts to. */
function* readsOf(operation: Operation, cells: Cells): Generator<PageRead> {
  if (operation.kind === 'list' && operation.outcome?.kind === 'answer') {
    const { subject, relation } = operation.input;
    const { objects, more } = operation.outcome;
    yield* readsOfNames(cells.objectsOf(subject, relation), operation.input, objects, more);
  }
  if (operation.kind === 'holders' && operation.outcome?.kind === 'answer') {
    const { object, relation } = operation.input;
    const { subjects, more } = operation.outcome;
    yield* readsOfNames(cells.holdersOf(object, relation), operation.input, subjects, more);
  }
  if (operation.kind === 'export' && operation.outcome?.kind === 'answer') {
    const { subject, object, after } = operation.input;
    const { grants, more } = operation.outcome;
    const compare = orderOf(operation.input);
    const listed = new Map(grants.map((grant) => [cells.of(grant), grant.grantId]));
    const [first, last] = [grants[0], grants.at(-1)];
    for (const [cell, tuple] of cells.tuples.entries()) {
      if (subject !== undefined && tuple.subject !== subject) continue;
      if (object !== undefined && tuple.object !== object) continue;
      if (after !== undefined && compare(tuple, after) <= 0) continue;
      if (more && (last === undefined || compare(tuple, last) > 0)) continue;
      const ahead = first === undefined || compare(tuple, first) < 0;
      const identity = listed.get(cell);
      if (identity === undefined) yield { effect: { kind: 'read', needs: [{ cell, present: false }] }, ahead };
      else yield { effect: { kind: 'read-identity', cell, identity }, ahead };
    }
  }
}

/** By key: when its first end was acknowledged. */
export function keyEndsOf(operations: readonly Operation[]): ReadonlyMap<string, Operation> {
  const ends = new Map<string, Operation>();
  for (const operation of operations) {
    if (operation.kind !== 'revoke-key' || operation.outcome?.kind !== 'revoked') continue;
    const earlier = ends.get(operation.input.keyId);
    if (earlier === undefined || (operation.returnedAt ?? 0) < (earlier.returnedAt ?? 0))
      ends.set(operation.input.keyId, operation);
  }
  return ends;
}

export function registersOf(operations: readonly Operation[]): Registers {
  const cells = new Cells();
  const steps: RegisterStep[] = [];
  const keyEnds = keyEndsOf(operations);
  /** By when an operation has taken effect at the latest. */
  const effectBy = ({ invokedAt, returnedAt, effectBy: by = Number.POSITIVE_INFINITY, keyId }: Operation) => {
    if (returnedAt === undefined) return undefined;
    const keyEnd = keyEnds.get(keyId ?? '')?.returnedAt ?? Number.POSITIVE_INFINITY;
    return Math.max(Math.min(returnedAt, by, keyEnd), invokedAt);
  };
  for (const operation of operations) {
    const { invokedAt } = operation;
    const returnedAt = isOpenWrite(operation) ? undefined : effectBy(operation);
    const effect = effectOf(operation, cells);
    if (effect !== undefined) steps.push({ operation, invokedAt, returnedAt, effect });
    if (operation.outcome?.kind !== 'answer') continue;
    if (operation.kind === 'list') {
      const { subject, relation } = operation.input;
      for (const object of operation.outcome.objects) cells.of({ subject, relation, object });
    }
    if (operation.kind === 'holders') {
      const { object, relation } = operation.input;
      for (const subject of operation.outcome.subjects) cells.of({ subject, relation, object });
    }
    if (operation.kind === 'export') for (const grant of operation.outcome.grants) cells.of(grant);
  }
  for (const operation of operations) {
    if (operation.kind === 'clear') {
      const effect = effectOfClear(operation, cells);
      const returnedAt = isOpenWrite(operation) ? undefined : effectBy(operation);
      if (effect !== undefined && cellsOf(effect).length > 0) {
        steps.push({ operation, invokedAt: operation.invokedAt, returnedAt, effect });
      }
    }
    if (operation.kind !== 'list' && operation.kind !== 'holders' && operation.kind !== 'export') continue;
    const { invokedAt, input } = operation;
    const returnedAt = effectBy(operation);
    if (returnedAt === undefined) continue;
    for (const { effect, ahead } of readsOf(operation, cells)) {
      // What lies between two pages may have been looked at for either of them.
      steps.push({ operation, invokedAt: ahead ? (input.since ?? invokedAt) : invokedAt, returnedAt, effect });
    }
  }
  return { steps, nameOf: (cell) => cells.nameOf(cell) };
}
