// What every response carries, whichever code has read the request and wherever it ended.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Answer, type CallOptions, call } from '../../../kit/http-client.ts';
import { RawConnection, rawExchange } from '../../../kit/http-raw.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

const ID = '2f1c1e7a-9f8e-4b0f-8a53-0d1b9f6c7a11';
const CHECK: CallOptions = {
  method: 'POST',
  path: '/v1/check',
  body: { subject: 'user:a', relation: 'viewer', object: 'doc:1' },
};
/** The fast path leaves a request with this header to Node's server. */
const BY_NODE = { expect: '100-continue' };

describe('X-Request-ID', () => {
  let http: HttpInProcess;
  let key: string;
  let otherKey: string;
  before(async () => {
    http = await startHttp();
    key = (await http.front.createTenant('unlimited')).key;
    otherKey = (await http.front.createTenant('tiny')).key;
  });
  after(() => http.close());

  const send = (options: CallOptions, id: string | string[] | undefined): Promise<Answer> =>
    call(http.url, {
      ...options,
      headers: { ...options.headers, ...(id === undefined ? {} : { 'x-request-id': id }) },
    });

  const repeated: [string, CallOptions][] = [
    ['a check in the fast path', CHECK],
    ['a check that Node has read', { ...CHECK, headers: BY_NODE }],
    ['a listing', { method: 'GET', path: '/v1/namespaces' }],
    ['the description of the interface', { method: 'GET', path: '/openapi.json' }],
    ['an unknown path', { method: 'GET', path: '/v1/nothing' }],
    ['a path that needs no key', { method: 'GET', path: '/errors' }],
    ['a wrong method', { method: 'GET', path: '/v1/check' }],
    ['malformed JSON', { ...CHECK, body: '{' }],
    ['a body that is too large', { ...CHECK, body: ' '.repeat(64 * 1024 + 1) }],
  ];
  for (const [what, options] of repeated) {
    it(`of ${what} comes back, beside the id of the service`, async () => {
      const answer = await send({ ...options, key }, ID);
      assert.equal(answer.headers['x-request-id'], ID);
      assert.match(String(answer.headers['x-service-request-id']), /^req_/);
      assert.equal((await send({ ...options, key }, undefined)).headers['x-request-id'], undefined);
    });
  }

  it('comes back with a refused key, and above the limit', async () => {
    assert.equal((await send(CHECK, ID)).headers['x-request-id'], ID);
    assert.equal((await send({ ...CHECK, key: 'junk' }, ID)).headers['x-request-id'], ID);
    for (const status of [200, 200, 429]) {
      const answer = await send({ ...CHECK, key: otherKey }, ID);
      assert.deepEqual([answer.status, answer.headers['x-request-id']], [status, ID]);
    }
  });

  it('comes back with CONNECT, and with HTTP/1.1 without Host', async () => {
    for (const line of ['CONNECT example.com:443 HTTP/1.1\r\nHost: x', 'GET /v1/namespaces HTTP/1.1']) {
      const answer = await rawExchange(http.url, `${line}\r\nX-Request-ID: ${ID}\r\nConnection: close\r\n\r\n`);
      assert.deepEqual([answer.status, answer.headers['x-request-id']], [400, ID]);
    }
  });

  it('does not come back if it is long, has blanks, is repeated or is not ASCII, and the request is served', async () => {
    for (const id of ['x'.repeat(129), 'a b', ['a', 'b'], 'a\tb', 'é', '"a" ;b']) {
      for (const headers of [{}, BY_NODE]) {
        const answer = await send({ ...CHECK, key, headers }, id);
        assert.deepEqual([answer.status, answer.headers['x-request-id']], [200, undefined], String(id));
      }
    }
  });

  it('ends no header: what follows a bare line end is never part of a response', async () => {
    for (const value of ['a\nSet-Cookie: b', 'a\rSet-Cookie: b', 'a\0Set-Cookie: b']) {
      const connection = await RawConnection.open(http.url);
      connection.send(`GET /v1/namespaces HTTP/1.1\r\nHost: x\r\nX-Request-ID: ${value}\r\nConnection: close\r\n\r\n`);
      const received = await connection.readToEnd();
      assert.ok(received.startsWith('HTTP/1.1 4'), received);
      assert.ok(!/set-cookie/i.test(received), received);
    }
  });
});
