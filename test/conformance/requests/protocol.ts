// Bytes on a socket that no HTTP client would send: each gets a problem document where anybody is left to read it.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertRawProblem, parseResponses, RawConnection, type RawResponse, rawExchange } from '../../kit/http-raw.ts';
import type { HttpService } from '../../kit/http-service.ts';
import { oneService } from '../support/one-service.ts';

const BODY = '{"subject":"user:a","relation":"viewer","object":"doc:1"}';

describe('the protocol', () => {
  let service: HttpService;
  before(async () => {
    service = await oneService();
  });

  const head = (method: string, path: string, extra = ''): string =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\n${extra}\r\n`;
  const check = (extra = ''): string =>
    `${head('POST', '/v1/check', `Content-Length: ${BODY.length}\r\n${extra}`)}${BODY}`;

  const assertRaw = (response: RawResponse | undefined, status: number, type: string): void =>
    assertRawProblem(response, status, type, service.errorsBase);

  const malformed: [string, string | Buffer, number, string][] = [
    ['bytes that are no HTTP', '\u0000\u0001\u0002\r\n\r\n', 400, 'invalid-request'],
    ['a greeting of TLS', Buffer.from('16030100a5010000a10303', 'hex'), 400, 'invalid-request'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid-request'],
    [
      'two different lengths',
      'POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'invalid-request',
    ],
    [
      'a length and chunks, as in request smuggling',
      'POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid-request',
    ],
    ['a space before a colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n', 400, 'invalid-request'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: \u0000\r\n\r\n', 400, 'invalid-request'],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid-request'],
    [
      'a header above 16 KiB',
      `GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${'x'.repeat(17_000)}\r\n\r\n`,
      431,
      'header-fields-too-large',
    ],
  ];
  for (const [what, bytes, status, type] of malformed) {
    it(`answers ${status} to ${what} and closes`, async () => {
      const response = await rawExchange(service.baseUrl, bytes);
      assertRaw(response, status, type);
      assert.equal(response.headers.connection, 'close');
    });
  }

  it('answers 400 without Host', async () => {
    const connection = await RawConnection.open(service.baseUrl);
    connection.send('GET /v1/namespaces HTTP/1.1\r\n\r\n');
    assertRaw((await connection.readResponses(1))[0], 400, 'invalid-request');
    connection.destroy();
  });

  it('answers 408 to a header that does not come whole', async () => {
    const half = await RawConnection.open(service.baseUrl);
    const silent = await RawConnection.open(service.baseUrl);
    half.send('POST /v1/check HTTP/1.1\r\nHost: x\r\nAuthor');
    for (const connection of [half, silent]) {
      assertRaw(parseResponses(await connection.readToEnd())[0], 408, 'request-timeout');
    }
  });

  it('answers 400 to a body that ends too early', async () => {
    const connection = await RawConnection.open(service.baseUrl);
    connection.send(`${head('POST', '/v1/check', 'Content-Length: 100\r\n')}{"subject"`);
    connection.endSending();
    assertRaw(parseResponses(await connection.readToEnd())[0], 400, 'invalid-request');
  });

  it('reads a body in whatever pieces it comes', async () => {
    const connection = await RawConnection.open(service.baseUrl);
    const bytes = check();
    for (let at = 0; at < bytes.length; at += 7) {
      connection.send(bytes.slice(at, at + 7));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await connection.readResponses(1))[0]?.status, 200);
    connection.destroy();
  });

  it('keeps a connection over many requests, refused ones included', async () => {
    const connection = await RawConnection.open(service.baseUrl);
    const expected: number[] = [];
    for (const [bytes, status] of [
      [check(), 200],
      [`${head('POST', '/v1/check', 'Content-Length: 1\r\n')}{`, 400],
      [head('GET', '/v1/nothing'), 404],
      [`${head('PUT', '/v1/check', 'Content-Length: 5\r\n')}hello`, 405],
      ['POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello', 401],
      [`${head('GET', '/v1/namespaces', 'Content-Length: 5\r\n')}hello`, 200],
      [check(), 200],
    ] as const) {
      connection.send(bytes);
      expected.push(status);
      const responses = await connection.readResponses(expected.length);
      assert.deepEqual(
        responses.map((response) => response.status),
        expected,
      );
    }
    connection.destroy();
  });

  it('answers pipelined requests in their order', async () => {
    const connection = await RawConnection.open(service.baseUrl);
    connection.send(`${check()}${head('GET', '/v1/nothing')}${check()}${head('GET', '/nothing')}${check()}`);
    const responses = await connection.readResponses(5);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 404, 200, 404, 200],
    );
    connection.destroy();
  });

  it('works with Expect: 100-continue, and refuses any other expectation', async () => {
    const connection = await RawConnection.open(service.baseUrl);
    connection.send(head('POST', '/v1/check', `Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n`));
    await connection.readUntil('HTTP/1.1 100 Continue\r\n\r\n');
    connection.send(BODY);
    assert.equal((await connection.readResponses(2))[1]?.status, 200);
    connection.send(check('Expect: wonders\r\n'));
    assertRaw((await connection.readResponses(3))[2], 400, 'invalid-request');
    connection.destroy();
  });

  it('refuses a long body before it is sent', async () => {
    const response = await rawExchange(
      service.baseUrl,
      head('POST', '/v1/check', 'Expect: 100-continue\r\nContent-Length: 1000000\r\n'),
    );
    assertRaw(response, 413, 'payload-too-large');
  });

  it('goes on after clients that left', async () => {
    for (const bytes of ['PO', head('POST', '/v1/check', 'Content-Length: 9\r\n'), check(), check().repeat(20)]) {
      const connection = await RawConnection.open(service.baseUrl);
      connection.send(bytes);
      connection.destroy();
    }
    const answer = await service.send({ method: 'GET', path: '/v1/namespaces', key: service.key });
    assert.equal(answer.status, 200);
  });
});
