// Parses a schema of Permify. Permissions may depend on attributes, which are data of an entity: on a boolean alone, or
// on a rule, an expression in CEL, that is called with some. Either becomes a relation that is granted to everybody,
// with the rule as the condition of its grants; so an import turns attributes into grants.

import { ExpressionError, type Token, tokensOf } from '../../../../src/rules/conditions/parser.ts';
import { type CelText, type Language, Lexer, slashCommentEnd } from './lexer.ts';
import {
  type Declarations,
  type Expression,
  modelFailure,
  type Place,
  quote,
  type Restriction,
  type SourceAttribute,
  type SourceCondition,
  type SourceRelation,
  type TypeDeclaration,
} from './source-model.ts';

const LANGUAGE: Language = {
  word: /[A-Za-z0-9_]+/y,
  signs: ['{', '}', '(', ')', '[', ']', '@', '#', '.', ',', '=', ';'],
  strings: true,
  commentEnd: slashCommentEnd,
};

const TYPES: ReadonlyMap<string, string> = new Map([
  ['boolean', 'bool'],
  ['string', 'string'],
  ['integer', 'int'],
  ['double', 'double'],
]);

/** A rule that a permission calls with attributes of the entity. */
interface Call {
  readonly rule: string;
  readonly attributes: readonly string[];
  readonly place: Place;
}

interface Entity {
  readonly name: string;
  readonly place: Place;
  readonly relations: SourceRelation[];
  /** Types of grantd by name. */
  readonly attributes: Map<string, { readonly type: string; readonly place: Place }>;
  /** By their texts, which stand in expressions until they have the names of relations. */
  readonly calls: Map<string, Call>;
}

/** `context.data` is what a check sends: here, its member `data`. */
const DATA = 'data';

function tokensIn(expression: string): readonly Token[] {
  try {
    return tokensOf(expression);
  } catch (error) {
    // The compilation of the condition says what is wrong.
    if (error instanceof ExpressionError) return [];
    throw error;
  }
}

/** With `data` for `context.data`. */
function withData({ expression, placeAt }: CelText): CelText & { readonly usesData: boolean } {
  const tokens = tokensIn(expression);
  const isName = (token: Token | undefined, name: string): boolean =>
    token?.kind === 'identifier' && token.text === name;
  const isDot = (token: Token | undefined): boolean => token?.kind === 'symbol' && token.text === '.';
  let result = '';
  let end = 0;
  const cuts: { readonly from: number; readonly length: number }[] = [];
  for (const [index, token] of tokens.entries()) {
    const data = tokens[index + 2];
    if (!isName(token, 'context') || !isDot(tokens[index + 1]) || data === undefined || !isName(data, DATA)) continue;
    if (isDot(tokens[index - 1])) continue;
    result += expression.slice(end, token.at);
    cuts.push({ from: result.length, length: data.at - token.at });
    end = data.at;
  }
  return {
    expression: result + expression.slice(end),
    placeAt: (offset) => placeAt(cuts.reduce((sum, { from, length }) => (from <= offset ? sum + length : sum), offset)),
    usesData: cuts.length > 0,
  };
}

/** Names of relations for calls, by their texts: that of the rule, or with a number where it is taken. */
function namesOfCalls(calls: ReadonlyMap<string, Call>, taken: readonly string[]): ReadonlyMap<string, string> {
  const all = new Set(taken);
  const names = new Map<string, string>();
  const numbers = new Map<string, number>();
  for (const [key, { rule }] of calls) {
    let number = numbers.get(rule) ?? 1;
    let name = number === 1 ? rule : `${rule}_${number}`;
    while (all.has(name)) {
      number += 1;
      name = `${rule}_${number}`;
    }
    numbers.set(rule, number);
    all.add(name);
    names.set(key, name);
  }
  return names;
}

function withNames(expression: Expression, names: ReadonlyMap<string, string>): Expression {
  switch (expression.kind) {
    case 'name':
      return { ...expression, name: names.get(expression.name) ?? expression.name };
    case 'union':
    case 'intersection':
      return { ...expression, parts: expression.parts.map((part) => withNames(part, names)) };
    case 'exclusion': {
      const subtract = expression.subtract.map((part) => withNames(part, names));
      return { ...expression, base: withNames(expression.base, names), subtract };
    }
    default:
      return expression;
  }
}

class PermifyParser {
  readonly #lexer: Lexer;
  readonly #entities: Entity[] = [];
  readonly #rules = new Map<string, SourceCondition & { readonly given: readonly string[] }>();

  constructor(lexer: Lexer) {
    this.#lexer = lexer;
  }

  parse(): Declarations {
    const lexer = this.#lexer;
    while (lexer.token.kind !== 'end') {
      if (lexer.take('entity')) this.#entity();
      else if (lexer.take('rule')) this.#rule();
      else if (!lexer.take(';')) throw lexer.unexpected('"entity" or "rule"');
    }
    return { types: this.#entities.map((entity) => this.#typeOf(entity)), conditions: [...this.#rules.values()] };
  }

  #attributeType(): string {
    const { text, place } = this.#lexer.word('the type of an attribute');
    const type = TYPES.get(text);
    if (type === undefined)
      throw modelFailure(place, `${quote(text)} is not a type; the types are ${[...TYPES.keys()].join(', ')}.`);
    if (!this.#lexer.take('[')) return type;
    this.#lexer.expect(']', 'after "["');
    return `list<${type}>`;
  }

  #rule(): void {
    const lexer = this.#lexer;
    const { text: name, place } = lexer.word('the name of a rule');
    if (this.#rules.has(name)) throw modelFailure(place, `The rule ${quote(name)} is already defined.`);
    lexer.expect('(', 'before the parameters');
    const parameters = new Map<string, string>();
    while (!lexer.take(')')) {
      if (parameters.size > 0) lexer.expect(',', 'between parameters');
      const { text: parameter, place: at } = lexer.word('the name of a parameter');
      if (parameters.has(parameter) || parameter === DATA) {
        throw modelFailure(
          at,
          `The parameter ${quote(parameter)} ${parameter === DATA ? 'has a name that grantd needs' : 'occurs twice'}.`,
        );
      }
      parameters.set(parameter, this.#attributeType());
    }
    const given = [...parameters.keys()];
    const { usesData, ...text } = withData(lexer.cel('{', '}', 'before the expression'));
    if (usesData) parameters.set(DATA, 'map<any>');
    this.#rules.set(name, { name, place, parameters: Object.fromEntries(parameters), ...text, given });
  }

  #entity(): void {
    const lexer = this.#lexer;
    const { text: name, place } = lexer.word('the name of an entity');
    const entity: Entity = { name, place, relations: [], attributes: new Map(), calls: new Map() };
    lexer.expect('{', `after ${quote(name)}`);
    while (!lexer.take('}')) {
      if (lexer.take('relation')) entity.relations.push(this.#relation());
      else if (lexer.take('attribute')) {
        const attribute = lexer.word('the name of an attribute');
        entity.attributes.set(attribute.text, { type: this.#attributeType(), place: attribute.place });
      } else if (lexer.take('permission') || lexer.take('action')) entity.relations.push(this.#permission(entity));
      else if (!lexer.take(';')) throw lexer.unexpected('"relation", "attribute", "permission", "action" or "}"');
    }
    this.#entities.push(entity);
  }

  #relation(): SourceRelation {
    const lexer = this.#lexer;
    const { text: name, place } = lexer.word('the name of a relation');
    const restrictions: Restriction[] = [];
    lexer.expect('@', 'before the type');
    do {
      const { text: type, place: at } = lexer.word('the name of an entity');
      const relation = lexer.take('#') ? lexer.word('the name of a relation').text : undefined;
      restrictions.push({ type, relation, wildcard: false, condition: undefined, expires: false, place: at });
    } while (lexer.take('@'));
    return { name, place, restrictions, expression: { kind: 'stored' } };
  }

  #permission(entity: Entity): SourceRelation {
    const { text: name, place } = this.#lexer.word('the name of a permission');
    this.#lexer.expect('=', `after ${quote(name)}`);
    return { name, place, restrictions: [], expression: this.#expression(entity, 0) };
  }

  /** `and`, `or` and `not` bind alike, from the left. */
  #expression(entity: Entity, depth: number): Expression {
    const lexer = this.#lexer;
    let left = this.#operand(entity, depth);
    for (;;) {
      const { place } = lexer.token;
      const kind = lexer.take('or') ? 'union' : lexer.take('and') ? 'intersection' : undefined;
      if (kind === undefined && !lexer.take('not')) return left;
      const right = this.#operand(entity, depth);
      if (kind === undefined) {
        left =
          left.kind === 'exclusion'
            ? { ...left, subtract: [...left.subtract, right] }
            : { kind: 'exclusion', base: left, subtract: [right], place };
      } else left = left.kind === kind ? { kind, parts: [...left.parts, right] } : { kind, parts: [left, right] };
    }
  }

  #operand(entity: Entity, depth: number): Expression {
    const lexer = this.#lexer;
    if (lexer.sees('(')) return lexer.parenthesis(depth, () => this.#expression(entity, depth + 1));
    const { text: name, place } = lexer.word('a name or "("');
    if (lexer.take('(')) return { kind: 'name', name: this.#call(entity, name, place), place };
    if (!lexer.take('.')) return { kind: 'name', name, place };
    const end = lexer.word('a name').text;
    if (lexer.sees('.')) {
      throw modelFailure(
        lexer.token.place,
        'A walk over two relations cannot be converted; define a permission in between.',
      );
    }
    return { kind: 'from', name: end, from: name, all: false, place };
  }

  /** The text of the call. */
  #call(entity: Entity, rule: string, place: Place): string {
    const lexer = this.#lexer;
    const attributes: string[] = [];
    while (!lexer.take(')')) {
      if (attributes.length > 0) lexer.expect(',', 'between attributes');
      attributes.push(lexer.word('the name of an attribute').text);
      if (lexer.sees('.')) {
        throw modelFailure(lexer.token.place, 'Only attributes of the entity can be passed to a rule.');
      }
    }
    const key = `${rule}(${attributes.join(', ')})`;
    if (!entity.calls.has(key)) entity.calls.set(key, { rule, attributes, place });
    return key;
  }

  /** Everybody: the types that have nothing of their own, or else all. */
  #everybody(condition: string | undefined, place: Place): Restriction[] {
    const plain = this.#entities.filter(({ relations, attributes }) => relations.length + attributes.size === 0);
    return (plain.length > 0 ? plain : this.#entities).map(({ name: type }) => {
      return { type, relation: undefined, wildcard: true, condition, expires: false, place };
    });
  }

  #typeOf({ name, place, relations, attributes, calls }: Entity): TypeDeclaration {
    const grantedBy = (
      relation: string,
      at: Place,
      given: readonly SourceAttribute[],
      rule?: string,
    ): SourceRelation => ({
      name: relation,
      place: at,
      restrictions: this.#everybody(rule, at),
      expression: { kind: 'stored' },
      attributes: given,
    });
    const booleans = [...attributes].flatMap(([attribute, { type, place: at }]) =>
      type === 'bool' ? [grantedBy(attribute, at, [{ name: attribute, type, parameter: undefined }])] : [],
    );
    const names = namesOfCalls(calls, [...relations.map((each) => each.name), ...attributes.keys()]);
    const called = Array.from(calls, ([key, { rule, attributes: passed, place: at }]) => {
      const parameters = this.#rules.get(rule)?.given;
      if (parameters === undefined) throw modelFailure(at, `No rule ${quote(rule)} is defined.`);
      const given = passed.map((attribute, index): SourceAttribute => {
        const [parameter, type] = [parameters[index], attributes.get(attribute)?.type];
        if (type === undefined) throw modelFailure(at, `${quote(name)} has no attribute ${quote(attribute)}.`);
        if (parameter === undefined) throw modelFailure(at, `${quote(rule)} has ${parameters.length} parameters.`);
        return { name: attribute, type, parameter };
      });
      return grantedBy(names.get(key) ?? key, at, given, rule);
    });
    const named = relations.map((each) => ({ ...each, expression: withNames(each.expression, names) }));
    return { name, place, extends: false, relations: [...named, ...booleans, ...called] };
  }
}

export const parsePermifySchema = (file: string, text: string): Declarations =>
  new PermifyParser(new Lexer(file, text, LANGUAGE)).parse();
