// Compares what a runner reports with what a case expects. Invariant: what is not reported does not pass.

import { isDeepStrictEqual } from 'node:util';
import type { Case, CountRange } from './cases.ts';
import type { SeenRequest } from './fault-proxy.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const show = (value: unknown): string => JSON.stringify(value) ?? 'nothing';

type Saved = ReadonlyMap<string, unknown>;

function lists(actual: unknown, expected: readonly unknown[], saved: Saved, place: string): string | undefined {
  if (!Array.isArray(actual)) return `${place} is no list but ${show(actual)}`;
  if (actual.length !== expected.length) {
    return `${place} has ${actual.length} elements, not ${expected.length}: ${show(actual)}`;
  }
  for (const [index, each] of expected.entries()) {
    const difference = compare(actual[index], each, saved, `${place}[${index}]`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function sets(actual: unknown, expected: readonly unknown[], saved: Saved, place: string): string | undefined {
  if (!Array.isArray(actual) || actual.length !== expected.length) {
    return `${place} does not have ${expected.length} elements: ${show(actual)}`;
  }
  const left = [...actual];
  for (const each of expected) {
    const index = left.findIndex((one) => compare(one, each, saved, place) === undefined);
    if (index < 0) return `${place} has no ${show(each)}: ${show(actual)}`;
    left.splice(index, 1);
  }
  return undefined;
}

/** Undefined: the expectation says nothing of that kind. */
function special(
  actual: unknown,
  expected: Record<string, unknown>,
  saved: Saved,
  place: string,
): { readonly difference: string | undefined } | undefined {
  const verdict = (holds: boolean) => ({
    difference: holds ? undefined : `${place} is ${show(actual)}, not ${show(expected)}`,
  });
  if ('$any' in expected) return verdict(actual !== undefined);
  if ('$absent' in expected) return verdict(actual === undefined || actual === null);
  if (typeof expected.$match === 'string') {
    return verdict(typeof actual === 'string' && new RegExp(expected.$match, 'u').test(actual));
  }
  if ('$not' in expected)
    return verdict(actual !== undefined && compare(actual, expected.$not, saved, place) !== undefined);
  if (Array.isArray(expected.$set)) return { difference: sets(actual, expected.$set, saved, place) };
  return undefined;
}

/** What differs, or undefined. */
function compare(actual: unknown, expected: unknown, saved: Saved, place: string): string | undefined {
  if (Array.isArray(expected)) return lists(actual, expected, saved, place);
  if (isRecord(expected)) {
    const found = special(actual, expected, saved, place);
    if (found !== undefined) return found.difference;
    if (!isRecord(actual)) return `${place} is no object but ${show(actual)}`;
    for (const [name, each] of Object.entries(expected)) {
      const difference = compare(actual[name], each, saved, `${place}.${name}`);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  const wanted = typeof expected === 'string' ? filledIn(expected, saved) : expected;
  return isDeepStrictEqual(actual, wanted) ? undefined : `${place} is ${show(actual)}, not ${show(wanted)}`;
}

const filledIn = (text: string, saved: Saved): string =>
  text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => String(saved.get(name) ?? whole));

function partOf(outcome: unknown, path: string): unknown {
  let value = outcome;
  for (const name of path.split('.')) {
    value = Array.isArray(value) ? value[Number(name)] : isRecord(value) ? value[name] : undefined;
  }
  return value;
}

/** Whether the client, its language or the service refuses the member, and names it. */
function refusesMember(outcome: unknown, member: unknown): boolean {
  if (!isRecord(outcome) || Object.keys(outcome).length !== 1) return false;
  const { error, refused } = outcome;
  const text = isRecord(error) && error.type === 'invalid-request' ? error.detail : refused;
  return typeof text === 'string' && new RegExp(`['".]${member}['"]`, 'u').test(text);
}

/** What the outcomes of a case have to be and are not. */
export function judgeOutcomes({ steps }: Case, outcomes: unknown): readonly string[] {
  if (!Array.isArray(outcomes)) return [`there are no outcomes: ${show(outcomes)}`];
  if (outcomes.length !== steps.length) return [`${outcomes.length} outcomes of ${steps.length} steps`];
  const saved = new Map<string, unknown>();
  const differences: string[] = [];
  for (const [index, step] of steps.entries()) {
    const outcome: unknown = outcomes[index];
    for (const [name, path] of Object.entries((step as { save?: Record<string, string> }).save ?? {})) {
      saved.set(name, partOf(outcome, path));
    }
    const wanted = Object.keys(step.expect)[0] ?? '';
    if (wanted === 'unknown') {
      if (!refusesMember(outcome, step.expect.unknown)) {
        differences.push(
          `step ${index + 1} (${step.call}): ${show(outcome)}, which does not refuse ${show(step.expect.unknown)}`,
        );
      }
      continue;
    }
    // An error beside a value is no value.
    const difference =
      isRecord(outcome) && Object.keys(outcome).length === 1 && wanted in outcome
        ? compare(outcome, step.expect, saved, `step ${index + 1} (${step.call}):`)
        : `step ${index + 1} (${step.call}): ${show(outcome)}, not ${show(step.expect)}`;
    if (difference !== undefined) differences.push(difference);
  }
  return differences;
}

/** What the client has shown of warnings, if the case says anything of them: exactly these, in this order. */
export function judgeWarnings({ warnings }: Case, shown: unknown = []): readonly string[] {
  if (warnings === undefined || isDeepStrictEqual(shown, warnings)) return [];
  return [`the warnings are ${show(shown)}, not ${show(warnings)}`];
}

/** What the client has logged, if the case says anything of it: exactly these entries, in this order. */
export function judgeLog({ log }: Case, entries: unknown = []): readonly string[] {
  const difference = log === undefined ? undefined : compare(entries, log, new Map(), 'the log');
  return difference === undefined ? [] : [difference];
}

/** The API keys that results have, wherever they are. */
function* keysIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Object.entries(value)) {
    if (name === 'key' && typeof each === 'string') yield each;
    else yield* keysIn(each);
  }
}

/** What is shown to people and has a key of the case, or one that it has created. */
export function judgeSecrets(key: string | undefined, outcomes: unknown, entries: unknown): readonly string[] {
  const keys = [...(key === undefined || key === '' ? [] : [key]), ...keysIn(outcomes)];
  const texts = [entries, outcomes].flatMap((each) => [...textsIn(each)]);
  return keys.some((each) => texts.some((text) => text.includes(each))) ? ['an API key is in a log or an error'] : [];
}

/** Entries of a log, and the texts of errors. */
function* textsIn(value: unknown): Generator<string> {
  if (!isRecord(value) && !Array.isArray(value)) return;
  for (const [name, each] of Object.entries(value)) {
    const isShown = name === 'text' || name === 'refused' || Array.isArray(value);
    if (typeof each === 'string' && isShown) yield each;
    else yield* textsIn(each);
  }
}

export const inRange = (count: number, range: CountRange): boolean =>
  typeof range === 'number' ? count === range : count >= (range.min ?? 0) && count <= (range.max ?? Infinity);

/** What the proxy has to have seen and has not. */
export function judgeRequests({ requests = [] }: Case, seen: readonly SeenRequest[]): readonly string[] {
  const differences: string[] = [];
  for (const { method, path, seen: wanted, reached, headers = {} } of requests) {
    const pattern = new RegExp(`^${path.split('*').map(RegExp.escape).join('[^/]+')}$`);
    const found = seen.filter((each) => each.method === method && pattern.test(each.path));
    const through = found.filter((each) => each.reached).length;
    for (const each of found) {
      const difference = compare(each.headers, headers, new Map(), `the headers of ${method} ${path}`);
      if (difference !== undefined) differences.push(difference);
    }
    if (!inRange(found.length, wanted)) {
      differences.push(`${found.length} requests ${method} ${path}, not ${show(wanted)}`);
    }
    if (reached !== undefined && !inRange(through, reached)) {
      differences.push(`${through} requests ${method} ${path} reached the service, not ${show(reached)}`);
    }
  }
  return differences;
}
