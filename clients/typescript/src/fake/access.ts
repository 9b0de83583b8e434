// The AuthZEN operations of the fake: evaluations and searches.

import type { Decision, Relation } from '../generated/schemas.ts';
import { evaluationOf, holdAll, isDefined, objectsOf } from './grants.ts';
import { type FakeOperation, type FakeRequest, ok } from './operation.ts';
import { pageOf } from './pages.ts';
import { invalidRequest, Refusal } from './problem.ts';
import type { FakeState } from './state.ts';
import {
  type Fields,
  fieldsIn,
  isFields,
  isIdentifier,
  isNamespaceName,
  type NamedTuple,
  namespaceOf,
  RELATIONS,
} from './values.ts';

type Part = 'subject' | 'action' | 'resource';

const EVALUATIONS_MAX = 100;
const LIMIT_MAX = 1000;
const TYPES = { subject: 'invalid-subject', action: 'invalid-relation', resource: 'invalid-object' } as const;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function textIn(fields: Fields, part: Part, name: string, place = ''): string {
  const entity = fields[part];
  const text = isFields(entity) ? entity[name] : undefined;
  if (typeof text === 'string') return text;
  throw new Refusal(400, TYPES[part], `"${place}${part}.${name}" must be a string.`);
}

/** Undefined: no grant can name it. */
function identifierOf(type: string, id: string): string | undefined {
  const identifier = `${type}:${id}`;
  return !type.includes(':') && isIdentifier(identifier) ? identifier : undefined;
}

function identifierIn(fields: Fields, part: 'subject' | 'resource', place: string): string {
  const identifier = identifierOf(textIn(fields, part, 'type', place), textIn(fields, part, 'id', place));
  if (identifier !== undefined) return identifier;
  throw new Refusal(400, TYPES[part], `"${place}${part}" is no identifier.`);
}

function questionIn(value: unknown, place = ''): NamedTuple {
  const fields = fieldsIn(value);
  const subject = identifierIn(fields, 'subject', place);
  const relation = textIn(fields, 'action', 'name', place);
  const object = identifierIn(fields, 'resource', place);
  return { subject, relation, object };
}

function decide(state: FakeState, question: NamedTuple): Decision {
  if (isDefined(state, question.relation)) return { decision: holdAll(state, [question])[0] === true };
  const reason = `The action "${question.relation}" is no relation, and no rule defines it.`;
  return { decision: false, context: { reason } };
}

function decideElement(state: FakeState, body: Fields, item: unknown, index: number): Decision {
  try {
    if (!isFields(item)) throw invalidRequest(`"evaluations[${index}]" must be an object.`);
    const { subject = body.subject, action = body.action, resource = body.resource } = item;
    return decide(state, questionIn({ subject, action, resource }, `evaluations[${index}].`));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { decision: false, context: { error: { status: error.status, message: error.message } } };
  }
}

const evaluate = ({ state, body }: FakeRequest) => ok(decide(state, questionIn(body)));

function evaluateMany({ state, body }: FakeRequest) {
  const fields = fieldsIn(body);
  const { evaluations, options } = fields;
  if (Array.isArray(evaluations) && evaluations.length > EVALUATIONS_MAX) {
    throw new Refusal(
      400,
      'bulk-too-large',
      `There are ${evaluations.length} evaluations; at most ${EVALUATIONS_MAX} are allowed.`,
    );
  }
  if (isAbsent(evaluations)) return ok(decide(state, questionIn(body)));
  if (!Array.isArray(evaluations)) throw invalidRequest('"evaluations" must be an array.');
  if (evaluations.length === 0) return ok(decide(state, questionIn(body)));
  const semantic = isFields(options) ? options.evaluations_semantic : undefined;
  const decisions = evaluations.map((item: unknown, index) => decideElement(state, fields, item, index));
  const settling = new Map<unknown, boolean>([
    ['deny_on_first_deny', false],
    ['permit_on_first_permit', true],
  ]).get(semantic);
  const end = decisions.findIndex(({ decision }) => decision === settling);
  return ok({ evaluations: settling === undefined || end < 0 ? decisions : decisions.slice(0, end + 1) });
}

function searchPage<T>(fields: Fields, found: readonly T[], textOf: (item: T) => string) {
  const page = isFields(fields.page) ? fields.page : {};
  const token = typeof page.token === 'string' && page.token !== '' ? page.token : null;
  const limit = typeof page.limit === 'number' ? Math.min(Math.max(1, page.limit), LIMIT_MAX) : LIMIT_MAX;
  const parts = (['subject', 'action', 'resource'] as const).map((part) => fields[part] ?? null);
  const { items, next } = pageOf(found, textOf, parts, token, limit);
  return ok({ page: { next_token: next ?? '', count: items.length }, results: items });
}

function entityPage(
  fields: Fields,
  wanted: 'subject' | 'resource',
  find: (known: string, action: string) => readonly string[],
) {
  const known = wanted === 'subject' ? 'resource' : 'subject';
  const type = textIn(fields, wanted, 'type');
  const identifier = identifierOf(textIn(fields, known, 'type'), textIn(fields, known, 'id'));
  const action = textIn(fields, 'action', 'name');
  const found = identifier === undefined || !isNamespaceName(type) ? [] : find(identifier, action);
  const ids = new Set(found.filter((each) => namespaceOf(each) === type).map((each) => each.slice(type.length + 1)));
  return searchPage(
    fields,
    [...ids].map((id) => ({ type, id })),
    ({ id }) => id,
  );
}

const searchSubjects = ({ state, body }: FakeRequest) =>
  entityPage(fieldsIn(body), 'subject', (object, action) =>
    isDefined(state, action) ? evaluationOf(state).subjectsOf(action, object) : [],
  );

const searchResources = ({ state, body }: FakeRequest) =>
  entityPage(fieldsIn(body), 'resource', (subject, action) =>
    isDefined(state, action) ? objectsOf(state, subject, action) : [],
  );

/** The derived names that rules define for the type; where there are none, the built-in relations. */
function actionsOn(state: FakeState, type: string): readonly string[] {
  const relations: readonly string[] = RELATIONS;
  const names = state.rules.rules.filter(({ namespace }) => namespace === type).map(({ name }) => name);
  const derived = names.filter((name) => !relations.includes(name as Relation));
  return derived.length > 0 ? derived : relations;
}

function searchActions({ state, body }: FakeRequest) {
  const fields = fieldsIn(body);
  const subject = identifierOf(textIn(fields, 'subject', 'type'), textIn(fields, 'subject', 'id'));
  const type = textIn(fields, 'resource', 'type');
  const object = identifierOf(type, textIn(fields, 'resource', 'id'));
  const names = subject === undefined || object === undefined ? [] : actionsOn(state, type);
  const questions = names.map((relation) => ({ subject: subject ?? '', relation, object: object ?? '' }));
  const held = holdAll(state, questions);
  const found = names.filter((_, index) => held[index]).map((name) => ({ name }));
  return searchPage(fields, found, ({ name }) => name);
}

const read = (answer: FakeOperation['answer']): FakeOperation => ({ scope: 'check:read', answer });

export const ACCESS_OPERATIONS: Readonly<Record<string, FakeOperation>> = {
  'POST /access/v1/evaluation': read(evaluate),
  'POST /access/v1/evaluations': read(evaluateMany),
  'POST /access/v1/search/subject': read(searchSubjects),
  'POST /access/v1/search/resource': read(searchResources),
  'POST /access/v1/search/action': read(searchActions),
};
