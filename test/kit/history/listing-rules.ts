// What pages of exports, subjects and keys have to keep to, against the whole history and without a search: they
// ascend, every item once; what was there throughout the page is in it, and what nobody ever asked for is not. (Which
// grants an export may list, the registers judge.)

import { compareUtf8, type Tuple } from '../../../src/core/tuples.ts';
import type { Operation } from './history.ts';
import type { RuleViolation } from './plain-rules.ts';
import { orderOf, tupleText } from './registers.ts';
import { singleWritesOf } from './single-writes.ts';

type OperationOf<Kind extends Operation['kind']> = Operation & { readonly kind: Kind };

export function* findPageViolations(operations: readonly Operation[]): Generator<RuleViolation> {
  for (const ofTenant of Map.groupBy(operations, ({ tenant }) => tenant).values()) {
    const pages = ofTenant.filter(
      ({ kind, outcome }) =>
        (kind === 'export' || kind === 'subjects' || kind === 'keys') && outcome?.kind === 'answer',
    );
    if (pages.length === 0) continue;
    const subjects = pages.some(({ kind }) => kind === 'subjects') ? new SubjectsHeld(ofTenant) : undefined;
    const keys = pages.some(({ kind }) => kind === 'keys') ? new KeysHeld(ofTenant) : undefined;
    for (const page of pages) {
      if (page.kind === 'export') yield* judgeExport(page);
      if (page.kind === 'subjects') yield* subjects?.judge(page) ?? [];
      if (page.kind === 'keys') yield* keys?.judge(page) ?? [];
    }
  }
}

function* judgeExport(page: OperationOf<'export'>): Generator<RuleViolation> {
  if (page.outcome?.kind !== 'answer') return;
  const { subject, object, after } = page.input;
  const { grants } = page.outcome;
  if (!ascends(grants, after, orderOf(page.input))) {
    yield { rule: 'A listing of grants ascends, every grant once.', operations: [page] };
  }
  if (subject !== undefined && grants.some((grant) => grant.subject !== subject)) {
    yield { rule: 'A listing of grants keeps to its subject.', operations: [page] };
  }
  if (object !== undefined && grants.some((grant) => grant.object !== object)) {
    yield { rule: 'A listing of grants keeps to its object.', operations: [page] };
  }
}

function ascends<Item>(
  items: readonly Item[],
  after: Item | undefined,
  compare: (left: Item, right: Item) => number,
): boolean {
  return items.every((item, index) => {
    const previous = index === 0 ? after : items[index - 1];
    return previous === undefined || compare(previous, item) < 0;
  });
}

/** Whether the page covers the item's place. */
function covers(item: string, page: { readonly after: string | undefined; readonly more: boolean }, last?: string) {
  if (page.after !== undefined && compareUtf8(item, page.after) <= 0) return false;
  return !page.more || (last !== undefined && compareUtf8(item, last) <= 0);
}

/** A call that may have had its effect. */
const mayHaveDone = ({ outcome }: Operation): boolean =>
  outcome?.kind !== 'unauthorized' && outcome?.kind !== 'refused' && outcome?.kind !== 'not-found';

class SubjectsHeld {
  readonly #grants = new Map<string, OperationOf<'grant'>[]>();
  readonly #revocations = new Map<string, OperationOf<'revoke'>[]>();
  readonly #subjects = new Map<string, Map<string, Tuple>>();

  constructor(operations: readonly Operation[]) {
    for (const operation of singleWritesOf(operations)) {
      if (!mayHaveDone(operation)) continue;
      const name = tupleText(operation.input);
      if (operation.kind === 'revoke') listOf(this.#revocations, name).push(operation);
      else {
        listOf(this.#grants, name).push(operation);
        const { subject } = operation.input;
        const tuples = this.#subjects.get(subject) ?? new Map<string, Tuple>();
        this.#subjects.set(subject, tuples.set(name, operation.input));
      }
    }
  }

  *judge(page: OperationOf<'subjects'>): Generator<RuleViolation> {
    if (page.outcome?.kind !== 'answer' || page.returnedAt === undefined) return;
    const { subjects, more } = page.outcome;
    const { after } = page.input;
    const { returnedAt } = page;
    if (!ascends(subjects, after, compareUtf8)) {
      yield { rule: 'A listing of subjects ascends by bytes, every subject once.', operations: [page] };
    }
    const listed = new Set(subjects);
    for (const subject of listed) {
      const asked = [...(this.#subjects.get(subject)?.keys() ?? [])].flatMap((name) => this.#grants.get(name) ?? []);
      if (asked.some(({ invokedAt }) => invokedAt <= returnedAt)) continue;
      yield { rule: `No subject is listed that was never granted anything: ${subject}.`, operations: [page] };
    }
    for (const [subject, tuples] of this.#subjects) {
      if (listed.has(subject) || !covers(subject, { after, more }, subjects.at(-1))) continue;
      for (const name of tuples.keys()) {
        const grant = this.#heldThroughout(name, page.input.since ?? page.invokedAt, returnedAt);
        if (grant === undefined) continue;
        yield { rule: `A subject with a grant is listed: ${subject}.`, operations: [grant, page] };
        break;
      }
    }
  }

  /** A grant since which no revocation can have been before the page was answered. */
  #heldThroughout(name: string, fromAt: number, toAt: number): Operation | undefined {
    const revocations = (this.#revocations.get(name) ?? []).filter(({ invokedAt }) => invokedAt <= toAt);
    return this.#grants.get(name)?.find(({ invokedAt, returnedAt, outcome }) => {
      if (outcome === undefined || returnedAt === undefined || returnedAt >= fromAt) return false;
      return !revocations.some((other) => other.outcome === undefined || (other.returnedAt ?? 0) >= invokedAt);
    });
  }
}

class KeysHeld {
  readonly #created: OperationOf<'create-key'>[] = [];
  readonly #revocations = new Map<string, OperationOf<'revoke-key'>[]>();
  /** By name: the key that a listing showed first. */
  readonly #shown = new Map<string, { readonly keyId: string; readonly page: Operation }>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      if (operation.kind === 'create-key' && mayHaveDone(operation)) this.#created.push(operation);
      if (operation.kind === 'revoke-key') listOf(this.#revocations, operation.input.keyId).push(operation);
    }
  }

  *judge(page: OperationOf<'keys'>): Generator<RuleViolation> {
    if (page.outcome?.kind !== 'answer' || page.returnedAt === undefined) return;
    const { keys, more } = page.outcome;
    const { after } = page.input;
    const ids = keys.map(({ keyId }) => keyId);
    const { invokedAt, returnedAt } = page;
    const sinceAt = page.input.since ?? invokedAt;
    if (!ascends(ids, after, compareUtf8)) {
      yield { rule: 'A listing of keys ascends by id, every key once.', operations: [page] };
    }
    for (const { keyId, name } of keys) {
      const asked = this.#created.find(
        ({ input, outcome }) => input.name === name && (outcome?.kind !== 'key' || outcome.keyId === keyId),
      );
      if (asked === undefined || asked.invokedAt > returnedAt) {
        yield { rule: `No key is listed that was never asked for: ${keyId} (${name}).`, operations: [page] };
      }
      const shown = this.#shown.get(name) ?? { keyId, page };
      this.#shown.set(name, shown);
      if (shown.keyId !== keyId) yield { rule: 'One request makes one key.', operations: [shown.page, page] };
      const end = this.#ends(keyId).find((revocation) => (revocation.returnedAt ?? invokedAt) < invokedAt);
      if (end !== undefined) yield { rule: 'A revoked key is not listed.', operations: [end, page] };
    }
    for (const creation of this.#created) {
      if (creation.outcome?.kind !== 'key' || (creation.returnedAt ?? sinceAt) >= sinceAt) continue;
      const { keyId } = creation.outcome;
      if (ids.includes(keyId) || !covers(keyId, { after, more }, ids.at(-1))) continue;
      const revocations = this.#revocations.get(keyId) ?? [];
      if (revocations.some((other) => mayHaveDone(other) && other.invokedAt <= returnedAt)) continue;
      yield { rule: `A key that is not revoked is listed: ${keyId}.`, operations: [creation, page] };
    }
  }

  /** What said that the key is no more. */
  #ends(keyId: string): readonly Operation[] {
    const revocations = this.#revocations.get(keyId) ?? [];
    return revocations.filter(({ outcome }) => outcome?.kind === 'revoked' || outcome?.kind === 'not-found');
  }
}

function listOf<Item>(lists: Map<string, Item[]>, name: string): Item[] {
  const list = lists.get(name) ?? [];
  lists.set(name, list);
  return list;
}
