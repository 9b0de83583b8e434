// GET /v1/changes over HTTP, on both wires: what its query may say, what its responses look like, and how a connection
// with a stream on it ends.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { TICK_MS } from '../../../../src/http/streams/stream-limits.ts';
import { RawConnection } from '../../../kit/http-raw.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { grantChange } from '../fake-change-feed.ts';
import { type HttpInProcess, startHttp } from '../http-in-process.ts';

const SSE = 'text/event-stream';
const NDJSON = 'application/x-ndjson';

type Service = HttpInProcess & { readonly key: string; readonly feed: ReturnType<HttpInProcess['front']['feedOf']> };

/** Runs with a service and a tenant of it. */
const withHttp =
  (test: (service: Service) => Promise<void>, options: Parameters<typeof startHttp>[0] = {}): (() => Promise<void>) =>
  async () => {
    const http = await startHttp(options);
    try {
      const { tenantId, key } = await http.front.createTenant('standard');
      await test({ ...http, key, feed: http.front.feedOf(tenantId) });
    } finally {
      await http.close();
    }
  };

const ask = (service: Service, query: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.url}/v1/changes${query}`, { headers: { Authorization: `Bearer ${service.key}`, ...headers } });

/** What only Node's server reads, and what the fast path reads. */
const WIRES = [
  ['the fast path', 'HTTP/1.1', ''],
  ['Node’s server', 'HTTP/1.1', 'Connection: close\r\n'],
  ['Node’s server, to HTTP/1.0', 'HTTP/1.0', ''],
] as const;

const request = ({ key }: Service, version: string, lines: string, accept = SSE): string =>
  `GET /v1/changes ${version}\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nAccept: ${accept}\r\n${lines}\r\n`;

describe('a page of changes', () => {
  it(
    'begins, and is filtered, as its query says',
    withHttp(async (service) => {
      service.feed.commit(grantChange(1), grantChange(2, 'folder'));
      const cursorsOf = async (query: string, headers = {}): Promise<readonly string[]> => {
        const { changes } = await (await ask(service, query, headers)).json();
        return changes.map(({ grant }: { grant: { object: string } }) => grant.object);
      };
      assert.deepEqual(await cursorsOf('?since=now'), []);
      assert.deepEqual(await cursorsOf('?since=2026-01-15T10:30:00%2B01:00'), ['document:1', 'folder:2']);
      assert.deepEqual(await cursorsOf('?namespace=folder'), ['folder:2']);
      assert.deepEqual(await cursorsOf('?relation=owner'), []);
      assert.deepEqual(await cursorsOf('?action=grant.revoked,rules.updated'), []);
      assert.deepEqual(await cursorsOf('?action=grant.revoked,grant.created'), ['document:1', 'folder:2']);
      assert.deepEqual(await cursorsOf('?cursor=c2', { 'Last-Event-ID': 'c1' }), ['folder:2']);
      assert.deepEqual(await cursorsOf('?since=now', { 'Last-Event-ID': 'c1' }), ['folder:2']);
      assert.deepEqual(await cursorsOf('?cursor=c1', { 'Last-Event-ID': '' }), ['folder:2']);
    }),
  );

  it(
    'waits for a change if it is to, which is no part of its duration',
    withHttp(async (service) => {
      const waiting = ask(service, '?wait=30');
      await waitFor('the page', () => service.feed.followers === 1);
      service.pass(29_000);
      service.feed.commit(grantChange(1));
      const { changes, next_cursor: cursor } = await (await waiting).json();
      assert.deepEqual([changes.length, cursor], [1, 'c1']);
      const metrics = await service.metrics.render();
      assert.match(metrics, /grantd_http_request_seconds_bucket\{[^}]*le="10"[^}]*operation="listChanges"[^}]*\} 1/);
    }),
  );

  for (const [query, code, word] of [
    ['?cursor=c1&since=now', 'invalid-request', 'cursor'],
    ['?cursor=', 'invalid-cursor', 'cursor'],
    ['?cursor=x', 'invalid-cursor', ''],
    ['?since=yesterday', 'invalid-request', 'since'],
    ['?since=2026-01-15T10:30:00+01:00', 'invalid-request', '%2B'],
    ['?namespace=1', 'invalid-request', 'namespace'],
    ['?relation=re%20ader', 'invalid-relation', 'relation'],
    ['?action=grant.made', 'invalid-request', 'action'],
    ['?action=key.created', 'invalid-request', 'action'],
    ['?action=', 'invalid-request', 'action'],
    ['?limit=0', 'invalid-request', 'limit'],
    ['?limit=1001', 'invalid-request', 'limit'],
    ['?wait=31', 'invalid-request', 'wait'],
    ['?wait=-1', 'invalid-request', 'wait'],
    ['?wait=1.5', 'invalid-request', 'wait'],
    ['?wait=', 'invalid-request', 'wait'],
    ['?subject=user:1', 'invalid-request', 'subject'],
    ['?cursor=c0&cursor=c1', 'invalid-request', 'cursor'],
  ] as const) {
    it(
      `is refused with ${code} for ${query}`,
      withHttp(async (service) => {
        const response = await ask(service, query);
        const { type, detail } = await response.json();
        assert.deepEqual([response.status, type], [400, `${service.url}/errors/${code}`]);
        assert.ok(detail.includes(word), detail);
      }),
    );
  }

  it(
    'is refused with where to begin, if the changes are no longer kept',
    withHttp(async (service) => {
      service.feed.commit(grantChange(1), grantChange(2));
      service.feed.earliest = 1;
      for (const accept of ['*/*', SSE, NDJSON]) {
        const response = await ask(service, '?cursor=c0', { Accept: accept });
        assert.deepEqual([response.status, (await response.json()).earliest], [410, 'c1']);
      }
    }),
  );
});

for (const [wire, version, lines] of WIRES) {
  describe(`a stream on ${wire}`, () => {
    it(
      'sends changes as they come, and its end',
      withHttp(async (service) => {
        const client = await RawConnection.open(service.url);
        service.feed.commit(grantChange(1));
        client.send(request(service, version, lines));
        await client.readUntil('id: c1');
        service.feed.commit(grantChange(2));
        await client.readUntil('id: c2');
        assert.match(client.received, /^HTTP\/1.1 200 OK\r\nContent-Type: text\/event-stream\r\n/);
        for (const line of [
          'X-Service-Request-Id: req_',
          'Cache-Control: no-store',
          'X-Accel-Buffering: no',
          'Connection: close',
          'X-Service-RateLimit-Limit: 200',
        ]) {
          assert.ok(client.received.includes(`\r\n${line}`), line);
        }
        assert.equal(client.received.includes('Transfer-Encoding: chunked'), version === 'HTTP/1.1');
        service.feed.end(new GrantdError('unauthorized', 'Revoked.'));
        await client.readToEnd();
        assert.equal(client.received.endsWith('0\r\n\r\n'), version === 'HTTP/1.1');
        await waitFor('its place', async () =>
          /streams_closed_total\{kind="sse",reason="key"\} 1/.test(await service.metrics.render()),
        );
      }),
    );

    it(
      'ends when the client goes, or sends nothing more',
      withHttp(async (service) => {
        for (const leave of [
          (client: RawConnection) => client.destroy(),
          (client: RawConnection) => client.endSending(),
        ]) {
          const client = await RawConnection.open(service.url);
          client.send(request(service, version, lines));
          await waitFor('the stream', () => service.feed.followers === 1);
          leave(client);
          await waitFor('its end', () => service.feed.followers === 0);
        }
      }),
    );

    it(
      'discards what the client sends after its request, up to a bound',
      withHttp(async (service) => {
        const client = await RawConnection.open(service.url);
        client.send(request(service, version, lines));
        await waitFor('the stream', () => service.feed.followers === 1);
        client.send(request(service, version, lines).repeat(10));
        service.feed.commit(grantChange(1));
        await client.readUntil('id: c1');
        assert.equal(client.received.split('HTTP/1.1 200').length, 2);
        client.send('x'.repeat(2 * 1024 * 1024));
        await waitFor('its end', () => service.feed.followers === 0);
      }),
    );

    it(
      'ends with the front, in order',
      withHttp(async (service) => {
        const client = await RawConnection.open(service.url);
        client.send(request(service, version, lines));
        await waitFor('the stream', () => service.feed.followers === 1);
        await service.close();
        await client.readToEnd();
        assert.match(client.received, /retry: [0-9]+\n\n/);
      }),
    );
  });
}

describe('streams and what else a front does', () => {
  it(
    'tell of a key that has expired within two ticks',
    withHttp(async (service) => {
      const { tenantId } = await service.front.createTenant('standard');
      const key = service.front.createKey(tenantId, 1, Date.now() + 4 * TICK_MS);
      const client = await RawConnection.open(service.url);
      client.send(request({ ...service, key }, 'HTTP/1.1', ''));
      await client.readToEnd();
      assert.ok(client.received.endsWith('0\r\n\r\n'));
    }),
  );

  it(
    'leave places for others, and say when there is none',
    withHttp(
      async (service) => {
        const streams: RawConnection[] = [];
        for (let count = 0; count < 3; count += 1) {
          const stream = await RawConnection.open(service.url);
          streams.push(stream);
          stream.send(request(service, 'HTTP/1.1', ''));
          await waitFor('the stream', () => stream.received.startsWith('HTTP/1.1 200'));
        }
        const response = await ask(service, '', { Accept: SSE });
        const { type } = await response.json();
        assert.deepEqual([response.status, type], [429, `${service.url}/errors/too-many-streams`]);
        assert.equal(response.headers.get('retry-after'), '5');
        const { tenantId, key } = await service.front.createTenant('standard');
        const other = await RawConnection.open(service.url);
        other.send(request({ ...service, key }, 'HTTP/1.1', ''));
        await waitFor('the other stream', () => service.front.feedOf(tenantId).followers === 1);
        assert.equal(service.feed.followers, 2);
        for (const stream of [...streams, other]) stream.destroy();
      },
      { streamsMax: 3 },
    ),
  );
});
