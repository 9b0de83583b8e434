// Conditions of a rule set: expressions in CEL over declared parameters, compiled once for each version of the rules.
// Invariant: a condition that compiles gives true, false, an error, or the parameters that it is missing.

import { isJsonObject, unknownMember } from '../../core/json-members.ts';
import { type CompiledExpression, compileExpression } from './compiler.ts';
import { RESERVED_NAMES } from './parser.ts';
import { ZoneOffsets } from './times.ts';
import { areCompatible, BOOL, type CelType, PARAMETER_TYPES, parseType, typeText } from './types.ts';

/** Conditions of one tenant. */
export const CONDITIONS_MAX = 100;
/** UTF-8 bytes of an expression. */
export const EXPRESSION_BYTES_MAX = 2 * 1024;
/** Parameters of one condition. */
export const PARAMETERS_MAX = 32;

export const CONDITION_NAME_PATTERN = '[A-Za-z][A-Za-z0-9_.-]{0,63}';
const CONDITION_NAME = new RegExp(`^${CONDITION_NAME_PATTERN}$`);
const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

/** As rules contain it. */
export interface ConditionDeclaration {
  readonly name: string;
  /** The type by parameter, as OpenFGA and SpiceDB name types. */
  readonly parameters: Readonly<Record<string, string>>;
  /** CEL, of type bool. */
  readonly expression: string;
}

export interface ConditionProblem {
  /** The field of the declaration: `name`, `parameters.zone`, `expression`; empty: the declaration itself. */
  readonly field: string;
  readonly message: string;
  /** Of a place in the expression, from 1, in UTF-16 code units. */
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
  readonly declaration: ConditionDeclaration;
  /** In the order of the declaration. */
  readonly parameters: readonly ConditionParameter[];
  /** The parameters that the expression uses. */
  readonly used: readonly number[];
  readonly expression: CompiledExpression;
  readonly zones = new ZoneOffsets();

  constructor(
    declaration: ConditionDeclaration,
    parameters: readonly ConditionParameter[],
    expression: CompiledExpression,
  ) {
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

function parametersIn(value: unknown, problems: ConditionProblem[]): readonly ConditionParameter[] {
  if (!isJsonObject(value)) {
    problems.push(problem('parameters', 'must be an object that gives the type of each parameter.'));
    return [];
  }
  const entries = Object.entries(value);
  if (entries.length > PARAMETERS_MAX) {
    problems.push(problem('parameters', `has ${entries.length} parameters; at most ${PARAMETERS_MAX} are allowed.`));
    return [];
  }
  return entries.flatMap(([name, declared]) => {
    const field = `parameters.${name.slice(0, 64)}`;
    if (!PARAMETER_NAME.test(name) || RESERVED_NAMES.has(name)) {
      const why = RESERVED_NAMES.has(name) ? 'is a reserved word of CEL' : 'is no name of a parameter';
      problems.push(problem(field, `${why}; use a letter or "_", then up to 63 letters, digits or "_".`));
      return [];
    }
    const type = typeof declared === 'string' ? parseType(declared) : undefined;
    if (type === undefined) {
      problems.push(problem(field, `has no known type; the types are ${PARAMETER_TYPES.join(', ')}.`));
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
 * Compiles the declaration of a condition, as parsed from JSON. Gives everything that is wrong with it: unknown members
 * and types, the first error of syntax or all errors of types, each with its place in the expression.
 */
export function compileCondition(
  value: unknown,
): CompiledCondition | { readonly problems: readonly ConditionProblem[] } {
  if (!isJsonObject(value))
    return { problems: [problem('', 'must be an object with name, parameters and expression.')] };
  const { name, parameters: declared = {}, expression } = value;
  const problems: ConditionProblem[] = [];
  const unknown = unknownMember(value, ['name', 'parameters', 'expression']);
  if (unknown !== undefined) problems.push(problem('', unknown));
  if (typeof name !== 'string' || !CONDITION_NAME.test(name)) {
    problems.push(problem('name', 'must be a letter, then up to 63 letters, digits, "_", "." or "-".'));
  }
  const countBefore = problems.length;
  const parameters = parametersIn(declared, problems);
  if (typeof expression !== 'string') {
    return { problems: [...problems, problem('expression', 'must be a string that contains an expression in CEL.')] };
  }
  const bytes = Buffer.byteLength(expression);
  if (bytes > EXPRESSION_BYTES_MAX) {
    problems.push(problem('expression', `takes ${bytes} bytes; at most ${EXPRESSION_BYTES_MAX} are allowed.`));
  }
  // A parameter of no type would make every use of it a problem too.
  if (problems.length > countBefore) return { problems };
  const compiled = compileExpression(expression, parameters);
  if ('problems' in compiled) {
    return {
      problems: [
        ...problems,
        ...compiled.problems.map(({ at, message }) => ({ field: 'expression', message, ...placeIn(expression, at) })),
      ],
    };
  }
  if (!areCompatible(compiled.type, BOOL)) {
    const message = `The expression must be a bool, not ${typeText(compiled.type)}.`;
    problems.push({ field: 'expression', message, line: 1, column: 1 });
  }
  if (problems.length > 0 || typeof name !== 'string') return { problems };
  const types = Object.fromEntries(parameters.map(({ name: parameter, type }) => [parameter, typeText(type)]));
  return new CompiledCondition({ name, parameters: types, expression }, parameters, compiled);
}

/**
 * Compiles the `conditions` of a rule set, as parsed from JSON; undefined: it has none. The fields of problems are
 * paths from the rule set, such as `conditions[3].expression`. Each condition takes at most 10 ms.
 */
export function compileConditions(value: unknown): {
  readonly conditions: ReadonlyMap<string, CompiledCondition>;
  readonly problems: readonly ConditionProblem[];
} {
  const conditions = new Map<string, CompiledCondition>();
  if (value === undefined) return { conditions, problems: [] };
  if (!Array.isArray(value)) return { conditions, problems: [problem('conditions', 'must be an array.')] };
  if (value.length > CONDITIONS_MAX) {
    const message = `has ${value.length} elements; at most ${CONDITIONS_MAX} are allowed.`;
    return { conditions, problems: [problem('conditions', message)] };
  }
  const problems: ConditionProblem[] = [];
  for (const [index, each] of value.entries()) {
    const place = `conditions[${index}]`;
    const compiled = compileCondition(each);
    if (!(compiled instanceof CompiledCondition)) {
      const placed = compiled.problems.map(({ field, ...rest }) => ({
        field: field === '' ? place : `${place}.${field}`,
        ...rest,
      }));
      problems.push(...placed);
    } else if (conditions.has(compiled.name)) {
      problems.push(problem(`${place}.name`, `is "${compiled.name}", as that of an earlier condition.`));
    } else {
      conditions.set(compiled.name, compiled);
    }
  }
  return { conditions, problems };
}
