// A text of rules in every layout that the grammar allows: blanks, tabs, line breaks of each kind, and comments
// wherever one may stand.

import fc from 'fast-check';
import { type Statement, statementsIn, type Token } from '../../../../src/rules/text/lexer.ts';

/** What is chosen where there is a choice; beyond them, the first. */
export const choices = fc.array(fc.nat(999), { maxLength: 500, size: 'max' });

const WORDS = ['', ' namespace x', ' a = b', ' "', ' with """', ' // or', ' # or', '\t(', ' é', ' as "x"'];

export class RandomLayout {
  readonly comments: string[] = [];
  readonly text: string;
  readonly #choices: readonly number[];
  #next = 0;

  /** `printed`: in the one layout, without comments. */
  constructor(printed: string, chosen: readonly number[]) {
    this.#choices = chosen;
    let text = '';
    for (const statement of statementsIn(printed)) {
      text += this.#ownLines();
      if (statement.kind !== 'end') text += this.#statement(printed, statement);
    }
    const lineEnds = this.#one([['\n'], ['\r\n'], ['\r'], ['\n', '\r\n']]);
    this.text = text.replaceAll('\n', () => this.#one(lineEnds));
  }

  #one<Value>(values: readonly Value[]): Value {
    const chosen = values[(this.#choices[this.#next] ?? 0) % values.length];
    this.#next += 1;
    if (chosen === undefined) throw new Error('Nothing to choose from.');
    return chosen;
  }

  #comment(): string {
    const comment = `#${this.comments.length}!${this.#one(WORDS)}`;
    this.comments.push(comment);
    return comment;
  }

  /** Empty lines and comments between two lines. */
  #ownLines(): string {
    let lines = '';
    for (let left = this.#one([0, 0, 0, 1, 2]); left > 0; left -= 1) {
      lines += `${this.#one(['', '  ', '\t'])}${this.#one([true, false]) ? this.#comment() : ''}\n`;
    }
    return lines;
  }

  #lineEnd(): string {
    return `${this.#one(['', '', ' ', '\t', '  #'])}`.replace('#', () => this.#comment()).concat('\n');
  }

  /** Between tokens where the line may end. What follows is indented further than the statement is. */
  #breakable(): string {
    if (this.#one([false, false, false, true]))
      return `${this.#lineEnd()}${this.#ownLines()}${this.#one(['\t\t\t\t\t', '       '])}`;
    return this.#one([' ', '  ', '\t']);
  }

  #between(statement: Statement, before: Token, token: Token, index: number): string {
    if (before.text === '#' || token.text === '#') return '';
    // A line that begins with these words may begin another statement.
    const mayBegin = token.text !== 'namespace' && token.text !== 'condition';
    const mayBreak = statement.kind === 'condition' || (index > 1 && mayBegin);
    const isApart = (before.kind !== 'symbol' || before.text === ':*') && token.kind !== 'symbol';
    if (!isApart && this.#one([true, false])) return '';
    return mayBreak ? this.#breakable() : this.#one([' ', '  ', '\t']);
  }

  #statement(printed: string, statement: Statement): string {
    const { kind, tokens, expressionAt, to } = statement;
    let text = kind === 'definition' ? this.#one(['  ', ' ', '\t', '    ']) : '';
    for (const [index, token] of tokens.entries()) {
      const before = tokens[index - 1];
      text += `${before === undefined ? '' : this.#between(statement, before, token, index)}${token.text}`;
    }
    return `${text}${expressionAt === undefined ? this.#lineEnd() : this.#expression(printed.slice(expressionAt, to))}`;
  }

  /** With the end of its last line. */
  #expression(raw: string): string {
    // In a text or a comment of CEL, nothing may be added; nor to an empty line, which is part of the expression.
    if (/"""|'''|\/\//.test(raw)) return `${raw}\n`;
    const isBroken = raw.startsWith('\n');
    const begins = isBroken ? '' : this.#one([' ', '\t', '\n  ', '\n\t']);
    const lines = `${begins}${isBroken ? raw : raw.trimStart()}`.replaceAll(
      /(?<=\S|^)\n(?=.)/g,
      () => `${this.#lineEnd()}${this.#one([true, false]) ? '' : `${this.#one(['', '  ', '\t'])}${this.#comment()}\n`}`,
    );
    return `${lines}${this.#lineEnd()}`;
  }
}
