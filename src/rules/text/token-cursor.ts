// The tokens of one statement, one after the other, and what ends its reading.

import type { Token } from './lexer.ts';
import { isReserved } from './words.ts';

/** In UTF-16 units of the text. */
export interface Range {
  readonly offset: number;
  readonly length: number;
}

/** Thrown where a statement cannot be read on. */
export class Misfit extends Error {
  readonly token: Token | undefined;
  /** Whether the message says more than is known about the token. */
  readonly isSpecific: boolean;
  /** `message`: completes "At the end of the line, …". `token`: undefined at the end. */
  constructor(message: string, token: Token | undefined, isSpecific = false) {
    super(message);
    this.token = token;
    this.isSpecific = isSpecific;
  }
}

export const shown = (text: string): string => JSON.stringify(text.slice(0, 64));

const endOf = ({ at, text }: Token): number => at + text.length;

/** The tokens of one statement, one after the other. */
export class TokenCursor {
  readonly #tokens: readonly Token[];
  #index = 0;
  readonly end: number;

  constructor(tokens: readonly Token[], end: number) {
    this.#tokens = tokens.filter(({ kind }) => kind !== 'comment');
    this.end = end;
  }

  get next(): Token | undefined {
    return this.#tokens[this.#index];
  }

  get after(): Token | undefined {
    return this.#tokens[this.#index + 1];
  }

  get last(): Token | undefined {
    return this.#tokens[this.#index - 1];
  }

  get offset(): number {
    return this.next?.at ?? this.end;
  }

  rangeFrom(offset: number): Range {
    return { offset, length: (this.last === undefined ? this.end : endOf(this.last)) - offset };
  }

  take(): Token | undefined {
    const token = this.next;
    this.#index += 1;
    return token;
  }

  /** Consumes the word or the symbol if it is next. */
  pass(text: string): boolean {
    const { next } = this;
    if (next === undefined || next.text !== text || next.kind === 'quoted') return false;
    this.#index += 1;
    return true;
  }

  demand(text: string, why: string): void {
    if (!this.pass(text)) throw new Misfit(why, this.next);
  }

  /** A name, in quotes if it is a word of the language. `what` completes "… is missing". */
  name(what: string): string {
    const token = this.next;
    if (token?.kind === 'quoted') {
      this.take();
      return token.text.slice(1, -1);
    }
    if (token?.kind !== 'name') throw new Misfit(`${what} is missing`, token);
    if (isReserved(token.text)) {
      throw new Misfit(`${what} is missing: as a name, this word stands in quotes, \`"${token.text}"\``, token);
    }
    if (token.text.startsWith('_')) throw new Misfit('a name begins with a letter', token);
    this.take();
    return token.text;
  }

  demandEnd(what: string): void {
    if (this.next !== undefined) throw new Misfit(what, this.next);
  }
}
