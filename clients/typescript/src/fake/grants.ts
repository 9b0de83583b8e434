// The operations of the fake on grants, checks and namespaces.

import type { Grant } from '../generated/schemas.ts';
import { Evaluation, factOf } from './evaluation.ts';
import { type FakeOperation, type FakeRequest, ok } from './operation.ts';
import { feedCursorOf, pageOf } from './pages.ts';
import { invalidRequest, Refusal } from './problem.ts';
import type { FakeState } from './state.ts';
import {
  CONTEXT,
  expiryIn,
  fieldsIn,
  GRANT,
  identifierIn,
  isFields,
  isIdentifier,
  isNamespaceName,
  isRelation,
  knownFieldsIn,
  limitIn,
  listIn,
  type NamedTuple,
  namespaceOf,
  PRECONDITION,
  questionIn,
  refuseCondition,
  relationIn,
  TUPLE,
  tupleIn,
} from './values.ts';

/** Of a bulk check and a bulk write. */
const BULK_MAX = 100;
/** Of one call that revokes many. */
const REVOKED_MAX = 1000;

const LISTING = { relation: true, namespace: true, via: true, limit: true, cursor: true, ...CONTEXT } as const;
const OBJECTS = { subject: true, ...LISTING } as const;
const SUBJECTS = { object: true, include: true, ...LISTING } as const;

const now = (): string => new Date().toISOString();

export const definedNames = ({ rules }: FakeState): ReadonlySet<string> => new Set(rules.rules.map(({ name }) => name));

/** `sent`: grants that count for one call. */
export const evaluationOf = (state: FakeState, sent: readonly Grant[] = []): Evaluation =>
  new Evaluation(state.rules, [...state.grants(), ...sent]);

/** The grants that a body brings along; its `context` has no effect, since the fake knows no conditions. */
function sentIn(body: unknown): readonly Grant[] {
  const { context, context_grants: grants } = fieldsIn(body);
  if (context !== undefined && !isFields(context)) throw invalidRequest('"context" must be an object.');
  return listIn(grants, 'context_grants', BULK_MAX).map((each, index) => {
    const tuple = tupleIn(each, `context_grants[${index}].`);
    refuseCondition(fieldsIn(each), `context_grants[${index}].`);
    return { ...tuple, grant_id: '', created_at: now(), expires_at: null };
  });
}

/** The answers to questions that are well-formed, all at one moment. */
export function holdAll(
  state: FakeState,
  questions: readonly NamedTuple[],
  sent: readonly Grant[] = [],
): readonly boolean[] {
  const evaluation = evaluationOf(state, sent);
  const held = new Map(questions.map(({ subject }) => [subject, evaluation.heldBy(subject)]));
  return questions.map(({ subject, relation, object }) => held.get(subject)?.has(factOf(relation, object)) === true);
}

function check({ state, body }: FakeRequest) {
  const { explain } = knownFieldsIn(body, { ...TUPLE, explain: true, ...CONTEXT });
  const question = questionIn(body, definedNames(state));
  const sent = sentIn(body);
  const chain = evaluationOf(state, sent).heldBy(question.subject).get(factOf(question.relation, question.object));
  const authorized = chain !== undefined;
  const because = chain?.filter((grant) => !sent.includes(grant));
  return ok({ authorized, checked_at: now(), ...(explain === true && authorized ? { because } : {}) });
}

function checkBulk({ state, body }: FakeRequest) {
  const { checks } = knownFieldsIn(body, { checks: TUPLE, ...CONTEXT });
  if (checks === undefined) throw invalidRequest('"checks" is missing.');
  const defined = definedNames(state);
  const questions = listIn(checks, 'checks', BULK_MAX).map((each, index) =>
    questionIn(each, defined, `checks[${index}].`),
  );
  return ok({
    results: holdAll(state, questions, sentIn(body)).map((authorized) => ({ authorized })),
    checked_at: now(),
  });
}

function createGrant({ state, body, actor }: FakeRequest) {
  const fields = knownFieldsIn(body, GRANT);
  const tuple = tupleIn(fields);
  refuseCondition(fields);
  const expiry = expiryIn(fields.expires_at);
  state.write();
  const { grant, created } = state.put(tuple, expiry, actor);
  return { status: created ? 201 : 200, body: grant };
}

function revokeGrant({ state, query, body, actor }: FakeRequest) {
  const tuple = tupleIn(body ?? Object.fromEntries(query));
  state.write();
  if (state.remove(tuple, actor)) return { status: 204 };
  throw new Refusal(404, 'grant-not-found', 'There is no such grant.');
}

function writeBulk({ state, body, actor }: FakeRequest) {
  const write = knownFieldsIn(body, { grants: GRANT, revocations: TUPLE, if: PRECONDITION });
  const grants = listIn(write.grants, 'grants', BULK_MAX).map((each, index) => {
    refuseCondition(fieldsIn(each), `grants[${index}].`);
    return {
      tuple: tupleIn(each, `grants[${index}].`),
      expiry: expiryIn(fieldsIn(each).expires_at, `grants[${index}].`),
    };
  });
  const revocations = listIn(write.revocations, 'revocations', BULK_MAX).map((each, index) =>
    tupleIn(each, `revocations[${index}].`),
  );
  const count = grants.length + revocations.length;
  if (count === 0) throw invalidRequest('There is nothing to grant or to revoke.');
  if (count > BULK_MAX)
    throw new Refusal(400, 'bulk-too-large', `There are ${count} changes; at most ${BULK_MAX} are allowed.`);
  const tuples = [...grants.map(({ tuple }) => tuple), ...revocations];
  const keys = new Set(tuples.map(({ subject, relation, object }) => `${subject} ${relation} ${object}`));
  if (keys.size < count) throw invalidRequest('A tuple occurs twice among the changes.');
  for (const [index, each] of listIn(write.if, 'if', BULK_MAX).entries()) {
    const { exists } = fieldsIn(each);
    const tuple = tupleIn(each, `if[${index}].`);
    if (typeof exists !== 'boolean') throw invalidRequest(`"if[${index}].exists" must be true or false.`);
    if ((state.grantOf(tuple) !== undefined) === exists) continue;
    throw new Refusal(412, 'precondition-failed', `The condition "if[${index}]" is not met.`);
  }
  state.write();
  return ok({
    grants: grants.map(({ tuple, expiry }) => {
      const { grant, created } = state.put(tuple, expiry, actor);
      return { ...grant, created };
    }),
    revocations: revocations.map((tuple) => ({ revoked: state.remove(tuple, actor) })),
  });
}

interface GrantFields {
  readonly subject: unknown;
  readonly object: unknown;
  readonly relation: unknown;
}

/** The grants of one subject, or on one object; never all. */
function selected(state: FakeState, { subject, object, relation }: GrantFields) {
  if ((subject === undefined) === (object === undefined)) {
    throw invalidRequest('Exactly one of "subject" and "object" must be given.');
  }
  const [name, value] = subject === undefined ? (['object', object] as const) : (['subject', subject] as const);
  const identifier = identifierIn(name, value);
  const wanted = relation === undefined ? undefined : relationIn(relation, new Set());
  return state
    .grants()
    .filter((grant) => grant[name] === identifier && (wanted === undefined || grant.relation === wanted));
}

function revokeGrants({ state, body, actor }: FakeRequest) {
  const { subject, object, relation } = knownFieldsIn(body, TUPLE);
  const found = selected(state, { subject, object, relation });
  state.write();
  const revoked = found.slice(0, REVOKED_MAX).filter((grant) => state.remove(grant, actor)).length;
  return ok({ revoked, complete: found.length <= REVOKED_MAX });
}

const queried = (query: URLSearchParams, name: string): string | undefined => query.get(name) ?? undefined;

function listGrants({ state, query }: FakeRequest) {
  const [subject, object, relation] = ['subject', 'object', 'relation'].map((name) => queried(query, name));
  const found = selected(state, { subject, object, relation });
  const { items, next } = pageOf(
    found,
    (grant) => `${grant.relation} ${grant.object} ${grant.subject}`,
    ['grants', subject, object, relation],
    query.get('cursor'),
    limitIn(query),
  );
  return ok({ grants: items, next_cursor: next }, { 'x-service-cursor': feedCursorOf(state.changes.length) });
}

/** Whether a parameter is given, which has one value. */
const hasOnly = (query: URLSearchParams, name: string, only: string): boolean => {
  const value = query.get(name);
  if (value !== null && value !== only) throw invalidRequest(`"${name}" must be ${only}.`);
  return value !== null;
};

const isDirect = (query: URLSearchParams): boolean => hasOnly(query, 'via', 'direct');

/** Objects, or subjects, in the namespace if one is wanted. */
function identifierPage(found: readonly string[], kind: string, query: URLSearchParams) {
  const namespace = query.get('namespace');
  if (namespace !== null && !isNamespaceName(namespace)) throw invalidRequest('"namespace" must name a namespace.');
  const wanted = new Set(found.filter((each) => namespace === null || namespaceOf(each) === namespace));
  const parameters = ['subject', 'object', 'relation', 'via', 'include'].map((name) => query.get(name));
  return pageOf(wanted, (each) => each, [kind, namespace, ...parameters], query.get('cursor'), limitIn(query));
}

/** The members of a body as the parameters of a query, which are the same. */
function queryOf(body: unknown): URLSearchParams {
  const { context: _, context_grants: __, ...members } = fieldsIn(body);
  return new URLSearchParams(Object.entries(members).map(([name, value]) => [name, String(value)]));
}

const listObjects = ({ state, query }: FakeRequest) => objectPage(state, query);
const listObjectsInContext = ({ state, body }: FakeRequest) =>
  objectPage(state, queryOf(body), sentIn(knownFieldsIn(body, OBJECTS)));

function objectPage(state: FakeState, query: URLSearchParams, sent: readonly Grant[] = []) {
  const subject = identifierIn('subject', queried(query, 'subject'));
  const relation = relationIn(queried(query, 'relation'), definedNames(state));
  const found = objectsOf(state, subject, relation, isDirect(query), sent);
  const { items, next } = identifierPage(found, 'objects', query);
  return ok({ objects: items, next_cursor: next });
}

export function objectsOf(
  state: FakeState,
  subject: string,
  relation: string,
  direct = false,
  sent: readonly Grant[] = [],
): readonly string[] {
  if (direct) {
    const grants = [...state.grants(), ...sent];
    return grants
      .filter((grant) => grant.subject === subject && grant.relation === relation)
      .map(({ object }) => object);
  }
  const start = factOf(relation, '');
  const facts = [...evaluationOf(state, sent).heldBy(subject).keys()];
  return facts.filter((fact) => fact.startsWith(start)).map((fact) => fact.slice(start.length));
}

const listSubjects = ({ state, query }: FakeRequest) => subjectPage(state, query);
const listSubjectsInContext = ({ state, body }: FakeRequest) =>
  subjectPage(state, queryOf(body), sentIn(knownFieldsIn(body, SUBJECTS)));

function subjectPage(state: FakeState, query: URLSearchParams, sent: readonly Grant[] = []) {
  const object = identifierIn('object', queried(query, 'object'));
  const relation = relationIn(queried(query, 'relation'), definedNames(state));
  const all = [...state.grants(), ...sent];
  const granted = all.filter((grant) => grant.object === object && grant.relation === relation);
  const self = hasOnly(query, 'include', 'self');
  const found = isDirect(query)
    ? granted.map(({ subject }) => subject)
    : evaluationOf(state, sent).subjectsOf(relation, object, self).filter(isIdentifier);
  const { items, next } = identifierPage(found, 'subjects', query);
  return ok({ subjects: items, next_cursor: next });
}

function listNamespaces({ state }: FakeRequest) {
  const all = [...state.namespaces].map(([name, created_at]) => ({ name, created_at }));
  const { items } = pageOf(all, ({ name }) => name, 'namespaces', null, all.length);
  return ok({ namespaces: items });
}

function createNamespace({ state, body, actor }: FakeRequest) {
  const { name } = knownFieldsIn(body, { name: true });
  if (!isNamespaceName(name)) throw invalidRequest('"name" must be the name of a namespace.');
  state.write();
  const { createdAt, created } = state.createNamespace(name, actor);
  return { status: created ? 201 : 200, body: { name, created_at: createdAt } };
}

const read = (answer: FakeOperation['answer']): FakeOperation => ({ scope: 'check:read', answer });
const write = (answer: FakeOperation['answer']): FakeOperation => ({ scope: 'grant:write', answer });

export const GRANT_OPERATIONS: Readonly<Record<string, FakeOperation>> = {
  'POST /v1/check': read(check),
  'POST /v1/check/bulk': read(checkBulk),
  'GET /v1/grants': read(listGrants),
  'POST /v1/grants': write(createGrant),
  'DELETE /v1/grants': write(revokeGrant),
  'POST /v1/grants/bulk': write(writeBulk),
  'POST /v1/grants/revoke': write(revokeGrants),
  'GET /v1/objects': read(listObjects),
  'POST /v1/objects': read(listObjectsInContext),
  'GET /v1/subjects': read(listSubjects),
  'POST /v1/subjects': read(listSubjectsInContext),
  'GET /v1/namespaces': read(listNamespaces),
  'POST /v1/namespaces': write(createNamespace),
};

/** Whether the name of a question is defined. */
export const isDefined = (state: FakeState, name: string): boolean => isRelation(name) || definedNames(state).has(name);
