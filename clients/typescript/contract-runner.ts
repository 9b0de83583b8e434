// Performs cases of the clients' contract with this client: cases from standard input, outcomes to standard output.
// clients/contract/README.md has the form of both. It judges nothing.
//
// With CLIENT_PACKAGES in the environment, it runs the built package in place of the sources.

import { createInterface } from 'node:readline';
import { callsOf, type Outcome } from './contract-calls.ts';
import type { GrantdError as ErrorClass, Grantd as GrantdClass } from './src/exports.ts';

interface Step {
  readonly call: string;
  readonly args?: Record<string, unknown>;
  readonly each?: readonly Record<string, unknown>[];
  readonly repeat?: number;
  readonly options?: { readonly timeout_ms?: number };
  readonly key?: string;
  readonly page?: boolean;
  readonly take?: number;
  readonly save?: Readonly<Record<string, string>>;
}

interface Case {
  readonly name: string;
  readonly url?: string;
  readonly key?: string;
  readonly client?: {
    readonly timeout_ms?: number;
    readonly batching?: boolean;
    readonly silence_ms?: number;
    readonly retry_budget?: number;
    readonly max_retries?: number;
    readonly backoff_first_ms?: number;
    readonly backoff_max_ms?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly user_agent?: string;
  };
  readonly steps: readonly Step[];
}

type SavedValues = Map<string, unknown>;
type ClientOf = (key: string | undefined) => GrantdClass;

const AT_ONCE = 8;
const clientModule: string = process.env.CLIENT_PACKAGES === undefined ? './src/exports.ts' : '@grantd/client';
const { Grantd, GrantdError } = (await import(clientModule)) as typeof import('./src/exports.ts');

function errorOutcome(error: unknown): Outcome {
  if (!(error instanceof GrantdError)) throw error;
  const { type, status, retryable, requestId, detail, keyId, earliest, message: text }: ErrorClass = error;
  return { error: { type, status, retryable, request_id: requestId, detail, key_id: keyId, earliest, text } };
}

/** What JSON cannot carry, written out: a text of UTF-16 units, and an object whose names may be such texts. */
function writtenOut(value: object, saved: SavedValues): unknown {
  const { $utf16: units, $members: members } = value as { $utf16?: number[]; $members?: [unknown, unknown][] };
  if (units !== undefined) return String.fromCharCode(...units);
  const entries = members?.map(([name, each]) => [String(filledIn(name, saved)), filledIn(each, saved)] as const);
  return entries === undefined ? undefined : Object.fromEntries(entries);
}

function filledIn(value: unknown, saved: SavedValues): unknown {
  if (typeof value === 'string') {
    return value.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => String(saved.get(name) ?? whole));
  }
  if (Array.isArray(value)) return value.map((each) => filledIn(each, saved));
  if (typeof value !== 'object' || value === null) return value;
  const written = writtenOut(value, saved);
  if (written !== undefined) return written;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filledIn(each, saved)]));
}

function partOf(outcome: unknown, path: string): unknown {
  let value = outcome;
  for (const name of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[name];
  return value;
}

async function perform(client: GrantdClass, step: Step, args: Record<string, unknown>): Promise<Outcome> {
  const call = callsOf(client)[step.call];
  if (call === undefined) throw new Error(`There is no call ${step.call}.`);
  const options = step.options?.timeout_ms === undefined ? undefined : { timeoutMs: step.options.timeout_ms };
  try {
    return await call(args, { options, page: step.page === true, take: step.take ?? Number.POSITIVE_INFINITY });
  } catch (error) {
    return errorOutcome(error);
  }
}

async function performStep(clientOf: ClientOf, step: Step, saved: SavedValues): Promise<Outcome> {
  let client: GrantdClass;
  try {
    client = clientOf(step.key === undefined ? undefined : String(filledIn(step.key, saved)));
  } catch (error) {
    if (error instanceof TypeError) return { refused: error.message };
    throw error;
  }
  const fill = (args: unknown) => filledIn(args ?? {}, saved) as Record<string, unknown>;
  if (step.each !== undefined) {
    return { each: await Promise.all(step.each.map((args) => perform(client, step, fill(args)))) };
  }
  if (step.repeat === undefined) return perform(client, step, fill(step.args));
  const each: Outcome[] = [];
  while (each.length < step.repeat) each.push(await perform(client, step, fill(step.args)));
  return { each };
}

interface Shown {
  readonly warnings: string[];
  readonly log: string[];
}

function clientsOf({ url, key, client = {} }: Case, { warnings, log }: Shown): ClientOf {
  const {
    timeout_ms: timeoutMs,
    batching,
    silence_ms: silenceMs,
    retry_budget: retryBudget,
    max_retries: maxRetries,
    backoff_first_ms: firstMs,
    backoff_max_ms: maxMs,
    headers,
    user_agent: userAgent,
    ...unknown
  } = client;
  const options = {
    timeoutMs,
    batching,
    silenceMs,
    retryBudget,
    maxRetries,
    backoff: { firstMs, maxMs },
    headers,
    userAgent,
    ...unknown,
    logger: { debug: (entry: string) => void log.push(entry) },
    onWarning: (warning: string) => void warnings.push(warning),
  };
  const clients = new Map<string | undefined, GrantdClass>();
  return (other) => {
    const known = clients.get(other) ?? new Grantd({ ...options, url, key: other ?? key });
    clients.set(other, known);
    return known;
  };
}

/** The line of a case. */
async function performCase(one: Case): Promise<string> {
  const { name, steps } = one;
  try {
    const shown: Shown = { warnings: [], log: [] };
    const clientOf = clientsOf(one, shown);
    const saved: SavedValues = new Map();
    const outcomes: Outcome[] = [];
    for (const step of steps) {
      const outcome = await performStep(clientOf, step, saved);
      outcomes.push(outcome);
      for (const [key, path] of Object.entries(step.save ?? {})) saved.set(key, partOf(outcome, path));
    }
    return JSON.stringify({ name, outcomes, ...shown });
  } catch (error) {
    return JSON.stringify({ name, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

const cases: Case[] = [];
for await (const line of createInterface({ input: process.stdin })) cases.push(JSON.parse(line));
const work = async (): Promise<void> => {
  for (let one = cases.shift(); one !== undefined; one = cases.shift()) {
    process.stdout.write(`${await performCase(one)}\n`);
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, work));
