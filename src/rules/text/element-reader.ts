// Reads what a rule says behind its `=`: elements with `or`, `and` and `but not` between them. Invariant: recursion is
// bounded, so that no text overflows the stack.

import type { Token } from './lexer.ts';
import { Misfit, type Range, type TokenCursor } from './token-cursor.ts';

/** Parentheses in parentheses; rules may nest less deep, which is said elsewhere. */
const NESTING_MAX = 20;

/** An element, or elements that are joined, before it has a place in the JSON form. */
export type Node = Range &
  (
    | { readonly kind: 'name'; readonly text: string }
    | {
        readonly kind: 'gate';
        readonly operator: 'any_of' | 'all_of';
        readonly elements: readonly Node[];
        readonly butNot: readonly Node[];
      }
  );

export type Gate = Extract<Node, { kind: 'gate' }>;

export const isPlainUnion = (gate: Gate): boolean => gate.operator === 'any_of' && gate.butNot.length === 0;

/** `a or b` and `a and b` in one list would be read one way by one reader and the other way by another. */
function mixed(cursor: TokenCursor, parts: readonly string[], operator: string, token: Token): Misfit {
  const [all, other] = [parts.join(` ${operator} `), token.text];
  const right = cursor.after?.text ?? '…';
  const last = parts.at(-1) ?? '';
  const before = parts.slice(0, -1).join(` ${operator} `);
  return new Misfit(
    `\`and\` and \`or\` beside each other need parentheses: \`(${all}) ${other} ${right}\` or \`${before} ${operator} (${last} ${other} ${right})\``,
    token,
  );
}

export class ElementReader {
  readonly #cursor: TokenCursor;
  readonly #text: string;

  constructor(cursor: TokenCursor, text: string) {
    this.#cursor = cursor;
    this.#text = text;
  }

  #textOf({ offset, length }: Range): string {
    return this.#text.slice(offset, offset + length);
  }

  /** Elements with `or` or `and` between them, and what is taken away. */
  gate(nesting: number): Gate {
    const cursor = this.#cursor;
    const { offset } = cursor;
    let operator = cursor.pass('and') ? 'and' : undefined;
    const elements = [this.#element(nesting)];
    for (
      let { next } = cursor;
      next?.kind === 'name' && (next.text === 'or' || next.text === 'and');
      { next } = cursor
    ) {
      operator ??= next.text;
      if (operator !== next.text) {
        throw mixed(
          cursor,
          elements.map((each) => this.#textOf(each)),
          operator,
          next,
        );
      }
      cursor.take();
      elements.push(this.#element(nesting));
    }
    const butNot = this.#butNot(nesting);
    const { next } = cursor;
    if (butNot.length > 0 && next?.kind === 'name' && (next.text === 'or' || next.text === 'and')) {
      const [kept, without] = [elements, butNot].map((list) => list.map((each) => this.#textOf(each)).join(' or '));
      const right = cursor.after?.text ?? '…';
      throw new Misfit(
        `only parentheses tell what is taken away: \`${kept} but not (${without} ${next.text} ${right})\` or \`(${kept} but not ${without}) ${next.text} ${right}\``,
        next,
      );
    }
    const range = cursor.rangeFrom(offset);
    return { kind: 'gate', operator: operator === 'and' ? 'all_of' : 'any_of', elements, butNot, ...range };
  }

  #butNot(nesting: number): readonly Node[] {
    const cursor = this.#cursor;
    const without: Node[] = [];
    while (cursor.pass('but')) {
      cursor.demand('not', '`not` is missing behind `but`');
      const inParentheses = cursor.next?.text === '(';
      const element = this.#element(nesting);
      // `but not (a or b)` takes away both.
      if (inParentheses && element.kind === 'gate' && isPlainUnion(element)) without.push(...element.elements);
      else without.push(element);
    }
    return without;
  }

  #element(nesting: number): Node {
    const cursor = this.#cursor;
    const { offset } = cursor;
    if (cursor.pass('(')) {
      if (nesting >= NESTING_MAX) throw new Misfit('parentheses are nested too deeply here', cursor.last);
      const gate = this.gate(nesting + 1);
      cursor.demand(')', 'a closing parenthesis is missing here');
      return { ...gate, ...cursor.rangeFrom(offset) };
    }
    const { next, after } = cursor;
    if (next?.text === 'not' || next?.text === '!') {
      const right = `viewer but not ${after?.text ?? 'guest'}`;
      throw new Misfit(
        `\`not\` stands behind \`but\`, and takes away from what is before it: \`${right}\``,
        next,
        true,
      );
    }
    const all = next?.kind === 'name' && next.text === 'all';
    if (all && after?.text !== 'of') {
      throw new Misfit('`of` is missing behind `all`: `all of viewer from parent`', next, true);
    }
    if (all) {
      cursor.take();
      cursor.take();
    }
    const name = cursor.name('a name');
    const from = cursor.pass('from') ? cursor.name('the relation behind `from`') : undefined;
    if (all && from === undefined) {
      throw new Misfit(`\`all of ${name}\` needs \`from\` and a relation: \`all of ${name} from parent\``, cursor.next);
    }
    if (cursor.next?.text === 'from') {
      throw new Misfit(
        `\`from\` leads one step: give \`${name} from ${from}\` a name of its own on the objects that lie between, and follow that name`,
        cursor.next,
      );
    }
    const text = `${all ? 'all of ' : ''}${name}${from === undefined ? '' : ` from ${from}`}`;
    return { kind: 'name', text, ...cursor.rangeFrom(offset) };
  }
}
