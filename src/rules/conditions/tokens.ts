// Divides an expression into tokens, as the lexical part of the CEL specification says
// (https://github.com/cel-expr/cel-spec/blob/master/doc/langdef.md#syntax).

import { ExpressionError } from './syntax-tree.ts';
import { INT_MAX, UINT_MAX } from './values.ts';

export type Token = { readonly at: number } & (
  | { readonly kind: 'identifier'; readonly text: string }
  /** Between backticks: only a field may be named so. */
  | { readonly kind: 'quoted-field'; readonly text: string }
  /** Without its sign, so up to 2^63. */
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'uint'; readonly value: bigint }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'symbol'; readonly text: string }
  | { readonly kind: 'end' }
);

const SPACE = /(?:[ \t\n\f\r]+|\/\/[^\n]*)*/y;
const NUMBER = /(?:0x([0-9a-fA-F]+)|(\d*\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|(\d+))([uU]?)/y;
const QUOTE = /(?:[bB][rR]?|[rR])?(?:'''|"""|'|")/y;
const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTED_FIELD = /`([A-Za-z0-9_./ -]+)`/y;
const SYMBOL = /&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}]/y;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const PLAIN_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ['?', '?'],
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
]);
const CODE_ESCAPE = /\\(?:[xX]([0-9a-fA-F]{2})|([0-3][0-7]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/y;

interface Escape {
  readonly length: number;
  /** A code point, or the value of a byte. */
  readonly code: number;
}

function escapeAt(text: string, at: number, isBytes: boolean): Escape {
  const plain = PLAIN_ESCAPES.get(text.charAt(at + 1));
  if (plain !== undefined) return { length: 2, code: plain.charCodeAt(0) };
  const match = matchAt(CODE_ESCAPE, text, at);
  if (match === null) throw new ExpressionError(`\`${text.slice(at, at + 2)}\` is no escape sequence.`, at);
  const [sequence, hex, octal, short, long] = match;
  const unicode = short ?? long;
  if (isBytes && unicode !== undefined) {
    throw new ExpressionError(`Bytes cannot contain \`${sequence}\`; use \`\\x\` and two hexadecimal digits.`, at);
  }
  const code = octal === undefined ? Number.parseInt(hex ?? unicode ?? '', 16) : Number.parseInt(octal, 8);
  if (code > 0x10_ff_ff || (code >= 0xd8_00 && code <= 0xdf_ff)) {
    throw new ExpressionError(`\`${sequence}\` is no Unicode character.`, at);
  }
  return { length: sequence.length, code };
}

/** A string or bytes, whose prefix and opening quote are given. */
function quoted(text: string, at: number, opening: string): { readonly token: Token; readonly end: number } {
  const quote = opening.replace(/^[bBrR]+/, '');
  const prefix = opening.slice(0, opening.length - quote.length).toLowerCase();
  const [isBytes, isRaw] = [prefix.startsWith('b'), prefix.endsWith('r')];
  const parts: Uint8Array[] = [];
  let value = '';
  let position = at + opening.length;
  while (!text.startsWith(quote, position)) {
    const character = text.charAt(position);
    if (character === '' || (quote.length === 1 && (character === '\n' || character === '\r'))) {
      throw new ExpressionError(`The text that begins here has no closing ${quote}.`, at);
    }
    if (character !== '\\' || isRaw) {
      value += character;
      position += 1;
      continue;
    }
    const { length, code } = escapeAt(text, position, isBytes);
    if (isBytes) {
      parts.push(Buffer.from(value), Uint8Array.of(code));
      value = '';
    } else {
      value += String.fromCodePoint(code);
    }
    position += length;
  }
  const end = position + quote.length;
  if (!isBytes) return { token: { at, kind: 'string', value }, end };
  return { token: { at, kind: 'bytes', value: new Uint8Array(Buffer.concat([...parts, Buffer.from(value)])) }, end };
}

function numberOf(match: RegExpExecArray, at: number): Token {
  const [whole, hex, double, decimal, suffix = ''] = match;
  const text = whole.slice(0, 40);
  if (double !== undefined) {
    if (suffix !== '') throw new ExpressionError(`\`${text}\` is no number: only integers have the suffix "u".`, at);
    const value = Number(double);
    if (!Number.isFinite(value)) throw new ExpressionError(`\`${text}\` is beyond the doubles.`, at);
    return { at, kind: 'double', value };
  }
  const value = BigInt(hex === undefined ? (decimal ?? '') : `0x${hex}`);
  if (suffix === '') {
    if (value > INT_MAX + 1n) throw new ExpressionError(`\`${text}\` is beyond the integers of 64 bits.`, at);
    return { at, kind: 'int', value };
  }
  if (value > UINT_MAX) throw new ExpressionError(`\`${text}\` is beyond the unsigned integers of 64 bits.`, at);
  return { at, kind: 'uint', value };
}

function tokenAt(text: string, at: number): { readonly token: Token; readonly end: number } {
  if (at === text.length) return { token: { at, kind: 'end' }, end: at };
  const opening = matchAt(QUOTE, text, at);
  if (opening !== null) return quoted(text, at, opening[0]);
  const number = matchAt(NUMBER, text, at);
  if (number !== null) {
    const end = at + number[0].length;
    if (matchAt(IDENTIFIER, text, end) !== null) throw new ExpressionError('A letter follows a number.', end);
    return { token: numberOf(number, at), end };
  }
  const identifier = matchAt(IDENTIFIER, text, at);
  if (identifier !== null) {
    return { token: { at, kind: 'identifier', text: identifier[0] }, end: at + identifier[0].length };
  }
  const field = matchAt(QUOTED_FIELD, text, at);
  if (field !== null) return { token: { at, kind: 'quoted-field', text: field[1] ?? '' }, end: at + field[0].length };
  const symbol = matchAt(SYMBOL, text, at);
  if (symbol !== null) return { token: { at, kind: 'symbol', text: symbol[0] }, end: at + symbol[0].length };
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  throw new ExpressionError(`${JSON.stringify(character)} is no part of an expression.`, at);
}

/** The tokens in order; the last one is the end. Throws `ExpressionError`. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at += matchAt(SPACE, text, at)?.[0].length ?? 0;
    const { token, end } = tokenAt(text, at);
    tokens.push(token);
    if (token.kind === 'end') return tokens;
    at = end;
  }
}
