// Sends every operation of both APIs its parameters and members at their extremes, beside another tenant on the same
// shard, and looks for what a request must never do: fail in the service, end a stream between processes, or cost the
// neighbour an answer.

import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import fc from 'fast-check';
import { call } from '../../kit/http-client.ts';
import { type HttpService, startHttpService } from '../../kit/http-service.ts';
import {
  BODY_PLACE,
  type ExtremeRequest,
  extremesOf,
  type Operation,
  operationsIn,
  type Samples,
} from './extreme-requests.ts';
import { asRecord } from './mutated-bodies.ts';

const WORKERS = 8;
/** Of the log: a stream that ends is dialled again, and ends again. */
const LINES_MAX = 10;
/** A check of the neighbour follows each so many requests of a worker. */
const PER_CHECK = 10;
/** What a request may fail by. */
const OVERLOADED = '/overloaded';
const STREAMED = /^(text\/event-stream|application\/x-ndjson)/;
/** A body above the bound of its operation may still be on its way when its refusal closes the connection. */
const CUT_OFF_BYTES = 64 * 1024;

const TUPLE = { subject: 'user:alice', relation: 'viewer', object: 'document:readme' };
const SAMPLES: Samples = {
  ...TUPLE,
  namespace: 'document',
  since: '2026-01-15T00:00:00Z',
  until: '2099-01-15T00:00:00Z',
  action: 'grant.created',
  version: '1',
  format: 'json',
  limit: '1',
  wait: '0',
};

interface Api {
  readonly url: string;
  readonly key: string;
  readonly operations: readonly Operation[];
  readonly samples: (operation: Operation) => Promise<Samples>;
}

interface Outcome {
  readonly status: number;
  readonly text: string;
}

/** Of a response that lasts, only its status. Resolves to undefined if the service closes the connection early. */
function send({ url, key }: Api, { method, path, headers, body }: ExtremeRequest): Promise<Outcome | undefined> {
  const { hostname, port } = new URL(url);
  const length = body === undefined ? 0 : Buffer.byteLength(body);
  const content = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(length) };
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        hostname,
        port,
        method,
        path,
        headers: { authorization: `Bearer ${key}`, ...content, ...headers },
        agent: false,
      },
      (response) => {
        const status = response.statusCode ?? 0;
        if (STREAMED.test(response.headers['content-type'] ?? '')) {
          resolve({ status, text: '' });
          sent.destroy();
          return;
        }
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', () => resolve({ status, text }));
        response.on('end', () => resolve({ status, text }));
      },
    );
    sent.on('error', (error) => (length > CUT_OFF_BYTES ? resolve(undefined) : reject(error)));
    sent.end(body);
  });
}

async function documentAt(url: string, path: string, key: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await call(url, { method: 'GET', path, key });
  assert.equal(answer.status, 200, answer.text);
  return asRecord(answer.json);
}

/** The first cursor of the operation's own pages, for what follows from it. */
async function cursorOf(api: Omit<Api, 'samples'>, operation: Operation, samples: Samples): Promise<Samples> {
  if (!operation.parameters.some(({ name }) => name === 'cursor')) return {};
  const names = operation.parameters.map(({ name }) => name);
  const needed = names.filter((name) => ['limit', 'subject', 'relation'].includes(name));
  const query = needed.map((name) => `${name}=${encodeURIComponent(samples[name] ?? '')}`).join('&');
  const path = operation.path.replace('{tenantId}', samples.tenantId ?? '');
  const answer = await call(api.url, { method: 'GET', path: `${path}?${query}`, key: api.key });
  const { next_cursor: cursor } = answer.status === 200 ? asRecord(answer.json) : {};
  return typeof cursor === 'string' ? { cursor, 'Last-Event-ID': cursor } : {};
}

async function publicApi(service: HttpService): Promise<Api> {
  const { tenantId, key } = await service.createTenant();
  const { keyId } = await service.createKey(tenantId, { scopes: ['check:read'] });
  for (const object of ['document:readme', 'document:plan']) {
    await service.send({ method: 'POST', path: '/v1/grants', key, body: { ...TUPLE, object } });
  }
  const operations = operationsIn(await documentAt(service.baseUrl, '/openapi.json', key));
  const api = { url: service.baseUrl, key, operations };
  const samples = { ...SAMPLES, key_id: keyId };
  return { ...api, samples: async (operation) => ({ ...samples, ...(await cursorOf(api, operation, samples)) }) };
}

async function operatorApi(service: HttpService): Promise<Api> {
  const { tenantId, key } = await service.createTenant();
  const spare = await service.createTenant();
  const { keyId } = await service.createKey(tenantId, { scopes: ['check:read'] });
  for (const object of ['document:readme', 'document:plan']) {
    await service.send({ method: 'POST', path: '/v1/grants', key, body: { ...TUPLE, object } });
  }
  const { consoleUrl: url, operatorToken } = service;
  const operations = operationsIn(await documentAt(url, '/operator/v1/openapi.json', operatorToken));
  const api = { url, key: operatorToken, operations };
  return {
    ...api,
    async samples(operation) {
      // One of these deletes its tenant.
      const isOwn = operation.method !== 'GET' && operation.path.endsWith('/{tenantId}');
      const samples = { ...SAMPLES, keyId, tenantId: isOwn ? spare.tenantId : tenantId };
      return { ...samples, ...(await cursorOf(api, operation, samples)) };
    },
  };
}

interface Sent {
  readonly api: Api;
  readonly request: ExtremeRequest;
}

async function requestsOf(api: Api): Promise<Sent[]> {
  const all: Sent[] = [];
  for (const operation of api.operations) {
    for (const request of extremesOf(operation, await api.samples(operation))) all.push({ api, request });
  }
  return all;
}

export interface ExtremeRun {
  readonly sent: number;
  /** By the first digit of their status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** What must not have happened. */
  readonly faults: readonly string[];
}

/** All in random order, or one of each group of a parameter, and of every fourth group of a body. */
function choose(all: readonly Sent[], seed: number, which: Which): readonly Sent[] {
  const bounds = { minLength: all.length, maxLength: all.length };
  const [shuffled = []] = fc.sample(fc.shuffledSubarray([...all], bounds), { seed, numRuns: 1 });
  if (which === 'all') return shuffled;
  const groups = [...new Map(shuffled.map((each) => [each.request.group, each])).values()];
  return groups.filter(({ request: { group } }, index) => !group.includes(BODY_PLACE) || index % 4 === 0);
}

type Which = 'some' | 'all';

export async function runExtremes(seed: number, which: Which): Promise<ExtremeRun> {
  const service = await startHttpService({}, ['--shards', '1']);
  const faults: string[] = [];
  const statuses = new Map<number, number>();
  let sent = 0;
  try {
    const neighbour = await service.createTenant();
    const grant = { method: 'POST', path: '/v1/grants', key: neighbour.key, body: TUPLE };
    assert.equal((await service.send(grant)).status, 201);
    const all = [...(await requestsOf(await publicApi(service))), ...(await requestsOf(await operatorApi(service)))];
    const waiting = choose(all, seed, which).values();
    const checkNeighbour = async (after: string): Promise<void> => {
      const check = { method: 'POST', path: '/v1/check', key: neighbour.key, body: TUPLE };
      const { status, text } = await service.send(check);
      if (status !== 200 || !text.startsWith('{"authorized":true,')) {
        faults.push(`the check of another tenant after ${after}: ${status} ${text.slice(0, 300)}`);
      }
    };
    const work = async (): Promise<void> => {
      for (const { api, request } of waiting) {
        sent += 1;
        const outcome = await send(api, request);
        if (outcome === undefined) continue;
        const { status, text } = outcome;
        const kind = Math.floor(status / 100);
        statuses.set(kind, (statuses.get(kind) ?? 0) + 1);
        if (status >= 500 && !text.includes(OVERLOADED)) {
          faults.push(`${request.group}: ${status} ${text.slice(0, 300)}`);
        }
        if (sent % PER_CHECK === 0) await checkNeighbour(request.group);
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    await checkNeighbour('all');
    const { text: metrics } = await call(service.opsUrl, { method: 'GET', path: '/metrics' });
    const counted = /^grantd_(?:malformed_calls_total|front_retries_total\{reason="disconnected")[^#\n]* [1-9].*$/gm;
    faults.push(...(metrics.match(counted) ?? []));
    const logged = /^.*(?:malformed call|stream of a peer|no connection to a shard).*$/gm;
    faults.push(...(service.output().match(logged) ?? []).slice(0, LINES_MAX));
  } finally {
    await service.stop();
  }
  return { sent, statuses, faults };
}
