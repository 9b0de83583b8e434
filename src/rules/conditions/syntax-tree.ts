// The syntax tree of an expression. Each node knows where it begins in the text, for messages.

import type { CelType } from './types.ts';
import type { Value } from './values.ts';

/** Macros that iterate over the elements of a list or the keys of a map. */
export type FoldName = 'all' | 'exists' | 'exists_one' | 'map' | 'filter';

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
      /** Of `map` only. */
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
