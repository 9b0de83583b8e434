// The operations of one tenant as steps on registers, one register per tuple: absent, or present as a grant with an id.
// A bulk check reads its tuples at one moment. A page of a listing is no snapshot: for each object in the range that the
// page covers it is a read of its own, with a moment of its own: so an object that was granted throughout the page must be in
// it, one that was revoked throughout must not, and one that changed meanwhile may be or not.

import { compareUtf8, type Tuple } from '../../../src/core/tuples.ts';
import type { Operation } from './history.ts';
import type { Effect, Step } from './linearizer.ts';

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
const isOpenWrite = ({ kind, outcome }: Operation): boolean =>
  outcome === undefined && (kind === 'grant' || kind === 'revoke');

class Cells {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  /** Objects by subject and relation. */
  readonly #objects = new Map<string, Map<string, number>>();

  of(tuple: Tuple): number {
    const name = tupleText(tuple);
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const cell = this.#names.push(name) - 1;
    this.#numbers.set(name, cell);
    const list = `${tuple.subject} ${tuple.relation}`;
    const objects = this.#objects.get(list) ?? new Map();
    objects.set(tuple.object, cell);
    this.#objects.set(list, objects);
    return cell;
  }

  nameOf(cell: number): string {
    return this.#names[cell] ?? '';
  }

  objectsOf(subject: string, relation: string): ReadonlyMap<string, number> {
    return this.#objects.get(`${subject} ${relation}`) ?? new Map();
  }
}

function effectOf(operation: Operation, cells: Cells): Effect | undefined {
  const { kind, input, outcome } = operation;
  if (outcome?.kind === 'unauthorized') return undefined;
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
    case 'list':
    case 'revoke-key':
      return undefined;
  }
}

function* readsOf(operation: Operation & { readonly kind: 'list' }, cells: Cells): Generator<RegisterStep> {
  const { input, outcome, invokedAt, returnedAt } = operation;
  if (outcome?.kind !== 'answer' || returnedAt === undefined) return;
  const { subject, relation, namespace, after } = input;
  const listed = new Set(outcome.objects);
  const last = outcome.objects.at(-1);
  for (const [object, cell] of cells.objectsOf(subject, relation)) {
    if (namespace !== undefined && !object.startsWith(`${namespace}:`)) continue;
    if (after !== undefined && compareUtf8(object, after) <= 0) continue;
    if (outcome.more && (last === undefined || compareUtf8(object, last) > 0)) continue;
    const needs = [{ cell, present: listed.has(object) }];
    yield { operation, invokedAt, returnedAt, effect: { kind: 'read', needs } };
  }
}

export function registersOf(operations: readonly Operation[]): Registers {
  const cells = new Cells();
  const steps: RegisterStep[] = [];
  for (const operation of operations) {
    const { invokedAt } = operation;
    const returnedAt = isOpenWrite(operation) ? undefined : operation.returnedAt;
    const effect = effectOf(operation, cells);
    if (effect !== undefined) steps.push({ operation, invokedAt, returnedAt, effect });
    if (operation.kind === 'list' && operation.outcome?.kind === 'answer') {
      const { subject, relation } = operation.input;
      for (const object of operation.outcome.objects) cells.of({ subject, relation, object });
    }
  }
  for (const operation of operations) if (operation.kind === 'list') steps.push(...readsOf(operation, cells));
  return { steps, nameOf: (cell) => cells.nameOf(cell) };
}
