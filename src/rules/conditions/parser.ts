// The syntax of an expression: its tokens, and its tree by the grammar of CEL without messages, with standard macros
// expanded (https://github.com/cel-expr/cel-spec/blob/master/doc/langdef.md#syntax). Precedence climbs one function a
// level. Invariant: recursion is bounded, so that no text overflows the stack.

import { BOOL, BYTES, type CelType, DOUBLE, INT, NULL, STRING, UINT } from './types.ts';
import { INT_MAX, UINT_MAX, Uint, type Value } from './values.ts';

/** Macros that iterate over the elements of a list or the keys of a map. */
export type FoldName = 'all' | 'exists' | 'exists_one' | 'map' | 'filter';

/** A node knows where it begins in the text, for messages. */
export type SyntaxNode = {
  /** Offset into the text, in UTF-16 code units. */
  readonly at: number;
  /** Nodes on the longest way down from here, itself included. */
  readonly depth: number;
} & (
  | { readonly kind: 'literal'; readonly type: CelType; readonly value: Value }
  | { readonly kind: 'identifier'; readonly name: string; readonly isGlobal: boolean }
  | { readonly kind: 'select'; readonly operand: SyntaxNode; readonly field: string }
  /** `has(operand.field)` */
  | { readonly kind: 'has'; readonly operand: SyntaxNode; readonly field: string }
  /** A function, a method with its target as the first argument, or an operator by its name in CEL (`_+_`). */
  | { readonly kind: 'call'; readonly name: string; readonly isMethod: boolean; readonly args: readonly SyntaxNode[] }
  | { readonly kind: 'list'; readonly elements: readonly SyntaxNode[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: SyntaxNode, value: SyntaxNode])[] }
  | { readonly kind: 'logical'; readonly operator: '&&' | '||'; readonly operands: readonly SyntaxNode[] }
  | {
      readonly kind: 'conditional';
      readonly condition: SyntaxNode;
      readonly whenTrue: SyntaxNode;
      readonly whenFalse: SyntaxNode;
    }
  | {
      readonly kind: 'fold';
      readonly name: FoldName;
      readonly range: SyntaxNode;
      readonly variable: string;
      /** Absent: `map` with two arguments. */
      readonly predicate: SyntaxNode | undefined;
      /** Only for `map`. */
      readonly transform: SyntaxNode | undefined;
    }
);

/** What is wrong with an expression, and where. Caught where the expression is compiled. */
export class ExpressionError extends Error {
  readonly at: number;
  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

// ---- tokens ----

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
  if (match === null) throw new ExpressionError(`\`${text.slice(at, at + 2)}\` is not an escape sequence.`, at);
  const [sequence, hex, octal, short, long] = match;
  const unicode = short ?? long;
  if (isBytes && unicode !== undefined) {
    throw new ExpressionError(`Bytes cannot contain \`${sequence}\`; use \`\\x\` and two hexadecimal digits.`, at);
  }
  const code = octal === undefined ? Number.parseInt(hex ?? unicode ?? '', 16) : Number.parseInt(octal, 8);
  if (code > 0x10_ff_ff || (code >= 0xd8_00 && code <= 0xdf_ff)) {
    throw new ExpressionError(`\`${sequence}\` is not a Unicode character.`, at);
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
    if (suffix !== '')
      throw new ExpressionError(`\`${text}\` is not a number: only integers can have the suffix "u".`, at);
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
  throw new ExpressionError(`${JSON.stringify(character)} cannot be part of an expression.`, at);
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

// ---- the tree ----

/** Nodes of a tree from its root to a leaf, and parentheses within each other. */
export const EXPRESSION_DEPTH_MAX = 100;

/** Names that CEL keeps for itself (langdef.md, "RESERVED"). */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const FOLDS: ReadonlyMap<string, FoldName> = new Map<string, FoldName>([
  ['all', 'all'],
  ['exists', 'exists'],
  ['exists_one', 'exists_one'],
  ['map', 'map'],
  ['filter', 'filter'],
]);

const RELATIONS = ['<', '<=', '>', '>=', '==', '!='];

const depthAbove = (...nodes: readonly SyntaxNode[]): number =>
  1 + nodes.reduce((depth, node) => Math.max(depth, node.depth), 0);

class ExpressionParser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #nesting = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  parse(): SyntaxNode {
    const node = this.#expression();
    if (this.#token.kind !== 'end') throw this.#unexpected('the end of the expression');
    return node;
  }

  get #token(): Token {
    return this.#tokens[this.#next] ?? { at: 0, kind: 'end' };
  }

  #isSymbol(text: string): boolean {
    const token = this.#token;
    return token.kind === 'symbol' && token.text === text;
  }

  #takeSymbol(text: string): boolean {
    const found = this.#isSymbol(text);
    if (found) this.#next += 1;
    return found;
  }

  #demandSymbol(text: string): void {
    if (!this.#takeSymbol(text)) throw this.#unexpected(`\`${text}\``);
  }

  #unexpected(wanted: string): ExpressionError {
    const token = this.#token;
    const found =
      token.kind === 'end'
        ? 'the expression ends'
        : `there is \`${'text' in token ? token.text : `a literal of type ${token.kind}`}\``;
    return new ExpressionError(`Expected ${wanted}, but ${found}.`, token.at);
  }

  #node<Node extends SyntaxNode>(node: Node): Node {
    if (node.depth > EXPRESSION_DEPTH_MAX) throw this.#tooDeep(node.at);
    return node;
  }

  #tooDeep(at: number): ExpressionError {
    return new ExpressionError(`The expression is nested more than ${EXPRESSION_DEPTH_MAX} deep.`, at);
  }

  #expression(): SyntaxNode {
    this.#nesting += 1;
    if (this.#nesting > EXPRESSION_DEPTH_MAX) throw this.#tooDeep(this.#token.at);
    const condition = this.#logical('||', () => this.#logical('&&', () => this.#relation()));
    let node = condition;
    if (this.#takeSymbol('?')) {
      const whenTrue = this.#logical('||', () => this.#logical('&&', () => this.#relation()));
      this.#demandSymbol(':');
      const whenFalse = this.#expression();
      const depth = depthAbove(condition, whenTrue, whenFalse);
      node = this.#node({ at: condition.at, depth, kind: 'conditional', condition, whenTrue, whenFalse });
    }
    this.#nesting -= 1;
    return node;
  }

  /** `a && b && c` is one node. */
  #logical(operator: '&&' | '||', operand: () => SyntaxNode): SyntaxNode {
    const first = operand();
    if (!this.#isSymbol(operator)) return first;
    const operands = [first];
    while (this.#takeSymbol(operator)) operands.push(operand());
    return this.#node({ at: first.at, depth: depthAbove(...operands), kind: 'logical', operator, operands });
  }

  #binary(name: string, at: number, left: SyntaxNode, right: SyntaxNode): SyntaxNode {
    return this.#node({ at, depth: depthAbove(left, right), kind: 'call', name, isMethod: false, args: [left, right] });
  }

  /** The operator of the next token, if it is one of these. */
  #operator(operators: readonly string[]): string | undefined {
    const token = this.#token;
    if (token.kind !== 'symbol' && !(token.kind === 'identifier' && token.text === 'in')) return undefined;
    return operators.includes(token.text) ? token.text : undefined;
  }

  #chain(operators: readonly string[], operand: () => SyntaxNode): SyntaxNode {
    let left = operand();
    for (;;) {
      const operator = this.#operator(operators);
      if (operator === undefined) return left;
      const { at } = this.#token;
      this.#next += 1;
      left = this.#binary(operator === 'in' ? '@in' : `_${operator}_`, at, left, operand());
    }
  }

  #relation(): SyntaxNode {
    return this.#chain([...RELATIONS, 'in'], () =>
      this.#chain(['+', '-'], () => this.#chain(['*', '/', '%'], () => this.#unary())),
    );
  }

  #unary(): SyntaxNode {
    const { at } = this.#token;
    const operator = this.#operator(['!', '-']);
    if (operator === undefined) return this.#member();
    this.#next += 1;
    const token = this.#token;
    if (operator === '-' && (token.kind === 'int' || token.kind === 'double')) {
      this.#next += 1;
      const [type, value] = token.kind === 'int' ? [INT, -token.value] : [DOUBLE, -token.value];
      return this.#suffixes(this.#node({ at, depth: 1, kind: 'literal', type, value }));
    }
    this.#nesting += 1;
    if (this.#nesting > EXPRESSION_DEPTH_MAX) throw this.#tooDeep(at);
    const operand = this.#unary();
    this.#nesting -= 1;
    const name = `${operator}_`;
    return this.#node({ at, depth: depthAbove(operand), kind: 'call', name, isMethod: false, args: [operand] });
  }

  #member(): SyntaxNode {
    return this.#suffixes(this.#primary());
  }

  #suffixes(primary: SyntaxNode): SyntaxNode {
    let node = primary;
    for (;;) {
      const { at } = this.#token;
      if (this.#takeSymbol('.')) {
        node = this.#afterDot(node);
      } else if (this.#takeSymbol('[')) {
        const index = this.#expression();
        this.#demandSymbol(']');
        node = this.#binary('_[_]', at, node, index);
      } else if (this.#isSymbol('{')) {
        throw new ExpressionError('Messages cannot be constructed; use a map.', at);
      } else {
        return node;
      }
    }
  }

  #afterDot(operand: SyntaxNode): SyntaxNode {
    const token = this.#token;
    if (token.kind !== 'identifier' && token.kind !== 'quoted-field') throw this.#unexpected('the name of a field');
    if (token.kind === 'identifier' && ['in', 'true', 'false', 'null'].includes(token.text)) {
      throw new ExpressionError(`\`${token.text}\` cannot be a field; write \`["${token.text}"]\`.`, token.at);
    }
    this.#next += 1;
    if (token.kind === 'identifier' && this.#takeSymbol('(')) {
      const args = this.#list(')');
      return this.#fold(operand, token.text, token.at, args) ?? this.#method(operand, token.text, token.at, args);
    }
    const { at, text } = token;
    return this.#node({ at, depth: depthAbove(operand), kind: 'select', operand, field: text });
  }

  #method(target: SyntaxNode, name: string, at: number, rest: readonly SyntaxNode[]): SyntaxNode {
    const args = [target, ...rest];
    return this.#node({ at, depth: depthAbove(...args), kind: 'call', name, isMethod: true, args });
  }

  #fold(range: SyntaxNode, called: string, at: number, args: readonly SyntaxNode[]): SyntaxNode | undefined {
    const name = FOLDS.get(called);
    const [variable, first, second] = args;
    if (name === undefined || variable === undefined || first === undefined) return undefined;
    if (args.length > (name === 'map' ? 3 : 2)) return undefined;
    if (variable.kind !== 'identifier' || variable.isGlobal) {
      throw new ExpressionError(`The first argument of \`${name}\` must be the name of a variable.`, variable.at);
    }
    const depth = depthAbove(range, first, ...(second === undefined ? [] : [second]));
    const [predicate, transform] =
      name !== 'map' ? [first, undefined] : second === undefined ? [undefined, first] : [first, second];
    return this.#node({ at, depth, kind: 'fold', name, range, variable: variable.name, predicate, transform });
  }

  /** The elements up to the closing symbol; a comma may follow the last one of a list, but not of arguments. */
  #list(closing: ')' | ']'): readonly SyntaxNode[] {
    const elements: SyntaxNode[] = [];
    while (!this.#takeSymbol(closing)) {
      if (elements.length > 0) {
        this.#demandSymbol(',');
        if (closing === ']' && this.#takeSymbol(closing)) break;
      }
      elements.push(this.#expression());
    }
    return elements;
  }

  #map(at: number): SyntaxNode {
    const entries: (readonly [SyntaxNode, SyntaxNode])[] = [];
    while (!this.#takeSymbol('}')) {
      if (entries.length > 0) {
        this.#demandSymbol(',');
        if (this.#takeSymbol('}')) break;
      }
      const key = this.#expression();
      this.#demandSymbol(':');
      entries.push([key, this.#expression()]);
    }
    return this.#node({ at, depth: depthAbove(...entries.flat()), kind: 'map', entries });
  }

  #literal(type: CelType, value: Value): SyntaxNode {
    const { at } = this.#token;
    this.#next += 1;
    return { at, depth: 1, kind: 'literal', type, value };
  }

  #primary(): SyntaxNode {
    const token = this.#token;
    const { at } = token;
    switch (token.kind) {
      case 'int':
        if (token.value > INT_MAX) throw new ExpressionError('The number is beyond the integers of 64 bits.', at);
        return this.#literal(INT, token.value);
      case 'uint':
        return this.#literal(UINT, new Uint(token.value));
      case 'double':
        return this.#literal(DOUBLE, token.value);
      case 'string':
        return this.#literal(STRING, token.value);
      case 'bytes':
        return this.#literal(BYTES, token.value);
      case 'identifier':
        return this.#identifier(token.text, at, false);
      default:
        break;
    }
    if (this.#takeSymbol('(')) {
      const node = this.#expression();
      this.#demandSymbol(')');
      return node;
    }
    if (this.#takeSymbol('[')) {
      const elements = this.#list(']');
      return this.#node({ at, depth: depthAbove(...elements), kind: 'list', elements });
    }
    if (this.#takeSymbol('{')) return this.#map(at);
    if (this.#takeSymbol('.')) {
      const name = this.#token;
      if (name.kind === 'identifier') return this.#identifier(name.text, name.at, true);
    }
    throw this.#unexpected('a value');
  }

  #identifier(name: string, at: number, isGlobal: boolean): SyntaxNode {
    if (name === 'true' || name === 'false') return this.#literal(BOOL, name === 'true');
    if (name === 'null') return this.#literal(NULL, null);
    if (RESERVED_NAMES.has(name)) throw new ExpressionError(`\`${name}\` is a reserved word of CEL.`, at);
    this.#next += 1;
    if (!this.#takeSymbol('(')) return { at, depth: 1, kind: 'identifier', name, isGlobal };
    const args = this.#list(')');
    const [only] = args;
    if (name === 'has' && args.length === 1 && only !== undefined) {
      if (only.kind !== 'select') {
        throw new ExpressionError('The argument of `has` must be a field, such as `has(user.name)`.', only.at);
      }
      const { operand, field, depth } = only;
      return this.#node({ at, depth, kind: 'has', operand, field });
    }
    return this.#node({ at, depth: depthAbove(...args), kind: 'call', name, isMethod: false, args });
  }
}

/** The tree of an expression. Throws `ExpressionError` for the first place where the text breaks. */
export const parseExpression = (text: string): SyntaxNode => new ExpressionParser(text).parse();
