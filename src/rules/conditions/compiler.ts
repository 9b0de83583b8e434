// Turns a syntax tree into closures and checks types on the way. Invariants: an expression that compiles gives a value
// of its type, an error, or what it is missing; its evaluation spends at least a step for each node that it evaluates.

import { isUnknown, nearestName } from '../../core/json-members.ts';
import {
  CONSTRUCTORS,
  type FunctionContext,
  functionNames,
  type Overload,
  overloadsOf,
  valueInMap,
} from './functions.ts';
import { isInNetwork, parseIpNetwork } from './ip-addresses.ts';
import { ExpressionError, parseExpression, type SyntaxNode } from './parser.ts';
import { PATTERN_ATOMS_MAX, PATTERNS_MAX, Pattern, PatternError } from './patterns.ts';
import { EVALUATION_STEPS_MAX, StepMeter } from './step-meter.ts';
import { ZoneOffsets } from './times.ts';
import { areCompatible, BOOL, type CelType, commonType, DYN, typeText } from './types.ts';
import { CelMap, IpAddress, isList, type MapKey, mapKey, type Result, Unresolved, type Value } from './values.ts';

/** The state of one evaluation. Nothing of it outlives the evaluation. */
export interface Evaluation extends FunctionContext {
  /** In the order of the declaration. */
  readonly parameters: readonly Result[];
  /** Variables of macros that are being evaluated, by how deep they are nested. */
  readonly variables: Value[];
}

export type Evaluate = (evaluation: Evaluation) => Result;

interface CompiledNode {
  readonly type: CelType;
  readonly run: Evaluate;
}

/** What is wrong with an expression, at an offset into its text. */
export interface ExpressionProblem {
  readonly at: number;
  readonly message: string;
}

export interface CompiledExpression {
  readonly type: CelType;
  readonly run: Evaluate;
  /** Nodes of the expression: the steps of an evaluation without macros and large values. */
  readonly steps: number;
  /** Indexes of the parameters that the expression uses, ascending. */
  readonly used: readonly number[];
}

/** A call of a function, a method or an operator, as the checks of types see it. */
export interface TypedCall {
  /** Offset of its name into the text. */
  readonly at: number;
  readonly name: string;
  readonly isMethod: boolean;
  /** The types of its arguments; the first argument of a method is its target. */
  readonly types: readonly CelType[];
}

const { failed, both, either } = Unresolved;
const orElse = (value: Result | undefined, otherwise: Unresolved): Result => (value === undefined ? otherwise : value);

const NO_OVERLOAD = failed('an operator or a function does not apply to values of these types');
const NOT_BOOL = failed('an operand is not a bool');

/** Problems that are listed of one expression. */
const PROBLEMS_MAX = 20;

interface Variable {
  readonly name: string;
  readonly type: CelType;
}

type NodeOf<Kind extends SyntaxNode['kind']> = Extract<SyntaxNode, { readonly kind: Kind }>;

class Compiler {
  readonly problems: ExpressionProblem[] = [];
  readonly used = new Set<number>();
  readonly calls: TypedCall[] = [];
  steps = 0;
  readonly #parameters: readonly Variable[];
  /** The tests of the CEL project include expressions that are not type-checked: then types are known at run time. */
  readonly #isDynamic: boolean;
  readonly #variables: Variable[] = [];
  readonly #patterns: Pattern[] = [];
  #hasTooManyPatterns = false;

  constructor(parameters: readonly Variable[], isDynamic: boolean) {
    this.#parameters = parameters;
    this.#isDynamic = isDynamic;
  }

  compile(node: SyntaxNode): CompiledNode {
    this.steps += 1;
    switch (node.kind) {
      case 'literal':
        return { type: this.#isDynamic ? DYN : node.type, run: () => node.value };
      case 'identifier':
        return this.#identifier(node);
      case 'select':
      case 'has':
        return this.#field(node);
      case 'call':
        return this.#call(node);
      case 'list':
        return this.#list(node);
      case 'map':
        return this.#map(node);
      case 'logical':
        return this.#logical(node);
      case 'conditional':
        return this.#conditional(node);
      case 'fold':
        return this.#fold(node);
    }
  }

  /** Goes on as if the type were known at run time only, so that one mistake is one problem. */
  #problem(at: number, message: string): CompiledNode {
    if (!this.#isDynamic && this.problems.length < PROBLEMS_MAX) this.problems.push({ at, message });
    return { type: DYN, run: () => NO_OVERLOAD };
  }

  #identifier({ at, name, isGlobal }: NodeOf<'identifier'>): CompiledNode {
    const variable = isGlobal ? -1 : this.#variables.findLastIndex((each) => each.name === name);
    if (variable >= 0) {
      const missing = failed('a variable has no value');
      return {
        type: this.#variables[variable]?.type ?? DYN,
        run: ({ variables }) => orElse(variables[variable], missing),
      };
    }
    const index = this.#parameters.findIndex((each) => each.name === name);
    const parameter = this.#parameters[index];
    if (parameter === undefined) {
      const known = [...this.#parameters, ...this.#variables].map((each) => each.name);
      const hint = known.length === 0 ? 'is unknown; no parameters are declared' : isUnknown(name, known);
      return this.#problem(at, `"${name}" ${hint}.`);
    }
    this.used.add(index);
    const missing = Unresolved.missing([name]);
    return {
      type: this.#isDynamic ? DYN : parameter.type,
      run: ({ parameters }) => orElse(parameters[index], missing),
    };
  }

  #field({ at, kind, operand, field }: NodeOf<'select' | 'has'>): CompiledNode {
    const { type, run } = this.compile(operand);
    if (type.kind !== 'map' && type.kind !== 'dyn') {
      return this.#problem(at, `A value of type ${typeText(type)} has no fields, so no "${field}".`);
    }
    const isHas = kind === 'has';
    return {
      type: isHas ? BOOL : type.kind === 'map' ? type.value : DYN,
      run: (evaluation) => {
        const value = run(evaluation);
        if (value instanceof Unresolved) return value;
        if (!(value instanceof CelMap)) return NO_OVERLOAD;
        return isHas ? value.entries.has(field) : valueInMap(value, field);
      },
    };
  }

  #call(node: NodeOf<'call'>): CompiledNode {
    const { at, name, isMethod } = node;
    const overloads = overloadsOf(name, isMethod);
    const args = node.args.map((each) => this.compile(each));
    const types = args.map(({ type }) => type);
    this.calls.push({ at, name, isMethod, types });
    if (overloads.length === 0) return this.#unknownFunction(node);
    const [first, second] = args;
    const fitting = overloads.filter(
      ({ parameters }) =>
        parameters.length === args.length &&
        parameters.every((parameter, index) => areCompatible(parameter, args[index]?.type ?? DYN)),
    );
    const [only] = fitting;
    if (first === undefined || only === undefined) {
      return this.#problem(at, noOverload(name, isMethod, types));
    }
    const refusal = second === undefined ? undefined : incompatibleOperands(name, first.type, second.type);
    if (refusal !== undefined) return this.#problem(at, refusal);
    const type = this.#resultType(name, fitting, first.type, second?.type);
    const constant = this.#constantCall(node, first, type);
    if (constant !== undefined) return constant;
    return {
      type,
      run: second === undefined ? unaryCall(fitting, first.run) : binaryCall(fitting, first.run, second.run),
    };
  }

  #unknownFunction({ at, name, isMethod, args }: NodeOf<'call'>): CompiledNode {
    if (isMethod && overloadsOf(name, false).length > 0) {
      return this.#problem(at, `"${name}" is a function, not a method: write \`${name}(…)\`.`);
    }
    if (!isMethod && overloadsOf(name, true).length > 0) {
      return this.#problem(at, `"${name}" is a method: write \`value.${name}(…)\`.`);
    }
    const nearest = nearestName(name, functionNames(isMethod));
    const hint = nearest === undefined ? '' : `; the nearest known name is "${nearest}"`;
    const what = isMethod ? 'method' : 'function';
    return this.#problem(
      at,
      `There is no ${what} "${name}" with ${args.length - (isMethod ? 1 : 0)} arguments${hint}.`,
    );
  }

  #resultType(name: string, fitting: readonly Overload[], first: CelType, second: CelType | undefined): CelType {
    const [only] = fitting;
    if (name === '_[_]' && first.kind === 'list') return first.element;
    if (name === '_[_]' && first.kind === 'map') return first.value;
    if (name === '_+_' && first.kind === 'list' && second !== undefined) return commonType(first, second);
    return only !== undefined && fitting.every(({ result }) => result.kind === only.result.kind) ? only.result : DYN;
  }

  /** A call whose literal argument is read when the expression is compiled, so that a mistake in it is found then. */
  #constantCall({ name, args }: NodeOf<'call'>, first: CompiledNode, type: CelType): CompiledNode | undefined {
    const literal = args.at(-1);
    if (literal?.kind !== 'literal' || typeof literal.value !== 'string' || this.#isDynamic) return undefined;
    if (name === 'matches') return this.#constantPattern(first, literal.value, literal.at);
    if (name === 'in_cidr') return this.#constantNetwork(first, literal.value, literal.at);
    if (!CONSTRUCTORS.has(name)) return undefined;
    const context = { meter: new StepMeter(EVALUATION_STEPS_MAX), zones: new ZoneOffsets() };
    const { value } = literal;
    const read =
      overloadsOf(name, false)
        .map(({ call }) => call(context, value, undefined))
        .find((each) => each !== undefined) ?? NO_OVERLOAD;
    if (read instanceof Unresolved)
      return this.#problem(literal.at, `${JSON.stringify(literal.value)}: ${read.reason}.`);
    return { type, run: () => read };
  }

  #constantPattern({ run }: CompiledNode, text: string, at: number): CompiledNode {
    if (this.#hasTooManyPatterns) return { type: BOOL, run };
    let pattern: Pattern;
    try {
      pattern = Pattern.compile(text);
    } catch (error) {
      if (error instanceof PatternError) return this.#problem(at, error.message);
      throw error;
    }
    this.#patterns.push(pattern);
    const atoms = this.#patterns.reduce((sum, each) => sum + each.atoms, 0);
    this.#hasTooManyPatterns = atoms > PATTERN_ATOMS_MAX || this.#patterns.length > PATTERNS_MAX;
    if (this.#hasTooManyPatterns) {
      return this.#problem(
        at,
        `The expression has ${this.#patterns.length} patterns with ${atoms} parts; at most ${PATTERNS_MAX} patterns with ${PATTERN_ATOMS_MAX} parts together are allowed.`,
      );
    }
    return {
      type: BOOL,
      run: resolved(run, (value, { meter }) =>
        typeof value === 'string' ? pattern.matches(value, meter) : NO_OVERLOAD,
      ),
    };
  }

  #constantNetwork({ run }: CompiledNode, text: string, at: number): CompiledNode {
    const network = parseIpNetwork(text);
    if (network === undefined) {
      return this.#problem(at, `${JSON.stringify(text.slice(0, 100))} is not a network such as "10.0.0.0/8".`);
    }
    return {
      type: BOOL,
      run: resolved(run, (value) => (value instanceof IpAddress ? isInNetwork(value, network) : NO_OVERLOAD)),
    };
  }

  #list({ elements }: NodeOf<'list'>): CompiledNode {
    const parts = elements.map((each) => this.compile(each));
    const element = parts.map(({ type }) => type).reduce(commonType, parts[0]?.type ?? DYN);
    const runs = parts.map(({ run }) => run);
    return {
      type: this.#isDynamic ? DYN : { kind: 'list', element },
      run: (evaluation) => {
        const values: Value[] = [];
        let unresolved: Unresolved | undefined;
        for (const run of runs) {
          const value = run(evaluation);
          if (value instanceof Unresolved) unresolved = both(unresolved ?? null, value);
          else values.push(value);
        }
        return unresolved ?? values;
      },
    };
  }

  #map({ entries }: NodeOf<'map'>): CompiledNode {
    const parts = entries.map(([key, value]) => {
      const compiled = this.compile(key);
      if (!['bool', 'int', 'uint', 'string', 'dyn'].includes(compiled.type.kind)) {
        this.#problem(key.at, `A value of type ${typeText(compiled.type)} cannot be the key of a map.`);
      }
      return [compiled, this.compile(value)] as const;
    });
    const [first] = parts;
    const key = parts.map(([each]) => each.type).reduce(commonType, first?.[0].type ?? DYN);
    const value = parts.map(([, each]) => each.type).reduce(commonType, first?.[1].type ?? DYN);
    return {
      type: this.#isDynamic ? DYN : { kind: 'map', key, value },
      run: (evaluation) => constructMap(parts, evaluation),
    };
  }

  #bool(node: SyntaxNode, what: string): Evaluate {
    const { type, run } = this.compile(node);
    if (!areCompatible(type, BOOL)) this.#problem(node.at, `${what} must be a bool, not ${typeText(type)}.`);
    return run;
  }

  #logical({ operator, operands }: NodeOf<'logical'>): CompiledNode {
    const runs = operands.map((operand) => this.#bool(operand, `An operand of \`${operator}\``));
    const decisive = operator === '||';
    return {
      type: BOOL,
      run: (evaluation) => {
        let unresolved: Unresolved | undefined;
        for (const run of runs) {
          const value = run(evaluation);
          if (value === decisive) return decisive;
          if (value === !decisive) continue;
          unresolved = either(unresolved, value instanceof Unresolved ? value : NOT_BOOL);
        }
        return unresolved ?? !decisive;
      },
    };
  }

  #conditional({ at, condition, whenTrue, whenFalse }: NodeOf<'conditional'>): CompiledNode {
    const decide = this.#bool(condition, 'The condition before `?`');
    const [first, second] = [this.compile(whenTrue), this.compile(whenFalse)];
    if (!areCompatible(first.type, second.type)) {
      return this.#problem(
        at,
        `The values behind \`?\` and \`:\` must have one type, not ${typeText(first.type)} and ${typeText(second.type)}.`,
      );
    }
    return {
      type: commonType(first.type, second.type),
      run: (evaluation) => {
        const decision = decide(evaluation);
        if (decision === true) return first.run(evaluation);
        if (decision === false) return second.run(evaluation);
        return decision instanceof Unresolved ? decision : NOT_BOOL;
      },
    };
  }

  #fold(node: NodeOf<'fold'>): CompiledNode {
    const { name, range, variable, predicate, transform } = node;
    const { type, run } = this.compile(range);
    if (type.kind !== 'list' && type.kind !== 'map' && type.kind !== 'dyn') {
      return this.#problem(
        range.at,
        `\`${name}\` iterates over a list or the keys of a map, not over a value of type ${typeText(type)}.`,
      );
    }
    const stepsBefore = this.steps;
    const element = type.kind === 'list' ? type.element : type.kind === 'map' ? type.key : DYN;
    const index = this.#variables.push({ name: variable, type: element }) - 1;
    const test = predicate && this.#bool(predicate, `The second argument of \`${name}\``);
    const transformed = transform && this.compile(transform);
    this.#variables.pop();
    const loop: Loop = { range: run, index, steps: 1 + this.steps - stepsBefore };
    if (name === 'all' || name === 'exists') {
      return { type: BOOL, run: quantifier(loop, test ?? NOTHING, name === 'exists') };
    }
    if (name === 'exists_one') {
      const found = collection(loop, test ?? NOTHING, undefined);
      return { type: BOOL, run: resolved(found, (value) => value !== null && isList(value) && value.length === 1) };
    }
    const result = transformed?.type ?? element;
    return {
      type: this.#isDynamic ? DYN : { kind: 'list', element: result },
      run: collection(loop, test, transformed?.run),
    };
  }
}

const NOTHING: Evaluate = () => NOT_BOOL;

function noOverload(name: string, isMethod: boolean, args: readonly CelType[]): string {
  const texts = args.map(typeText);
  const operator = name.replaceAll('_', '').replace('@', '');
  if (isMethod) return `\`${texts[0]}.${name}(${texts.slice(1).join(', ')})\` does not exist: the types do not fit.`;
  if (/^[a-z]/.test(name)) return `\`${name}(${texts.join(', ')})\` does not exist: the types do not fit.`;
  if (name === '_[_]') return `A value of type ${texts[0]} cannot be indexed by one of type ${texts[1]}.`;
  return `\`${operator}\` does not apply to ${texts.join(' and ')}.`;
}

const NULLABLE = ['timestamp', 'duration', 'ipaddress'];

/** Types that CEL implements as messages may be compared with null, which they never are. */
const isComparedWithNull = (first: CelType, second: CelType): boolean =>
  (first.kind === 'null' && NULLABLE.includes(second.kind)) ||
  (second.kind === 'null' && NULLABLE.includes(first.kind));

/** Why two operands can never be equal, or one never in the other, by their types: a mistake. */
function incompatibleOperands(name: string, first: CelType, second: CelType): string | undefined {
  if (name === '_==_' || name === '_!=_') {
    return areCompatible(first, second) || isComparedWithNull(first, second)
      ? undefined
      : noOverload(name, false, [first, second]);
  }
  if (name === '@in') {
    const element = second.kind === 'list' ? second.element : second.kind === 'map' ? second.key : DYN;
    return areCompatible(first, element) ? undefined : noOverload(name, false, [first, second]);
  }
  if (name === '_[_]' && first.kind === 'map') {
    return areCompatible(first.key, second) ? undefined : noOverload(name, false, [first, second]);
  }
  if (name === '_[_]' && first.kind === 'list') {
    return areCompatible({ kind: 'int' }, second) ? undefined : noOverload(name, false, [first, second]);
  }
  return undefined;
}

/** Goes on with the value, if there is one. */
const resolved =
  (run: Evaluate, next: (value: Value, evaluation: Evaluation) => Result): Evaluate =>
  (evaluation) => {
    const value = run(evaluation);
    return value instanceof Unresolved ? value : next(value, evaluation);
  };

function unaryCall(overloads: readonly Overload[], argument: Evaluate): Evaluate {
  return (evaluation) => {
    const value = argument(evaluation);
    if (value instanceof Unresolved) return value;
    for (const { call } of overloads) {
      const result = call(evaluation, value, undefined);
      if (result !== undefined) return result;
    }
    return NO_OVERLOAD;
  };
}

function binaryCall(overloads: readonly Overload[], left: Evaluate, right: Evaluate): Evaluate {
  return (evaluation) => {
    const first = left(evaluation);
    const second = right(evaluation);
    if (first instanceof Unresolved || second instanceof Unresolved) return both(first, second);
    for (const { call } of overloads) {
      const result = call(evaluation, first, second);
      if (result !== undefined) return result;
    }
    return NO_OVERLOAD;
  };
}

function constructMap(parts: readonly (readonly [CompiledNode, CompiledNode])[], evaluation: Evaluation): Result {
  const entries = new Map<MapKey, { readonly key: Value; readonly value: Value }>();
  let unresolved: Unresolved | undefined;
  for (const [first, second] of parts) {
    const key = first.run(evaluation);
    const value = second.run(evaluation);
    if (key instanceof Unresolved || value instanceof Unresolved) {
      unresolved = both(unresolved ?? null, both(key, value));
      continue;
    }
    const found = typeof key === 'number' ? undefined : mapKey(key);
    const refusal =
      found === undefined ? 'a value of this type cannot be the key of a map' : 'a map has the same key twice';
    if (found === undefined || entries.has(found)) unresolved = both(unresolved ?? null, failed(refusal));
    else entries.set(found, { key, value });
  }
  return unresolved ?? new CelMap(entries);
}

interface Loop {
  readonly range: Evaluate;
  /** The place of the variable. */
  readonly index: number;
  /** What one iteration takes. */
  readonly steps: number;
}

function elementsOf(range: Result): Unresolved | readonly Value[] {
  if (range instanceof Unresolved) return range;
  if (range instanceof CelMap) return Array.from(range.entries.values(), ({ key }) => key);
  return range !== null && isList(range) ? range : NO_OVERLOAD;
}

/** `exists` is `||` over the elements, `all` is `&&`. */
function quantifier({ range, index, steps }: Loop, test: Evaluate, decisive: boolean): Evaluate {
  return (evaluation) => {
    const elements = elementsOf(range(evaluation));
    if (elements instanceof Unresolved) return elements;
    let unresolved: Unresolved | undefined;
    for (const element of elements) {
      evaluation.meter.spend(steps);
      evaluation.variables[index] = element;
      const value = test(evaluation);
      if (value === decisive) return decisive;
      if (value === !decisive) continue;
      unresolved = either(unresolved, value instanceof Unresolved ? value : NOT_BOOL);
    }
    return unresolved ?? !decisive;
  };
}

/** `filter` and `map`. */
function collection(
  { range, index, steps }: Loop,
  test: Evaluate | undefined,
  transform: Evaluate | undefined,
): Evaluate {
  return (evaluation) => {
    const elements = elementsOf(range(evaluation));
    if (elements instanceof Unresolved) return elements;
    const collected: Value[] = [];
    for (const element of elements) {
      evaluation.meter.spend(steps);
      evaluation.variables[index] = element;
      const isIncluded = test?.(evaluation) ?? true;
      if (typeof isIncluded !== 'boolean') return isIncluded instanceof Unresolved ? isIncluded : NOT_BOOL;
      if (!isIncluded) continue;
      const value = transform === undefined ? element : transform(evaluation);
      if (value instanceof Unresolved) return value;
      collected.push(value);
    }
    return collected;
  };
}

/**
 * Compiles an expression over parameters. Gives all problems of types at once, but only the first of syntax.
 * `isDynamic`: types are checked at run time only, as the tests of the CEL project need it.
 */
export function compileExpression(
  text: string,
  parameters: readonly Variable[],
  isDynamic = false,
): CompiledExpression | { readonly problems: readonly ExpressionProblem[] } {
  const compiler = new Compiler(parameters, isDynamic);
  try {
    const { type, run } = compiler.compile(parseExpression(text));
    if (compiler.problems.length > 0) return { problems: compiler.problems };
    return { type, run, steps: compiler.steps, used: [...compiler.used].sort((left, right) => left - right) };
  } catch (error) {
    if (error instanceof ExpressionError) return { problems: [{ at: error.at, message: error.message }] };
    throw error;
  }
}

/** The calls of an expression that compiles. */
export function callsOf(text: string, parameters: readonly Variable[]): readonly TypedCall[] {
  const compiler = new Compiler(parameters, false);
  compiler.compile(parseExpression(text));
  return compiler.calls;
}
