// Answers about a condition: those of grantd, and those of cel-go, from a program beside this file.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { readAsCelGo } from '../../../packages/convert/src/model/conditions.ts';
import type { ConditionParameter } from '../../../src/rules/conditions/compiled-condition.ts';
import { compileExpression } from '../../../src/rules/conditions/compiler.ts';
import { convertValue, ValueRefusal } from '../../../src/rules/conditions/json-values.ts';
import { StepMeter, TooManySteps } from '../../../src/rules/conditions/step-meter.ts';
import { timestampText, ZoneOffsets } from '../../../src/rules/conditions/times.ts';
import { parseType } from '../../../src/rules/conditions/types.ts';
import {
  CelMap,
  Duration,
  IpAddress,
  isList,
  type Result,
  Timestamp,
  Uint,
  Unresolved,
  type Value,
} from '../../../src/rules/conditions/values.ts';
import type { ConditionQuestion } from './questions.ts';

/** A value in a form that both sides write alike. */
export type WireValue = readonly unknown[];

export type ConditionAnswer =
  | { readonly kind: 'value'; readonly value: WireValue }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly reason?: string }
  /** Does not compile, or has a value of a wrong type. */
  | { readonly kind: 'refused'; readonly reason?: string };

function doubleBits(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

function addressText({ version, bits }: IpAddress): string {
  const [count, width, radix, separator] = version === 4 ? [4, 8n, 10, '.'] : [8, 16n, 16, ':'];
  const groups = Array.from(
    { length: count },
    (_, index) => (bits >> (width * BigInt(count - 1 - index))) & ((1n << width) - 1n),
  );
  return groups.map((each) => each.toString(radix).padStart(version === 4 ? 1 : 4, '0')).join(separator);
}

function wireOf(value: Value): WireValue {
  switch (typeof value) {
    case 'boolean':
      return ['bool', value];
    case 'bigint':
      return ['int', String(value)];
    case 'number':
      return ['double', doubleBits(value)];
    case 'string':
      return ['string', value];
    default:
      break;
  }
  if (value === null) return ['null'];
  if (value instanceof Uint) return ['uint', String(value.value)];
  if (value instanceof Timestamp) return ['timestamp', timestampText(value)];
  if (value instanceof Duration) return ['duration', String(value.nanos)];
  if (value instanceof IpAddress) return ['ipaddress', addressText(value)];
  if (value instanceof Uint8Array) return ['bytes', Buffer.from(value).toString('hex')];
  if (value instanceof CelMap) {
    const entries = Array.from(value.entries.values(), (entry) => [wireOf(entry.key), wireOf(entry.value)]);
    return ['map', entries.toSorted(([left], [right]) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))];
  }
  return ['list', isList(value) ? value.map(wireOf) : []];
}

const refused = (reason: string): ConditionAnswer => ({ kind: 'refused', reason });

/** Of grantd, as a rule set that was converted has the expression. Undefined: it takes more steps than it may. */
export function answerOfGrantd({ expression, parameters, context }: ConditionQuestion): ConditionAnswer | undefined {
  const declared = Object.entries(parameters).flatMap(([name, text]): ConditionParameter[] => {
    const type = parseType(text);
    return type === undefined ? [] : [{ name, type, key: name }];
  });
  const source = compileExpression(expression, declared);
  if ('problems' in source) return refused(source.problems.map(({ message }) => message).join(' '));
  const reading = readAsCelGo(expression, declared);
  if (reading.differences.some(({ isRefused }) => isRefused)) return refused('means something else in cel-go');
  const compiled = compileExpression(reading.expression, declared);
  if ('problems' in compiled) return refused(compiled.problems.map(({ message }) => message).join(' '));
  const meter = new StepMeter(20_000);
  const values: Result[] = [];
  for (const index of compiled.used) {
    const parameter = declared[index];
    if (parameter === undefined || !Object.hasOwn(context, parameter.name)) continue;
    const value = convertValue(context[parameter.name], parameter.type, meter);
    if (value instanceof ValueRefusal) return refused(value.textAt(parameter.name));
    values[index] = value;
  }
  try {
    const result = compiled.run({ meter, zones: new ZoneOffsets(), parameters: values, variables: [] });
    if (!(result instanceof Unresolved)) return { kind: 'value', value: wireOf(result) };
    return result.isMissing ? { kind: 'missing' } : { kind: 'failed', reason: result.reason };
  } catch (error) {
    if (error instanceof TooManySteps) return undefined;
    throw error;
  }
}

/** cel-go, in a process that ends with the object. One question at a time. */
export class CelGo implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(program: string) {
    this.#process = spawn(program, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#process.stderr.pipe(process.stderr);
    this.#lines = createInterface(this.#process.stdout)[Symbol.asyncIterator]();
  }

  async answer(question: ConditionQuestion): Promise<ConditionAnswer> {
    this.#process.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('cel-go has ended.');
    return JSON.parse(value) as ConditionAnswer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
  }
}
