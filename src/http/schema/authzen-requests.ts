// Requests of the AuthZEN Authorization API 1.0 (https://openid.net/specs/authorization-api-1_0.html): evaluations, one
// or many. A `{type, id}` is the identifier `type:id`, and the name of an action that of a relation. The
// `context` has values for conditions; attributes, in `properties`, must be well-formed and are otherwise ignored.
// Invariant: different pairs of type and id never make the same identifier.

import { type CallContext, parseContext } from '../../core/call-context.ts';
import { type ErrorCode, GrantdError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json-members.ts';
import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import { isIdentifier } from '../../core/tuples.ts';
import type { ContextualCheck } from '../../front/front.ts';

export const SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const;
export type Semantic = (typeof SEMANTICS)[number];

type EntityName = 'subject' | 'action' | 'resource';

const CODES: Readonly<Record<EntityName, ErrorCode>> = {
  subject: 'invalid-subject',
  action: 'invalid-relation',
  resource: 'invalid-object',
};

const IDENTIFIER_FAULT =
  'is not an identifier: the type must be a letter, then up to 63 letters, digits, "_", "." or "-"; the id 1 to 256 characters without white space or control characters';

/** Some clients send `null` for an absent field. */
export const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

function refuse(code: ErrorCode, field: string, must: string, value: unknown): never {
  throw new GrantdError(code, `"${field}" must be ${must}; it ${value === undefined ? 'is missing' : 'is not'}.`);
}

/** `context`, `properties`: an object, or absent. */
export function demandAttributes(value: unknown, field: string, code: ErrorCode = 'invalid-request'): void {
  if (!isAbsent(value) && !isJsonObject(value)) refuse(code, field, 'an object', value);
}

/** `place`: before the name of a field in messages. */
export function entityIn(fields: JsonObject, name: EntityName, place = ''): JsonObject {
  const entity = fields[name];
  if (!isJsonObject(entity)) refuse(CODES[name], place + name, 'an object', entity);
  demandAttributes(entity.properties, `${place}${name}.properties`, CODES[name]);
  return entity;
}

export function textIn(entity: JsonObject, name: EntityName, part: 'type' | 'id' | 'name', place = ''): string {
  const text = entity[part];
  if (typeof text !== 'string') refuse(CODES[name], `${place}${name}.${part}`, 'a string', text);
  return text;
}

/** Undefined: no grant can name it. A type with a colon would be cut in two. */
export function identifierOf(type: string, id: string): string | undefined {
  const identifier = `${type}:${id}`;
  return !type.includes(':') && isIdentifier(identifier) ? identifier : undefined;
}

function identifierIn(fields: JsonObject, name: 'subject' | 'resource', place: string): string {
  const entity = entityIn(fields, name, place);
  const identifier = identifierOf(textIn(entity, name, 'type', place), textIn(entity, name, 'id', place));
  if (identifier === undefined) throw new GrantdError(CODES[name], `"${place}${name}" ${IDENTIFIER_FAULT}.`);
  return identifier;
}

export const actionIn = (fields: JsonObject, place = ''): string =>
  textIn(entityIn(fields, 'action', place), 'action', 'name', place);

export function demandBody(body: unknown): JsonObject {
  if (!isJsonObject(body)) throw new GrantdError('invalid-request', 'The body must be a JSON object.');
  return body;
}

/** The context of a request: values for conditions. Absent where it is `null` or empty. */
export function parseAttributes(value: unknown, field: string): Pick<CallContext, 'context'> {
  demandAttributes(value, field);
  return isAbsent(value) ? {} : parseContext(value, field);
}

function questionIn(fields: JsonObject, place: string): Omit<ContextualCheck, 'context'> {
  const subject = identifierIn(fields, 'subject', place);
  const relation = actionIn(fields, place);
  const object = identifierIn(fields, 'resource', place);
  return { subject, relation, object };
}

/** The relation is any text: only the owner knows whether rules define it. Throws for the first bad field. */
export function parseEvaluation(body: unknown): ContextualCheck {
  const fields = demandBody(body);
  return { ...questionIn(fields, ''), ...parseAttributes(fields.context, 'context') };
}

/** An element of `evaluations`; its fault affects no other element. */
export type Item = { readonly question: ContextualCheck } | { readonly error: GrantdError };

export type Evaluations =
  | { readonly kind: 'one'; readonly question: ContextualCheck }
  | { readonly kind: 'many'; readonly items: readonly Item[]; readonly semantic: Semantic };

/** Throws for a bad field outside `evaluations`. */
export function parseEvaluations(value: unknown): Evaluations {
  const body = demandBody(value);
  const { evaluations } = body;
  if (Array.isArray(evaluations) && evaluations.length > BULK_CHECKS_MAX) {
    throw new GrantdError(
      'bulk-too-large',
      `"evaluations" holds ${evaluations.length} evaluations; at most ${BULK_CHECKS_MAX} are allowed.`,
    );
  }
  const semantic = semanticIn(body);
  if (isAbsent(evaluations)) return { kind: 'one', question: parseEvaluation(body) };
  if (!Array.isArray(evaluations)) refuse('invalid-request', 'evaluations', 'an array', evaluations);
  if (evaluations.length === 0) return { kind: 'one', question: parseEvaluation(body) };
  demandDefaults(body);
  // Parsed once, however many elements use it: it may be longer than all of them.
  const defaultContext = once(() => parseAttributes(body.context, 'context'));
  // Entities replace defaults as a whole; `null` does not replace one.
  const items = evaluations.map((item: unknown, index) =>
    itemOf(() => {
      const place = `evaluations[${index}]`;
      if (!isJsonObject(item)) refuse('invalid-request', place, 'an object', item);
      const { subject = body.subject, action = body.action, resource = body.resource, context } = item;
      const question = questionIn({ subject, action, resource }, `${place}.`);
      return {
        ...question,
        ...(context === undefined ? defaultContext() : parseAttributes(context, `${place}.context`)),
      };
    }),
  );
  return { kind: 'many', items, semantic };
}

function semanticIn({ options }: JsonObject): Semantic {
  if (isAbsent(options)) return 'execute_all';
  if (!isJsonObject(options)) refuse('invalid-request', 'options', 'an object', options);
  const { evaluations_semantic: given } = options;
  if (isAbsent(given)) return 'execute_all';
  const semantic = SEMANTICS.find((each) => each === given);
  return semantic ?? refuse('invalid-request', 'options.evaluations_semantic', `one of ${SEMANTICS.join(', ')}`, given);
}

/** Defaults may lack a part, as long as no element uses them; what they have is of its type. */
function demandDefaults(body: JsonObject): void {
  for (const [name, parts] of [
    ['subject', ['type', 'id']],
    ['action', ['name']],
    ['resource', ['type', 'id']],
  ] as const) {
    if (isAbsent(body[name])) continue;
    const entity = entityIn(body, name);
    for (const part of parts) if (entity[part] !== undefined) textIn(entity, name, part);
  }
  demandAttributes(body.context, 'context');
}

/** A fault of one element affects no other. */
function itemOf(question: () => ContextualCheck): Item {
  try {
    return { question: question() };
  } catch (error) {
    if (error instanceof GrantdError) return { error };
    throw error;
  }
}

/** Returns what it returned, or throws what it threw, at the first call. */
function once<Value>(make: () => Value): () => Value {
  let outcome: { readonly value: Value } | { readonly error: unknown } | undefined;
  return () => {
    outcome ??= outcomeOf(make);
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
}

function outcomeOf<Value>(make: () => Value): { readonly value: Value } | { readonly error: unknown } {
  try {
    return { value: make() };
  } catch (error) {
    return { error };
  }
}
