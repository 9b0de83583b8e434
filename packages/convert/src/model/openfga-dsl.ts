// Parses OpenFGA's modelling language, schema 1.1 and 1.2: models and the files of modules.

import { type Language, Lexer, parametersIn, type Token } from './lexer.ts';
import {
  type Declarations,
  type Expression,
  modelFailure,
  quote,
  type Restriction,
  type SourceCondition,
  type SourceRelation,
  type TypeDeclaration,
} from './source-model.ts';

const LANGUAGE: Language = {
  word: /[A-Za-z0-9_][A-Za-z0-9_./-]*/y,
  signs: ['[', ']', '(', ')', '{', '}', ',', ':', '#', '*', '<', '>'],
  strings: false,
  commentEnd: () => undefined,
};

/** OpenFGA cuts comments off before it parses, also in conditions: lines that begin with `#`, and what follows ` #`. */
function withoutComments(line: string): string {
  if (line.trimStart().startsWith('#')) return '';
  const comment = line.indexOf(' #');
  return comment < 0 ? line : line.slice(0, comment).trimEnd();
}

const SCHEMAS: ReadonlySet<string> = new Set(['1.1', '1.2']);

function restrictionIn(lexer: Lexer): Restriction {
  const { text: type, place } = lexer.word('a type, such as "user"');
  const wildcard = lexer.take(':');
  if (wildcard) lexer.expect('*', `after "${type}:"`);
  const relation = !wildcard && lexer.take('#') ? lexer.word('the name of a relation').text : undefined;
  const condition = lexer.take('with') ? lexer.word('the name of a condition').text : undefined;
  return { type, relation, wildcard, condition, expires: false, place };
}

function readRestrictions(lexer: Lexer, restrictions: Restriction[]): void {
  lexer.expect('[', 'before the types');
  do restrictions.push(restrictionIn(lexer));
  while (lexer.take(','));
  lexer.expect(']', 'after the types');
}

function operandIn(lexer: Lexer, restrictions: Restriction[], depth: number): Expression {
  if (lexer.sees('[')) {
    readRestrictions(lexer, restrictions);
    return { kind: 'stored' };
  }
  if (lexer.sees('(')) return lexer.parenthesis(depth, () => expressionIn(lexer, restrictions, depth + 1));
  const { text: name, place } = lexer.word('a name, "[" or "("');
  if (!lexer.take('from')) return { kind: 'name', name, place };
  return { kind: 'from', name, from: lexer.word('the name of a relation').text, all: false, place };
}

type Operator = 'or' | 'and' | 'but';

/** Takes an operator, and the `not` of `but not`. */
function operatorIn(lexer: Lexer): { readonly operator: Operator; readonly token: Token } | undefined {
  for (const operator of ['or', 'and', 'but'] as const) {
    if (!lexer.sees(operator)) continue;
    const token = lexer.next();
    if (operator === 'but') lexer.expect('not', 'after "but"');
    return { operator, token };
  }
  return undefined;
}

function expressionIn(lexer: Lexer, restrictions: Restriction[], depth: number): Expression {
  const parts = [operandIn(lexer, restrictions, depth)];
  let first: ReturnType<typeof operatorIn>;
  for (let next = operatorIn(lexer); next !== undefined; next = operatorIn(lexer)) {
    first ??= next;
    if (first.operator !== next.operator || (next.operator === 'but' && first !== next)) {
      throw modelFailure(next.token.place, 'Operators of different kinds need parentheses.');
    }
    parts.push(operandIn(lexer, restrictions, depth));
  }
  const [base, ...subtract] = parts;
  if (first?.operator === 'but' && base !== undefined) {
    return { kind: 'exclusion', base, subtract, place: first.token.place };
  }
  return { kind: first?.operator === 'and' ? 'intersection' : 'union', parts };
}

function relationIn(lexer: Lexer): SourceRelation {
  lexer.expect('define', 'before a relation');
  const { text: name, place } = lexer.word('the name of a relation');
  lexer.expect(':', `after ${quote(name)}`);
  const restrictions: Restriction[] = [];
  const expression = expressionIn(lexer, restrictions, 0);
  return { name, place, restrictions, expression };
}

function typeIn(lexer: Lexer): TypeDeclaration {
  const extend = lexer.take('extend');
  lexer.expect('type', 'before the name of a type');
  const { text: name, place } = lexer.word('the name of a type');
  const relations: SourceRelation[] = [];
  if (lexer.take('relations')) {
    do relations.push(relationIn(lexer));
    while (lexer.sees('define'));
  }
  return { name, place, extends: extend, relations };
}

function headIn(lexer: Lexer): void {
  if (lexer.take('module')) {
    lexer.word('the name of the module');
    return;
  }
  if (!lexer.take('model')) throw lexer.unexpected('"model" or "module"');
  lexer.expect('schema', 'after "model"');
  const { text: schema, place } = lexer.word('the version of the schema');
  if (!SCHEMAS.has(schema)) {
    throw modelFailure(place, `Schema ${quote(schema)} cannot be converted; rewrite the model in schema 1.1.`);
  }
}

function conditionIn(lexer: Lexer): SourceCondition {
  const { text: name, place } = lexer.word('the name of a condition');
  const parameters = parametersIn(lexer, ':');
  return { name, place, parameters, ...lexer.cel('{', '}', 'before the expression') };
}

export function parseOpenFgaDsl(file: string, text: string): Declarations {
  const lexer = new Lexer(file, text.split('\n').map(withoutComments).join('\n'), LANGUAGE);
  const types: TypeDeclaration[] = [];
  const conditions: SourceCondition[] = [];
  headIn(lexer);
  while (lexer.token.kind !== 'end') {
    if (lexer.take('condition')) conditions.push(conditionIn(lexer));
    else if (lexer.sees('type') || lexer.sees('extend')) types.push(typeIn(lexer));
    else throw lexer.unexpected('"type", "extend type", "define" or "condition"');
  }
  return { types, conditions };
}
