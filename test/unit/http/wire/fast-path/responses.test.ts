// The answers of the public interface that the fast path gives: status, headers and their order are those of the
// answers that go through Node's server. Which of the two reads a request is looked at, not taken for granted.

import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { assertRawProblem, parseResponses, RawConnection, type RawResponse } from '../../../../kit/http-raw.ts';
import { type HttpInProcess, startHttp } from '../../http-in-process.ts';

/** So long that a test which has to wait for it fails. */
const NEVER_MS = 60_000;

/** In the way that the fast path takes, or in one that only Node takes: in chunks, or with a header that is ignored. */
type NodeWay = 'chunked' | 'odd';
type Way = 'plain' | NodeWay;

type Reader = 'fast path' | 'node';
const readerOf = (way: Way): Reader => (way === 'plain' ? 'fast path' : 'node');

/** The channel on which Node publishes each request that one of its servers has read. */
const NODE_READS = 'http.server.request.start';
let nodeReads = 0;
const countNodeRead = (): void => {
  nodeReads += 1;
};

/** Fails where the one request that is sent meanwhile is read by the other of the two. */
async function readBy<Result>(reader: Reader, send: () => Promise<Result>): Promise<Result> {
  const readsBefore = nodeReads;
  const result = await send();
  assert.equal(nodeReads - readsBefore, reader === 'node' ? 1 : 0, `what Node read of a request for the ${reader}`);
  return result;
}

describe('the public interface with the fast path before Node', () => {
  let http: HttpInProcess;
  let keys: { readonly unlimited: string; readonly tiny: string };
  before(async () => {
    subscribe(NODE_READS, countNodeRead);
    http = await startHttp({ closeTimeoutMs: NEVER_MS });
    const [unlimited, tiny] = [await http.front.createTenant('unlimited'), await http.front.createTenant('tiny')];
    keys = { unlimited: unlimited.key, tiny: tiny.key };
  });
  after(async () => {
    unsubscribe(NODE_READS, countNodeRead);
    await http.close();
  });

  const tuple = (subject: string): string => JSON.stringify({ subject, relation: 'viewer', object: 'doc:1' });
  const ask = (way: Way, method: string, path: string, body = '', key = keys.unlimited): string => {
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    const odd = way === 'odd' ? 'Upgrade: x\r\n' : '';
    if (method === 'GET') return `${head}${odd}\r\n`;
    const typed = `${head}${odd}Content-Type: application/json\r\n`;
    const length = Buffer.byteLength(body);
    return way === 'chunked'
      ? `${typed}Transfer-Encoding: chunked\r\n\r\n${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
      : `${typed}Content-Length: ${length}\r\n\r\n${body}`;
  };

  /** The answer to the one request on a connection. */
  const exchange = (...asked: Parameters<typeof ask>): Promise<{ text: string; response: RawResponse }> =>
    readBy(readerOf(asked[0]), async () => {
      const connection = await RawConnection.open(http.url);
      connection.send(ask(...asked));
      const [response] = await connection.readResponses(1);
      connection.destroy();
      assert.ok(response !== undefined);
      return { text: connection.received, response };
    });

  /** Status line and names, and the values that are the same for every answer of a kind. */
  const shapeOf = (text: string): readonly string[] => {
    const [head = ''] = text.split('\r\n\r\n', 1);
    return head
      .split('\r\n')
      .map((line) => line.replace(/^((?:Date|RateLimit|X-Service-[A-Za-z-]+|Content-Length): ).*/, '$1'));
  };

  const ANSWERS: readonly (readonly [string, number, NodeWay, string, string, string])[] = [
    ['a check', 200, 'chunked', 'POST', '/v1/check', tuple('user:a')],
    ['a list', 200, 'odd', 'GET', '/v1/namespaces', ''],
    ['a body that is no JSON', 400, 'chunked', 'POST', '/v1/check', '{"subject'],
    ['a body that is not valid', 400, 'chunked', 'POST', '/v1/check', '{"subject":"?"}'],
    ['an empty body', 400, 'odd', 'POST', '/v1/check', ''],
    ['a query that is not valid', 400, 'odd', 'GET', '/v1/objects?limit=x', ''],
    ['a grant that there is not', 404, 'chunked', 'DELETE', '/v1/grants', tuple('user:unknown')],
    ['a method that the path does not take', 405, 'odd', 'GET', '/v1/check', ''],
  ];
  for (const [what, status, way, method, path, body] of ANSWERS) {
    it(`answers ${status} to ${what} with the headers of Node's server in their order`, async () => {
      const [fastPath, node] = [await exchange('plain', method, path, body), await exchange(way, method, path, body)];
      assert.equal(fastPath.response.status, status);
      assert.deepEqual(shapeOf(fastPath.text), shapeOf(node.text));
    });
  }

  it('answers a body with a member too many, misspelled or given twice as Node does, and never with a decision', async () => {
    const { subject, relation, object } = JSON.parse(tuple('user:a')) as Record<string, string>;
    const pairs = [
      ['subject', subject],
      ['relation', relation],
      ['object', object],
    ] as const;
    const textOf = (members: readonly (readonly [string, unknown])[]): string =>
      `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
    const asRead = ({ response: { status, body } }: { response: RawResponse }) => {
      const { instance: _, ...problem } = JSON.parse(body) as Record<string, unknown>;
      return { status, problem };
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('too many', 'misspelled', 'twice'),
        fc.nat(2),
        fc.string({ minLength: 1, maxLength: 3 }),
        fc.constantFrom<NodeWay>('chunked', 'odd'),
        async (kind, at, text, way) => {
          const [name, value] = pairs[at] ?? pairs[0];
          const members = pairs.map((pair) =>
            kind === 'misspelled' && pair[0] === name ? ([`${name}${text}`, value] as const) : pair,
          );
          const body = textOf([
            ...members,
            ...(kind === 'too many'
              ? [[`x${text}`, value] as const]
              : kind === 'twice'
                ? [[name, value] as const]
                : []),
          ]);
          const [plain, node] = [
            await exchange('plain', 'POST', '/v1/check', body),
            await exchange(way, 'POST', '/v1/check', body),
          ];
          assert.deepEqual(asRead(plain), asRead(node));
          assert.equal(plain.response.status, 400, body);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('answers 401 to an unknown key so, too', async () => {
    const [fastPath, node] = [
      await exchange('plain', 'POST', '/v1/check', tuple('user:a'), 'none'),
      await exchange('odd', 'POST', '/v1/check', tuple('user:a'), 'none'),
    ];
    assert.equal(fastPath.response.status, 401);
    assert.deepEqual(shapeOf(fastPath.text), shapeOf(node.text));
  });

  it('answers 201 and 204 so, too', async () => {
    const created = [];
    const removed = [];
    for (const way of ['plain', 'chunked'] as const) {
      created.push(await exchange(way, 'POST', '/v1/namespaces', JSON.stringify({ name: `way-${way}` })));
      await exchange('plain', 'POST', '/v1/grants', tuple('user:removed'));
      removed.push(await exchange(way, 'DELETE', '/v1/grants', tuple('user:removed')));
    }
    for (const [status, answers] of [
      [201, created],
      [204, removed],
    ] as const) {
      assert.deepEqual(
        answers.map(({ response }) => response.status),
        [status, status],
      );
      assert.deepEqual(shapeOf(answers[0]?.text ?? ''), shapeOf(answers[1]?.text ?? ''));
    }
  });

  it('answers so, too, with the state of a limit', async () => {
    const tiny = (way: Way) => exchange(way, 'POST', '/v1/check', tuple('user:a'), keys.tiny);
    for (const status of [200, 429]) {
      const [fastPath, node] = [await tiny('plain'), await tiny('odd')];
      assert.equal(fastPath.response.status, status);
      assert.ok(fastPath.text.includes('X-Service-RateLimit-Remaining: '));
      assert.deepEqual(shapeOf(fastPath.text), shapeOf(node.text));
    }
  });

  it('answers so, too, where the answer is the last, as every one is once it drains', async () => {
    const draining = await startHttp();
    try {
      const { key } = await draining.front.createTenant('unlimited');
      draining.drain();
      for (const [method, path, body] of [
        ['POST', '/v1/check', tuple('user:a')],
        ['POST', '/v1/check', '{}'],
        ['GET', '/v1/namespaces', ''],
      ] as const) {
        const texts = [];
        for (const way of ['plain', 'odd'] as const) {
          const text = readBy(readerOf(way), async () => {
            const connection = await RawConnection.open(draining.url);
            connection.send(ask(way, method, path, body, key));
            return connection.readToEnd();
          });
          texts.push(await text);
        }
        const [fastPath = '', node = ''] = texts;
        assert.equal(parseResponses(fastPath)[0]?.headers.connection, 'close');
        assert.deepEqual(shapeOf(fastPath), shapeOf(node));
      }
    } finally {
      await draining.close();
    }
  });

  it('says the date of the answer', async () => {
    const fromMs = Math.floor(Date.now() / 1000) * 1000;
    const { response } = await exchange('plain', 'GET', '/v1/namespaces');
    const dateMs = Date.parse(String(response.headers.date));
    assert.ok(dateMs >= fromMs && dateMs <= Date.now());
    assert.equal(new Date(dateMs).toUTCString(), response.headers.date);
  });

  it('sends text beyond ASCII whole, and the next answer right behind it', async () => {
    const subject = 'user:Zoë-日本-𝄞';
    const connection = await RawConnection.open(http.url);
    const exchangeNext = (bytes: string, count: number) =>
      readBy('fast path', async () => {
        connection.send(bytes);
        return (await connection.readResponses(count)).at(-1);
      });
    const first = await exchangeNext(ask('plain', 'POST', '/v1/grants', tuple(subject)), 1);
    const second = await exchangeNext(ask('plain', 'GET', '/v1/namespaces'), 2);
    connection.destroy();
    assert.equal(first?.status, 201);
    assert.equal(first?.headers['content-length'], String(Buffer.byteLength(first?.body)));
    assert.equal(JSON.parse(first?.body).subject, subject);
    assert.equal(second?.status, 200);
    assert.ok(Array.isArray(JSON.parse(String(second?.body)).namespaces));
  });

  it('serves what is plain, what is not, and what is nothing here, on one connection', async () => {
    const connection = await RawConnection.open(http.url);
    const asks: readonly (readonly [Reader, number, string])[] = [
      ['fast path', 200, ask('plain', 'POST', '/v1/check', tuple('user:a'))],
      ['fast path', 200, ask('plain', 'GET', '/v1/namespaces')],
      ['node', 404, ask('plain', 'GET', '/v1/nothing')],
      ['node', 200, ask('chunked', 'POST', '/v1/check', tuple('user:a'))],
      ['node', 200, ask('plain', 'POST', '/v1/check', tuple('user:a'))],
    ];
    for (const [count, [reader, status, bytes]] of asks.entries()) {
      await readBy(reader, async () => {
        connection.send(bytes);
        assert.equal((await connection.readResponses(count + 1)).at(-1)?.status, status);
      });
    }
    connection.send('garbage\r\n\r\n');
    const responses = parseResponses(await connection.readToEnd());
    assert.equal(responses.length, asks.length + 1);
    assertRawProblem(responses.at(-1), 400, 'invalid-request', `${http.url}/errors`);
  });

  it('ends what is idle at once when it closes, and what is in flight with its answer', async () => {
    const closing = await startHttp({ closeTimeoutMs: NEVER_MS });
    const { key } = await closing.front.createTenant('unlimited');
    const check = (way: Way): string => ask(way, 'POST', '/v1/check', tuple('user:a'), key);
    const [onFastPath, left, busy] = await Promise.all([1, 2, 3].map(() => RawConnection.open(closing.url)));
    assert.ok(onFastPath !== undefined && left !== undefined && busy !== undefined);
    const readsBefore = nodeReads;
    onFastPath.send(check('plain'));
    left.send(check('chunked'));
    busy.send(check('plain'));
    for (const connection of [onFastPath, left, busy]) {
      assert.equal((await connection.readResponses(1))[0]?.headers.connection, 'keep-alive');
    }
    const gate = Promise.withResolvers<void>();
    closing.front.gate = gate.promise;
    busy.send(check('plain'));
    const other = await RawConnection.open(closing.url);
    // Its answer says that the request before it, on the other connection, has come, too.
    other.send(ask('plain', 'GET', '/nothing'));
    assert.equal((await other.readResponses(1))[0]?.status, 404);
    const closed = closing.close();
    for (const connection of [onFastPath, left, other]) {
      assert.equal(parseResponses(await connection.readToEnd()).length, 1);
    }
    gate.resolve();
    const responses = parseResponses(await busy.readToEnd());
    assert.deepEqual(
      responses.map(({ status, headers }) => [status, headers.connection]),
      [
        [200, 'keep-alive'],
        [200, 'close'],
      ],
    );
    await closed;
    assert.equal(nodeReads - readsBefore, 2, 'Node reads of `left` and `other` alone');
  });
});
