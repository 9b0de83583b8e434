// Parses an expression: the grammar of CEL without messages, with the standard macros expanded. Precedence climbs one
// function a level. Invariant: recursion is bounded, so that no text overflows the stack.

import { ExpressionError, type FoldName, type SyntaxNode } from './syntax-tree.ts';
import { type Token, tokensOf } from './tokens.ts';
import { BOOL, BYTES, type CelType, DOUBLE, INT, NULL, STRING, UINT } from './types.ts';
import { INT_MAX, Uint, type Value } from './values.ts';

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
