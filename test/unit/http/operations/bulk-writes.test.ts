// Many changes in one call: POST /v1/grants/bulk, POST /v1/grants/revoke, and DELETE /v1/grants by query.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { scopeMask } from '../../../../src/core/scopes.ts';
import {
  type Answer,
  assertProblem,
  assertRateLimitHeaders,
  type CallOptions,
  call,
} from '../../../kit/http-client.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
const OTHER = { ...TUPLE, relation: 'editor' };

let http: HttpInProcess;
let errorsBase: string;
let key: string;
let tenantId: Parameters<HttpInProcess['front']['createKey']>[0];
before(async () => {
  http = await startHttp();
  errorsBase = `${http.url}/errors`;
});
after(() => http.close());
beforeEach(async () => {
  ({ key, tenantId } = await http.front.createTenant('standard'));
});

const send = (method: string, path: string, body?: unknown, options: Partial<CallOptions> = {}) =>
  call(http.url, { method, path, key, ...(body === undefined ? {} : { body }), ...options });
/** Of any shape, as the parser gives it. */
const fieldsOf = ({ text }: Answer): ReturnType<typeof JSON.parse> => JSON.parse(text);
const holds = async (tuple: object): Promise<boolean> =>
  fieldsOf(await send('POST', '/v1/check', tuple)).authorized === true;
const callsOf = (name: string): number => http.front.operator.calls.filter((each) => each.name === name).length;

describe('POST /v1/grants/bulk', () => {
  it('creates and revokes at once, and says what each change has done', async () => {
    const first = await send('POST', '/v1/grants', OTHER);
    const response = await send('POST', '/v1/grants/bulk', {
      grants: [TUPLE, OTHER],
      revocations: [{ ...TUPLE, relation: 'owner' }],
      if: [
        { ...OTHER, exists: true },
        { ...TUPLE, exists: false },
      ],
    });
    assert.equal(response.status, 200);
    assertRateLimitHeaders(response, 200);
    const { grants, revocations } = fieldsOf(response);
    assert.deepEqual(revocations, [{ revoked: false }]);
    assert.deepEqual(grants[1], { ...fieldsOf(first), created: false });
    assert.deepEqual(
      { ...grants[0], grant_id: '', created_at: '' },
      { grant_id: '', ...TUPLE, created_at: '', expires_at: null, created: true },
    );
    assert.match(grants[0].grant_id, /^grt_/);
    const second = await send('POST', '/v1/grants/bulk', { revocations: [TUPLE, OTHER] });
    assert.deepEqual(second.json, { grants: [], revocations: [{ revoked: true }, { revoked: true }] });
    assert.equal(await holds(TUPLE), false);
  });

  it('is a 412 for a condition that is not met, and changes nothing', async () => {
    const response = await send('POST', '/v1/grants/bulk', {
      grants: [TUPLE],
      if: [
        { ...TUPLE, exists: false },
        { ...OTHER, exists: true },
      ],
    });
    const detail = assertProblem(response, 412, 'precondition-failed', errorsBase);
    assert.match(detail, /^"if\[1\]" is not met: the grant user:ada editor document:plan must exist, but does not/);
    assert.equal(await holds(TUPLE), false);
  });

  it('is refused as a whole by a limit of the plan', async () => {
    http.front.operator.namespacesMax = 1;
    const response = await send('POST', '/v1/grants/bulk', { grants: [TUPLE] });
    http.front.operator.namespacesMax = 1000;
    assertProblem(response, 403, 'namespace-limit-reached', errorsBase);
    assert.equal(await holds(TUPLE), false);
  });

  it('has the owner only confirm the key if the request is at fault', async () => {
    const [writes, confirmations] = [callsOf('writeBulk'), callsOf('confirm')];
    assertProblem(await send('POST', '/v1/grants/bulk', {}), 400, 'invalid-request', errorsBase);
    assert.deepEqual([callsOf('writeBulk'), callsOf('confirm')], [writes, confirmations + 1]);
  });

  it('takes a body of 1 MiB, and counts as one request of its own name', async () => {
    const long = `document:${'😀'.repeat(256)}`;
    const grants = Array.from({ length: 100 }, (_, index) => ({ ...TUPLE, subject: `user:${index}`, object: long }));
    const escaped = JSON.stringify({ grants, if: grants.map((each) => ({ ...each, exists: false })) }).replaceAll(
      '😀',
      '\\ud83d\\ude00',
    );
    assert.ok(escaped.length > 512 * 1024 && escaped.length < 1024 * 1024);
    const response = await send('POST', '/v1/grants/bulk', escaped);
    assert.equal(response.status, 200);
    assert.equal(fieldsOf(response).grants.length, 100);
    assert.equal(response.headers['x-service-ratelimit-remaining'], '199');
    const tooLarge = await send('POST', '/v1/grants/bulk', `${escaped}${' '.repeat(1024 * 1024)}`);
    assertProblem(tooLarge, 413, 'payload-too-large', errorsBase);
    assert.match(await http.metrics.registry.metrics(), /operation="writeBulk",status="200"/);
  });
});

describe('POST /v1/grants/revoke', () => {
  it('revokes the grants of a subject or on an object, of one relation where it is named', async () => {
    const grants = [TUPLE, OTHER, { ...TUPLE, object: 'document:x' }, { ...OTHER, subject: 'user:bob' }];
    await send('POST', '/v1/grants/bulk', { grants });
    const ofRelation = await send('POST', '/v1/grants/revoke', { object: TUPLE.object, relation: 'editor' });
    assert.deepEqual([ofRelation.status, ofRelation.json], [200, { revoked: 2, complete: true }]);
    http.front.operator.revokedPerCall = 1;
    const first = await send('POST', '/v1/grants/revoke', { subject: TUPLE.subject });
    http.front.operator.revokedPerCall = 1000;
    assert.deepEqual(first.json, { revoked: 1, complete: false });
    const second = await send('POST', '/v1/grants/revoke', { subject: TUPLE.subject });
    assert.deepEqual(second.json, { revoked: 1, complete: true });
    const third = await send('POST', '/v1/grants/revoke', { subject: TUPLE.subject });
    assert.deepEqual(third.json, { revoked: 0, complete: true });
  });

  it('never takes an absent or empty field for all', async () => {
    await send('POST', '/v1/grants', TUPLE);
    const bodies = [{}, { relation: 'viewer' }, { subject: '' }, { object: '' }, { subject: null }, { ...TUPLE }];
    for (const body of bodies) assert.equal((await send('POST', '/v1/grants/revoke', body)).status, 400);
    assert.equal(callsOf('revokeGrants') > 0 && (await holds(TUPLE)), true);
  });
});

describe('DELETE /v1/grants by query', () => {
  const query = new URLSearchParams(TUPLE).toString();

  it('answers like the one by body', async () => {
    await send('POST', '/v1/grants', TUPLE);
    const response = await send('DELETE', `/v1/grants?${query}`);
    assert.deepEqual([response.status, response.text], [204, '']);
    assertProblem(await send('DELETE', `/v1/grants?${query}`), 404, 'grant-not-found', errorsBase);
    assert.equal(await holds(TUPLE), false);
  });

  it('takes a body that is empty, and a query that is, as none', async () => {
    await send('POST', '/v1/grants', TUPLE);
    const chunked = { 'transfer-encoding': 'chunked', 'content-length': '' };
    assert.equal((await send('DELETE', `/v1/grants?${query}`, '', { headers: chunked })).status, 204);
    await send('POST', '/v1/grants', TUPLE);
    assert.equal((await send('DELETE', `/v1/grants?${query}`, '')).status, 204);
    await send('POST', '/v1/grants', TUPLE);
    assert.equal((await send('DELETE', '/v1/grants?&', TUPLE)).status, 204);
  });

  it('is refused together with a body, whatever the body is, and changes nothing', async () => {
    await send('POST', '/v1/grants', TUPLE);
    const chunked = { 'transfer-encoding': 'chunked', 'content-length': '' };
    for (const body of [TUPLE, {}, 'x', ' ']) {
      for (const headers of [{}, chunked, { 'content-type': 'text/plain' }]) {
        const response = await send('DELETE', `/v1/grants?${query}`, body, { headers });
        const detail = assertProblem(response, 400, 'invalid-request', errorsBase);
        assert.match(detail, /^The request has both a body and query parameters/);
      }
    }
    const large = await send('DELETE', `/v1/grants?${query}`, ' '.repeat(64 * 1024 + 1));
    assertProblem(large, 413, 'payload-too-large', errorsBase);
    assert.equal(await holds(TUPLE), true);
  });

  it('needs all three parameters, each of them once and no other', async () => {
    for (const [text, type, detail] of [
      ['subject=user:ada', 'invalid-relation', /^"relation" must be .* it is missing, and so is "object"\.$/],
      ['relation=viewer&object=d:1', 'invalid-subject', /^"subject" must be .* it is missing\.$/],
      ['subject=user:ada&relation=viewer&object=', 'invalid-object', /^"object" must be .* it is empty\.$/],
      [`${query}&subject=user:ada`, 'invalid-request', /"subject" is repeated/],
      [
        `${query}&namespace=x`,
        'invalid-request',
        /"namespace" is unknown; known parameters: subject, relation, object/,
      ],
      [`${query}#x`, 'invalid-request', /must not hold a "#"/],
    ] as const) {
      assert.match(assertProblem(await send('DELETE', `/v1/grants?${text}`), 400, type, errorsBase), detail);
    }
  });

  it('is refused for a key without the scope, as the one by body', async () => {
    const reader = http.front.createKey(tenantId, scopeMask(['check:read']));
    for (const [method, path, body] of [
      ['DELETE', `/v1/grants?${query}`, undefined],
      ['POST', '/v1/grants/bulk', { grants: [TUPLE] }],
      ['POST', '/v1/grants/revoke', { subject: 'user:ada' }],
    ] as const) {
      const response = await send(method, path, body, { key: reader });
      assertProblem(response, 403, 'insufficient-scope', errorsBase);
    }
  });
});
