// Contexts: the parameters of conditions as JSON, stored with a grant or sent with a request. Invariant: what a context
// gives is converted for that context alone, and is released with it.

import { GrantdError } from '../../core/errors.ts';
import { isJsonObject, isUnknown, type JsonObject, memberAt } from '../../core/json-members.ts';
import type { CompiledCondition, ConditionParameter } from './compiled-condition.ts';
import { CONTEXT_DEPTH_MAX, convertValue, ValueRefusal } from './json-values.ts';
import { EVALUATION_STEPS_MAX, StepMeter } from './step-meter.ts';
import type { Value } from './values.ts';

/** UTF-8 bytes of the canonical JSON of a context that is stored with a grant. */
export const STORED_CONTEXT_BYTES_MAX = 512;
/** UTF-8 bytes of the JSON of a context that is sent with a request. */
export const REQUEST_CONTEXT_BYTES_MAX = 32 * 1024;

function isTooDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > CONTEXT_DEPTH_MAX) return true;
  if (Array.isArray(value)) return value.some((each) => isTooDeep(each, depth + 1));
  for (const each of Object.values(value)) if (isTooDeep(each, depth + 1)) return true;
  return false;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // As `fromEntries` does not, assigning `__proto__` would change the prototype.
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0))
      .map(([name, each]) => [name, sorted(each)]),
  );
}

/** Canonical JSON: members in the order of their names, without white space. Equal for equal contexts. */
export const contextText = (context: JsonObject): string => JSON.stringify(sorted(context));

/**
 * What is wrong with a context that is to be stored with a grant, as sentences; none: it may be stored. `place` is the
 * field that contains it, such as `condition.context`.
 */
export function checkStoredContext(condition: CompiledCondition, context: unknown, place: string): readonly string[] {
  if (!isJsonObject(context)) return [`"${place}" must be a JSON object.`];
  if (isTooDeep(context, 1)) return [`"${place}" is nested more than ${CONTEXT_DEPTH_MAX} deep.`];
  const problems: string[] = [];
  const names = condition.parameters.map(({ name }) => name);
  const meter = new StepMeter(EVALUATION_STEPS_MAX);
  const bytes = Buffer.byteLength(contextText(context));
  if (bytes > STORED_CONTEXT_BYTES_MAX) {
    return [`"${place}" takes ${bytes} bytes as JSON; at most ${STORED_CONTEXT_BYTES_MAX} are allowed with a grant.`];
  }
  for (const [name, value] of Object.entries(context)) {
    const at = memberAt(place, name);
    const parameter = condition.parameters.find((each) => each.name === name);
    if (parameter === undefined) {
      const hint = names.length === 0 ? `is unknown: "${condition.name}" has no parameters` : isUnknown(name, names);
      problems.push(`${JSON.stringify(at)} ${hint}.`);
      continue;
    }
    const converted = convertValue(value, parameter.type, meter);
    if (converted instanceof ValueRefusal) problems.push(`${converted.textAt(at)}.`);
  }
  return problems;
}

/** The context of one request. Its values are converted once for each type that conditions declare for them. */
export class RequestContext {
  readonly members: JsonObject;
  /** The field that contains it. */
  readonly place: string;
  readonly #converted = new Map<string, Value | ValueRefusal>();

  constructor(members: JsonObject, place: string) {
    this.members = members;
    this.place = place;
  }

  /** Undefined: the request does not give it. */
  valueOf({ name, key, type }: ConditionParameter, meter: StepMeter): Value | ValueRefusal | undefined {
    if (!Object.hasOwn(this.members, name)) return undefined;
    const known = this.#converted.get(key);
    if (known !== undefined) return known;
    const converted = convertValue(this.members[name], type, meter);
    this.#converted.set(key, converted);
    return converted;
  }
}

/**
 * The context of a request, which may have more members than conditions ask for. Throws `invalid-request`: it is no
 * object, too large or too deep. `place` is the field that contains it.
 */
export function checkRequestContext(context: unknown, place = 'context'): RequestContext {
  if (!isJsonObject(context)) throw new GrantdError('invalid-request', `"${place}" must be a JSON object.`);
  if (isTooDeep(context, 1)) {
    throw new GrantdError('invalid-request', `"${place}" is nested more than ${CONTEXT_DEPTH_MAX} deep.`);
  }
  const bytes = Buffer.byteLength(JSON.stringify(context));
  if (bytes > REQUEST_CONTEXT_BYTES_MAX) {
    throw new GrantdError(
      'invalid-request',
      `"${place}" takes ${bytes} bytes as JSON; at most ${REQUEST_CONTEXT_BYTES_MAX} are allowed.`,
    );
  }
  return new RequestContext(context, place);
}
