// Conditions of a rule set: expressions in CEL over declared parameters, compiled once for each version of the rules.
// Invariant: a condition that compiles gives true, false, an error, or the parameters that it is missing.

import { GrantdError } from '../../core/errors.ts';
import { type Condition, EXPRESSION_BYTES_MAX } from '../rule-set.ts';
import { type CompiledExpression, compileExpression } from './compiler.ts';
import { RESERVED_NAMES } from './parser.ts';
import { ZoneOffsets } from './times.ts';
import { areCompatible, BOOL, type CelType, PARAMETER_TYPES, parseType, typeText } from './types.ts';

const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

export interface ConditionProblem {
  /** The field of the declaration: `parameters.zone`, `expression`. */
  readonly field: string;
  /** With a place in the expression, a sentence; otherwise, completes one that begins with the field. */
  readonly message: string;
  /** The place in the expression, from 1, in UTF-16 code units. */
  readonly line?: number;
  readonly column?: number;
}

export interface ConditionParameter {
  readonly name: string;
  readonly type: CelType;
  /** Name and type: equal for the same parameter of another condition. */
  readonly key: string;
}

export class CompiledCondition {
  readonly declaration: Condition;
  /** In the order of the declaration. */
  readonly parameters: readonly ConditionParameter[];
  /** The parameters that the expression uses. */
  readonly used: readonly number[];
  readonly expression: CompiledExpression;
  readonly zones = new ZoneOffsets();

  constructor(declaration: Condition, parameters: readonly ConditionParameter[], expression: CompiledExpression) {
    this.declaration = declaration;
    this.parameters = parameters;
    this.expression = expression;
    this.used = expression.used;
  }

  get name(): string {
    return this.declaration.name;
  }
}

const problem = (field: string, message: string): ConditionProblem => ({ field, message });

function parametersOf(condition: Condition, problems: ConditionProblem[]): readonly ConditionParameter[] {
  return Object.entries(condition.parameters).flatMap(([name, declared]) => {
    const field = `parameters.${name.slice(0, 64)}`;
    if (!PARAMETER_NAME.test(name) || RESERVED_NAMES.has(name)) {
      const why = RESERVED_NAMES.has(name) ? 'is a reserved word of CEL' : 'is not the name of a parameter';
      problems.push(problem(field, `${why}; use a letter or "_", then up to 63 letters, digits or "_".`));
      return [];
    }
    const type = parseType(declared);
    if (type === undefined) {
      problems.push(problem(field, `has an unknown type; the types are ${PARAMETER_TYPES.join(', ')}.`));
      return [];
    }
    return [{ name, type, key: `${name} ${typeText(type)}` }];
  });
}

/** From 1. */
function placeIn(text: string, at: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: at - lineStart + 1 };
}

/**
 * Compiles a condition, within 10 ms. Gives everything that is wrong with it: names and types of parameters; or the
 * first error of syntax; or all errors of types, each with its place in the expression.
 */
export function compileCondition(
  condition: Condition,
): CompiledCondition | { readonly problems: readonly ConditionProblem[] } {
  const problems: ConditionProblem[] = [];
  const parameters = parametersOf(condition, problems);
  const bytes = Buffer.byteLength(condition.expression);
  if (bytes > EXPRESSION_BYTES_MAX) {
    problems.push(problem('expression', `takes ${bytes} bytes; at most ${EXPRESSION_BYTES_MAX} are allowed.`));
  }
  // A parameter of no type would make every use of it a problem too.
  if (problems.length > 0) return { problems };
  const { expression } = condition;
  const compiled = compileExpression(expression, parameters);
  if ('problems' in compiled) {
    return {
      problems: compiled.problems.map(({ at, message }) => ({
        field: 'expression',
        message,
        ...placeIn(expression, at),
      })),
    };
  }
  if (areCompatible(compiled.type, BOOL)) return new CompiledCondition(condition, parameters, compiled);
  const message = `The expression must be a bool, not ${typeText(compiled.type)}.`;
  return { problems: [{ field: 'expression', message, line: 1, column: 1 }] };
}

/** A sentence that names the place. `place`: of the condition, such as `conditions[3]`. */
export function problemText(place: string, { field, message, line, column }: ConditionProblem): string {
  const at = `"${place}.${field}"`;
  return line === undefined ? `${at} ${message}` : `${at}, line ${line}, column ${column}: ${message}`;
}

/** The conditions of a rule set by name. */
export type CompiledConditions = ReadonlyMap<string, CompiledCondition>;

/** Throws `invalid-request` with what is wrong. */
function compiledOf(condition: Condition, index: number): CompiledCondition {
  const compiled = compileCondition(condition);
  if (compiled instanceof CompiledCondition) return compiled;
  const problems = compiled.problems.map((each) => problemText(`conditions[${index}]`, each));
  throw new GrantdError('invalid-request', problems.join('\n'));
}

/** What is wrong with the conditions was refused when the rules were written. A second, for the largest rule sets. */
export const compileConditions = (conditions: readonly Condition[]): CompiledConditions =>
  new Map(conditions.map((condition, index) => [condition.name, compiledOf(condition, index)]));

/**
 * The same of stored rules, in steps of at most 10 ms, before each of which it takes a turn. Leaves out what no longer
 * compiles, as rules of an older version may have it, so that it concerns only the grants that carry it.
 */
export async function compileInTurns(
  conditions: readonly Condition[],
  turn: () => Promise<unknown>,
): Promise<CompiledConditions> {
  const compiled = new Map<string, CompiledCondition>();
  for (const condition of conditions) {
    await turn();
    const each = compileCondition(condition);
    if (each instanceof CompiledCondition) compiled.set(condition.name, each);
  }
  return compiled;
}

/** Throws `invalid-request` with what is wrong with the first of the conditions that was left out. */
export function demandCompiled(conditions: readonly Condition[], compiled: CompiledConditions): void {
  const index = conditions.findIndex(({ name }) => !compiled.has(name));
  const condition = conditions[index];
  if (condition !== undefined) compiledOf(condition, index);
}
