// Sends random texts to every place of every call, to a server that says which request it has got. Invariant: each text
// is refused before anything is sent, or arrives exactly; one that UTF-8 cannot carry never arrives.

import assert from 'node:assert/strict';
import { type ReadRequest, startBadServer } from './bad-server.ts';
import { perform, type Report, type Runner } from './contract.ts';

export type Encoding = 'bytes' | 'utf16';

/** A text as the runner gets it, and what has to arrive. Undefined: UTF-8 cannot carry it. */
interface Text {
  readonly given: object;
  readonly whole: string | undefined;
}

interface Place {
  readonly call: string;
  readonly page?: boolean;
  readonly args: (text: object) => object;
  readonly found: (request: ReadRequest) => unknown;
}

const KEY = 'gk1_of_the_bad_server';
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const JOIN = { namespace: 'document', name: 'viewer' };
const EVALUATION = {
  subject: { type: 'user', id: 'ada' },
  action: { name: 'viewer' },
  resource: { type: 'document', id: 'plan' },
};

const inBody =
  (...path: readonly (string | number)[]) =>
  ({ body }: ReadRequest): unknown => {
    let at: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    for (const name of path) at = (at as Record<string | number, unknown>)[name];
    return at;
  };
const inQuery =
  (name: string) =>
  ({ path }: ReadRequest): unknown =>
    new URLSearchParams(path.split('?')[1]).get(name);
const inPath =
  (prefix: string) =>
  ({ path }: ReadRequest): unknown =>
    path.startsWith(prefix) ? decodeURIComponent(path.slice(prefix.length)) : path;
/** A string of RFC 9651. */
const inHeader =
  (name: string) =>
  ({ headers }: ReadRequest): unknown =>
    headers
      .get(name)
      ?.replace(/^"(.*)"$/s, '$1')
      .replaceAll(/\\(.)/g, '$1');

const NAMES = ['subject', 'relation', 'object'] as const;

const PLACES: readonly Place[] = [
  ...NAMES.flatMap((name): Place[] => [
    { call: 'check', args: (text) => ({ ...TUPLE, [name]: text }), found: inBody(name) },
    { call: 'createGrant', args: (text) => ({ ...TUPLE, [name]: text }), found: inBody(name) },
    { call: 'revokeGrant', args: (text) => ({ ...TUPLE, [name]: text }), found: inQuery(name) },
  ]),
  { call: 'listObjects', args: (text) => ({ subject: text, relation: 'viewer' }), found: inQuery('subject') },
  {
    call: 'listObjects',
    page: true,
    args: (text) => ({ subject: 'user:ada', relation: 'viewer', cursor: text }),
    found: inQuery('cursor'),
  },
  { call: 'listSubjects', args: (text) => ({ object: text, relation: 'viewer' }), found: inQuery('object') },
  { call: 'listGrants', args: (text) => ({ subject: text }), found: inQuery('subject') },
  { call: 'listChanges', page: true, args: (text) => ({ cursor: text }), found: inQuery('cursor') },
  { call: 'createNamespace', args: (text) => ({ name: text }), found: inBody('name') },
  {
    call: 'writeRules',
    args: (text) => ({ rule_set: text }),
    found: ({ body }) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body),
  },
  { call: 'revokeKey', args: (text) => ({ key_id: text }), found: inPath('/v1/keys/') },
  {
    call: 'createKey',
    args: (text) => ({ name: '', scopes: ['admin'], idempotency_key: text }),
    found: inHeader('idempotency-key'),
  },
];

/** Those for which the runner of Go would need a decoder of its own: its JSON would change the text. */
const NESTED: readonly Place[] = [
  {
    call: 'checkBulk',
    args: (text) => ({ checks: [TUPLE, { ...TUPLE, subject: text }] }),
    found: inBody('checks', 1, 'subject'),
  },
  { call: 'check', args: (text) => ({ ...TUPLE, context: { a: [text] } }), found: inBody('context', 'a', 0) },
  {
    call: 'check',
    args: (text) => ({ ...TUPLE, context: { $members: [[text, 1]] } }),
    found: (request) => Object.keys(inBody('context')(request) as object)[0],
  },
  { call: 'snapshotGrants', page: true, args: (text) => ({ on: [text] }), found: inQuery('on') },
  { call: 'readSets', args: (text) => ({ subject: text, join: JOIN }), found: inBody('subject') },
  {
    call: 'evaluate',
    args: (text) => ({ ...EVALUATION, subject: { type: 'user', id: text } }),
    found: inBody('subject', 'id'),
  },
];

/** mulberry32 */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What is special in a path, a query, a header or JSON, and the edges of the encodings. */
const UNITS = [...'./%&=+#?;:"\\ \r\n\t\0a~'].map((each) => each.charCodeAt(0));
const EDGES = [0x7f, 0x80, 0xff, 0x7ff, 0x800, 0x2028, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xfeff, 0xfffd, 0xffff];

function textOf(encoding: Encoding, next: () => number): Text {
  const pick = (from: readonly number[]): number => from[Math.floor(next() * from.length)] ?? 0;
  const length = 1 + Math.floor(next() * 6);
  const kind = next();
  const units = Array.from({ length }, () => {
    const which = next();
    if (kind < 0.3 || which < 0.4) return pick(UNITS);
    return which < 0.7 ? pick(EDGES) : Math.floor(next() * 0x1_00_00);
  });
  const text = String.fromCharCode(...units);
  if (encoding === 'utf16') return { given: { $utf16: units }, whole: text.isWellFormed() ? text : undefined };
  const bytes = Buffer.from(text.toWellFormed());
  // Half of them lose or change a byte.
  if (next() < 0.5) bytes[Math.floor(next() * bytes.length)] = Math.floor(next() * 0x100);
  return { given: { $bytes: bytes.toString('hex') }, whole: wholeOf(bytes) };
}

function wholeOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Says the number of the request, with an error that no client repeats. */
function numbered(number: number): Buffer {
  const detail = `#${number}`;
  const problem = { type: '/tenant-suspended', title: 'no', status: 403, detail, instance: 'req_1' };
  const body = JSON.stringify(problem);
  const type = 'application/problem+json';
  return Buffer.from(`HTTP/1.1 403 No\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
}

interface Outcome {
  readonly error?: { readonly type?: string; readonly detail?: string };
  readonly refused?: string;
  readonly value?: unknown;
}

/** What is wrong with one text in one place. `taken`: the requests that others have sent. */
function judge(place: Place, text: Text, outcome: Outcome, seen: readonly ReadRequest[], taken: Set<number>) {
  const shown = `${place.call}, ${JSON.stringify(text.given)}`;
  const [, number] = /^#(\d+)$/.exec(outcome.error?.detail ?? '') ?? [];
  if (number === undefined) {
    // No path leads to them, so there is no such key.
    const isDots = place.call === 'revokeKey' && (text.whole === '.' || text.whole === '..');
    if (isDots && outcome.value === false) return undefined;
    const isRefused = outcome.error?.type === 'invalid-request' || outcome.refused !== undefined;
    return isRefused ? undefined : `${shown}: ${JSON.stringify(outcome)}`;
  }
  taken.add(Number(number));
  const request = seen[Number(number)];
  const arrived = request === undefined ? undefined : place.found(request);
  if (text.whole !== undefined && arrived === text.whole) return undefined;
  return `${shown}: ${JSON.stringify(arrived)} arrived, not ${JSON.stringify(text.whole)}`;
}

const STEPS_PER_CASE = 500;

/** In sum, over all places: more of them on request, with a seed of their own. */
const TEXTS = Number(process.env.CLIENT_TEXTS ?? 2000);
const SEED = process.env.CLIENT_TEXTS === undefined ? 1 : Date.now();

/** Fails with all texts that arrive as others. */
export async function runTexts(
  runner: Omit<Runner, 'on'>,
  encoding: Encoding,
  { nested = true, texts = TEXTS, seed = SEED } = {},
): Promise<void> {
  const places = nested ? [...PLACES, ...NESTED] : PLACES;
  await using stack = new AsyncDisposableStack();
  const server = await startBadServer({ script: (number) => [numbered(number)] });
  stack.defer(() => server.close());
  const next = random(seed);
  const asked = Array.from({ length: texts }, (_, index) => {
    const place = places[index % places.length] ?? PLACES[0];
    if (place === undefined) throw new Error('There is no place.');
    return { place, text: textOf(encoding, next) };
  });
  const inputs: string[] = [];
  for (let start = 0; start < asked.length; start += STEPS_PER_CASE) {
    const steps = asked.slice(start, start + STEPS_PER_CASE).map(({ place: { call, page, args }, text }) => ({
      call,
      args: args(text.given),
      ...(page === undefined ? {} : { page }),
    }));
    const client = { timeout_ms: 120_000, max_retries: 0, batching: false };
    inputs.push(JSON.stringify({ name: String(start), url: server.url, key: KEY, client, steps }));
  }
  const reports = await perform({ ...runner }, inputs);
  const outcomes = inputs.flatMap((_, index) => outcomesOf(reports, String(index * STEPS_PER_CASE)));
  const taken = new Set<number>();
  const wrong = asked.map(({ place, text }, index) => judge(place, text, outcomes[index] ?? {}, server.seen, taken));
  const found = wrong.filter((each) => each !== undefined);
  assert.equal(found.length, 0, `seed ${seed}:\n${found.slice(0, 50).join('\n')}`);
  assert.equal(taken.size, server.seen.length, 'a request was sent by a call that says that it was refused');
  assert.ok(taken.size > 0 && taken.size < texts, 'some texts arrive, and some are refused');
}

function outcomesOf(reports: readonly Report[], name: string): readonly Outcome[] {
  const [report, ...others] = reports.filter((each) => each.name === name);
  assert.ok(report !== undefined && others.length === 0 && report.failure === undefined, JSON.stringify(report));
  return report.outcomes as readonly Outcome[];
}
