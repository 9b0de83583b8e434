// Connections and bytes that are no well-formed, whole request: each gets a problem document if its client can still
// read it, in the order of the requests, and no connection stays open forever.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRawProblem, parseResponses, RawConnection, rawExchange } from '../../../kit/http-raw.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

const BODY = '{"subject":"user:a","relation":"viewer","object":"doc:1"}';

describe('the transport', () => {
  let http: HttpInProcess;
  let head: (method: string, path: string, extra?: string) => string;
  let impatientHead: typeof head;
  /**
   * Cuts late requests soon. All other tests use the server above, which waits for busy machines.
   */
  let impatient: HttpInProcess;
  before(async () => {
    http = await startHttp({ discardTimeoutMs: 200 });
    impatient = await startHttp({ headersTimeoutMs: 300, requestTimeoutMs: 600, timeoutCheckIntervalMs: 50 });
    const { key } = await http.front.createTenant('unlimited');
    const { key: impatientKey } = await impatient.front.createTenant('unlimited');
    const headFor =
      (bearer: string): typeof head =>
      (method, path, extra = '') =>
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\nContent-Type: application/json\r\n${extra}\r\n`;
    head = headFor(key);
    impatientHead = headFor(impatientKey);
  });
  after(() => Promise.all([http.close(), impatient.close()]));

  const check = (extra = ''): string =>
    `${head('POST', '/v1/check', `Content-Length: ${BODY.length}\r\n${extra}`)}${BODY}`;

  const malformed: [string, string | Buffer, number, string][] = [
    ['bytes that are not HTTP', 'hello\r\n\r\n', 400, 'invalid-request'],
    ['a TLS greeting', Buffer.from('16030100a5010000a10303', 'hex'), 400, 'invalid-request'],
    ['an unknown method', 'BREW /v1/check HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid-request'],
    ['an unknown version', 'GET /v1/namespaces HTTP/9.9\r\nHost: x\r\n\r\n', 400, 'invalid-request'],
    [
      'two lengths',
      'POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'invalid-request',
    ],
    [
      'a length and chunks',
      'POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'invalid-request',
    ],
    [
      'a length that is no number',
      'POST /v1/check HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      400,
      'invalid-request',
    ],
    ['a space before a colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n', 400, 'invalid-request'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: \u0000\r\n\r\n', 400, 'invalid-request'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400, 'invalid-request'],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid-request'],
    [
      'a header above 16 KiB',
      `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(17 * 1024)}\r\n\r\n`,
      431,
      'header-fields-too-large',
    ],
    [
      'a target above 16 KiB',
      `GET /${'x'.repeat(17 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'header-fields-too-large',
    ],
  ];
  for (const [what, bytes, status, type] of malformed) {
    it(`answers ${status} ${type} to ${what} and closes`, async () => {
      const response = await rawExchange(http.url, bytes);
      assertRawProblem(response, status, type, `${http.url}/errors`);
      assert.equal(response.headers.connection, 'close');
    });
  }

  it('answers 400 to HTTP/1.1 without Host', async () => {
    const connection = await RawConnection.open(http.url);
    connection.send('GET / HTTP/1.1\r\n\r\n');
    const [response] = await connection.readResponses(1);
    assert.ok(response !== undefined);
    assertRawProblem(response, 400, 'invalid-request', `${http.url}/errors`);
    connection.destroy();
  });

  for (const [what, extra] of [
    ['a second Host', 'Host: y\r\n'],
    ['a second Host of the same value', 'hOST: x\r\n'],
    ['a second Authorization', 'Authorization: Bearer other\r\n'],
    ['a second Content-Type', 'Content-Type: text/plain\r\n'],
  ] as const) {
    it(`answers 400 to ${what}, whose first would be valid, and closes`, async () => {
      const response = await rawExchange(http.url, check(extra));
      assertRawProblem(response, 400, 'invalid-request', `${http.url}/errors`);
      assert.match(response.body, /"The header \\"[a-z-]+\\" is repeated\."/);
      assert.equal(response.headers.connection, 'close');
    });
  }

  it('answers 400 to every transfer coding but chunks, and serves nothing that follows', async () => {
    for (const coding of ['identity, chunked', 'gzip, chunked', 'identity\r\nTransfer-Encoding: chunked']) {
      const chunks = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
      const connection = await RawConnection.open(http.url);
      connection.send(`${head('POST', '/v1/check', `Transfer-Encoding: ${coding}\r\n`)}${chunks}${check()}`);
      const [response, ...others] = parseResponses(await connection.readToEnd());
      assert.ok(response !== undefined);
      assertRawProblem(response, 400, 'invalid-request', `${http.url}/errors`);
      assert.deepEqual(others, [], coding);
    }
  });

  it('serves HTTP/1.0 without Host', async () => {
    const response = await rawExchange(http.url, 'GET /nothing HTTP/1.0\r\n\r\n');
    assertRawProblem(response, 404, 'not-found', `${http.url}/errors`);
  });

  it('answers 408 to a connection that sends nothing', async () => {
    const connection = await RawConnection.open(impatient.url);
    const [response] = parseResponses(await connection.readToEnd());
    assert.ok(response !== undefined);
    assertRawProblem(response, 408, 'request-timeout', `${impatient.url}/errors`);
  });

  it('answers 408 to half a header', async () => {
    const response = await rawExchange(impatient.url, 'POST /v1/check HTTP/1.1\r\nHost: x\r\nAuthoriz');
    assertRawProblem(response, 408, 'request-timeout', `${impatient.url}/errors`);
    assert.equal(response.headers.connection, 'close');
  });

  it('ends a connection with half a header, also one that trickles in and one after a response', async () => {
    await Promise.all(
      ['', 'GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n'].map(async (first) => {
        const connection = await RawConnection.open(impatient.url);
        connection.send(first);
        await connection.readResponses(first === '' ? 0 : 1);
        connection.send('POST /v1/check HTTP/1.1\r\nHost: x\r\nX-Long: ');
        const trickle = setInterval(() => connection.send('x'), 20);
        const [response] = parseResponses(await connection.readToEnd());
        clearInterval(trickle);
        assert.equal(response?.status, first === '' ? 408 : 404);
      }),
    );
  });

  it('answers 408 to half a body, once', async () => {
    const connection = await RawConnection.open(impatient.url);
    connection.send(`${impatientHead('POST', '/v1/check', 'Content-Length: 100\r\n')}{"subject"`);
    const responses = parseResponses(await connection.readToEnd());
    assert.equal(responses.length, 1);
    assert.ok(responses[0] !== undefined);
    assertRawProblem(responses[0], 408, 'request-timeout', `${impatient.url}/errors`);
    assert.equal(responses[0].headers.connection, 'close');
  });

  it('answers 408 to a body that trickles in', async () => {
    const connection = await RawConnection.open(impatient.url);
    connection.send(impatientHead('POST', '/v1/check', 'Content-Length: 1000\r\n'));
    const trickle = setInterval(() => connection.send(' '), 20);
    const [response] = parseResponses(await connection.readToEnd());
    clearInterval(trickle);
    assert.ok(response !== undefined);
    assertRawProblem(response, 408, 'request-timeout', `${impatient.url}/errors`);
  });

  it('answers 400 to a body that ends too early', async () => {
    const connection = await RawConnection.open(http.url);
    connection.send(`${head('POST', '/v1/check', 'Content-Length: 100\r\n')}{"subject"`);
    connection.endSending();
    const [response] = parseResponses(await connection.readToEnd());
    assert.ok(response !== undefined);
    assertRawProblem(response, 400, 'invalid-request', `${http.url}/errors`);
  });

  it('answers 400 to a malformed chunk', async () => {
    const response = await rawExchange(
      http.url,
      `${head('POST', '/v1/check', 'Transfer-Encoding: chunked\r\n')}5\r\nhello\r\nzz\r\n`,
    );
    assertRawProblem(response, 400, 'invalid-request', `${http.url}/errors`);
  });

  it('takes a chunked body', async () => {
    const connection = await RawConnection.open(http.url);
    connection.send(
      `${head('POST', '/v1/check', 'Transfer-Encoding: chunked\r\n')}${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
    );
    const [response] = await connection.readResponses(1);
    assert.equal(response?.status, 200);
    connection.destroy();
  });

  it('stops reading a chunked body at its limit, and the client gets to read why', async () => {
    const connection = await RawConnection.open(http.url);
    connection.send(head('POST', '/v1/check', 'Transfer-Encoding: chunked\r\n'));
    const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
    for (let sent = 0; sent < 20; sent += 1) connection.send(chunk);
    const [response] = parseResponses(await connection.readToEnd());
    assert.ok(response !== undefined);
    assertRawProblem(response, 413, 'payload-too-large', `${http.url}/errors`);
    assert.equal(response.headers.connection, 'close');
  });

  it('answers pipelined requests in their order', async () => {
    const connection = await RawConnection.open(http.url);
    connection.send(`${check()}${head('GET', '/v1/nothing')}${check()}${head('GET', '/nothing')}`);
    const responses = await connection.readResponses(4);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 404, 200, 404],
    );
    assert.equal(new Set(responses.map(({ headers }) => headers['x-service-request-id'])).size, 4);
    connection.destroy();
  });

  it('keeps a young connection, and ends an old one with the answer to the last request on it', async () => {
    const young = await RawConnection.open(http.url);
    young.send(check());
    const [kept] = await young.readResponses(1);
    assert.equal(kept?.headers.connection, 'keep-alive');
    young.destroy();

    const aging = await startHttp({ connectionAgeMaxMs: 0 });
    try {
      const { key } = await aging.front.createTenant('unlimited');
      const request = `GET /v1/namespaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
      const old = await RawConnection.open(aging.url);
      old.send(request.repeat(3));
      const responses = parseResponses(await old.readToEnd());
      assert.deepEqual(
        responses.map(({ headers }) => headers.connection),
        ['keep-alive', 'keep-alive', 'close'],
      );
    } finally {
      await aging.close();
    }
  });

  it('lets an answer in flight go first when garbage follows the request', async () => {
    let open = (): void => {};
    http.front.gate = new Promise((resolve) => {
      open = resolve;
    });
    const connection = await RawConnection.open(http.url);
    connection.send(`${check()}garbage\r\n\r\n`);
    // What was sent later, on other connections, is answered: both parts of this one have been read.
    for (let count = 0; count < 20; count += 1) await rawExchange(http.url, 'GET /nothing HTTP/1.0\r\n\r\n');
    assert.equal(connection.received, '');
    open();
    const responses = parseResponses(await connection.readToEnd());
    http.front.gate = Promise.resolve();
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 400],
    );
  });

  it('asks for the body of a request that expects 100-continue only when it wants it', async () => {
    const wanted = await RawConnection.open(http.url);
    wanted.send(head('POST', '/v1/check', `Expect: 100-continue\r\nContent-Length: ${BODY.length}\r\n`));
    await wanted.readUntil('HTTP/1.1 100 Continue\r\n\r\n');
    wanted.send(BODY);
    const responses = await wanted.readResponses(2);
    assert.deepEqual(
      responses.map(({ status }) => status),
      [100, 200],
    );
    wanted.destroy();

    const unwanted = await rawExchange(
      http.url,
      head('POST', '/v1/check', 'Expect: 100-continue\r\nContent-Length: 100000\r\n'),
    );
    assertRawProblem(unwanted, 413, 'payload-too-large', `${http.url}/errors`);

    const unauthorized = await rawExchange(
      http.url,
      'POST /v1/check HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n',
    );
    assertRawProblem(unauthorized, 401, 'unauthorized', `${http.url}/errors`);
  });

  it('answers 400 to any other expectation', async () => {
    const connection = await RawConnection.open(http.url);
    connection.send(check('Expect: a-miracle\r\n'));
    const [response] = await connection.readResponses(1);
    assert.ok(response !== undefined);
    assertRawProblem(response, 400, 'invalid-request', `${http.url}/errors`);
    connection.destroy();
  });

  it('ignores an upgrade, as RFC 9110 section 7.8 allows', async () => {
    const connection = await RawConnection.open(http.url);
    connection.send(check('Connection: Upgrade\r\nUpgrade: websocket\r\n'));
    const [response] = await connection.readResponses(1);
    assert.equal(response?.status, 200);
    connection.destroy();
  });

  it('goes on after a client that left in the middle of everything', async () => {
    for (const bytes of ['POST /v1', head('POST', '/v1/check', 'Content-Length: 100\r\n'), check()]) {
      const connection = await RawConnection.open(http.url);
      connection.send(bytes);
      connection.destroy();
    }
    const connection = await RawConnection.open(http.url);
    connection.send(check());
    const [response] = await connection.readResponses(1);
    assert.equal(response?.status, 200);
    connection.destroy();
  });
});
