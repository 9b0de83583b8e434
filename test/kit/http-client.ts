// A client for tests that sends and keeps bytes unchanged. One connection per call.

import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { isErrorCode } from '../../src/core/errors.ts';

export interface CallOptions {
  readonly method: string;
  /** As it goes into the request line. */
  readonly path: string;
  readonly key?: string | undefined;
  /** Sent as it is; an object is sent as JSON. Both with the content type of JSON unless `headers` has one. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Of the body; undefined where it is empty or not JSON. */
  readonly json: unknown;
}

const JSON_TYPES = /^application\/(?:problem\+)?json$/;

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

export function call(url: string, options: CallOptions): Promise<Answer> {
  const body = bytesOf(options.body);
  const headers: Record<string, string | string[]> = {
    ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
    ...options.headers,
  };
  // An empty value takes a header away.
  for (const [name, value] of Object.entries(headers)) if (value === '') delete headers[name];
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { hostname, port, method: options.method, path: options.path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const isJson = JSON_TYPES.test(response.headers['content-type'] ?? '') && text !== '';
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson ? JSON.parse(text) : undefined,
          });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const REQUEST_ID = /^req_[0-9a-hjkmnp-tv-z]{26}$/;

/** Every field and header that a problem document has to have; returns its detail. */
export function assertProblem(answer: Answer, status: number, type: string, errorsBase: string): string {
  assert.ok(isErrorCode(type), `${type} is in the catalogue`);
  const context = `expected ${status} ${type}, got ${answer.status} ${answer.text.slice(0, 500)}`;
  assert.equal(answer.status, status, context);
  assert.equal(answer.headers['content-type'], 'application/problem+json');
  assert.ok(typeof answer.json === 'object' && answer.json !== null, context);
  const { type: uri, title, status: inBody, detail, instance, ...rest } = answer.json as Record<string, unknown>;
  assert.equal(uri, `${errorsBase}/${type}`, context);
  assert.equal(inBody, status);
  assert.ok(typeof title === 'string' && title !== '');
  assert.ok(typeof detail === 'string' && detail !== '');
  // The members that only some problems have.
  const { 'violated-policies': violated, key_id: keyId, ...unknown } = rest;
  assert.deepEqual(unknown, {});
  if (type === 'rate-limited') assert.deepEqual(violated, [policyOf(answer)]);
  else assert.equal(violated, undefined);
  assert.ok(keyId === undefined || type === 'already-created', context);
  assert.match(String(instance), REQUEST_ID);
  assertCommonHeaders(answer);
  assert.equal(answer.headers['x-service-request-id'], instance);
  if (status === 401) assert.equal(answer.headers['www-authenticate'], 'Bearer');
  if (status === 429 || status === 503) assert.match(String(answer.headers['retry-after']), /^[1-9][0-9]*$/);
  if (status === 405) assert.match(String(answer.headers.allow), /^[A-Z]+(?:, [A-Z]+)*$/);
  return detail;
}

/** The name of the limit that a response shows. */
function policyOf({ headers }: Answer): string {
  const [, name = ''] = /^"([a-z0-9_:-]+)";q=/.exec(String(headers['ratelimit-policy'])) ?? [];
  return name;
}

/** What every response carries, and what none does. */
export function assertCommonHeaders({ headers }: Answer): void {
  assert.match(String(headers['x-service-request-id']), REQUEST_ID);
  assert.equal(headers['cache-control'], 'no-store');
  for (const name of ['x-powered-by', 'etag', 'access-control-allow-origin', 'server']) {
    assert.equal(headers[name], undefined, `no ${name}`);
  }
}

/** The same of a public page, which may be kept as long as the client asks whether it has changed. */
export function assertPageHeaders(answer: Answer): void {
  const { 'cache-control': caching, etag, ...others } = answer.headers;
  assertCommonHeaders({ ...answer, headers: { ...others, 'cache-control': 'no-store' } });
  assert.equal(caching, 'no-cache');
  assert.match(etag ?? '', /^"[0-9a-f]{32}"$/);
}

export function assertRateLimitHeaders(answer: Answer, limit: number): void {
  const { headers } = answer;
  assert.equal(headers['x-service-ratelimit-limit'], String(limit));
  assert.match(String(headers['x-service-ratelimit-remaining']), /^[0-9]+$/);
  assert.match(String(headers['x-service-ratelimit-reset']), /^[1-9][0-9]*$/);
  assert.match(String(headers['ratelimit-policy']), new RegExp(`^"[a-z0-9_:-]+";q=${limit};w=[1-9][0-9]*$`));
  const { 'x-service-ratelimit-remaining': remaining, 'x-service-ratelimit-reset': reset } = headers;
  assert.equal(headers.ratelimit, `"${policyOf(answer)}";r=${remaining};t=${reset}`);
}

export function assertNoRateLimitHeaders({ headers }: Answer): void {
  for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^(x-service-)?ratelimit/);
}
