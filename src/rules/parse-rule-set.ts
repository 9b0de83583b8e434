// Parses the body of `PUT /v1/rules`. Everything that is wrong is collected, each with its place, so that a model can
// be mended at once.

import { GrantdError } from '../core/errors.ts';
import { isJsonObject, type JsonObject, nearestName, unknownMember } from '../core/json-members.ts';
import { isNamespaceName, isRelation, isRelationName, RELATIONS, type Relation } from '../core/tuples.ts';
import { compileCondition, problemText } from './conditions/compiled-condition.ts';
import {
  CONDITIONS_MAX,
  type Condition,
  ELEMENTS_MAX,
  EXPRESSION_BYTES_MAX,
  GATE_DEPTH_MAX,
  isGate,
  isRuleName,
  jsonOfRules,
  NAME_PATTERN,
  type NameElement,
  namesInRule,
  OWN_RELATIONS_MAX,
  PARAMETERS_MAX,
  PUBLIC_NAMESPACES_MAX,
  RULE_SET_BYTES_MAX,
  RULES_MAX,
  type Rule,
  type RuleElement,
  type RuleSet,
  SELF,
  STATES_MAX,
  type SubjectType,
  TYPE_SUBJECTS_MAX,
  TYPES_MAX,
  type TypeRestriction,
} from './rule-set.ts';
import { complete, inTurns, type Steps } from './steps.ts';
import { findNegativeCycle } from './strata.ts';

/** Problems that one message names. */
const PROBLEMS_MAX = 20;
/** Parts of the rules that one step parses, or looks up: a few milliseconds, even when the code is not compiled yet. */
const PARTS_PER_STEP = 1500;

/** Each step takes a few milliseconds. */

export const NAME_FORM = 'a letter, then up to 63 letters, digits, "_", "." or "-"';
const ELEMENT_REGEX = new RegExp(`^(all of )?(${NAME_PATTERN})(?: from (${NAME_PATTERN}))?$`);
const SUBJECT_TYPE_REGEX = new RegExp(`^(${NAME_PATTERN})(?:(:\\*)|#(${NAME_PATTERN}))?(?: with (${NAME_PATTERN}))?$`);

const describe = (value: unknown): string =>
  value === undefined
    ? 'is missing'
    : typeof value === 'string'
      ? `is ${JSON.stringify(value.slice(0, 100))}`
      : 'is not a string';

const kindOf = (value: unknown): string =>
  value === null ? 'null' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;

/** Stands for what is wrong, so that the rest is parsed all the same. Its name is that of no element. */
const NOTHING: NameElement = Object.freeze({ name: '', from: undefined });

const GATE_MEMBERS = ['any_of', 'all_of', 'but_not'];

/** Whether a rule is a list of elements, and no gate itself. */
const isUnion = (members: JsonObject): boolean => members.all_of === undefined && members.but_not === undefined;

class Parser {
  /** Those whose members are members of their rules. */
  readonly ownGates = new Set<RuleElement>();
  readonly #problems: (string | (() => string))[] = [];
  #count = 0;
  #parts = 0;

  /** Counts parts that are parsed or looked up. Whether the step ends with them. */
  endsStep(parts: number): boolean {
    this.#parts += parts;
    if (this.#parts < PARTS_PER_STEP) return false;
    this.#parts = 0;
    return true;
  }

  /** Throws `invalid-request` with everything that is wrong, a sentence a line. */
  *assertRight(): Steps<void> {
    if (this.#count === 0) return;
    const sentences: string[] = [];
    for (const message of this.#problems) {
      if (typeof message !== 'string') yield;
      // Expressions and names that a sentence quotes may have line ends.
      sentences.push((typeof message === 'string' ? message : message()).replaceAll(/[\r\n]+/g, ' '));
    }
    const more = this.#count - sentences.length;
    throw new GrantdError('invalid-request', [...sentences, ...(more > 0 ? [`And ${more} more.`] : [])].join('\n'));
  }

  /** A function, where the message takes work: those beyond the bound are only counted. */
  wrong(message: string | (() => string)): undefined {
    this.#count += 1;
    if (this.#count <= PROBLEMS_MAX) this.#problems.push(message);
    return undefined;
  }

  /** `path`: the field that contains it; empty: it is the body. */
  fields(value: unknown, path: string, known: readonly string[]): JsonObject {
    if (!isJsonObject(value)) {
      this.wrong(`${path === '' ? 'The body' : `"${path}"`} must be a JSON object with ${known.join(', ')}.`);
      // A second message about what is missing in it would be noise.
      complete(this.assertRight());
      return {};
    }
    const unknown = unknownMember(value, known, path);
    if (unknown !== undefined) this.wrong(unknown);
    return value;
  }

  list(value: unknown, field: string, max: number): readonly unknown[] {
    if (!Array.isArray(value)) {
      this.wrong(`"${field}" must be an array, but ${value === undefined ? 'is missing' : `is ${kindOf(value)}`}.`);
      return [];
    }
    if (value.length <= max) return value;
    this.wrong(`"${field}" has ${value.length} elements; at most ${max} are allowed.`);
    return [];
  }

  namespace(value: unknown, field: string): string {
    if (isNamespaceName(value)) return value;
    this.wrong(`"${field}" must be a namespace: ${NAME_FORM}; it ${describe(value)}.`);
    return '';
  }

  name(value: unknown, field: string): string {
    if (value === SELF) this.wrong(`"${field}" is "${SELF}", which in a list of elements is the object itself.`);
    if (typeof value === 'string' && isRuleName(value)) return value;
    this.wrong(`"${field}" must be ${NAME_FORM}; it ${describe(value)}.`);
    return '';
  }

  ownName(list: 'relations' | 'states', value: unknown, index: number): readonly Relation[] {
    const field = `${list}[${index}]`;
    const name = this.name(value, field);
    if (isRelation(name))
      this.wrong(`"${field}" is ${JSON.stringify(name)}, a built-in relation, which is always there.`);
    return isRelationName(name) ? [name] : [];
  }

  condition(value: unknown, index: number): Condition {
    const place = `conditions[${index}]`;
    const fields = this.fields(value, place, ['name', 'parameters', 'expression']);
    const { expression, parameters } = fields;
    const name = this.name(fields.name, `${place}.name`);
    if (typeof expression !== 'string' || expression.trim() === '') {
      this.wrong(`"${place}.expression" must be an expression in CEL; it ${describe(expression)}.`);
    } else if (Buffer.byteLength(expression) > EXPRESSION_BYTES_MAX) {
      this.wrong(
        `"${place}.expression" takes ${Buffer.byteLength(expression)} bytes; at most ${EXPRESSION_BYTES_MAX} are allowed.`,
      );
    }
    if (!isJsonObject(parameters))
      this.wrong(`"${place}.parameters" must be an object with the type of each parameter.`);
    const entries = Object.entries(isJsonObject(parameters) ? parameters : {});
    if (entries.length > PARAMETERS_MAX) {
      this.wrong(`"${place}.parameters" has ${entries.length} members; at most ${PARAMETERS_MAX} are allowed.`);
    }
    const typed = entries.map(([parameter, type]) => {
      if (typeof type !== 'string') {
        this.wrong(`"${place}.parameters.${parameter.slice(0, 64)}" must be the name of a type; it ${describe(type)}.`);
      }
      return [parameter, typeof type === 'string' ? type : ''] as const;
    });
    return {
      name,
      parameters: Object.fromEntries(typed),
      expression: typeof expression === 'string' ? expression : '',
    };
  }

  subjectType(value: unknown, field: string): SubjectType | undefined {
    this.#parts += 1;
    const match = typeof value === 'string' ? SUBJECT_TYPE_REGEX.exec(value) : null;
    if (match === null) {
      return this.wrong(
        `"${field}" must be a kind of subjects, such as "user", "user:*" or "team#member", with " with CONDITION" behind it if need be; it ${describe(value)}.`,
      );
    }
    const [, namespace = '', everyone, name, condition] = match;
    const of = everyone !== undefined ? 'everyone' : name === undefined ? 'single' : 'group';
    return {
      namespace,
      of,
      ...(name === undefined ? {} : { name }),
      ...(condition === undefined ? {} : { condition }),
    };
  }

  type(value: unknown, index: number): TypeRestriction {
    const place = `types[${index}]`;
    const { namespace, relation, subjects } = this.fields(value, place, ['namespace', 'relation', 'subjects']);
    const listed = this.list(subjects, `${place}.subjects`, TYPE_SUBJECTS_MAX);
    return {
      namespace: this.namespace(namespace, `${place}.namespace`),
      relation: this.name(relation, `${place}.relation`),
      subjects: listed.flatMap((each, at) => this.subjectType(each, `${place}.subjects[${at}]`) ?? []),
    };
  }

  element(value: unknown, field: string, depth: number): RuleElement {
    this.#parts += 1;
    if (isJsonObject(value)) return this.#gate(value, field, depth);
    const [, all, name, from] = (typeof value === 'string' ? ELEMENT_REGEX.exec(value) : null) ?? [];
    if (name === undefined || (all !== undefined && from === undefined)) {
      this.wrong(
        `"${field}" must be a name, such as "editor", "NAME from RELATION", such as "viewer from parent", or an object with "any_of" or "all_of"; it ${describe(value)}.`,
      );
      return NOTHING;
    }
    return all === undefined ? { name, from } : { name, from, all: true };
  }

  /** The gate that a rule is: its members are those of the rule. */
  #ownGate(value: JsonObject, field: string): RuleElement {
    const members = Object.fromEntries(GATE_MEMBERS.flatMap((each) => (each in value ? [[each, value[each]]] : [])));
    const gate = this.#gate(members, field, 0);
    this.ownGates.add(gate);
    return gate;
  }

  #gate(value: JsonObject, field: string, depth: number): RuleElement {
    if (depth >= GATE_DEPTH_MAX) {
      this.wrong(`"${field}" lies inside of ${GATE_DEPTH_MAX} others; more are not allowed.`);
      return NOTHING;
    }
    const { any_of: anyOf, all_of: allOf, but_not: butNot } = this.fields(value, field, GATE_MEMBERS);
    if ((anyOf === undefined) === (allOf === undefined)) {
      this.wrong(`"${field}" must have either "any_of" or "all_of".`);
      return NOTHING;
    }
    const operator = anyOf === undefined ? 'all_of' : 'any_of';
    const elements = this.#elements(anyOf ?? allOf, `${field}.${operator}`, depth + 1);
    const without = butNot === undefined ? [] : this.#elements(butNot, `${field}.but_not`, depth + 1);
    return { operator, elements, butNot: without };
  }

  #elements(value: unknown, field: string, depth: number): readonly RuleElement[] {
    const elements = this.list(value, field, ELEMENTS_MAX);
    if (Array.isArray(value) && value.length === 0) this.wrong(`"${field}" is empty; it needs at least one element.`);
    return elements.map((element, at) => this.element(element, `${field}[${at}]`, depth));
  }

  rule(value: unknown, index: number): Rule {
    const place = `rules[${index}]`;
    const fields = this.fields(value, place, ['namespace', 'name', ...GATE_MEMBERS]);
    const { namespace, name, ...gate } = fields;
    const rule: Rule = {
      namespace: this.namespace(namespace, `${place}.namespace`),
      name: this.name(name, `${place}.name`),
      anyOf: isUnion(gate) ? this.#elements(gate.any_of, `${place}.any_of`, 0) : [this.#ownGate(gate, place)],
    };
    const count = namesInRule(rule).length;
    if (count > ELEMENTS_MAX) {
      this.wrong(
        `"${place}" has ${count} names, those inside of others included; at most ${ELEMENTS_MAX} are allowed.`,
      );
    }
    return rule;
  }
}

/** A second definition of a name would hide which of them counts. */
function refuseRepeated(
  parser: Parser,
  list: string,
  keys: readonly string[],
  sentence: (first: string, index: number) => string,
): void {
  const first = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    const at = first.get(key);
    if (at === undefined) first.set(key, index);
    else parser.wrong(`"${list}[${index}]" ${sentence(`"${list}[${at}]"`, index)}`);
  }
}

function refuseAllRepeated(parser: Parser, { relations, states, conditions, types, rules }: RuleSet): void {
  refuseRepeated(parser, 'relations', relations, (first) => `is the same as ${first}.`);
  refuseRepeated(parser, 'states', states, (first) => `is the same as ${first}.`);
  const conditionNames = conditions.map(({ name }) => name);
  refuseRepeated(parser, 'conditions', conditionNames, (first) => `has the name of ${first}.`);
  const restricted = types.map(({ namespace, relation }) => `${namespace} ${relation}`);
  refuseRepeated(parser, 'types', restricted, (first) => `restricts the relation of ${first}; put both into one.`);
  const defined = rules.map(({ namespace, name }) => `${namespace} ${name}`);
  refuseRepeated(parser, 'rules', defined, (first, index) => {
    const { namespace, name } = rules[index] ?? { namespace: '', name: '' };
    return `defines "${name}" of "${namespace}", as ${first} does; put both into one.`;
  });
}

/** The elements of a rule with their places, those inside of others included. */
function* placesOf({ ownGates }: Parser, { anyOf }: Rule, index: number): Generator<readonly [NameElement, string]> {
  const [gate] = anyOf;
  if (gate === undefined || !isGate(gate) || !ownGates.has(gate)) yield* placesIn(anyOf, `rules[${index}].any_of`);
  else {
    yield* placesIn(gate.elements, `rules[${index}].${gate.operator}`);
    yield* placesIn(gate.butNot, `rules[${index}].but_not`);
  }
}

function* placesIn(elements: readonly RuleElement[], field: string): Generator<readonly [NameElement, string]> {
  for (const [at, element] of elements.entries()) {
    const place = `${field}[${at}]`;
    if (!isGate(element)) yield [element, place];
    else {
      yield* placesIn(element.elements, `${place}.${element.operator}`);
      yield* placesIn(element.butNot, `${place}.but_not`);
    }
  }
}

/** `relations`: behind a dot, other languages name what is followed from one of them. */
const didYouMean = (name: string, known: readonly string[], relations?: ReadonlySet<string>): string => {
  const [from = '', followed = ''] = name.split('.');
  const nearest =
    relations?.has(from) && known.includes(followed) ? `${followed} from ${from}` : nearestName(name, known);
  return nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`;
};

/** A state is neither a relation nor follows from anything. */
function refuseOtherStates(parser: Parser, { relations, states, types, rules }: RuleSet): void {
  const declared = new Set<string>(states);
  if (declared.size === 0) return;
  const refuse = (names: readonly string[], field: (index: number) => string, why: string): void => {
    for (const [index, name] of names.entries()) {
      if (declared.has(name)) parser.wrong(`"${field(index)}" is ${JSON.stringify(name)}, one of "states"; ${why}`);
    }
  };
  refuse(relations, (index) => `relations[${index}]`, 'a name is one or the other.');
  const defined = rules.map(({ name }) => name);
  refuse(
    defined,
    (index) => `rules[${index}].name`,
    'a state follows from nothing. Give the rule a name of its own, and list the state in it.',
  );
  const restricted = types.map(({ relation }) => relation);
  refuse(restricted, (index) => `types[${index}].relation`, 'a state is granted to its object, and has no types.');
  for (const [index, { subjects }] of types.entries()) {
    const names = subjects.map(({ name = '' }) => name);
    refuse(names, (at) => `types[${index}].subjects[${at}]`, 'a state has no members.');
  }
}

/** Every name that an element uses is a relation, a state or defined by a rule, and a relation stands behind `from`. */
function* refuseUndefined(parser: Parser, { relations, states, rules }: RuleSet): Steps<void> {
  const leading = new Set<string>([...RELATIONS, ...relations]);
  const granted = new Set<string>([...leading, ...states]);
  const defined = new Set(rules.map(({ namespace, name }) => `${namespace} ${name}`));
  const anywhere = new Set(rules.map(({ name }) => name));
  const known = [...granted, ...anywhere];
  const isDefined = (namespace: string, { name, from }: NameElement): boolean =>
    name === SELF ||
    granted.has(name) ||
    (from === undefined ? defined.has(`${namespace} ${name}`) : anywhere.has(name));
  for (const [index, rule] of rules.entries()) {
    const { namespace } = rule;
    const isRight = (each: NameElement): boolean =>
      (each.from === undefined || leading.has(each.from)) && isDefined(namespace, each);
    const names = namesInRule(rule);
    if (parser.endsStep(names.length)) yield;
    // Places take longest, and mostly nobody needs them.
    if (names.every(isRight)) continue;
    for (const [element, place] of placesOf(parser, rule, index)) {
      const { name, from } = element;
      if (name === '') continue;
      if (from !== undefined && !leading.has(from)) {
        parser.wrong(
          () =>
            `"${place}" follows ${JSON.stringify(from)}${granted.has(from) ? ', a state, which leads to no entities' : ''}; after "from" stands a built-in relation (${RELATIONS.join(', ')}) or an own one.${granted.has(from) ? '' : didYouMean(from, [...leading])}`,
        );
      }
      if (isDefined(namespace, element)) continue;
      const where = from === undefined ? `no rule of "${namespace}" defines it` : 'no rule defines it';
      parser.wrong(
        () =>
          `"${place}" uses "${name}": it is neither a built-in relation nor an own one, nor a state, and ${where}. Add a rule for it, or correct the name.${didYouMean(name, known, granted)}`,
      );
    }
  }
}

function* refuseWrongTypes(parser: Parser, { relations, states, conditions, types, rules }: RuleSet): Steps<void> {
  // Of states, `refuseOtherStates` says more.
  const granted = new Set<string>([...RELATIONS, ...relations, ...states]);
  const names = new Set<string>([...granted, ...rules.map(({ name }) => name)]);
  const conditionNames = new Set(conditions.map(({ name }) => name));
  for (const [index, { relation, subjects }] of types.entries()) {
    if (parser.endsStep(subjects.length)) yield;
    if (relation !== '' && !granted.has(relation)) {
      parser.wrong(
        () =>
          `"types[${index}].relation" is ${JSON.stringify(relation)}, which cannot be granted: it is neither a built-in relation nor one of "relations".${didYouMean(relation, [...granted])}`,
      );
    }
    for (const [at, { name, condition }] of subjects.entries()) {
      const place = (): string => `types[${index}].subjects[${at}]`;
      if (name !== undefined && !names.has(name)) {
        parser.wrong(
          () =>
            `"${place()}" names "${name}": it is not a relation, and no rule defines it.${didYouMean(name, [...names])}`,
        );
      }
      if (condition !== undefined && !conditionNames.has(condition)) {
        parser.wrong(
          () =>
            `"${place()}" names the condition "${condition}", which is not declared.${condition === 'expiration' ? ' A grant may expire without one.' : didYouMean(condition, [...conditionNames])}`,
        );
      }
    }
  }
}

/** Each part of a list, in steps. */
function* partsOf<Part>(
  parser: Parser,
  values: readonly unknown[],
  parse: (value: unknown, index: number) => Part,
): Steps<readonly Part[]> {
  const parts: Part[] = [];
  for (const [index, value] of values.entries()) {
    if (parser.endsStep(1)) yield;
    parts.push(parse(value, index));
  }
  return parts;
}

/** Of a rule set in JSON. */
export const RULE_SET_MEMBERS = ['relations', 'states', 'conditions', 'types', 'rules', 'groups', 'public'];

/** The shape of the body, and of its parts. */
function* parseShape(parser: Parser, body: unknown): Steps<RuleSet> {
  const fields = parser.fields(body, '', RULE_SET_MEMBERS);
  const { relations = [], states = [], conditions = [], types = [], groups = false, public: namespaces = [] } = fields;
  const listed = {
    rules: parser.list(fields.rules, 'rules', RULES_MAX),
    public: parser.list(namespaces, 'public', PUBLIC_NAMESPACES_MAX),
    relations: parser.list(relations, 'relations', OWN_RELATIONS_MAX),
    states: parser.list(states, 'states', STATES_MAX),
    conditions: parser.list(conditions, 'conditions', CONDITIONS_MAX),
    types: parser.list(types, 'types', TYPES_MAX),
  };
  const rules = yield* partsOf(parser, listed.rules, (rule, index) => parser.rule(rule, index));
  if (typeof groups !== 'boolean') parser.wrong('"groups" must be true or false.');
  const parsed: RuleSet = {
    relations: (yield* partsOf(parser, listed.relations, (each, at) => parser.ownName('relations', each, at))).flat(),
    states: listed.states.flatMap((each, at) => parser.ownName('states', each, at)),
    conditions: yield* partsOf(parser, listed.conditions, (each, at) => parser.condition(each, at)),
    types: yield* partsOf(parser, listed.types, (each, at) => parser.type(each, at)),
    rules,
    groups: groups === true,
    public: [...new Set(listed.public.map((namespace, index) => parser.namespace(namespace, `public[${index}]`)))],
  };
  yield* parser.assertRight();
  yield;
  const bytes = Buffer.byteLength(jsonOfRules(parsed));
  if (bytes > RULE_SET_BYTES_MAX)
    parser.wrong(`The rules take ${bytes} bytes; at most ${RULE_SET_BYTES_MAX} are allowed.`);
  yield* parser.assertRight();
  return parsed;
}

function* refuseWrongExpressions(parser: Parser, { conditions }: RuleSet): Steps<void> {
  for (const [index, condition] of conditions.entries()) {
    yield;
    const compiled = compileCondition(condition);
    if (!('problems' in compiled)) continue;
    for (const problem of compiled.problems) parser.wrong(() => problemText(`conditions[${index}]`, problem));
  }
}

function refuseCycle(parser: Parser, parsed: RuleSet): void {
  const cycle = findNegativeCycle(parsed);
  if (cycle === undefined) return;
  parser.wrong(
    `"rules[${cycle.rule}]" depends on itself through "but not": ${cycle.names.join(' > ')}. Such a name has no meaning.`,
  );
}

/** `expressions`: whether those of the conditions are compiled, too, to name what is wrong with them. */
export function* parseInSteps(body: unknown, expressions: boolean): Steps<RuleSet> {
  const parser = new Parser();
  const parsed = yield* parseShape(parser, body);
  yield;
  refuseAllRepeated(parser, parsed);
  refuseOtherStates(parser, parsed);
  yield* refuseUndefined(parser, parsed);
  yield* refuseWrongTypes(parser, parsed);
  if (expressions) yield* refuseWrongExpressions(parser, parsed);
  yield;
  refuseCycle(parser, parsed);
  yield* parser.assertRight();
  return parsed;
}

/**
 * Parses the body of `PUT /v1/rules`, but for the expressions of its conditions. Throws `invalid-request`, which names
 * the places and what to write instead.
 */
export const parseRuleSet = (body: unknown): RuleSet => complete(parseInSteps(body, false));

/** The same in steps of at most 10 ms, before each of which it takes a turn. */
export const parseRuleSetInTurns = (
  body: unknown,
  turn: () => Promise<unknown>,
  { expressions }: { readonly expressions: boolean },
): Promise<RuleSet> => inTurns(parseInSteps(body, expressions), turn);
