// Checks. Single ones, the hot path, have columns of their own instead of a call each, and no row in the table of
// calls: the front's outbox writes them, the peer's stream reads and serves them, and the shard itself requires their
// scope. The codec (codec/) writes the bytes of bulk checks by hand too, since every check pays for them.

import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import { namespaceOf, type TupleColumns } from '../../core/tuples.ts';
import { isRuleName } from '../../rules/rule-set.ts';
import type { BulkAnswer, CheckAnswer, NamedChecks, TenantConnection } from '../../shard/shard.ts';
import type { ReceivedCheckBulk, ReceivedChecks } from '../messages.ts';
import { CHECKS_PER_MESSAGE_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { callContextFrom, callContextToWire, contextFrom } from './call-context.ts';
import { defineCall } from './define-call.ts';
import { demandIdentifiers, demandTuple } from './fields.ts';
import { grant } from './grants.ts';
import * as s from './schema.ts';

const BULK_CHECK_MS = 0.01;
export const NAMED_CHECK_MS = 0.02;

/** A single check, as a message carries it. */
export interface SingleCheck {
  readonly subject: string;
  /** The number of a built-in relation, or `NAMED`. */
  readonly relation: number;
  readonly object: string;
  /** Only if it is named. */
  readonly name: string;
  /** Canonical JSON; empty: none. Only a named check has one. */
  readonly context: string;
}

/** The relation of a check that has a name instead. */
export const NAMED = 0;

/** Refuses columns of unequal length. `demandCheck` validates the checks one by one. */
export function demandColumns(checks: ReceivedChecks): void {
  const count = checks.ids.length;
  demand(count <= CHECKS_PER_MESSAGE_MAX, `A message has more than ${CHECKS_PER_MESSAGE_MAX} checks.`);
  demand(
    checks.handles.length === count &&
      checks.subjects.length === count &&
      checks.relations.length === count &&
      checks.objects.length === count,
    'The columns of the checks differ in length.',
  );
  const named = checks.relations.filter((relation) => relation === NAMED).length;
  demand(
    checks.names.length === named && checks.contexts.length === named,
    'The names of the checks differ from the checks in number.',
  );
}

export function demandCheck(handle: number, subject: string, relation: number, object: string): void {
  demand(handle > 0, 'A check has no handle.');
  demandTuple(subject, relation, object);
}

/** A single check by name, under a handle. */
export interface NamedCheck extends Omit<SingleCheck, 'relation'> {
  readonly handle: number;
}

export function demandNamed({ handle, subject, name, object, context }: NamedCheck): void {
  demand(handle > 0, 'A check has no handle.');
  demandIdentifiers(subject, object);
  demand(isRuleName(name), 'A check has no name.');
  if (context !== '') contextFrom(context);
}

/** Answers as `checkNamed` does. Throws if the handle lacks the right. */
export async function serveNamed(
  connection: TenantConnection,
  { handle, subject, name, object, context }: NamedCheck,
): Promise<CheckAnswer> {
  connection.demandRight(handle, 'check:read');
  const checks = [{ subject, relation: name, object }];
  const call = context === '' ? {} : { context };
  const request = { checks, list: '', explain: false, denyUndefined: false, ...call };
  const { authorized, checkedAtMs } = await connection.call('checkNamed', { handle }, request);
  return { authorized: authorized[0] === true, checkedAtMs };
}

function bulkFrom(bulk: ReceivedCheckBulk): TupleColumns {
  const { subjects, relations, objects } = bulk;
  demand(subjects.length <= BULK_CHECKS_MAX, `A bulk call has more than ${BULK_CHECKS_MAX} checks.`);
  demand(
    relations.length === subjects.length && objects.length === subjects.length,
    'The columns of a bulk call differ in length.',
  );
  for (let index = 0; index < subjects.length; index += 1) {
    demandTuple(subjects[index] ?? '', relations[index] ?? 0, objects[index] ?? '');
  }
  return bulk;
}

interface WireNamed {
  readonly subjects: readonly string[];
  readonly names: readonly string[];
  readonly objects: readonly string[];
  readonly explain: boolean;
  readonly list: string;
  readonly denyUndefined: boolean;
  readonly callContext: unknown;
  readonly contexts: readonly string[];
  readonly contextOf: readonly number[];
}

function namedFrom(request: WireNamed): NamedChecks {
  const { subjects, names, objects, explain, list, denyUndefined, contexts, contextOf } = request;
  const { length } = subjects;
  demand(length <= BULK_CHECKS_MAX, `A call has more than ${BULK_CHECKS_MAX} checks.`);
  demand(names.length === length && objects.length === length, 'The columns of the checks differ in length.');
  const checks = subjects.map((subject, index) => {
    const relation = names[index] ?? '';
    const object = objects[index] ?? '';
    demandIdentifiers(subject, object);
    demand(isRuleName(relation), 'A check has no name.');
    return { subject, relation, object };
  });
  demand(contextOf.length === 0 || contextOf.length === length, 'The columns of the checks differ in length.');
  const own = contextOf.length === 0 && contexts.length === 0 ? {} : { contexts: contextsFrom(contexts, contextOf) };
  return { checks, explain, list, denyUndefined, ...callContextFrom(request.callContext), ...own };
}

/** Checks mostly share a context, which may be as long as all of them. */
function contextsToWire(contexts: readonly string[]): Pick<WireNamed, 'contexts' | 'contextOf'> {
  const distinct = [...new Set(contexts)];
  const indices = new Map(distinct.map((context, index) => [context, index]));
  return { contexts: distinct, contextOf: contexts.map((context) => indices.get(context) ?? 0) };
}

/** The reverse. The contexts are distinct, in the order in which the checks use them first. */
function contextsFrom(contexts: readonly string[], contextOf: readonly number[]): readonly string[] {
  const order = [...new Set(contextOf)];
  demand(
    order.length === contexts.length && order.every((index, at) => index === at),
    'The contexts of the checks are not those that they name.',
  );
  demand(new Set(contexts).size === contexts.length, 'A context is there twice.');
  const distinct = contexts.map(contextFrom);
  return contextOf.map((index) => distinct[index] ?? '');
}

/** The namespaces of the checks that are denied. */
function namespacesDenied(
  subjects: readonly string[],
  objects: readonly string[],
  { authorized }: Pick<BulkAnswer, 'authorized'>,
): readonly string[] {
  const denied = (entities: readonly string[]): readonly string[] =>
    entities.filter((_, index) => authorized[index] !== true).map(namespaceOf);
  return [...new Set([...denied(subjects), ...denied(objects)])];
}

/** A check without a proof, or a reason, has an empty one. */
const sparseTexts = s.converted(
  s.list(s.text),
  (texts: readonly string[]) => Array.from(texts, (text = '') => text),
  (texts) => texts,
);

const oneEach = ({ authorized }: BulkAnswer, checks: readonly unknown[]): void =>
  demand(authorized.length === checks.length, `${checks.length} checks have ${authorized.length} results.`);

export const checkCalls = {
  checkBulk: defineCall('checkBulk', {
    access: 'check:read',
    costMs: BULK_CHECK_MS,
    per: ['subjects'],
    // Relations have the same numbers in the core; the columns are not copied.
    request: s.own<TupleColumns>((checks) => checks, bulkFrom),
    namespacesDenied: ({ subjects, objects }, answer) => namespacesDenied(subjects, objects, answer),
    reply: 'bulkResults',
    answer: s.message({ authorized: s.list(s.flag), checkedAtMs: s.int64 }),
    fits: (answer, { subjects }) => oneEach(answer, subjects),
  }),

  /** Checks of names that rules may define, and checks with their reasons. */
  checkNamed: defineCall('checkNamed', {
    access: 'check:read',
    costMs: NAMED_CHECK_MS,
    per: ['subjects'],
    request: s.own<NamedChecks>(
      ({ checks, explain, list, denyUndefined, contexts = [], ...rest }) => ({
        subjects: checks.map(({ subject }) => subject),
        names: checks.map(({ relation }) => relation),
        objects: checks.map(({ object }) => object),
        explain,
        list,
        denyUndefined,
        ...contextsToWire(contexts),
        ...callContextToWire(rest),
      }),
      namedFrom,
    ),
    namespacesDenied: ({ checks }, answer) =>
      namespacesDenied(
        checks.map(({ subject }) => subject),
        checks.map(({ object }) => object),
        answer,
      ),
    reply: 'namedResults',
    answer: s.message({
      authorized: s.list(s.flag),
      checkedAtMs: s.int64,
      because: s.list(s.only('grants', s.list(grant))),
      proofs: sparseTexts,
      reasons: sparseTexts,
      undefinedAt: s.list(s.uint32),
      hints: s.list(s.text),
    }),
    fits: (answer, { checks, explain }) => {
      oneEach(answer, checks);
      const { because, proofs, reasons, undefinedAt, hints } = answer;
      demand(!explain || because.length === checks.length, 'The reasons and the checks are not as many.');
      demand(proofs.length <= checks.length, 'There are more proofs than checks.');
      demand(reasons.length <= checks.length, 'There are more reasons than checks.');
      const ascending = undefinedAt.every((index, at) => index > (undefinedAt[at - 1] ?? -1) && index < checks.length);
      demand(ascending, 'The reply names checks that the call does not have.');
      demand(hints.length <= undefinedAt.length, 'There are more hints than names without a meaning.');
    },
  }),
};
