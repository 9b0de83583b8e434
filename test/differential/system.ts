// The port of a system that answers questions about rules, which are grantd and the definition; and calls over HTTP.

import type { Answer, Change, Question } from './question.ts';
import type { World } from './universe.ts';

export interface System {
  /** A new world without grants. */
  begin(world: World): Promise<void>;
  /** Each change alters something: nothing is granted twice, or revoked that is not granted. */
  write(changes: readonly Change[]): Promise<void>;
  /** The answer takes every write before it into account. */
  answer(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}

/** All interfaces allow at least so many changes in one write. */
export const CHANGES_PER_WRITE = 100;

export function* partsOf<Item>(changes: readonly Item[]): Generator<readonly Item[]> {
  for (let start = 0; start < changes.length; start += CHANGES_PER_WRITE)
    yield changes.slice(start, start + CHANGES_PER_WRITE);
}

export interface JsonAnswer {
  readonly status: number;
  /** What `Retry-After` says. */
  readonly retrySeconds: number;
  readonly text: string;
}

/** So that a system that hangs ends the run instead of holding it up. */
const CALL_MS_MAX = 120_000;

/** A system has not answered in time. */
export class NoAnswer extends Error {}

export async function post(
  url: string,
  body: unknown,
  {
    method = 'POST',
    key,
    boundMs = CALL_MS_MAX,
  }: { readonly method?: string; readonly key?: string | undefined; readonly boundMs?: number } = {},
): Promise<JsonAnswer> {
  const response = await fetch(url, {
    method,
    headers: { 'Content-Type': 'application/json', ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(boundMs),
  }).catch((error: Error) => {
    if (error.name !== 'TimeoutError') throw error;
    throw new NoAnswer(`${url}: no answer in ${boundMs} ms to ${JSON.stringify(body)}`);
  });
  const retrySeconds = Number(response.headers.get('retry-after') ?? '');
  return { status: response.status, retrySeconds, text: await response.text() };
}

/** Throws for any status but 200 and 201. */
export function demandJson<Found>(what: string, { status, text }: JsonAnswer): Found {
  if (status !== 200 && status !== 201) throw new Error(`${what}: ${status} ${text.slice(0, 2000)}`);
  return JSON.parse(text);
}
