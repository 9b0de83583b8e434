// The reader of plain requests against Node's own parser: whatever bytes it takes, Node reads as the same one request,
// of the same length. And each reason for which it leaves bytes to Node.

import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { duplexPair } from 'node:stream';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readPlainRequest } from '../../../../../src/http/wire/fast-path/parser.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

interface SeenRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly httpVersion: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface SeenByNode {
  readonly requests: readonly SeenRequest[];
  /** Events other than whole requests. */
  readonly others: readonly string[];
}

/** Far more turns of the event loop than a request in memory takes. */
const TURNS_MAX = 200;
const HEADER_BYTES_MAX = 16 * 1024;

/**
 * What a server of Node makes of a connection on which `bytes` arrive, until it has seen `count` requests or anything
 * else.
 */
async function readByNode(bytes: Buffer, count: number): Promise<SeenByNode> {
  const requests: SeenRequest[] = [];
  const others: string[] = [];
  const server = createServer({ requireHostHeader: false, maxHeaderSize: HEADER_BYTES_MAX });
  server.on('request', (request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, httpVersion, headers } = request;
      requests.push({ method, url, httpVersion, headers, body: Buffer.concat(chunks) });
      response.end();
    });
  });
  for (const event of ['checkContinue', 'checkExpectation', 'clientError', 'connect', 'upgrade', 'dropRequest']) {
    server.on(event, () => others.push(event));
  }
  const [client, connection] = duplexPair();
  client.resume();
  server.emit('connection', connection);
  client.write(bytes);
  for (let turn = 0; turn < TURNS_MAX && requests.length < count && others.length === 0; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  connection.destroy();
  return { requests, others };
}

const SENTINEL = 'GET /sentinel HTTP/1.1\r\nHost: sentinel\r\nX-Sentinel: 1\r\n\r\n';

/**
 * Node reads what the reader has taken as the same request, and what follows it as the next one. False: it was not
 * taken.
 */
async function holdsForNode(bytes: Buffer): Promise<boolean> {
  const plain = readPlainRequest(bytes);
  if (plain === undefined) return false;
  const { requests, others } = await readByNode(Buffer.concat([bytes, bytesOf(SENTINEL)]), 2);
  assert.deepEqual(others, []);
  const [first, second] = requests;
  assert.ok(first !== undefined && second !== undefined, `Node saw ${requests.length} requests`);
  assert.equal(first.method, plain.method);
  assert.equal(first.url, plain.url);
  assert.equal(first.httpVersion, '1.1');
  for (const [name, value] of Object.entries(plain.headers)) assert.equal(first.headers[name], value, name);
  assert.deepEqual(first.body, bytes.subarray(plain.bodyStart));
  assert.equal(second.url, '/sentinel');
  assert.equal(second.headers['x-sentinel'], '1');
  return true;
}

/** Mostly the usual form. */
const usually = (usual: string, ...odd: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 40, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) });
const charactersOf = (from: number, to: number): fc.Arbitrary<string> =>
  fc.integer({ min: from, max: to }).map((code) => String.fromCharCode(code));
const textOf = (unit: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc.array(unit, { maxLength }).map((units) => units.join(''));

const visible = charactersOf(0x21, 0x7e);
const lineEnd = usually('\r\n', '\n', '\r', '\r\r\n', '\r\n ', ' \r\n', '\0\r\n');
const blanks = fc.oneof(
  { weight: 5, arbitrary: fc.constant(' ') },
  { weight: 2, arbitrary: textOf(fc.constantFrom(' ', '\t'), 3) },
);
const mixedCase = (name: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant(name),
    fc
      .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
      .map((upper) => Array.from(name, (letter, at) => (upper[at] ? letter.toUpperCase() : letter)).join('')),
  );

const plainTarget = fc.oneof(
  fc.constantFrom(
    '/v1/check',
    '/v1/namespaces',
    '/',
    '//x',
    '/a?b',
    '/?',
    '/v1/objects?subject=user%3Aa&limit=2&cursor=',
  ),
  textOf(visible, 12).map((text) => `/${text.replaceAll('#', '')}`),
);
const target = fc.oneof(
  { weight: 30, arbitrary: plainTarget },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '*',
      'v1',
      '/a b',
      '/a#b',
      '/?a#b',
      '/\u00e9',
      '/a\tb',
      '/\0',
      'x:443',
      'http://x/v1',
    ),
  },
);

const plainValue = fc.oneof(
  fc.constantFrom(
    'Bearer grantd_abc',
    'application/json',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '',
  ),
  textOf(fc.oneof({ weight: 9, arbitrary: visible }, { weight: 2, arbitrary: fc.constantFrom(' ', '\t') }), 16),
);
const value = fc.oneof(
  { weight: 30, arbitrary: plainValue },
  { weight: 1, arbitrary: fc.constantFrom('a\r\n b', 'a\r\n\tb', '\u00e9', 'a\0b', 'a\x7fb', 'a\rb', 'a\nb', '\xff') },
);
const NAMES_OF_INTEREST = [
  'authorization',
  'content-type',
  'content-encoding',
  'x-forwarded-for',
  'traceparent',
  'tracestate',
  'x-request-id',
  'idempotency-key',
] as const;
/** Of the length of one of interest, and of characters that differ from it in the bit of the case. */
const NEAR_NAMES = ['x\rforwarded-for', 'HOS\x14', '@ontent-type', 'x_forwarded_for', 'content^type'];
const indifferentName = fc.oneof(
  fc.constantFrom('accept', 'user-agent', 'cookie', 'te', 'keep-alive', 'x-a', 'range', 'if-range', "!#$%&'*+.^_`|~1"),
  textOf(fc.constantFrom(..."abcXYZ0-_~|'"), 12).map((name) => `x${name}`),
);
const oddHeader = fc.oneof(
  fc
    .constantFrom('keep-alive', 'Keep-Alive', 'close', 'upgrade', 'keep-alive, close', 'te', '')
    .map((text) => ['connection', text]),
  fc.constantFrom('chunked', 'identity', 'gzip, chunked', '').map((text) => ['transfer-encoding', text]),
  fc.constantFrom('100-continue', 'a-miracle').map((text) => ['expect', text]),
  fc.constantFrom('if-match', 'If-None-Match').map((name) => [name, '"x"']),
  fc.constantFrom('keep-alive', 'close').map((text) => ['proxy-connection', text]),
  fc.constantFrom('websocket', 'h2c').map((text) => ['upgrade', text]),
  fc.constantFrom('0', '1', '57').map((text) => ['content-length', text]),
  fc.constantFrom('x').map((text) => ['trailer', text]),
  fc.constantFrom('', 'a b', '\u00e9', 'a(b', ' a', 'a"', ...NEAR_NAMES).map((name) => [name, 'x']),
  fc.constantFrom('host', 'authorization', 'x-forwarded-for').map((name) => [name, 'twice']),
) as fc.Arbitrary<[string, string]>;
const header = fc
  .tuple(
    fc.oneof(
      { weight: 12, arbitrary: fc.tuple(fc.constantFrom(...NAMES_OF_INTEREST), value) },
      { weight: 8, arbitrary: fc.tuple(indifferentName, value) },
      { weight: 1, arbitrary: oddHeader },
    ),
    usually(':', ' :', '', '::'),
    blanks,
    blanks,
    lineEnd,
  )
  .chain(([[name, text], colon, before, behind, end]) =>
    mixedCase(name).map((written) => `${written}${colon}${before}${text}${behind}${end}`),
  );

const body = fc.oneof(
  fc.constantFrom(
    '',
    '{}',
    '{"subject":"user:a","relation":"viewer","object":"doc:1"}',
    SENTINEL,
    '\r\n\r\n',
    '0\r\n\r\n',
  ),
  textOf(charactersOf(0, 0xff), 24),
);
/** How a length is written, where one is. */
const writtenLength = fc.oneof(
  { weight: 30, arbitrary: fc.constant((length: number): string => String(length)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<((length: number) => string)[]>(
      (length) => String(length).padStart(8, '0'),
      (length) => String(length).padStart(9, '0'),
      (length) => String(length + 1),
      (length) => String(Math.max(0, length - 1)),
      (length) => `+${length}`,
      (length) => `-${length}`,
      (length) => `${length}.0`,
      (length) => `0x${length.toString(16)}`,
      (length) => `${length}, ${length}`,
      (length) => `${length} 0`,
      () => '',
      () => '99999999999999999999',
    ),
  },
);
const method = fc.oneof(
  { weight: 40, arbitrary: fc.constantFrom('POST', 'GET', 'DELETE') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('HEAD', 'PUT', 'PATCH', 'OPTIONS', 'post', 'Get', 'CONNECT', 'QUERY', 'BREW', ''),
  },
);

/** Bytes that are mostly one well-formed request. */
const request = fc
  .record({
    method,
    gap: usually(' ', '  ', '\t', ''),
    target,
    version: usually(' HTTP/1.1', ' HTTP/1.0', ' HTTP/2.0', ' http/1.1', ' HTTP/1.1 ', '  HTTP/1.1', ''),
    lineEnd,
    host: usually('Host: x\r\n', '', 'host:\r\n', 'HOST: \t y \r\n', 'Host: x\r\nHost: y\r\n'),
    headers: fc.uniqueArray(header, {
      maxLength: 5,
      selector: (line) => line.slice(0, line.indexOf(':')).toLowerCase(),
    }),
    lengthAt: fc.nat({ max: 5 }),
    hasLength: fc.integer({ min: 0, max: 20 }),
    writtenLength,
    end: usually('\r\n', '\n', '', '\r', ' \r\n', '\r\n\r\n'),
    body,
    tail: usually('', 'x', '\r\n', SENTINEL),
    cut: fc.oneof({ weight: 20, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 30 }) }),
  })
  .map((parts) => {
    // Of a GET, the usual form has neither length nor body.
    const withLength = parts.hasLength > 0 === (parts.method !== 'GET');
    const content = parts.method === 'GET' && !withLength ? '' : parts.body;
    const lines = [...parts.headers];
    if (withLength) lines.splice(parts.lengthAt, 0, `Content-Length: ${parts.writtenLength(content.length)}\r\n`);
    const head = `${parts.method}${parts.gap}${parts.target}${parts.version}${parts.lineEnd}${parts.host}${lines.join('')}`;
    const text = `${head}${parts.end}${content}${parts.tail}`;
    return bytesOf(text.slice(0, text.length - parts.cut));
  });

/** Of one byte. */
const mutation = fc.record({
  kind: fc.constantFrom('replace', 'insert', 'delete'),
  at: fc.nat(),
  byte: fc.oneof(
    fc.constantFrom(...Array.from('\r\n\0 \t:#,;0159+-/HTcl\x7f\x80\xff', (character) => character.charCodeAt(0))),
    fc.nat({ max: 255 }),
  ),
});

/** All that is of the common form in the strictest sense. */
const plainRequest = fc
  .record({
    method: fc.constantFrom('POST', 'GET', 'DELETE'),
    target: plainTarget,
    headers: fc.uniqueArray(
      fc.tuple(fc.oneof(fc.constantFrom(...NAMES_OF_INTEREST), indifferentName), plainValue, blanks, blanks),
      { maxLength: 6, selector: ([name]) => name },
    ),
    connection: fc.constantFrom('', 'Connection: keep-alive\r\n', 'connection:Keep-Alive \r\n'),
    hostLast: fc.boolean(),
    body,
  })
  .chain((parts) =>
    fc.tuple(...parts.headers.map(([name]) => mixedCase(name))).map((names) => {
      const lines = parts.headers.map(([, text, before, behind], at) => `${names[at]}:${before}${text}${behind}\r\n`);
      if (parts.hostLast) lines.push('host: x\r\n');
      else lines.unshift('Host: x\r\n');
      const content = parts.method === 'GET' ? '' : parts.body;
      if (parts.method !== 'GET') lines.push(`content-length: ${content.length}\r\n`);
      return bytesOf(`${parts.method} ${parts.target} HTTP/1.1\r\n${parts.connection}${lines.join('')}\r\n${content}`);
    }),
  );

describe('a request that is taken as plain', () => {
  it('is the same request to Node, which reads on right behind it', async () => {
    await fc.assert(
      fc.asyncProperty(request, async (bytes) => void (await holdsForNode(bytes))),
      {
        numRuns: 3000,
        interruptAfterTimeLimit: 1500,
      },
    );
  });

  it('is that, too, where single bytes of it were changed', async () => {
    const damaged = fc.tuple(fc.oneof(request, plainRequest), fc.array(mutation, { minLength: 1, maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(damaged, async ([whole, mutations]) => {
        const codes = [...whole];
        for (const { kind, at, byte } of mutations) {
          const place = at % (codes.length + 1);
          if (kind === 'insert') codes.splice(place, 0, byte);
          else if (kind === 'delete') codes.splice(place, 1);
          else if (place < codes.length) codes[place] = byte;
        }
        await holdsForNode(Buffer.from(codes));
      }),
      { numRuns: 3000, interruptAfterTimeLimit: 2000 },
    );
  });

  it('is every one of the common form', async () => {
    await fc.assert(
      fc.asyncProperty(plainRequest, async (bytes) => assert.ok(await holdsForNode(bytes), bytes.toString('latin1'))),
      { numRuns: 1000, interruptAfterTimeLimit: 1000 },
    );
  });

  it('is more than a quarter of what these tests try', () => {
    const samples = fc.sample(request, { numRuns: 1000, seed: 1 });
    const taken = samples.filter((bytes) => readPlainRequest(bytes) !== undefined).length;
    assert.ok(taken > 250, `${taken} of 1000 were taken`);
  });

  it('says what counts of it', () => {
    const text = [
      'POST /v1/check?a=%20b HTTP/1.1',
      'hOST:x',
      'AUTHORIZATION: \t Bearer a b\t ',
      'Content-Type:application/json',
      'Content-Length: 003',
      'X-Forwarded-For: 10.0.0.1, 10.0.0.2',
      'X-Request-ID: an id of the client',
      'Accept: */*',
      'Connection: Keep-Alive',
      '',
      '{ }',
    ].join('\r\n');
    assert.deepEqual(readPlainRequest(bytesOf(text)), {
      method: 'POST',
      url: '/v1/check?a=%20b',
      headers: {
        authorization: 'Bearer a b',
        'content-type': 'application/json',
        'content-encoding': undefined,
        accept: '*/*',
        'last-event-id': undefined,
        'x-forwarded-for': '10.0.0.1, 10.0.0.2',
        traceparent: undefined,
        tracestate: undefined,
        'x-request-id': 'an id of the client',
        'idempotency-key': undefined,
      },
      bodyStart: text.length - 3,
    });
  });
});

/** A request in parts, of which an example changes some. */
interface Parts {
  readonly line?: string;
  readonly host?: string;
  /** Whole lines. */
  readonly extra?: string;
  readonly length?: string | undefined;
  readonly end?: string;
  readonly body?: string;
}

function write({ line, host, extra, length = '2', end, body: content }: Parts): Buffer {
  const head = `${line ?? 'POST /v1/check HTTP/1.1\r\n'}${host ?? 'Host: x\r\n'}${extra ?? ''}`;
  return bytesOf(`${head}${length === '' ? '' : `Content-Length: ${length}\r\n`}${end ?? '\r\n'}${content ?? '{}'}`);
}

const GET: Parts = { line: 'GET /v1/namespaces HTTP/1.1\r\n', length: '', body: '' };
const NOT_PLAIN: readonly (readonly [string, Parts])[] = [
  ['another method', { line: 'PUT /v1/check HTTP/1.1\r\n' }],
  ['HEAD', { line: 'HEAD /v1/check HTTP/1.1\r\n' }],
  ['a method in small letters', { line: 'post /v1/check HTTP/1.1\r\n' }],
  ['a method that only begins like one', { line: 'POSTS /v1/check HTTP/1.1\r\n' }],
  ['an empty line before it', { line: '\r\nPOST /v1/check HTTP/1.1\r\n' }],
  ['a tab before the target', { line: 'POST\t/v1/check HTTP/1.1\r\n' }],
  ['two spaces before the target', { line: 'POST  /v1/check HTTP/1.1\r\n' }],
  ['two spaces behind the target', { line: 'POST /v1/check  HTTP/1.1\r\n' }],
  ['a target with its authority', { line: 'POST http://x/v1/check HTTP/1.1\r\n' }],
  ['a target that is no path', { line: 'POST * HTTP/1.1\r\n' }],
  ['a fragment', { line: 'POST /v1/check#a HTTP/1.1\r\n' }],
  ['a target beyond ASCII', { line: 'POST /v1/ch\u00e9ck HTTP/1.1\r\n' }],
  ['a control character in the target', { line: 'POST /v1/\x7fcheck HTTP/1.1\r\n' }],
  ['HTTP/1.0', { line: 'POST /v1/check HTTP/1.0\r\n' }],
  ['no version', { line: 'POST /v1/check\r\n' }],
  ['a request line that ends with LF', { line: 'POST /v1/check HTTP/1.1\n' }],
  ['no Host', { host: '' }],
  ['two Hosts', { host: 'Host: x\r\nHost: x\r\n' }],
  ['a header that counts, twice', { extra: 'Authorization: a\r\nauthorization: a\r\n' }],
  ['a header without a name', { extra: ': a\r\n' }],
  ['a header without a colon', { extra: 'X-A\r\n' }],
  ['a space before the colon', { extra: 'X-A : a\r\n' }],
  ['a name with what no name has', { extra: 'X(A: a\r\n' }],
  ['a name beyond ASCII', { extra: 'X-\u00e9: a\r\n' }],
  ['a folded line', { extra: 'X-A: a\r\n b\r\n' }],
  ['a value beyond ASCII', { extra: 'X-A: \u00e9\r\n' }],
  ['NUL in a value', { extra: 'X-A: a\0b\r\n' }],
  ['DEL in a value', { extra: 'X-A: a\x7fb\r\n' }],
  ['CR in a value', { extra: 'X-A: a\rbc: d\r\n' }],
  ['a value that ends with LF', { extra: 'X-A: a\n' }],
  ['an empty line of CR and something else', { end: '\rx' }],
  ['an empty line of LF', { end: '\n' }],
  ['Connection: close', { extra: 'Connection: close\r\n' }],
  ['Connection with a list', { extra: 'Connection: keep-alive, te\r\n' }],
  ['Connection: Upgrade', { extra: 'Connection: Upgrade\r\n' }],
  ['Transfer-Encoding', { extra: 'Transfer-Encoding: chunked\r\n', length: '', body: '2\r\n{}\r\n0\r\n\r\n' }],
  ['Transfer-Encoding beside a length', { extra: 'tRANSFER-eNCODING: identity\r\n' }],
  ['Expect', { extra: 'Expect: 100-continue\r\n' }],
  ['Upgrade', { extra: 'Upgrade: h2c\r\n' }],
  ['Trailer', { extra: 'Trailer: x\r\n' }],
  ['Proxy-Connection', { extra: 'Proxy-Connection: close\r\n' }],
  ['a POST without a length', { length: '' }],
  ['a DELETE without a length', { line: 'DELETE /v1/grants HTTP/1.1\r\n', length: '', body: '' }],
  ['a GET with a length', { ...GET, length: '0' }],
  ['a GET with a body', { ...GET, body: '{}' }],
  ['two lengths', { extra: 'Content-Length: 2\r\n' }],
  ['an empty length', { extra: 'Content-Length:\r\n', length: '', body: '' }],
  ['a signed length', { length: '+2' }],
  ['a length with a space in it', { length: '2 2' }],
  ['a hexadecimal length', { length: '0x2' }],
  ['a length with a fraction', { length: '2.0' }],
  ['a body that is too short', { length: '3' }],
  ['a body that is too long', { length: '1' }],
];

describe('bytes that are left to Node', () => {
  it('differ from these, which are not', () => {
    for (const parts of [{}, GET, { line: 'DELETE /v1/grants HTTP/1.1\r\n' }]) {
      assert.ok(readPlainRequest(write(parts)) !== undefined);
    }
  });

  for (const [what, parts] of NOT_PLAIN) {
    it(`are those with: ${what}`, () => {
      assert.equal(readPlainRequest(write(parts)), undefined);
    });
  }

  it('are those that end anywhere before the end of the request, or go on behind it', () => {
    for (const whole of [write({}), write(GET)]) {
      for (let end = 0; end < whole.length; end += 1) assert.equal(readPlainRequest(whole.subarray(0, end)), undefined);
      for (const more of ['\r\n', '\0', whole.toString('latin1')]) {
        assert.equal(readPlainRequest(Buffer.concat([whole, bytesOf(more)])), undefined);
      }
    }
  });
});

describe('the bounds of a plain request', () => {
  const withHead = (headBytes: number): Buffer => {
    const rest = write({ extra: 'X-Long: \r\n', body: '' }).length;
    return write({ extra: `X-Long: ${'x'.repeat(headBytes - rest)}\r\n` });
  };
  const withHeaders = (count: number): Buffer => write({ extra: 'X-A: a\r\n'.repeat(count - 2) });

  it('are a head of 8 KiB', async () => {
    assert.equal(readPlainRequest(withHead(8192))?.bodyStart, 8192);
    assert.ok(await holdsForNode(withHead(8192)));
    assert.equal(readPlainRequest(withHead(8193)), undefined);
  });

  it('are a head of 8 KiB, too, where the target is what is long', async () => {
    const rest = write({ line: 'POST / HTTP/1.1\r\n', body: '' }).length;
    const withTarget = (headBytes: number): Buffer =>
      write({ line: `POST /${'x'.repeat(headBytes - rest)} HTTP/1.1\r\n` });
    assert.equal(readPlainRequest(withTarget(8192))?.bodyStart, 8192);
    assert.ok(await holdsForNode(withTarget(8192)));
    assert.equal(readPlainRequest(withTarget(8193)), undefined);
    assert.equal(readPlainRequest(withTarget(9000)), undefined);
  });

  it('are 100 headers', async () => {
    assert.ok(await holdsForNode(withHeaders(100)));
    assert.equal(readPlainRequest(withHeaders(101)), undefined);
  });

  it('are 8 digits of a length', async () => {
    assert.ok(await holdsForNode(write({ length: '00000002' })));
    assert.equal(readPlainRequest(write({ length: '000000002' })), undefined);
  });

  it('leave a body of a megabyte whole', async () => {
    assert.ok(await holdsForNode(write({ length: '1048576', body: 'x'.repeat(1024 * 1024) })));
  });
});
