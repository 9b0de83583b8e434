// Parses a schema of SpiceDB.

import { type Language, Lexer, parametersIn, slashCommentEnd, type Token } from './lexer.ts';
import {
  type Declarations,
  type Expression,
  modelFailure,
  NOTHING,
  quote,
  type Restriction,
  type SourceCondition,
  type SourceRelation,
  type TypeDeclaration,
} from './source-model.ts';

const LANGUAGE: Language = {
  word: /[A-Za-z0-9_]+/y,
  signs: '-> ... { } ( ) [ ] < > + - & | = : ; # * . / , @'.split(' '),
  strings: true,
  commentEnd: slashCommentEnd,
};

/** Features after `use` that do not change the syntax. `self` does, and is handled. */
const FEATURES: ReadonlySet<string> = new Set(['expiration', 'typechecking', 'deprecation', 'self']);

const COMPOSED = 'compile the files into one schema first, for example with "zed schema compile"';

const one = <Item>(items: readonly Item[]): Item | undefined => (items.length === 1 ? items[0] : undefined);

class SchemaParser {
  readonly #lexer: Lexer;
  /** Whether `self` is the object itself, and no name. */
  #self = false;

  constructor(lexer: Lexer) {
    this.#lexer = lexer;
  }

  parse(): Declarations {
    const lexer = this.#lexer;
    const types: TypeDeclaration[] = [];
    const conditions: SourceCondition[] = [];
    while (lexer.token.kind !== 'end') {
      this.#skipDecorators();
      if (lexer.sees('definition')) types.push(this.#definition());
      else if (lexer.take('caveat')) conditions.push(this.#caveat());
      else if (lexer.take('use')) this.#use();
      else if (lexer.sees('import') || lexer.sees('partial')) {
        throw modelFailure(lexer.token.place, `${quote(lexer.token.text)} cannot be converted: ${COMPOSED}.`);
      } else if (!lexer.take(';')) throw lexer.unexpected('"definition", "caveat" or "use"');
    }
    return { types, conditions };
  }

  #use(): void {
    const { text, place } = this.#lexer.word('the name of a feature');
    if (text === 'import' || text === 'partial') {
      throw modelFailure(place, `"use ${text}" cannot be converted: ${COMPOSED}.`);
    }
    if (!FEATURES.has(text))
      throw modelFailure(place, `"use ${text.slice(0, 60)}" is not known, so it cannot be converted.`);
    if (text === 'self') this.#self = true;
  }

  #caveat(): SourceCondition {
    const { text: name, place } = this.#typePath('the name of a caveat');
    const parameters = parametersIn(this.#lexer, undefined);
    return { name, place, parameters, ...this.#lexer.cel('{', '}', 'before the expression') };
  }

  /** Decorators such as `@deprecated(…)`, which change no answer. */
  #skipDecorators(): void {
    while (this.#lexer.take('@')) {
      this.#lexer.word('the name of a decorator');
      if (this.#lexer.sees('(')) this.#lexer.cel('(', ')', 'before the options');
    }
  }

  /** `document`, or `prefix/document`. */
  #typePath(what: string): Token {
    const first = this.#lexer.word(what);
    let text = first.text;
    while (this.#lexer.take('/')) text += `/${this.#lexer.word(what).text}`;
    return { ...first, text };
  }

  #definition(): TypeDeclaration {
    const lexer = this.#lexer;
    lexer.expect('definition', 'before the name of a type');
    const { text: name, place } = this.#typePath('the name of a type');
    const relations: SourceRelation[] = [];
    lexer.expect('{', `after ${quote(name)}`);
    while (!lexer.take('}')) {
      this.#skipDecorators();
      if (lexer.sees('...')) {
        throw modelFailure(lexer.token.place, `A partial definition cannot be converted: ${COMPOSED}.`);
      }
      if (lexer.take('relation')) relations.push(this.#relation());
      else if (lexer.take('permission')) relations.push(this.#permission());
      else if (!lexer.take(';')) throw lexer.unexpected('"relation", "permission" or "}"');
    }
    return { name, place, extends: false, relations };
  }

  #relation(): SourceRelation {
    const { text: name, place } = this.#lexer.word('the name of a relation');
    this.#lexer.expect(':', `after ${quote(name)}`);
    const restrictions: Restriction[] = [];
    do {
      this.#skipDecorators();
      restrictions.push(this.#restriction());
    } while (this.#lexer.take('|'));
    return { name, place, restrictions, expression: { kind: 'stored' } };
  }

  #restriction(): Restriction {
    const lexer = this.#lexer;
    const { text: type, place } = this.#typePath('the name of a type');
    const wildcard = lexer.take(':');
    if (wildcard) lexer.expect('*', `after "${type.slice(0, 60)}:"`);
    // `#...` is the subject itself.
    const userset = !wildcard && lexer.take('#') && !lexer.take('...');
    const relation = userset ? lexer.word('the name of a relation').text : undefined;
    let condition: string | undefined;
    let expires = false;
    if (lexer.take('with')) {
      do {
        const { text } = this.#typePath('the name of a caveat');
        if (text === 'expiration') expires = true;
        else condition = text;
      } while (lexer.take('and'));
    }
    return { type, relation, wildcard, condition, expires, place };
  }

  #permission(): SourceRelation {
    const lexer = this.#lexer;
    const { text: name, place } = lexer.word('the name of a permission');
    // Types of the subjects, which only SpiceDB checks.
    if (lexer.take(':')) {
      do this.#typePath('the name of a type');
      while (lexer.take('|'));
    }
    lexer.expect('=', `after ${quote(name)}`);
    return { name, place, restrictions: [], expression: this.#expression(0) };
  }

  /** `+` binds tightest, then `&`, then `-`. */
  #expression(depth: number): Expression {
    const { place } = this.#lexer.token;
    const [base, ...subtract] = this.#operands('-', () => {
      const all = this.#operands('&', () => {
        const any = this.#operands('+', () => this.#operand(depth));
        return one(any) ?? { kind: 'union', parts: any };
      });
      return one(all) ?? { kind: 'intersection', parts: all };
    });
    if (base === undefined || subtract.length === 0) return base ?? NOTHING;
    return { kind: 'exclusion', base, subtract, place };
  }

  #operands(sign: string, operand: () => Expression): Expression[] {
    const operands = [operand()];
    while (this.#lexer.take(sign)) {
      if (this.#lexer.token.kind === 'end') throw this.#lexer.unexpected(`what follows ${quote(sign)}`);
      operands.push(operand());
    }
    return operands;
  }

  #operand(depth: number): Expression {
    const lexer = this.#lexer;
    if (lexer.sees('(')) return lexer.parenthesis(depth, () => this.#expression(depth + 1));
    const { text: name, place } = lexer.word('a name or "("');
    if (name === 'nil') return NOTHING;
    if (name === 'self' && this.#self) return { kind: 'self', place };
    if (lexer.take('->')) return this.#arrow({ kind: 'from', name: this.#arrowEnd(), from: name, all: false, place });
    if (!lexer.take('.')) return { kind: 'name', name, place };
    const { text: walk, place: walkPlace } = lexer.word('"any" or "all"');
    if (walk !== 'any' && walk !== 'all') throw modelFailure(walkPlace, `${quote(walk)} is neither "any" nor "all".`);
    lexer.expect('(', `after "${walk}"`);
    const end = this.#arrowEnd();
    lexer.expect(')', `after ${quote(end)}`);
    return this.#arrow({ kind: 'from', name: end, from: name, all: walk === 'all', place });
  }

  #arrowEnd(): string {
    return this.#lexer.word('a name').text;
  }

  #arrow(expression: Expression): Expression {
    if (!this.#lexer.sees('->') && !this.#lexer.sees('.')) return expression;
    throw modelFailure(
      this.#lexer.token.place,
      'An arrow after an arrow cannot be converted; define a permission in between.',
    );
  }
}

export const parseSpiceDbSchema = (file: string, text: string): Declarations =>
  new SchemaParser(new Lexer(file, text, LANGUAGE)).parse();
