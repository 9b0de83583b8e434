// Rule sets: the relations of a tenant that follow from others. A rule set is parsed from a request, stored as its
// canonical text, and compiled before use (compiled-rules.ts).

import { createHash } from 'node:crypto';
import { GrantdError } from '../core/errors.ts';
import { demandMembers, isJsonObject, type JsonObject } from '../core/json-members.ts';
import { isNamespaceName, isRelation, RELATIONS, type Relation } from '../core/tuples.ts';

/** Rules of one tenant. */
export const RULES_MAX = 200;
/** Elements of one rule. */
export const ELEMENTS_MAX = 100;
/** Namespaces whose grants to `*` are public. */
export const PUBLIC_NAMESPACES_MAX = 100;
/** UTF-8 bytes of the canonical text. */
export const RULE_SET_BYTES_MAX = 64 * 1024;

export const NAME_PATTERN = '[A-Za-z][A-Za-z0-9_.-]{0,63}';
const NAME_REGEX = new RegExp(`^${NAME_PATTERN}$`);
const ELEMENT_REGEX = new RegExp(`^(${NAME_PATTERN})(?: from (${NAME_PATTERN}))?$`);

/** One of `any_of`: a name on the same object, or a name on each entity that has the relation `from` on the object. */
export interface RuleElement {
  readonly name: string;
  readonly from: Relation | undefined;
}

/** On objects of `namespace`, a subject that holds any of the elements holds `name`. */
export interface Rule {
  readonly namespace: string;
  /** A built-in relation, whose own grants always count, or a derived name, which is never granted. */
  readonly name: string;
  readonly anyOf: readonly RuleElement[];
}

export interface RuleSet {
  readonly rules: readonly Rule[];
  /** Whether a grant to `ns:id#name` applies to every subject that holds `name` on `ns:id`. */
  readonly groups: boolean;
  /** A grant to `ns:*` applies to every subject of these namespaces. */
  readonly public: readonly string[];
}

/** The rule set of a tenant that has none: relations follow from grants alone. */
export const NO_RULES: RuleSet = Object.freeze({ rules: Object.freeze([]), groups: false, public: Object.freeze([]) });

export const hasRules = ({ rules, groups, public: namespaces }: RuleSet): boolean =>
  rules.length > 0 || groups || namespaces.length > 0;

/** Whether the text can be the name of a relation, built-in or derived. */
export const isRuleName = (text: string): boolean => NAME_REGEX.test(text);

const invalid = (message: string): GrantdError => new GrantdError('invalid-request', message);

/** `path`: the field that contains it; empty: it is the body. */
function demandFields(value: unknown, path: string, known: readonly string[]): JsonObject {
  const place = path === '' ? 'The body' : `"${path}"`;
  if (!isJsonObject(value)) throw invalid(`${place} must be a JSON object with ${known.join(', ')}.`);
  demandMembers(value, known, path);
  return value;
}

function listIn(value: unknown, field: string, max: number): readonly unknown[] {
  if (!Array.isArray(value))
    throw invalid(`"${field}" must be an array; it ${value === undefined ? 'is missing' : 'is none'}.`);
  if (value.length > max) throw invalid(`"${field}" has ${value.length} elements; at most ${max} are allowed.`);
  return value;
}

const describe = (value: unknown): string =>
  value === undefined
    ? 'is missing'
    : typeof value === 'string'
      ? `is ${JSON.stringify(value.slice(0, 100))}`
      : 'is not a string';

function namespaceIn(value: unknown, field: string): string {
  if (isNamespaceName(value)) return value;
  throw invalid(
    `"${field}" must be a namespace: a letter, then up to 63 letters, digits, "_", "." or "-"; it ${describe(value)}.`,
  );
}

function elementIn(value: unknown, field: string): RuleElement {
  const [, name, from] = (typeof value === 'string' ? ELEMENT_REGEX.exec(value) : null) ?? [];
  if (name === undefined) {
    throw invalid(
      `"${field}" must be a name, such as "editor", or "NAME from RELATION", such as "viewer from parent"; it ${describe(value)}.`,
    );
  }
  if (from === undefined) return { name, from };
  if (isRelation(from)) return { name, from };
  throw invalid(
    `"${field}" follows ${JSON.stringify(from)}; after "from" stands a built-in relation: ${RELATIONS.join(', ')}.`,
  );
}

function ruleIn(value: unknown, index: number): Rule {
  const place = `rules[${index}]`;
  const { namespace, name, any_of: anyOf } = demandFields(value, place, ['namespace', 'name', 'any_of']);
  const parsedNamespace = namespaceIn(namespace, `${place}.namespace`);
  if (typeof name !== 'string' || !isRuleName(name)) {
    throw invalid(
      `"${place}.name" must be a letter, then up to 63 letters, digits, "_", "." or "-"; it ${describe(name)}.`,
    );
  }
  const elements = listIn(anyOf, `${place}.any_of`, ELEMENTS_MAX);
  if (elements.length === 0) throw invalid(`"${place}.any_of" is empty; a rule needs at least one element.`);
  return {
    namespace: parsedNamespace,
    name,
    anyOf: elements.map((element, at) => elementIn(element, `${place}.any_of[${at}]`)),
  };
}

/** A rule for the same name twice would hide which of them counts. */
function refuseRepeated(rules: readonly Rule[]): void {
  const first = new Map<string, number>();
  for (const [index, { namespace, name }] of rules.entries()) {
    const key = `${namespace} ${name}`;
    const definedAt = first.get(key);
    if (definedAt !== undefined) {
      throw invalid(
        `"rules[${index}]" defines "${name}" of "${namespace}", as "rules[${definedAt}]" does; put both lists into one "any_of".`,
      );
    }
    first.set(key, index);
  }
}

/** Every name that an element uses is a built-in relation or defined by a rule. */
function refuseUndefined(rules: readonly Rule[]): void {
  const defined = new Set(rules.map(({ namespace, name }) => `${namespace} ${name}`));
  const anywhere = new Set(rules.map(({ name }) => name));
  for (const [index, { namespace, anyOf }] of rules.entries()) {
    for (const [at, { name, from }] of anyOf.entries()) {
      if (isRelation(name) || (from === undefined ? defined.has(`${namespace} ${name}`) : anywhere.has(name))) continue;
      const where = from === undefined ? `no rule of "${namespace}" defines it` : 'no rule defines it';
      throw invalid(
        `"rules[${index}].any_of[${at}]" uses "${name}": it is no built-in relation, and ${where}. Add a rule for it, or correct the name.`,
      );
    }
  }
}

/** Parses the body of `PUT /v1/rules`. Throws `invalid-request`, which names the place and what to write instead. */
export function parseRuleSet(body: unknown): RuleSet {
  const fields = demandFields(body, '', ['rules', 'groups', 'public']);
  const rules = listIn(fields.rules, 'rules', RULES_MAX).map(ruleIn);
  const { groups = false, public: namespaces = [] } = fields;
  if (typeof groups !== 'boolean') throw invalid('"groups" must be true or false.');
  const listed = listIn(namespaces, 'public', PUBLIC_NAMESPACES_MAX);
  const parsed = listed.map((namespace, index) => namespaceIn(namespace, `public[${index}]`));
  refuseRepeated(rules);
  refuseUndefined(rules);
  const ruleSet: RuleSet = { rules, groups, public: [...new Set(parsed)] };
  const bytes = Buffer.byteLength(textOfRules(ruleSet));
  if (bytes > RULE_SET_BYTES_MAX) {
    throw invalid(`The rules take ${bytes} bytes; at most ${RULE_SET_BYTES_MAX} are allowed.`);
  }
  return ruleSet;
}

export const textOfElement = ({ name, from }: RuleElement): string =>
  from === undefined ? name : `${name} from ${from}`;

/** As the interface shows it. */
export const ruleSetRecord = ({ rules, groups, public: namespaces }: RuleSet) => ({
  rules: rules.map(({ namespace, name, anyOf }) => ({ namespace, name, any_of: anyOf.map(textOfElement) })),
  groups,
  public: namespaces,
});

/** The canonical text: equal for equal rule sets, in the order in which they were written. */
export const textOfRules = (ruleSet: RuleSet): string => JSON.stringify(ruleSetRecord(ruleSet));

/** The revision of a canonical text: it names the rule set in `ETag` and `If-Match`. 32 hexadecimal digits. */
export const revisionOfRules = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

export const revisionOf = (ruleSet: RuleSet): string => revisionOfRules(textOfRules(ruleSet));
