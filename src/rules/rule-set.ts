// Rule sets: the relations of a tenant that follow from others, its own relations, its conditions and its types. A rule
// set is parsed from a request (parse-rule-set.ts), stored as its canonical text, and compiled before use
// (compiled-rules.ts).

import { createHash } from 'node:crypto';
import { isRelationName, RELATION_PATTERN, RELATIONS, type Relation } from '../core/tuples.ts';

/** Rules of one tenant. */
export const RULES_MAX = 1000;
/** Elements of one rule, those inside of others included. */
export const ELEMENTS_MAX = 100;
/** Gates inside of each other. */
export const GATE_DEPTH_MAX = 5;
/** Namespaces whose grants to `*` are public. */
export const PUBLIC_NAMESPACES_MAX = 100;
/** Own relations of one tenant: more permissions than the largest products have that publish theirs. */
export const OWN_RELATIONS_MAX = 1000;
/** States of the objects of one tenant. */
export const STATES_MAX = 50;
/** Names that the rules of one tenant define, its own relations and states included. */
export const NAMES_MAX = RULES_MAX + OWN_RELATIONS_MAX + STATES_MAX;
export const CONDITIONS_MAX = 100;
export const PARAMETERS_MAX = 50;
/** UTF-8 bytes of the expression of a condition. */
export const EXPRESSION_BYTES_MAX = 2048;
/** Restricted relations, and kinds of subjects of each. */
export const TYPES_MAX = 2000;
export const TYPE_SUBJECTS_MAX = 100;
/** UTF-8 bytes of the canonical JSON: 500 own relations, each with a type and a rule of 100 bytes, fit. */
export const RULE_SET_BYTES_MAX = 128 * 1024;
/** UTF-8 bytes of the text form as a JSON string: that of every rule set within its own bound fits, with comments. */
export const RULES_SOURCE_BYTES_MAX = 192 * 1024;

export const NAME_PATTERN = RELATION_PATTERN;

/**
 * A name on the same object, or a name on an entity that has the relation `from` on the object: on one of them, or,
 * with `all`, on each of them, of which there must be one.
 */
export interface NameElement {
  readonly name: string;
  /** A built-in relation or one of the tenant's own; no state. */
  readonly from: string | undefined;
  readonly all?: true;
}

/** Holds if one of the elements does, or all of them, and none of `butNot`. */
export interface GateElement {
  readonly operator: 'any_of' | 'all_of';
  readonly elements: readonly RuleElement[];
  readonly butNot: readonly RuleElement[];
}

export type RuleElement = NameElement | GateElement;

export const isGate = (element: RuleElement): element is GateElement => 'operator' in element;

/** On objects of `namespace`, a subject that holds any of the elements holds `name`. */
export interface Rule {
  readonly namespace: string;
  /** A relation, built-in or own, whose own grants always count, or a derived name, which is never granted. */
  readonly name: string;
  readonly anyOf: readonly RuleElement[];
}

/** What a grant may depend on: an expression in CEL over the context of the grant and of the call. */
export interface Condition {
  readonly name: string;
  /** Type by name. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly expression: string;
}

/** Subjects of one kind: those of a namespace, `ns:*`, or the groups `ns:id#name`; with a condition, or without. */
export interface SubjectType {
  readonly namespace: string;
  readonly of: 'single' | 'everyone' | 'group';
  /** The name of a group. */
  readonly name?: string;
  readonly condition?: string;
}

/** The only subjects to which the relation may be granted on objects of the namespace. */
export interface TypeRestriction {
  readonly namespace: string;
  readonly relation: string;
  readonly subjects: readonly SubjectType[];
}

export interface RuleSet {
  /** Granted like the built-in ones. */
  readonly relations: readonly Relation[];
  /** Granted to objects, with the subject `*`: they hold for every subject, and follow from nothing else. */
  readonly states: readonly Relation[];
  readonly conditions: readonly Condition[];
  readonly types: readonly TypeRestriction[];
  readonly rules: readonly Rule[];
  /** Whether a grant to `ns:id#name` applies to every subject that holds `name` on `ns:id`. */
  readonly groups: boolean;
  /** A grant to `ns:*` applies to every subject of these namespaces. */
  readonly public: readonly string[];
  /** The text form that was set, with its comments; absent: the rules were set as JSON. */
  readonly source?: string;
}

/** The rule set of a tenant that has none: relations follow from grants alone. */
export const NO_RULES: RuleSet = Object.freeze({
  relations: Object.freeze([]),
  states: Object.freeze([]),
  conditions: Object.freeze([]),
  types: Object.freeze([]),
  rules: Object.freeze([]),
  groups: false,
  public: Object.freeze([]),
});

export const hasRules = (ruleSet: RuleSet): boolean =>
  ruleSet.groups ||
  [ruleSet.relations, ruleSet.states, ruleSet.conditions, ruleSet.types, ruleSet.rules, ruleSet.public].some(
    ({ length }) => length > 0,
  );

/** The names of the tenant's own that can be granted. */
export const ownNames = ({ relations, states }: Pick<RuleSet, 'relations' | 'states'>): readonly Relation[] =>
  states.length === 0 ? relations : [...relations, ...states];

/** All names that can be granted. */
export const grantedNames = (ruleSet: Pick<RuleSet, 'relations' | 'states'>): readonly Relation[] => [
  ...RELATIONS,
  ...ownNames(ruleSet),
];

/** The element that holds for the object itself: no relation and no rule has this name. */
export const SELF = 'self';

/** Whether the text can be the name of a relation, built-in, own or derived: all have the same form. */
export const isRuleName = (text: string): boolean => isRelationName(text);

/** A name in an element, with whether `but_not` takes it away. */
export type UsedName = NameElement & { readonly negated: boolean };

function collectNames(elements: readonly RuleElement[], negated: boolean, names: UsedName[]): void {
  for (const element of elements) {
    if (isGate(element)) {
      collectNames(element.elements, negated, names);
      collectNames(element.butNot, true, names);
    } else names.push({ ...element, negated });
  }
}

/** The names in the elements of a rule, those inside of gates included. */
export function namesInRule({ anyOf }: Rule): readonly UsedName[] {
  const names: UsedName[] = [];
  collectNames(anyOf, false, names);
  return names;
}

const asItIs = (name: string): string => name;

/** `viewer`, `viewer from parent` or `all of viewer from parent`. `write`: how a name is written. */
export const textOfName = ({ name, from, all }: NameElement, write = asItIs): string =>
  `${all === true ? 'all of ' : ''}${write(name)}${from === undefined ? '' : ` from ${write(from)}`}`;

/** An element in one line, for people and for comparisons. */
export function textOfElement(element: RuleElement): string {
  if (!isGate(element)) return textOfName(element);
  const listed = element.elements.map(textOfElement).join(element.operator === 'all_of' ? ' and ' : ' or ');
  const without = element.butNot.map(textOfElement).join(' or ');
  return without === '' ? `(${listed})` : `(${listed} but not ${without})`;
}

export type ElementRecord =
  | string
  | {
      readonly any_of?: readonly ElementRecord[];
      readonly all_of?: readonly ElementRecord[];
      readonly but_not?: readonly ElementRecord[];
    };

/** The form of an element in the API. */
export function elementRecord(element: RuleElement): ElementRecord {
  if (!isGate(element)) return textOfName(element);
  const butNot = element.butNot.length === 0 ? {} : { but_not: element.butNot.map(elementRecord) };
  return { [element.operator]: element.elements.map(elementRecord), ...butNot };
}

/** `user`, `user:*` or `team#member`, and `with office_hours`. `write`: how a name is written. */
export function subjectTypeText({ namespace, of, name = '', condition }: SubjectType, write = asItIs): string {
  const set = of === 'everyone' ? ':*' : of === 'group' ? `#${write(name)}` : '';
  return `${write(namespace)}${set}${condition === undefined ? '' : ` with ${write(condition)}`}`;
}

export const textOfSubjectType = (type: SubjectType): string => subjectTypeText(type);

/** The form of a rule set in the API; lists that few tenants have are left out where they are empty. */
export const ruleSetRecord = ({
  relations,
  states,
  conditions,
  types,
  rules,
  groups,
  public: namespaces,
}: RuleSet) => ({
  ...(relations.length === 0 ? {} : { relations }),
  ...(states.length === 0 ? {} : { states }),
  ...(conditions.length === 0 ? {} : { conditions }),
  ...(types.length === 0
    ? {}
    : {
        types: types.map(({ namespace, relation, subjects }) => ({
          namespace,
          relation,
          subjects: subjects.map(textOfSubjectType),
        })),
      }),
  rules: rules.map(({ namespace, name, anyOf }) => ({ namespace, name, any_of: anyOf.map(elementRecord) })),
  groups,
  public: namespaces,
});

/** The canonical JSON: equal for equal rule sets, in the order in which they were written. */
export const jsonOfRules = (ruleSet: RuleSet): string => JSON.stringify(ruleSetRecord(ruleSet));

/** The text by which rules are stored and sent: the text form that was set, or the canonical JSON. */
export const textOfRules = (ruleSet: RuleSet): string => ruleSet.source ?? jsonOfRules(ruleSet);

/** The revision of that text: it names the rule set in `ETag` and `If-Match`. 32 hexadecimal digits. */
export const revisionOfRules = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

export const revisionOf = (ruleSet: RuleSet): string => revisionOfRules(textOfRules(ruleSet));
