// `grantd mcp --http`: each request acts with its own key and no other, what comes from elsewhere is refused before its
// body is read, and the SDK's own client gets the same tools as over standard streams.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type HttpServer, MCP_PATH, openMcpHttp } from '../../packages/cli/src/mcp/http-server.ts';
import { ServiceClient } from '../../packages/cli/src/service-client.ts';
import { createApiKey } from '../../src/core/api-keys.ts';
import { IdFactory } from '../../src/core/ids.ts';
import { systemClock, systemRandom } from '../../src/roles/process/system.ts';

const ids = new IdFactory(systemClock, systemRandom);
const keyOf = (): string => createApiKey({ tenantId: ids.create('ten'), keyId: ids.create('key') }, systemRandom);
const QUESTION = { subject: 'user:ann', relation: 'viewer', object: 'document:plan' };

/** The service allows a check with the key that it knows. */
class Service {
  readonly key = keyOf();
  readonly authorizations: string[] = [];
  held: Promise<void> = Promise.resolve();

  readonly fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const authorization = new Headers(init?.headers).get('authorization') ?? '';
    this.authorizations.push(authorization);
    await this.held;
    return authorization === `Bearer ${this.key}`
      ? Response.json({ authorized: true, checked_at: '2030-01-01T00:00:00.000Z' })
      : Response.json(
          { type: 'http://e/errors/unauthorized', title: 'Unauthorized', status: 401, detail: 'Unknown key.' },
          { status: 401 },
        );
  };
}

const service = new Service();
const errors: Error[] = [];
let server: HttpServer;

before(async () => {
  server = await openMcpHttp(
    {
      clientOf: (secret) =>
        new ServiceClient({ api: 'public', url: 'http://service.invalid', secret }, { fetch: service.fetch }),
      onError: (error) => void errors.push(error),
    },
    { address: '127.0.0.1:0', hosts: ['tools.example.com'], allowWrites: false, version: '1.0.0' },
  );
});
after(() => server.close());

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** `fetch` chooses the host itself. */
function send(
  body: string | undefined,
  { path = MCP_PATH, method = 'POST', ...headers }: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const { hostname, port } = new URL(server.url);
  const base = {
    authorization: `Bearer ${service.key}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2025-06-18',
  };
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: { ...base, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, headers: response.headers }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const callOf = (id: number, name = 'check', input: object = QUESTION): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input } });

describe('a request', () => {
  it('acts with its own key, and gets the answer of the service to that', async () => {
    service.authorizations.length = 0;
    const [mine, other] = [await send(callOf(1)), keyOf()];
    assert.deepEqual([mine.status, mine.text.includes('"authorized":true')], [200, true], mine.text);
    const theirs = await send(callOf(2), { authorization: `Bearer ${other}` });
    assert.match(theirs.text, /"isError":true/);
    assert.doesNotMatch(theirs.text, /"authorized":|grantd context/);
    assert.deepEqual(service.authorizations, [`Bearer ${service.key}`, `Bearer ${other}`]);
  });

  it('is refused before its body is read: without a key, from another host or site, or elsewhere', async () => {
    service.authorizations.length = 0;
    const wrong = service.key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    const cases: readonly (readonly [status: number, headers: Readonly<Record<string, string>>])[] = [
      [401, { authorization: '' }],
      [401, { authorization: `Basic ${service.key}` }],
      [401, { authorization: `Bearer ${wrong}` }],
      [403, { host: 'evil.example.com' }],
      [403, { host: '127.0.0.1.evil.example.com' }],
      [403, { origin: 'http://evil.example.com' }],
      [403, { origin: 'null' }],
      [404, { path: '/' }],
      [404, { path: '/mcp/x' }],
    ];
    for (const [status, headers] of cases) {
      const answer = await send(callOf(1), headers);
      assert.equal(answer.status, status, JSON.stringify(headers));
      assert.equal(JSON.parse(answer.text).id, null);
      if (status === 401) assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
    assert.deepEqual(service.authorizations, []);
  });

  it('is answered for the hosts that are allowed', async () => {
    for (const host of ['localhost', 'tools.example.com:8443', '[::1]:1']) {
      assert.equal((await send(callOf(1), { host, origin: `https://${host}` })).status, 200, host);
    }
  });

  it('is read as strictly as a line of standard input', async () => {
    const cases: readonly (readonly [status: number, body: string, message: RegExp])[] = [
      [400, '{', /-32700/],
      [400, '', /-32700/],
      [400, `[${callOf(1)}]`, /no batch/],
      [400, '{"jsonrpc":"2.0","id":7,"method":"ping","id":8}', /twice|already/],
      [400, '{"jsonrpc":"2.0","id":7,"method":"ping","params":{"__proto__":{}}}', /"id":7.*__proto__/],
      [400, callOf(7, 'constructor'), /"id":7.*Tool constructor not found/],
      [413, ' '.repeat(1024 * 1024 + 1), /1048576 bytes at most/],
    ];
    for (const [status, body, message] of cases) {
      const answer = await send(body);
      assert.deepEqual([answer.status, message.test(answer.text)], [status, true], answer.text);
    }
    assert.equal((await send(callOf(1), { 'content-type': 'text/plain' })).status, 415);
  });

  it('opens no stream and no session', async () => {
    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      assert.equal((await send(undefined, { method })).status, 405, method);
    }
    assert.equal((await send(callOf(1))).headers['mcp-session-id'], undefined);
  });

  it('that is one of too many is told so, and the others are answered', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    service.held = promise;
    service.authorizations.length = 0;
    const held = Array.from({ length: 64 }, (_, id) => send(callOf(id)));
    while (service.authorizations.length < 64) await new Promise((next) => setImmediate(next));
    const refused = await send(callOf(99));
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
    resolve();
    for (const each of held) assert.match((await each).text, /"authorized":true/);
    assert.equal((await send(callOf(1))).status, 200);
  });
});

describe("the SDK's own client", () => {
  it('finds the tools and calls them, and none that writes', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: { authorization: `Bearer ${service.key}` } },
    });
    await client.connect(transport);
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === 'check'));
    assert.ok(!tools.some(({ name }) => name === 'create_grant'));
    const { structuredContent } = await client.callTool({ name: 'check', arguments: QUESTION });
    assert.deepEqual(structuredContent, { authorized: true, checked_at: '2030-01-01T00:00:00.000Z' });
    await client.close();
  });
});
