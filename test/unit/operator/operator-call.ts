// The operator's API as a test calls it: one request, its answer, and what every answer must carry. Each answer is held
// to the OpenAPI document of the API.

import assert from 'node:assert/strict';
import { ERRORS_BASE, OPERATOR_TOKEN } from '../../kit/console-service.ts';
import { assertDocumented } from './documented-answers.ts';

/** Of the record of a grant, in their order. */
export const GRANT_FIELDS = ['grant_id', 'subject', 'relation', 'object', 'created_at', 'expires_at'];

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Of any shape, as the parser gives it; undefined where the answer is not a JSON document. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export async function callOperator(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const sent = (): BodyInit => {
    if (typeof body === 'string') return body;
    return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
  };
  const response = await fetch(`${url}/operator/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${OPERATOR_TOKEN}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: sent() }),
  });
  const text = await response.text();
  assert.match(response.headers.get('x-service-request-id') ?? '', /^req_[0-9a-z]{26}$/);
  assert.equal(response.headers.get('cache-control'), 'no-store');
  assert.equal(response.headers.get('x-powered-by'), null);
  const json = /^application\/(problem\+)?json$/.test(response.headers.get('content-type') ?? '');
  assertDocumented(method, path, response, text);
  return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : undefined };
}

export function assertProblem(reply: Reply, status: number, code: string, detail?: RegExp): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.headers.get('content-type'), 'application/problem+json');
  assert.equal(reply.body.type, `${ERRORS_BASE}/${code}`);
  assert.equal(reply.body.status, status);
  assert.equal(reply.body.instance, reply.headers.get('x-service-request-id'));
  assert.deepEqual(Object.keys(reply.body), ['type', 'title', 'status', 'detail', 'instance']);
  if (detail !== undefined) assert.match(reply.body.detail, detail);
}
