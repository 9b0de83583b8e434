// Tuples: the three strings of a grant and the rules for each. Identifiers are split at the first colon and compared
// byte for byte, without case folding or normalisation. A relation is one of the built-in ones or one that the tenant
// has declared: a text alone shows its form, and only the owner of the tenant knows what is declared.

import { assert } from './assert.ts';
import { GrantdError } from './errors.ts';
import { attributesOf, type GrantAttributes } from './grant-attributes.ts';
import { firstNames, nearestName } from './json-members.ts';

/** In the order of their wire numbers, which start at 1. Relations are only ever appended. */
export const RELATIONS = Object.freeze([
  'owner',
  'admin',
  'manager',
  'editor',
  'commenter',
  'viewer',
  'member',
  'guest',
  'parent',
] as const);

export type BuiltInRelation = (typeof RELATIONS)[number];

declare const ownRelation: unique symbol;

/** A text of the form of a tenant's own relation, whether or not the tenant declares it. Made by `isRelationName`. */
export type OwnRelation = string & { readonly [ownRelation]: true };

export type Relation = BuiltInRelation | OwnRelation;

const relationNumbers: ReadonlyMap<string, number> = new Map(RELATIONS.map((name, index) => [name, index + 1]));

/** 1 to 9, or undefined for anything that is not a built-in relation. */
export function relationNumber(relation: string): number | undefined {
  return relationNumbers.get(relation);
}

/** 1 to 9. */
export function wireNumberOf(relation: BuiltInRelation): number {
  const number = relationNumber(relation);
  assert(number !== undefined, 'a built-in relation has a number');
  return number;
}

/** The built-in relation of a wire number, or undefined. */
export function relationOf(number: number): BuiltInRelation | undefined {
  return RELATIONS[number - 1];
}

export function isRelation(text: string): text is BuiltInRelation {
  return relationNumbers.has(text);
}

export const RELATION_PATTERN = '[A-Za-z][A-Za-z0-9_.-]{0,63}';
const RELATION_REGEX = new RegExp(`^${RELATION_PATTERN}$`);

/** Whether the text is a built-in relation, or has the form of an own one. */
export function isRelationName(text: string): text is Relation {
  return relationNumbers.has(text) || RELATION_REGEX.test(text);
}

export interface Tuple {
  /** `namespace:external_id` */
  readonly subject: string;
  readonly relation: Relation;
  /** `namespace:external_id` */
  readonly object: string;
}

/** A tuple that means the same to every tenant. */
export interface BuiltInTuple extends Tuple {
  readonly relation: BuiltInRelation;
}

/** Tuples as messages carry them, in columns: as objects they would be created again at each end. */
export interface TupleColumns {
  readonly subjects: readonly string[];
  /** Wire numbers; in the memory of a tenant also those of its own relations. */
  readonly relations: readonly number[];
  readonly objects: readonly string[];
}

export const columnsOf = (tuples: readonly BuiltInTuple[]): TupleColumns => columnsBy(tuples, wireNumberOf);

/** `numberOf`: the numbers of the relations. */
export const columnsBy = <Each extends Tuple>(
  tuples: readonly Each[],
  numberOf: (relation: Each['relation']) => number,
): TupleColumns => ({
  subjects: tuples.map(({ subject }) => subject),
  relations: tuples.map(({ relation }) => numberOf(relation)),
  objects: tuples.map(({ object }) => object),
});

export interface Grant extends Tuple, GrantAttributes {}

/** Only the tuple and the attributes, in the order of the log. */
export const grantOf = ({ subject, relation, object }: Tuple, attributes: GrantAttributes): Grant => ({
  subject,
  relation,
  object,
  ...attributesOf(attributes),
});

export interface Namespace {
  readonly name: string;
  /** Wall clock, ms since the Unix epoch. */
  readonly createdAtMs: number;
}

/** In code points. */
const [NAMESPACE_LENGTH_MAX, EXTERNAL_ID_LENGTH_MAX] = [64, 256];

export const NAMESPACE_PATTERN = '[A-Za-z][A-Za-z0-9_.-]{0,63}';

/**
 * Unicode general categories Cc and Cs and the property White_Space, written out so that every regex engine reads them
 * alike.
 */
const EXTERNAL_ID_PATTERN =
  '[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ud800-\\udfff]{1,256}';

/** `namespace:external_id`; the external id has 1 to 256 code points. */
export const IDENTIFIER_PATTERN = `${NAMESPACE_PATTERN}:${EXTERNAL_ID_PATTERN}`;

/** Code points: of the namespace, the colon, and the external id. */
export const IDENTIFIER_LENGTH_MAX = NAMESPACE_LENGTH_MAX + 1 + EXTERNAL_ID_LENGTH_MAX;

export const NAMESPACE_REGEX = new RegExp(`^${NAMESPACE_PATTERN}$`, 'u');
export const IDENTIFIER_REGEX = new RegExp(`^${IDENTIFIER_PATTERN}$`, 'u');

export function isIdentifier(text: unknown): text is string {
  return typeof text === 'string' && IDENTIFIER_REGEX.test(text);
}

/**
 * The subject of states, and of them alone: a state is granted to its object, and holds for every subject. It is no
 * identifier, and sorts before each of them.
 */
export const EVERY_SUBJECT = '*';

export function isSubject(text: unknown): text is string {
  return text === EVERY_SUBJECT || isIdentifier(text);
}

export function isNamespaceName(text: unknown): text is string {
  return typeof text === 'string' && NAMESPACE_REGEX.test(text);
}

/** The part before the first colon. `identifier` must be a valid identifier. */
export function namespaceOf(identifier: string): string {
  return identifier.slice(0, identifier.indexOf(':'));
}

/** Each once. The subject of states is of none. */
export const namespacesOf = (...entities: readonly string[]): ReadonlySet<string> =>
  new Set(entities.filter((entity) => entity !== EVERY_SUBJECT).map(namespaceOf));

/** Counted from 1, in code points. */
const placeOf = (text: string, index: number): string => `at character ${[...text.slice(0, index)].length + 1}`;

function externalIdFault(text: string, start: number): string {
  const id = text.slice(start);
  if (id === '') return 'has nothing after the colon';
  // The code points of a text that is too long in any case are not counted.
  if (id.length > 2 * EXTERNAL_ID_LENGTH_MAX || [...id].length > EXTERNAL_ID_LENGTH_MAX) {
    return `has more than ${EXTERNAL_ID_LENGTH_MAX} characters after the colon`;
  }
  const space = id.search(/\p{White_Space}/u);
  if (space >= 0) return `has white space ${placeOf(text, start + space)}`;
  const unfit = id.search(/[\p{Cc}\p{Cs}]/u);
  return `has a control character or half of a surrogate pair ${placeOf(text, start + unfit)}`;
}

/** Which rule a text breaks that is not an identifier; completes the sentence `it …`. */
export function identifierFault(text: string): string {
  if (text === '') return 'is empty';
  const colon = text.indexOf(':');
  if (colon < 0) return 'has no colon';
  if (colon === 0) return 'has nothing before the colon';
  const namespace = text.slice(0, colon);
  if (!/^[A-Za-z]/.test(namespace)) return 'has a namespace that does not start with a letter';
  const index = namespace.search(/[^A-Za-z0-9_.-]/);
  if (index >= 0) {
    const character = namespace.charAt(index);
    const what = /^[!-~]$/.test(character) ? JSON.stringify(character) : 'a character that is not allowed';
    return `has ${what} ${placeOf(text, index)}; a namespace contains only letters, digits, "_", "." and "-"`;
  }
  if (namespace.length > NAMESPACE_LENGTH_MAX) {
    return `has more than ${NAMESPACE_LENGTH_MAX} characters before the colon`;
  }
  return externalIdFault(text, colon + 1);
}

/** No built-in relation is longer, so a longer text is never one with other capitals. */
const RELATION_LENGTH_MAX = 16;
const FAULT_SHOWN_MAX = 64;

/** Why a text is not a relation; completes the sentence `it …`. */
export function relationFault(text: string): string {
  const small = text.length <= RELATION_LENGTH_MAX ? text.toLowerCase() : '';
  return isRelation(small) ? `is not one of them; write ${small}, in lower case` : 'is not one of them';
}

/** Why a text cannot be granted as a relation; completes the sentence `it …`. `known`: candidates for a hint. */
export function grantedFault(text: string, known: readonly string[] = []): string {
  const fault = relationFault(text);
  if (text.length > FAULT_SHOWN_MAX) return fault;
  const nearest = fault.includes(';') ? undefined : nearestName(text, known);
  const derived = fault.includes(';') ? '' : '; names that rules define are asked about, and cannot be granted';
  const hint = nearest === undefined ? derived : `; did you mean ${JSON.stringify(nearest)}?`;
  return `is ${JSON.stringify(text)}, which ${fault}${hint}`;
}

const describe = (value: unknown, faultOf: (text: string) => string): string =>
  value === undefined ? 'is missing' : typeof value === 'string' ? faultOf(value) : 'is not a string';

/** `checks[3].subject`, formatted only on error. */
export const fieldOf = (name: string, list: string | undefined, index: number): string =>
  list === undefined ? name : `${list}[${index}].${name}`;

/** Added to the message about a missing field: `, and so is "object"`; nothing if no other field is missing. */
export function alsoMissing(fields: readonly string[]): string {
  const quoted = fields.map((field) => `"${field}"`);
  if (quoted.length === 0) return '';
  return `, and so ${quoted.length === 1 ? 'is' : 'are'} ${quoted.join(' and ')}`;
}

/**
 * A subject may be `*`. Throws `invalid-subject` or `invalid-object`; `list` and `index` name the place in the message.
 */
export function parseIdentifier(name: 'subject' | 'object', value: unknown, list?: string, index = 0): string {
  if (isIdentifier(value) || (name === 'subject' && value === EVERY_SUBJECT)) return value;
  const field = fieldOf(name, list, index);
  const fault = describe(value, identifierFault);
  throw new GrantdError(`invalid-${name}`, `"${field}" must be namespace:external_id; it ${fault}.`);
}

/** What a relation of a grant must be, for messages about one whose tenant is not known yet. */
export const RELATION_RULE = `one of ${RELATIONS.join(', ')}, or one of the tenant's own relations`;

/**
 * Throws `invalid-relation` unless the value is a built-in relation or has the form of an own one. `rule`: what the
 * message says that it must be, and why a text is not.
 */
export function parseRelation(
  value: unknown,
  list?: string,
  index = 0,
  { must, faultOf }: { readonly must: string; readonly faultOf: (text: string) => string } = GRANTED,
): Relation {
  if (typeof value === 'string' && isRelationName(value)) return value;
  throw new GrantdError(
    'invalid-relation',
    `"${fieldOf('relation', list, index)}" must be ${must}; it ${describe(value, faultOf)}.`,
  );
}

const GRANTED = { must: RELATION_RULE, faultOf: (text: string) => grantedFault(text) };

/** Why a relation that the tenant does not declare cannot be granted. `own`: the relations that it declares. */
export function undeclaredMessage(relation: string, own: readonly string[], list?: string, index = 0): string {
  const known = [...RELATIONS, ...own];
  const fault = grantedFault(relation, known);
  const end = fault.endsWith('?') ? '' : '.';
  return `"${fieldOf('relation', list, index)}" must be one of ${firstNames(known)}; it ${fault}${end}`;
}

/** Why another relation than a state cannot be granted to `*`. `states`: of the tenant, as far as they are known. */
export function onlyStatesMessage(states: readonly string[], list?: string, index = 0): string {
  const known = states.length === 0 ? 'that the rules declare' : `of the tenant: ${states.join(', ')}`;
  return `"${fieldOf('subject', list, index)}" must be namespace:external_id; it is "${EVERY_SUBJECT}", to which only the states are granted ${known}.`;
}

/** Why a state cannot be granted to this subject. */
export const stateMessage = (state: string, list?: string, index = 0): string =>
  `"${fieldOf('subject', list, index)}" must be "${EVERY_SUBJECT}": "${state}" is a state, which is granted to its object alone and holds for every subject.`;

export const TUPLE_MEMBERS = ['subject', 'relation', 'object'] as const;
type Part = (typeof TUPLE_MEMBERS)[number];

/**
 * Throws for the first of the three that is missing, and names all that are. The parts before it are well-formed.
 * `relationRule`: what the relation must be.
 */
export function refuseMissing(
  parts: Readonly<Record<Part, unknown>>,
  list?: string,
  index = 0,
  relationRule = RELATION_RULE,
): never {
  const missing = TUPLE_MEMBERS.filter((part) => parts[part] === undefined);
  const [first = 'subject', ...others] = missing;
  const must = first === 'relation' ? relationRule : 'namespace:external_id';
  const rest = alsoMissing(others.map((name) => fieldOf(name, list, index)));
  throw new GrantdError(`invalid-${first}`, `"${fieldOf(first, list, index)}" must be ${must}; it is missing${rest}.`);
}

/**
 * Parses a tuple from three unknown values; `list` and `index` name its place in the message. Throws `invalid-subject`,
 * `invalid-relation` or `invalid-object`: the first that applies, in this order.
 */
export function parseTuple(subject: unknown, relation: unknown, object: unknown, list?: string, index = 0): Tuple {
  if (subject === undefined) refuseMissing({ subject, relation, object }, list, index);
  const parsedSubject = parseIdentifier('subject', subject, list, index);
  if (relation === undefined) refuseMissing({ subject, relation, object }, list, index);
  const parsedRelation = parseRelation(relation, list, index);
  const parsedObject = parseIdentifier('object', object, list, index);
  if (parsedSubject === EVERY_SUBJECT && isRelation(parsedRelation)) {
    throw new GrantdError('invalid-subject', onlyStatesMessage([], list, index));
  }
  return { subject: parsedSubject, relation: parsedRelation, object: parsedObject };
}

/** A tuple as people read it: `user:ada editor doc:x`, and of a state `doc:x is archived`. */
export const tupleText = ({ subject, relation, object }: Readonly<Record<Part, unknown>>): string =>
  subject === EVERY_SUBJECT ? `${object} is ${relation}` : `${subject} ${relation} ${object}`;

/** A tuple as one string. No identifier contains a space, so different tuples have different keys. */
export const tupleKey = ({ subject, relation, object }: Tuple): string => `${subject} ${relation} ${object}`;

const SURROGATES_AND_ABOVE = /[\ud800-\uffff]/;

/** Sorts well-formed strings in place by their UTF-8 bytes. Almost always that is the engine's own order. */
export function sortUtf8(texts: string[]): string[] {
  return texts.some((text) => SURROGATES_AND_ABOVE.test(text)) ? texts.sort(compareUtf8) : texts.sort();
}

/**
 * Orders two well-formed strings by their UTF-8 bytes: negative, zero or positive. UTF-16 order differs only if a
 * surrogate is compared with a unit above the surrogates.
 */
export function compareUtf8(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const leftUnit = left.charCodeAt(index);
    const rightUnit = right.charCodeAt(index);
    if (leftUnit !== rightUnit) {
      const leftSurrogate = leftUnit >= 0xd800 && leftUnit <= 0xdfff;
      const rightSurrogate = rightUnit >= 0xd800 && rightUnit <= 0xdfff;
      if (leftSurrogate === rightSurrogate) return leftUnit - rightUnit;
      return leftSurrogate ? 1 : -1;
    }
  }
  return left.length - right.length;
}
