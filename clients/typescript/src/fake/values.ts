// Parses requests to the fake, by the rules of the service.

import type {
  Condition,
  ContextGrant,
  GrantRequest,
  Relation,
  RuleElement,
  RuleSet,
  Tuple,
} from '../generated/schemas.ts';
import { type Known, type KnownOf, knownMembers } from '../members.ts';
import { invalidRequest, Refusal } from './problem.ts';

export const RELATIONS: readonly Relation[] = [
  'owner',
  'admin',
  'manager',
  'editor',
  'commenter',
  'viewer',
  'member',
  'guest',
  'parent',
];

const NAMESPACE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_.-]{0,63}:[^\p{Cc}\p{Cs}\p{White_Space}]{1,256}$/u;
const ELEMENT = /^([A-Za-z][A-Za-z0-9_.-]{0,63})(?: from ([A-Za-z][A-Za-z0-9_.-]{0,63}))?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isNamespaceName = (value: unknown): value is string => typeof value === 'string' && NAMESPACE.test(value);
export const isIdentifier = (value: unknown): value is string => typeof value === 'string' && IDENTIFIER.test(value);
export const isRelation = (value: unknown): value is Relation => RELATIONS.some((each) => each === value);
export const namespaceOf = (identifier: string): string => identifier.slice(0, identifier.indexOf(':'));

export function fieldsIn(value: unknown): Fields {
  if (isFields(value)) return value;
  throw invalidRequest('The body must be a JSON object.');
}

/** The members that the service knows, by which it refuses others. */
export const TUPLE: KnownOf<Tuple> = { subject: true, relation: true, object: true };
const CONDITION = { name: true, context: true } as const;
export const GRANT: KnownOf<GrantRequest> = { ...TUPLE, expires_at: true, condition: CONDITION };
export const PRECONDITION: KnownOf<Condition> = { ...TUPLE, exists: true };
const CONTEXT_GRANT: KnownOf<ContextGrant> = { ...TUPLE, condition: CONDITION };
export const CONTEXT = { context: true, context_grants: CONTEXT_GRANT } as const;
const RULES: KnownOf<Pick<RuleSet, 'rules' | 'groups' | 'public'>> = {
  rules: { namespace: true, name: true, any_of: true },
  groups: true,
  public: true,
};

/** Of a body without unknown members. */
export const knownFieldsIn = (value: unknown, known: Known): Fields =>
  knownMembers(fieldsIn(value), known, '', invalidRequest);

/** The fake has no conditions, and the service refuses one that no rule declares. */
export function refuseCondition({ condition }: Fields, place = ''): void {
  if (condition === undefined || condition === null) return;
  throw new Refusal(400, 'invalid-condition', `"${place}condition" names none that the rules declare.`);
}

export function identifierIn(name: 'subject' | 'object', value: unknown, place = ''): string {
  if (isIdentifier(value)) return value;
  throw new Refusal(400, `invalid-${name}`, `"${place}${name}" must be namespace:external_id.`);
}

/** `defined`: the names that rules define, besides the built-in relations. */
export function relationIn(value: unknown, defined: ReadonlySet<string>, place = ''): string {
  if (typeof value === 'string' && (isRelation(value) || defined.has(value))) return value;
  throw new Refusal(400, 'invalid-relation', `"${place}relation" must be one of ${RELATIONS.join(', ')}.`);
}

const NONE: ReadonlySet<string> = new Set();

export interface NamedTuple {
  readonly subject: string;
  readonly relation: string;
  readonly object: string;
}

export function questionIn(value: unknown, defined: ReadonlySet<string>, place = ''): NamedTuple {
  const { subject, relation, object } = fieldsIn(value);
  return {
    subject: identifierIn('subject', subject, place),
    relation: relationIn(relation, defined, place),
    object: identifierIn('object', object, place),
  };
}

export const tupleIn = (value: unknown, place = ''): Tuple => questionIn(value, NONE, place) as Tuple;

/** Undefined: nothing is said. Null: never. */
export function expiryIn(value: unknown, place = ''): string | null | undefined {
  if (value === undefined || value === null) return value;
  const endMs = typeof value === 'string' && TIME.test(value) ? Date.parse(value) : Number.NaN;
  if (endMs > Date.now()) return new Date(endMs).toISOString();
  throw invalidRequest(`"${place}expires_at" must be a time in the future.`);
}

export function listIn(value: unknown, name: string, max: number): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalidRequest(`"${name}" must be an array.`);
  if (value.length > max) {
    throw new Refusal(400, 'bulk-too-large', `"${name}" has ${value.length} elements; at most ${max} are allowed.`);
  }
  return value;
}

export function limitIn(query: URLSearchParams): number {
  const text = query.get('limit') ?? '100';
  const limit = Number(text);
  if (/^\d{1,4}$/.test(text) && limit >= 1 && limit <= 1000) return limit;
  throw invalidRequest('"limit" must be a whole number from 1 to 1000.');
}

interface Element {
  readonly name: string;
  readonly from: string | undefined;
}

/** Of an element of `any_of` that has been accepted. */
export function elementOf(element: RuleElement): Element {
  const [, name = '', from] = (typeof element === 'string' ? ELEMENT.exec(element) : null) ?? [];
  return { name, from };
}

export function ruleSetIn(value: unknown): RuleSet {
  const { rules, groups = false, public: open = [] } = knownFieldsIn(value, RULES);
  if (!Array.isArray(rules) || typeof groups !== 'boolean') throw invalidRequest('"rules" must be an array.');
  if (!Array.isArray(open) || !open.every(isNamespaceName)) throw invalidRequest('"public" must name namespaces.');
  const parsed = rules.map((rule: unknown, index) => {
    const { namespace, name, any_of: elements } = isFields(rule) ? rule : {};
    if (
      Array.isArray(elements) &&
      elements.some((each: unknown) => isFields(each) || String(each).startsWith('all of '))
    ) {
      throw invalidRequest('The fake does not evaluate "all_of", "but_not" and "all of".');
    }
    const isRule =
      isNamespaceName(namespace) &&
      isNamespaceName(name) &&
      Array.isArray(elements) &&
      elements.length > 0 &&
      elements.every((each: unknown) => typeof each === 'string' && ELEMENT.test(each));
    if (!isRule) throw invalidRequest(`"rules[${index}]" is not a rule.`);
    return { namespace, name, any_of: elements as string[] };
  });
  refuseUndefined(parsed);
  return { rules: parsed, groups, public: open };
}

/** Every name that an element uses is a built-in relation, or defined by one rule. */
function refuseUndefined(rules: RuleSet['rules']): void {
  const defined = new Set(rules.map(({ namespace, name }) => `${namespace} ${name}`));
  if (defined.size < rules.length) throw invalidRequest('Two rules define the same name.');
  const anywhere = new Set(rules.map(({ name }) => name));
  for (const { namespace, any_of: elements } of rules) {
    for (const text of elements) {
      const { name, from } = elementOf(text);
      const isKnown = from === undefined ? defined.has(`${namespace} ${name}`) : anywhere.has(name);
      if (!(isRelation(name) || isKnown) || !(from === undefined || isRelation(from))) {
        throw invalidRequest(`A rule uses "${String(text)}", which nothing defines.`);
      }
    }
  }
}
