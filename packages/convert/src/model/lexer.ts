// Cuts a text into words, signs and strings, each with its line and column. Takes time in proportion to the text. The
// languages differ in their words, signs and comments.

import type { CliFailure } from '../../../cli/src/failures.ts';
import { modelFailure, NESTING_MAX, type Place, placeWithin, quote } from './source-model.ts';

export interface Language {
  /** Sticky: the longest word at a place. It must match without backtracking. */
  readonly word: RegExp;
  /** Longer ones before their beginnings. */
  readonly signs: readonly string[];
  /** Whether `"` begins a string. */
  readonly strings: boolean;
  /** The end of the comment that begins at `at`, or undefined if none does there; -1 if it is never closed. */
  commentEnd(text: string, at: number): number | undefined;
}

export interface Token {
  readonly kind: 'word' | 'sign' | 'string' | 'end';
  /** The text as written; a string has its quotes. */
  readonly text: string;
  readonly place: Place;
}

/** An expression in CEL, as written. */
export interface CelText {
  readonly expression: string;
  /** Where an offset into it stands in the file. */
  readonly placeAt: (offset: number) => Place;
}

const isBlank = (character: string | undefined): boolean =>
  character === ' ' || character === '\t' || character === '\n' || character === '\r' || character === '\f';

/** The end of the line at `at`. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** The end of a comment after `//`, or between `/*` and its end. */
export function slashCommentEnd(text: string, at: number): number | undefined {
  if (text.startsWith('//', at)) return lineEnd(text, at);
  if (!text.startsWith('/*', at)) return undefined;
  const end = text.indexOf('*/', at + 2);
  return end < 0 ? end : end + 2;
}

export class Lexer {
  readonly #file: string;
  readonly #text: string;
  readonly #language: Language;
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #token: Token;

  constructor(file: string, text: string, language: Language) {
    this.#file = file;
    this.#text = text.startsWith('\uFEFF') ? text.slice(1) : text;
    this.#language = language;
    this.#token = this.#scan();
  }

  /** The token that `next` returns. */
  get token(): Token {
    return this.#token;
  }

  next(): Token {
    const token = this.#token;
    if (token.kind !== 'end') this.#token = this.#scan();
    return token;
  }

  /** Whether the next token is this word or sign. */
  sees(text: string): boolean {
    return this.#token.text === text && (this.#token.kind === 'word' || this.#token.kind === 'sign');
  }

  take(text: string): boolean {
    const seen = this.sees(text);
    if (seen) this.next();
    return seen;
  }

  expect(text: string, where: string): Token {
    if (!this.sees(text)) throw this.unexpected(`${quote(text)} ${where}`);
    return this.next();
  }

  word(what: string): Token {
    if (this.#token.kind !== 'word') throw this.unexpected(what);
    return this.next();
  }

  unexpected(expected: string): CliFailure {
    const { kind, text, place } = this.#token;
    return modelFailure(
      place,
      `${kind === 'end' ? 'The file ends' : `${quote(text)} stands`} where ${expected} belongs.`,
    );
  }

  /** Reads a parenthesis, which is the next token. `depth`: how many are around it. */
  parenthesis<Inner>(depth: number, inner: () => Inner): Inner {
    const { place } = this.next();
    if (depth >= NESTING_MAX) throw modelFailure(place, `More than ${NESTING_MAX} parentheses within each other.`);
    const read = inner();
    this.expect(')', 'to close the parenthesis');
    return read;
  }

  /**
   * Reads from the next token, which is `open`, to after the `close` that belongs to it. Between them is an
   * expression in CEL, whose strings and comments may contain either sign.
   */
  cel(open: '(' | '{', close: ')' | '}', where: string): CelText {
    if (!this.sees(open)) throw this.unexpected(`${quote(open)} ${where}`);
    const { place } = this.#token;
    const [start, startPlace] = [this.#at, this.#place()];
    let depth = 1;
    while (depth > 0) {
      const character = this.#text[this.#at];
      if (character === undefined) throw modelFailure(place, `This ${quote(open)} is never closed.`);
      if (character === '"' || character === "'") {
        this.#skipCelString(character);
        continue;
      }
      const commentEnd = this.#text.startsWith('//', this.#at) ? lineEnd(this.#text, this.#at) : this.#commentEnd();
      if (commentEnd !== undefined) {
        this.#advance(commentEnd);
        continue;
      }
      if (character === open) depth += 1;
      if (character === close) depth -= 1;
      this.#advance(this.#at + 1);
    }
    const text = this.#text.slice(start, this.#at - 1);
    this.#token = this.#scan();
    const blanks = text.length - text.trimStart().length;
    return { expression: text.trim(), placeAt: (offset) => placeWithin(text, startPlace, blanks + offset) };
  }

  #skipCelString(delimiter: string): void {
    const place = this.#place();
    const raw = /[rR]/.test(this.#text[this.#at - 1] ?? '');
    const end = this.#text.startsWith(delimiter.repeat(3), this.#at) ? delimiter.repeat(3) : delimiter;
    this.#advance(this.#at + end.length);
    while (!this.#text.startsWith(end, this.#at)) {
      const character = this.#text[this.#at];
      if (character === undefined || (character === '\n' && end.length === 1)) {
        throw modelFailure(place, 'This string is never closed.');
      }
      this.#advance(this.#at + (character === '\\' && !raw ? 2 : 1));
    }
    this.#advance(this.#at + end.length);
  }

  #place(): Place {
    return { file: this.#file, line: this.#line, column: this.#at - this.#lineStart + 1 };
  }

  /** To `end`, counting lines. */
  #advance(end: number): void {
    for (let at = this.#at; at < end; at += 1) {
      if (this.#text[at] !== '\n') continue;
      this.#line += 1;
      this.#lineStart = at + 1;
    }
    this.#at = end;
  }

  #commentEnd(): number | undefined {
    const end = this.#language.commentEnd(this.#text, this.#at);
    if (end === -1) throw modelFailure(this.#place(), 'This comment is never closed.');
    return end;
  }

  #skipBlanks(): void {
    for (;;) {
      const end = isBlank(this.#text[this.#at]) ? this.#at + 1 : this.#commentEnd();
      if (end === undefined) return;
      this.#advance(end);
    }
  }

  #scan(): Token {
    this.#skipBlanks();
    const place = this.#place();
    if (this.#at >= this.#text.length) return { kind: 'end', text: '', place };
    if (this.#language.strings && this.#text[this.#at] === '"') return this.#scanString(place);
    const { word } = this.#language;
    word.lastIndex = this.#at;
    const [found] = word.exec(this.#text) ?? [];
    if (found !== undefined) return this.#take('word', found, place);
    const sign = this.#language.signs.find((candidate) => this.#text.startsWith(candidate, this.#at));
    if (sign !== undefined) return this.#take('sign', sign, place);
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    throw modelFailure(place, `${quote(character)} has no meaning here.`);
  }

  #scanString(place: Place): Token {
    let end = this.#at + 1;
    while (this.#text[end] !== '"') {
      const character = this.#text[end];
      if (character === undefined || character === '\n') throw modelFailure(place, 'This string is never closed.');
      end += character === '\\' ? 2 : 1;
    }
    return this.#take('string', this.#text.slice(this.#at, end + 1), place);
  }

  #take(kind: 'word' | 'sign' | 'string', text: string, place: Place): Token {
    this.#at += text.length;
    return { kind, text, place };
  }
}

/** `list<map<int>>` has two. */
const TYPE_NESTING_MAX = 5;

function typeIn(lexer: Lexer, depth: number): string {
  const { text, place } = lexer.word('the type of a parameter');
  if (!lexer.take('<')) return text;
  if (depth === TYPE_NESTING_MAX)
    throw modelFailure(place, `More than ${TYPE_NESTING_MAX} types are within each other.`);
  const inner = typeIn(lexer, depth + 1);
  lexer.expect('>', `after ${quote(inner)}`);
  return `${text}<${inner}>`;
}

/**
 * The declared parameters of a condition, from `(` to `)`: `(ip: ipaddress, allowed: list<string>)`. Types by name, as
 * grantd calls them. `separator` stands between a name and its type.
 */
export function parametersIn(lexer: Lexer, separator: ':' | undefined): Readonly<Record<string, string>> {
  const types = new Map<string, string>();
  lexer.expect('(', 'before the parameters');
  while (!lexer.take(')')) {
    if (types.size > 0) lexer.expect(',', 'between parameters');
    const { text: name, place } = lexer.word('the name of a parameter');
    if (separator !== undefined) lexer.expect(separator, `after ${quote(name)}`);
    if (types.has(name)) throw modelFailure(place, `The parameter ${quote(name)} occurs twice.`);
    types.set(name, typeIn(lexer, 1));
  }
  return Object.fromEntries(types);
}
