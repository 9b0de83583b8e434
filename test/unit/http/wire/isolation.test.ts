// What one client can do to others: it waits, is refused or loses its own connections; they are served.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import type { HttpOptions } from '../../../../src/http/server.ts';
import { assertRawProblem, parseResponses, RawConnection } from '../../../kit/http-raw.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

const TUPLE = '{"subject":"user:a","relation":"viewer","object":"doc:1"}';
const PAGE = 'GET /errors HTTP/1.1\r\nHost: x\r\n\r\n';
/** A large one. */
const DOCS = 'GET /docs HTTP/1.1\r\nHost: x\r\n\r\n';
const KIB = 1024;

const withHttp =
  (options: Partial<HttpOptions>, test: (http: HttpInProcess) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const http = await startHttp({ closeTimeoutMs: 100, ...options });
    try {
      await test(http);
    } finally {
      await http.close();
    }
  };

const head = (key: string, method: string, path: string, extra = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n${extra}\r\n`;
/** `padding` makes it long: white space. */
const check = (key: string, padding = 0): string => {
  const body = padding === 0 ? TUPLE : `{${' '.repeat(padding)}${TUPLE.slice(1)}`;
  // What is long leaves the fast path, which has read it before it could be refused.
  const extra = padding === 0 ? '' : 'Proxy-Connection: keep-alive\r\n';
  return `${head(key, 'POST', '/v1/check', `${extra}Content-Length: ${body.length}\r\n`)}${body}`;
};

/** The value of a line of the metrics. */
async function metric(http: HttpInProcess, series: string): Promise<number> {
  const line = (await http.metrics.render()).split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}
const heldBytes = (http: HttpInProcess, budget: string): Promise<number> =>
  metric(http, `grantd_http_held_bytes{budget="${budget}"}`);
const events = (http: HttpInProcess, budget: string, event: string): Promise<number> =>
  metric(http, `grantd_http_budget_events_total{budget="${budget}",event="${event}"}`);
const dropped = (http: HttpInProcess, reason: string): Promise<number> =>
  metric(http, `grantd_connections_dropped_total{server="public",reason="${reason}"}`);

/** A client that reads only when the test says so, from an address of its own. */
async function openFrom(http: HttpInProcess, localAddress = '127.0.0.1'): Promise<Socket> {
  const { hostname, port } = new URL(http.url);
  const client = connect({ host: hostname, port: Number(port), localAddress });
  client.on('error', () => {});
  await once(client, 'connect');
  return client;
}

async function answered(http: HttpInProcess, bytes: string): Promise<number | undefined> {
  const client = await RawConnection.open(http.url);
  client.send(bytes);
  const [response] = await client.readResponses(1);
  client.destroy();
  return response?.status;
}

/** The status of the first response that a client gets; undefined: none, and the connection has ended. */
async function firstStatus(client: Socket): Promise<number | undefined> {
  let text = '';
  client.on('data', (bytes: Buffer) => {
    text += bytes.toString('latin1');
  });
  await waitFor('a response or the end', () => text.includes('\r\n\r\n') || client.destroyed);
  return text === '' ? undefined : Number(text.split(' ')[1]);
}

describe('requests that come all at once on a connection', () => {
  for (const [what, first] of [
    ['in the fast path', ''],
    ['at Node’s server', 'GET /nothing HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'],
  ] as const) {
    it(
      `are begun one after another ${what}`,
      withHttp({}, async (http) => {
        const { key } = await http.front.createTenant('unlimited');
        assert.equal(await answered(http, check(key)), 200);
        let begun = 0;
        const consume = http.rateLimiter.consume.bind(http.rateLimiter);
        http.rateLimiter.consume = (...rest) => {
          begun += 1;
          return consume(...rest);
        };
        const steps: (() => void)[] = [];
        Object.defineProperty(http.front, 'gate', { get: () => new Promise<void>((resolve) => steps.push(resolve)) });
        const client = await RawConnection.open(http.url);
        client.send(first + check(key).repeat(50));
        const before = first === '' ? 0 : 1;
        for (let count = 1; count <= 50; count += 1) {
          await waitFor('the next request', () => steps.length > 0);
          assert.equal(begun, count);
          steps.shift()?.();
          await client.readResponses(before + count);
        }
        client.destroy();
      }),
    );
  }

  it(
    'and whose clients take no answers are not begun any further, with or without a key',
    withHttp({}, async (http) => {
      const { key } = await http.front.createTenant('unlimited');
      for (const [request, operation] of [
        [PAGE, 'errorPage'],
        [DOCS, 'docsPage'],
        [head(key, 'GET', '/openapi.json'), 'readOpenapi'],
      ] as const) {
        const client = await openFrom(http);
        client.pause();
        client.write(request.repeat(10_000));
        const series = `grantd_http_request_seconds_count{operation="${operation}",status="200"}`;
        let last = -1;
        await waitFor('the requests to stop', async () => {
          const before = last;
          for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
          last = await metric(http, series);
          return last > 0 && last === before;
        });
        assert.ok(last < 9_000, `${last} were answered`);
        assert.equal(await answered(http, check(key)), 200);
        client.destroy();
      }
      await waitFor('nothing to be held', async () => (await heldBytes(http, 'responses')) === 0);
      await waitFor('nothing to wait', async () => (await heldBytes(http, 'input')) === 0);
    }),
  );
});

describe('bodies that are being read', () => {
  const BUDGET = { bodyBytesMax: 200 * KIB, tenantBodyBytesMax: 100 * KIB };
  const slow = (key: string): string => `${head(key, 'POST', '/v1/check', `Content-Length: ${60 * KIB}\r\n`)}{`;

  it(
    'keep no other tenant out: who exceeds its share waits, then gets 503',
    withHttp({ ...BUDGET, deadlineMs: 500 }, async (http) => {
      const [one, other] = [await http.front.createTenant('unlimited'), await http.front.createTenant('unlimited')];
      const first = await RawConnection.open(http.url);
      first.send(slow(one.key));
      await waitFor('the first body', async () => (await heldBytes(http, 'bodies')) === 52 * KIB);
      const second = await RawConnection.open(http.url);
      second.send(slow(one.key));
      await waitFor('the second to wait', async () => (await events(http, 'bodies', 'waited')) === 1);
      assert.equal(await heldBytes(http, 'bodies'), 52 * KIB);
      assert.equal(await answered(http, check(other.key, 50 * KIB)), 200);
      // What is small is read all the same.
      assert.equal(await answered(http, check(one.key)), 200);
      const [refused] = await second.readResponses(1);
      assertRawProblem(refused, 503, 'overloaded', `${http.url}/errors`);
      assert.equal(refused?.headers['retry-after'], '1');
      assert.equal(await events(http, 'bodies', 'refused'), 1);
      first.destroy();
      second.destroy();
      await waitFor('all bytes back', async () => (await heldBytes(http, 'bodies')) === 0);
      assert.equal(await answered(http, check(one.key, 50 * KIB)), 200);
    }),
  );

  it(
    'are read when there is capacity again, in any form, and give it back',
    withHttp(BUDGET, async (http) => {
      const { key } = await http.front.createTenant('unlimited');
      const first = await RawConnection.open(http.url);
      first.send(slow(key));
      await waitFor('the first body', async () => (await heldBytes(http, 'bodies')) > 0);
      const body = `{${' '.repeat(60 * KIB)}${TUPLE.slice(1)}`;
      const waiting = [
        check(key, 60 * KIB),
        `${head(key, 'POST', '/v1/check', 'Transfer-Encoding: chunked\r\n')}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
      ];
      const clients: RawConnection[] = [];
      for (const bytes of waiting) {
        const client = await RawConnection.open(http.url);
        client.send(bytes);
        clients.push(client);
      }
      await waitFor('both to wait', async () => (await events(http, 'bodies', 'waited')) === 2);
      first.destroy();
      for (const client of clients) assert.equal((await client.readResponses(1))[0]?.status, 200);
      await waitFor('all bytes back', async () => (await heldBytes(http, 'bodies')) === 0);
      for (const client of clients) client.destroy();
    }),
  );

  it(
    'of the holders with more are given up if the process has no capacity',
    withHttp({ bodyBytesMax: 620 * KIB, tenantBodyBytesMax: 600 * KIB }, async (http) => {
      const [one, other] = [await http.front.createTenant('unlimited'), await http.front.createTenant('unlimited')];
      const held = [await RawConnection.open(http.url), await RawConnection.open(http.url)];
      const length = 300 * KIB;
      for (const client of held) {
        client.send(`${head(one.key, 'POST', '/v1/check/bulk', `Content-Length: ${length}\r\n`)}{`);
      }
      await waitFor('the bodies', async () => (await heldBytes(http, 'bodies')) === 584 * KIB);
      assert.equal(await answered(http, check(other.key, 50 * KIB)), 200);
      const [dropped] = (await held[0]?.readResponses(1)) ?? [];
      assertRawProblem(dropped, 503, 'overloaded', `${http.url}/errors`);
      assert.equal(await events(http, 'bodies', 'dropped'), 1);
      // Its connection goes on behind the rest of its body.
      held[0]?.send(' '.repeat(length - 1) + check(one.key));
      assert.equal((await held[0]?.readResponses(2))?.[1]?.status, 200);
      for (const client of held) client.destroy();
      await waitFor('all bytes back', async () => (await heldBytes(http, 'bodies')) === 0);
    }),
  );
});

describe('answers that may be large', () => {
  const list = (key: string, limit = 1000): string =>
    head(key, 'GET', `/v1/objects?subject=user:a&relation=viewer&limit=${limit}`);
  const listed = (http: HttpInProcess): Promise<number> =>
    metric(http, 'grantd_http_request_seconds_count{operation="listObjects",status="200"}');
  /** A tenant whose list takes some 260 KiB. */
  const createListed = async (http: HttpInProcess): Promise<{ key: string }> => {
    const { tenantId, key } = await http.front.createTenant('unlimited');
    const session = await http.front.operator.tenant({ requestId: 'req_', deadlineMs: 1e9 }, tenantId, 'test');
    const writes = Array.from({ length: 1000 }, (_, index) => ({
      subject: 'user:a',
      relation: 'viewer' as const,
      object: `doc:${index}${'x'.repeat(250)}`,
      revoke: false,
    }));
    await session.call('writeGrants', { requestId: 'req_', deadlineMs: 1e9 }, writes);
    return { key };
  };

  it(
    'are not made beyond the share of their tenant: others are served, and it waits, then gets 503',
    withHttp({ tenantResponseBytesMax: 2_000 * KIB, deadlineMs: 2_000 }, async (http) => {
      const [one, other] = [await http.front.createTenant('unlimited'), await http.front.createTenant('unlimited')];
      for (const { key } of [one, other]) assert.equal(await answered(http, check(key)), 200);
      let open = (): void => {};
      http.front.gate = new Promise((resolve) => {
        open = resolve;
      });
      const [first, second] = [await RawConnection.open(http.url), await RawConnection.open(http.url)];
      first.send(list(one.key));
      await waitFor('the first', async () => (await heldBytes(http, 'responses')) > 1_000 * KIB);
      second.send(list(one.key));
      await waitFor('the second to wait', async () => (await events(http, 'responses', 'waited')) === 1);
      const third = await RawConnection.open(http.url);
      third.send(list(other.key));
      await waitFor('that of the other', async () => (await heldBytes(http, 'responses')) > 2_000 * KIB);
      await waitFor('the refusal', async () => (await events(http, 'responses', 'refused')) === 1);
      open();
      assert.equal((await first.readResponses(1))[0]?.status, 200);
      assert.equal((await third.readResponses(1))[0]?.status, 200);
      assertRawProblem((await second.readResponses(1))[0], 503, 'overloaded', `${http.url}/errors`);
      assert.equal(await heldBytes(http, 'responses'), 0);
      for (const client of [first, second, third]) client.destroy();
    }),
  );

  it(
    'count until they are taken, on either way in, or until their client is gone',
    withHttp({}, async (http) => {
      const { key } = await createListed(http);
      for (const first of ['', 'GET /nothing HTTP/1.0\r\nConnection: keep-alive\r\n\r\n']) {
        const client = await openFrom(http);
        client.pause();
        client.write(first + list(key).repeat(200));
        await waitFor('an answer that is not taken', async () => {
          for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
          const held = await heldBytes(http, 'responses');
          return held > 250 * KIB && held < 300 * KIB;
        });
        let bytes = 0;
        client.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        client.resume();
        await waitFor('all answers', () => bytes > 200 * 250 * KIB);
        await waitFor('nothing to be held', async () => (await heldBytes(http, 'responses')) === 0);
        client.destroy();
        const closed = await openFrom(http);
        closed.pause();
        closed.write(first + list(key).repeat(200));
        await waitFor('an answer that is not taken', async () => (await heldBytes(http, 'responses')) > 250 * KIB);
        closed.destroy();
        await waitFor('nothing to be held', async () => (await heldBytes(http, 'responses')) === 0);
      }
    }),
  );

  it(
    'count until they are taken in the fast path too, and are cut off where another tenant holds less and needs capacity',
    withHttp({ responseBytesMax: 1_300_000 }, async (http) => {
      const { key } = await createListed(http);
      const [large, small] = [await http.front.createTenant('unlimited'), await http.front.createTenant('unlimited')];
      for (const end of ['taken', 'closed', 'cut off'] as const) {
        const client = await openFrom(http);
        client.pause();
        for (let count = 0; (await heldBytes(http, 'responses')) === 0; count += 1) {
          assert.ok(count < 200);
          const answers = await listed(http);
          client.write(list(key));
          await waitFor('its answer', async () => (await listed(http)) > answers);
        }
        assert.ok((await heldBytes(http, 'responses')) > 250 * KIB);
        if (end === 'taken') client.resume();
        else if (end === 'closed') client.destroy();
        else {
          let open = (): void => {};
          http.front.gate = new Promise((resolve) => {
            open = resolve;
          });
          // This one is being made, and cannot be given up.
          const made = answered(http, list(large.key, 700));
          await waitFor('it', async () => (await heldBytes(http, 'responses')) > 1_000_000);
          const fits = answered(http, list(small.key, 150));
          await waitFor('the end of what is not taken', async () => (await events(http, 'responses', 'dropped')) === 1);
          open();
          assert.deepEqual(await Promise.all([made, fits]), [200, 200]);
        }
        await waitFor('nothing to be held', async () => (await heldBytes(http, 'responses')) === 0);
        assert.equal(await events(http, 'responses', 'dropped'), end === 'cut off' ? 1 : 0);
        client.destroy();
      }
    }),
  );
});

describe('long JSON', () => {
  for (const [what, json] of [
    ['deep', '['.repeat(500_000)],
    ['of many shapes', `{"checks":[${Array.from({ length: 50_000 }, (_, index) => `{"k${index}":1}`).join(',')}]}`],
  ] as const) {
    it(
      `that is ${what} is refused before it is parsed`,
      withHttp({}, async (http) => {
        const { key } = await http.front.createTenant('unlimited');
        const parse = JSON.parse;
        let longest = 0;
        JSON.parse = (text, reviver) => {
          longest = Math.max(longest, text.length);
          return parse(text, reviver);
        };
        try {
          const client = await RawConnection.open(http.url);
          client.send(`${head(key, 'POST', '/v1/check/bulk', `Content-Length: ${json.length}\r\n`)}${json}`);
          assertRawProblem((await client.readResponses(1))[0], 400, 'invalid-request', `${http.url}/errors`);
          client.destroy();
        } finally {
          JSON.parse = parse;
        }
        assert.ok(longest < 1000);
      }),
    );
  }

  it(
    'is taken in steps, between which others are served',
    withHttp({}, async (http) => {
      const [one, other] = [await http.front.createTenant('unlimited'), await http.front.createTenant('unlimited')];
      for (const { key } of [one, other]) assert.equal(await answered(http, check(key)), 200);
      const json = `{${' '.repeat(1_000_000)}"checks":[${TUPLE}]}`;
      const client = await RawConnection.open(http.url);
      client.send(`${head(one.key, 'POST', '/v1/check/bulk', `Content-Length: ${json.length}\r\n`)}${json}`);
      assert.equal((await client.readResponses(1))[0]?.status, 200);
      client.destroy();
    }),
  );
});

describe('connections of one address', () => {
  const JUNK = head('junk', 'GET', '/v1/namespaces');

  it(
    'age with whatever they are answered, on either way in',
    withHttp({ connectionAgeMaxMs: 0 }, async (http) => {
      for (const [request, status] of [
        [JUNK, 401],
        [PAGE, 200],
        ['GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n', 404],
        [head('junk', 'POST', '/v1/check', 'Content-Length: 9\r\n'), 401],
        [head('junk', 'POST', '/v1/check', 'Transfer-Encoding: chunked\r\n'), 401],
      ] as const) {
        const client = await RawConnection.open(http.url);
        client.send(request);
        const [response] = parseResponses(await client.readToEnd());
        assert.equal(response?.status, status);
        assert.equal(response?.headers.connection, 'close');
      }
      const pipelined = await RawConnection.open(http.url);
      pipelined.send(JUNK.repeat(3));
      assert.deepEqual(
        parseResponses(await pipelined.readToEnd()).map(({ status, headers }) => [status, headers.connection]),
        [
          [401, 'keep-alive'],
          [401, 'keep-alive'],
          [401, 'close'],
        ],
      );
    }),
  );

  it(
    'that end for their age take what is still to come of a body, so that the answer is not lost',
    withHttp({ connectionAgeMaxMs: 0, discardTimeoutMs: 60_000 }, async (http) => {
      const client = await RawConnection.open(http.url);
      client.send(head('junk', 'POST', '/v1/check', `Content-Length: ${100 * KIB}\r\n`));
      await client.readUntil('"status":401');
      for (let count = 0; count < 20; count += 1) assert.equal(await answered(http, PAGE), 200);
      assert.ok(!client.closed);
      client.send('x'.repeat(100 * KIB));
      const [response] = parseResponses(await client.readToEnd());
      assert.equal(response?.headers.connection, 'close');
    }),
  );

  it(
    'that throw bodies away do so a few at a time, and each has its answer',
    withHttp({ connectionAgeMaxMs: 0, discardTimeoutMs: 60_000, addressDiscardsBytesMax: 64 * KIB }, async (http) => {
      const clients = await Promise.all([1, 2, 3].map(() => RawConnection.open(http.url)));
      for (const client of clients) {
        client.send(head('junk', 'POST', '/v1/check', `Content-Length: ${100 * KIB}\r\n`));
        await client.readUntil('"status":401');
      }
      await waitFor('two of them to wait', async () => (await events(http, 'discards', 'waited')) === 2);
      for (const client of clients.toReversed()) client.send('x'.repeat(100 * KIB));
      for (const client of clients) {
        const [response] = parseResponses(await client.readToEnd());
        assert.equal(response?.headers.connection, 'close');
      }
    }),
  );

  it(
    'that fill all places make room for another address, the idle ones first',
    withHttp({ connectionsMax: 4, refusedConnectionsMax: 1, idleDisplaceableMs: 60_000 }, async (http) => {
      const { key } = await http.front.createTenant('unlimited');
      const busy = await openFrom(http);
      busy.write(`${head(key, 'POST', '/v1/check', 'Content-Length: 100\r\n')}{`);
      const used = await openFrom(http);
      used.write(PAGE);
      assert.equal(await firstStatus(used), 200);
      const silent = [await openFrom(http), await openFrom(http)];
      await waitFor('all of them', async () => (await metric(http, 'grantd_http_connections')) === 4);
      // One more of the same address is refused, a further one dropped.
      const surplus = await openFrom(http);
      surplus.write(PAGE);
      assert.equal(await firstStatus(surplus), 503);
      await waitFor('the end of the surplus', async () => (await metric(http, 'grantd_http_connections')) === 4);

      const newcomers: Socket[] = [];
      for (let count = 0; count < 2; count += 1) {
        const newcomer = await openFrom(http, '127.0.0.2');
        newcomer.write(check(key));
        assert.equal(await firstStatus(newcomer), 200);
        newcomers.push(newcomer);
      }
      await waitFor('the silent ones to go', () => silent.every((each) => each.closed));
      assert.ok(!used.destroyed && !busy.destroyed);
      assert.equal(await dropped(http, 'idle'), 2);
      // Two and two: no peer has enough more to lose a place to another.
      const third = await openFrom(http, '127.0.0.2');
      third.write(PAGE);
      assert.equal(await firstStatus(third), 503);
      const stranger = await openFrom(http, '127.0.0.3');
      stranger.write(PAGE);
      assert.equal(await firstStatus(stranger), 200);
      for (const client of [busy, used, surplus, third, stranger, ...newcomers]) client.destroy();
    }),
  );

  it(
    'that are idle make room before one whose request is in flight, however old that is',
    withHttp({ connectionsMax: 3, refusedConnectionsMax: 1 }, async (http) => {
      const { key } = await http.front.createTenant('unlimited');
      for (const first of ['', 'GET /nothing HTTP/1.0\r\nConnection: keep-alive\r\n\r\n']) {
        http.front.gate = Promise.resolve();
        const idle: Socket[] = [];
        const busy = await openFrom(http);
        busy.write(first);
        if (first !== '') assert.equal(await firstStatus(busy), 404);
        let open = (): void => {};
        const { lookups } = http.front;
        http.front.gate = new Promise((resolve) => {
          open = resolve;
        });
        const unknown = http.front.createKey((await http.front.createTenant('unlimited')).tenantId, 7);
        busy.write(head(unknown, 'GET', '/v1/namespaces'));
        await waitFor('its request', () => http.front.lookups > lookups);
        for (let count = 0; count < 2; count += 1) {
          const client = await openFrom(http);
          client.write(PAGE);
          assert.equal(await firstStatus(client), 200);
          idle.push(client);
        }
        const newcomer = await openFrom(http, '127.0.0.2');
        newcomer.write(PAGE);
        assert.equal(await firstStatus(newcomer), 200);
        await waitFor('an idle one to go', () => idle.some((client) => client.closed));
        assert.ok(!busy.closed);
        open();
        for (const client of [busy, newcomer, ...idle]) client.destroy();
        await waitFor('all to go', async () => (await metric(http, 'grantd_http_connections')) === 0);
      }
      assert.equal(await answered(http, check(key)), 200);
    }),
  );

  it(
    'that have been idle for a while make room for one of their own',
    withHttp({ connectionsMax: 2, refusedConnectionsMax: 1, idleDisplaceableMs: 0 }, async (http) => {
      const [first, second] = [await openFrom(http), await openFrom(http)];
      second.write(PAGE);
      assert.equal(await firstStatus(second), 200);
      const third = await openFrom(http);
      third.write(PAGE);
      assert.equal(await firstStatus(third), 200);
      await waitFor('the silent one to go', () => first.closed);
      assert.ok(!second.destroyed);
      for (const client of [second, third]) client.destroy();
    }),
  );

  it(
    'of a proxy that is trusted are not counted against it',
    withHttp(
      { connectionsMax: 2, refusedConnectionsMax: 1, idleDisplaceableMs: 0, trustedProxies: ['127.0.0.1'] },
      async (http) => {
        const own = [await openFrom(http), await openFrom(http)];
        await waitFor('both', async () => (await metric(http, 'grantd_http_connections')) === 2);
        const other = await openFrom(http, '127.0.0.2');
        other.write(PAGE);
        assert.equal(await firstStatus(other), 503);
        for (const client of [...own, other]) client.destroy();
      },
    ),
  );

  it(
    'hold nothing of a body that has been read while its request is in flight',
    withHttp({}, async (http) => {
      const { key } = await http.front.createTenant('unlimited');
      assert.equal(await answered(http, check(key)), 200);
      let open = (): void => {};
      let begun = 0;
      Object.defineProperty(http.front, 'gate', {
        get: () => {
          begun += 1;
          return new Promise<void>((resolve) => {
            open = resolve;
          });
        },
      });
      const body = `${TUPLE}${' '.repeat(20 * KIB)}`;
      const client = await RawConnection.open(http.url);
      client.send(`${head(key, 'POST', '/v1/check', `Content-Length: ${body.length}\r\n`)}${body}`);
      await waitFor('the request', () => begun === 1);
      assert.equal(await heldBytes(http, 'input'), 0);
      open();
      assert.equal((await client.readResponses(1))[0]?.status, 200);
      client.destroy();
    }),
  );

  it(
    'that make too much wait in memory are dropped, and no others',
    withHttp({ heldBytesMax: 300 * KIB }, async (http) => {
      const { key } = await http.front.createTenant('unlimited');
      assert.equal(await answered(http, check(key)), 200);
      let open = (): void => {};
      http.front.gate = new Promise((resolve) => {
        open = resolve;
      });
      const small = await openFrom(http, '127.0.0.2');
      small.write(check(key));
      const half = await openFrom(http, '127.0.0.3');
      half.write(`GET /errors HTTP/1.1\r\nX-Long: ${'x'.repeat(12 * KIB)}`);
      await waitFor('half a header to count', async () => (await heldBytes(http, 'input')) > 12 * KIB);
      const large: Socket[] = [];
      for (let count = 0; count < 10; count += 1) {
        const client = await openFrom(http);
        client.write(check(key).repeat(250));
        large.push(client);
      }
      await waitFor('one to be dropped', async () => (await dropped(http, 'held-bytes')) > 0);
      assert.ok((await heldBytes(http, 'input')) <= 300 * KIB);
      open();
      assert.equal(await firstStatus(small), 200);
      half.write('\r\n\r\n');
      assert.equal(await firstStatus(half), 400);
      assert.ok(large.some((client) => client.closed));
      for (const client of [small, half, ...large]) client.destroy();
      await waitFor('nothing to wait', async () => (await heldBytes(http, 'input')) === 0);
    }),
  );
});
