// What every answer has to keep to by itself, or against the whole history without any search: ids are given once and
// keep their record, listings are in order, and a key opens nothing once its revocation was acknowledged.

import { compareUtf8 } from '../../../src/core/tuples.ts';
import type { Operation } from './history.ts';
import { findPageViolations } from './listing-rules.ts';
import { keyEndsOf, matches, tupleText } from './registers.ts';
import { singleWritesOf } from './single-writes.ts';

export interface RuleViolation {
  readonly rule: string;
  /** In order of time. */
  readonly operations: readonly Operation[];
}

export function* findRuleViolations(operations: readonly Operation[]): Generator<RuleViolation> {
  yield* findIdentityViolations(operations);
  yield* findClearViolations(operations);
  yield* findListingViolations(operations);
  yield* findPageViolations(operations);
  yield* findKeyViolations(operations);
  for (const operation of operations) {
    const { kind, input, outcome } = operation;
    if (kind === 'bulk' && outcome?.kind === 'answer' && outcome.authorized.length !== input.length)
      yield { rule: 'A bulk check has one result per check.', operations: [operation] };
    if (kind === 'write-bulk' && outcome?.kind === 'written') {
      const { grants, revocations } = input;
      if (outcome.grants.length !== grants.length || outcome.revoked.length !== revocations.length)
        yield { rule: 'A bulk write has one result per change.', operations: [operation] };
    }
    if (kind === 'write-bulk' && outcome?.kind === 'unmet' && input.preconditions[outcome.precondition] === undefined)
      yield { rule: 'A condition that is not met is one of the write.', operations: [operation] };
  }
}

/** Only what was asked for can be revoked; the rest, the registers judge. */
function* findClearViolations(operations: readonly Operation[]): Generator<RuleViolation> {
  for (const ofTenant of Map.groupBy(operations, ({ tenant }) => tenant).values()) {
    const clears = ofTenant.filter((operation) => operation.kind === 'clear');
    if (clears.length === 0) continue;
    const grants = singleWritesOf(ofTenant).filter(({ kind }) => kind === 'grant');
    for (const clear of clears) {
      if (clear.outcome?.kind !== 'cleared') continue;
      const matching = grants.filter(({ input }) => matches(clear.input, input)).map(({ input }) => tupleText(input));
      if (clear.outcome.count <= new Set(matching).size) continue;
      yield { rule: 'No more is revoked than was ever to be granted.', operations: [clear] };
    }
  }
}

function* findIdentityViolations(operations: readonly Operation[]): Generator<RuleViolation> {
  const created = new Map<string, Operation>();
  const records = new Map<string, { readonly text: string; readonly operation: Operation }>();
  for (const operation of singleWritesOf(operations)) {
    const { kind, tenant, input, outcome } = operation;
    if (kind !== 'grant' || outcome === undefined) continue;
    if (outcome.kind !== 'created' && outcome.kind !== 'exists') continue;
    const text = `${tenant} ${tupleText(input)} ${outcome.createdAt}`;
    const known = records.get(outcome.grantId);
    if (known !== undefined && known.text !== text)
      yield { rule: 'A grant id stands for one tuple and one moment.', operations: [known.operation, operation] };
    records.set(outcome.grantId, { text, operation });
    if (outcome.kind !== 'created') continue;
    const earlier = created.get(outcome.grantId);
    if (earlier !== undefined) yield { rule: 'A grant id is given by one creation.', operations: [earlier, operation] };
    created.set(outcome.grantId, operation);
  }
}

function* findListingViolations(operations: readonly Operation[]): Generator<RuleViolation> {
  for (const operation of operations) {
    if (operation.kind !== 'list' && operation.kind !== 'holders') continue;
    if (operation.outcome?.kind !== 'answer') continue;
    const { namespace, after } = operation.input;
    let previous = after;
    for (const name of 'objects' in operation.outcome ? operation.outcome.objects : operation.outcome.subjects) {
      if (previous !== undefined && compareUtf8(previous, name) >= 0) {
        yield { rule: 'A listing ascends by bytes, every object or subject once.', operations: [operation] };
        break;
      }
      if (namespace !== undefined && !name.startsWith(`${namespace}:`)) {
        yield { rule: 'A listing keeps to its namespace.', operations: [operation] };
        break;
      }
      previous = name;
    }
  }
}

function* findKeyViolations(operations: readonly Operation[]): Generator<RuleViolation> {
  const ended = keyEndsOf(operations);
  /** By key: the first attempt to end it. */
  const endBegun = new Map<string, number>();
  for (const operation of operations) {
    if (operation.kind !== 'revoke-key') continue;
    const { keyId } = operation.input;
    if (operation.outcome?.kind !== 'unauthorized' && operation.outcome?.kind !== 'refused')
      endBegun.set(keyId, Math.min(endBegun.get(keyId) ?? Number.POSITIVE_INFINITY, operation.invokedAt));
    if (operation.outcome?.kind !== 'revoked') continue;
    const first = ended.get(keyId);
    if (first !== undefined && first !== operation)
      yield { rule: 'A key is revoked once.', operations: inOrder([first, operation]) };
  }
  for (const operation of operations) {
    const { keyId, outcome, invokedAt, returnedAt } = operation;
    if (keyId === undefined || outcome === undefined || outcome.kind === 'refused') continue;
    const end = ended.get(keyId);
    if (outcome.kind !== 'unauthorized') {
      if (end?.returnedAt !== undefined && invokedAt > end.returnedAt)
        yield { rule: 'No request succeeds that began after its key was revoked.', operations: [end, operation] };
    } else if (returnedAt !== undefined && returnedAt < (endBegun.get(keyId) ?? Number.POSITIVE_INFINITY)) {
      yield { rule: 'A key opens until it is revoked.', operations: [operation] };
    }
  }
}

export function inOrder(operations: readonly Operation[]): Operation[] {
  return [...operations].sort((left, right) => left.invokedAt - right.invokedAt);
}
