// Traces from the client's request to the store: a front and a shard, each exporting over OTLP to a collector in this
// process.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createApiKey } from '../../../src/core/api-keys.ts';
import { IdFactory } from '../../../src/core/ids.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import type { SamplerName } from '../../../src/telemetry/choices.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import type { Tracing } from '../../../src/telemetry/spans.ts';
import { createTracing } from '../../../src/telemetry/tracing.ts';
import type { Answer, CallOptions } from '../../kit/http-client.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';
import { startTracedService, type TracedService } from './traced-service.ts';

const CLIENT_SPAN = 'b7ad6b7169203331';

function newTrace(flags = '01') {
  const traceId = randomBytes(16).toString('hex');
  return { traceId, traceparent: `00-${traceId}-${CLIENT_SPAN}-${flags}` };
}

const ids = new IdFactory(systemClock, systemRandom);

const tupleOf = (subject: string, object = 'doc:1') => ({ subject, relation: 'viewer', object });

const CHECK = { method: 'POST', path: '/v1/check', body: tupleOf('user:warm') };

/** A tree of names, so that a test shows what belongs to what. */
type Tree = { readonly [name: string]: Tree };

function treeOf(spans: readonly ReceivedSpan[], parentSpanId: string): Tree {
  const children = spans
    .filter((span) => span.parentSpanId === parentSpanId)
    .sort((left, right) => left.startNs - right.startNs);
  return Object.fromEntries(
    children.map(({ kind, name, spanId }) => [`${kind} ${name}`, treeOf(spans, spanId)] as const),
  );
}

describe('a trace', () => {
  let receiver: OtlpReceiver;
  let front: Tracing;
  let shard: Tracing;
  let service: TracedService;
  /** Holds appends to the log, and tells of the first. */
  let hold: { readonly begun: () => void; readonly released: Promise<void> } | undefined;

  function trace(serviceName: string, sampler: SamplerName = 'parentbased_always_off', ratio = 1): Tracing {
    return createTracing(
      { log: createLog({ level: 'silent', pretty: false }), metrics: createMetrics() },
      {
        url: `${receiver.url}/v1/traces`,
        headers: { authorization: 'Bearer collector' },
        sampler,
        ratio,
        resource: { 'service.name': serviceName },
        version: '1.2.3',
        delayMs: 1,
      },
    );
  }

  before(async () => {
    receiver = await startOtlpReceiver();
    front = trace('front');
    shard = trace('shard');
    service = await startTracedService(
      { front, shard },
      {
        delay: async (operation, way) => {
          if (operation !== 'append' || way !== 'request') return;
          hold?.begun();
          await hold?.released;
        },
      },
    );
    await send('POST', '/v1/grants', {}, tupleOf('user:granted'));
    // So that no trace but the one that is about it has an authentication, or asks whether the namespaces are known.
    assert.equal((await check('user:first', {})).status, 200);
  });

  after(async () => {
    await service.close();
    await Promise.all([front.close(), shard.close()]);
    await receiver.close();
  });

  const send = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
    service.send({ method, path, key: service.key, headers, body });
  const check = (subject: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
    send('POST', '/v1/check', headers, tupleOf(subject));
  const find = (spans: readonly ReceivedSpan[], name: string, kind?: ReceivedSpan['kind']): ReceivedSpan => {
    const span = spans.find((each) => each.name === name && (kind === undefined || each.kind === kind));
    assert.ok(span !== undefined, `${name} is not among ${spans.map((each) => each.name).join(', ')}`);
    return span;
  };

  it('of a check that has to read the store leads from the client to the store', async () => {
    const { traceId, traceparent } = newTrace();
    assert.equal((await check('user:cold', { traceparent })).status, 200);
    const spans = await receiver.trace(traceId, 4);
    assert.deepEqual(treeOf(spans, CLIENT_SPAN), {
      'server POST /v1/check': {
        'client grantd.v1.Shard/Check': { 'server grantd.v1.Shard/Check': { 'client SELECT grants': {} } },
      },
    });
    const processes = spans.map(({ resource, kind, name }) => `${resource['service.name']}: ${kind} ${name}`);
    assert.deepEqual(processes.sort(), [
      'front: client grantd.v1.Shard/Check',
      'front: server POST /v1/check',
      'shard: client SELECT grants',
      'shard: server grantd.v1.Shard/Check',
    ]);
    for (const { startNs, endNs } of spans) assert.ok(endNs >= startNs);
  });

  it('of a check that memory decides ends at the shard', async () => {
    await check('user:warm', {});
    const { traceId, traceparent } = newTrace();
    await check('user:warm', { traceparent });
    assert.deepEqual(treeOf(await receiver.trace(traceId, 3), CLIENT_SPAN), {
      'server POST /v1/check': { 'client grantd.v1.Shard/Check': { 'server grantd.v1.Shard/Check': {} } },
    });
  });

  it('of checks that travel in one message are each its own', async () => {
    const traces = Array.from({ length: 20 }, () => newTrace());
    const spans = traces.flatMap(({ traceparent }) => [
      undefined,
      front.begin('asked', 'server', { traceparent, tracestate: undefined }),
    ]);
    await service.checkTogether({ subject: 'user:warm', relation: 'viewer', object: 'doc:1' }, spans);
    for (const span of spans) span?.end();
    for (const { traceId } of traces) {
      assert.deepEqual(treeOf(await receiver.trace(traceId, 3), CLIENT_SPAN), {
        'server asked': { 'client grantd.v1.Shard/Check': { 'server grantd.v1.Shard/Check': {} } },
      });
    }
  });

  it('of a bulk call has the read of its subjects, which is one', async () => {
    const { traceId, traceparent } = newTrace();
    const checks = ['user:bulk-1', 'user:bulk-2'].map((subject) => tupleOf(subject));
    assert.equal((await send('POST', '/v1/check/bulk', { traceparent }, { checks })).status, 200);
    const spans = await receiver.trace(traceId, 4);
    const served = find(spans, 'grantd.v1.Shard/CheckBulk', 'server');
    assert.deepEqual(
      spans.filter(({ name }) => name === 'SELECT grants').map(({ parentSpanId }) => parentSpanId),
      [served.spanId],
    );
  });

  it('of a write shows how it became durable', async () => {
    await send('POST', '/v1/grants', {}, tupleOf('user:writer', 'doc:before'));
    const { traceId, traceparent } = newTrace();
    assert.equal((await send('POST', '/v1/grants', { traceparent }, tupleOf('user:writer'))).status, 201);
    const spans = await receiver.trace(traceId, 6);
    assert.deepEqual(treeOf(spans, CLIENT_SPAN), {
      'server POST /v1/grants': {
        'client grantd.v1.Shard/WriteGrants': {
          'server grantd.v1.Shard/WriteGrants': {
            'internal append': { 'internal group commit': { 'client INSERT log': {} } },
          },
        },
      },
    });
    const commit = find(spans, 'group commit');
    assert.deepEqual(find(spans, 'append').links, [commit.spanId]);
    assert.equal(commit.attributes['grantd.operations'], 1);
    assert.equal(typeof commit.attributes['grantd.slot'], 'number');
  });

  it('of each write of a group commit is linked with that commit, which is in one of them', async () => {
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    hold = { begun: begun.resolve, released: released.promise };
    const grant = (name: string, headers = {}) => send('POST', '/v1/grants', headers, tupleOf(`user:${name}`));
    await Promise.all(['ahead', 'one', 'two', 'three'].map((name) => check(`user:${name}`, {})));
    const ahead = grant('ahead');
    await begun.promise;
    const [one, two] = [newTrace(), newTrace()];
    const later = [grant('one', one), grant('two', two), grant('three')];
    // While the first is on its way the others gather; each has reached the shard once a check behind it is answered.
    for (let turn = 0; turn < 5; turn += 1) await check('user:warm', {});
    released.resolve();
    hold = undefined;
    for (const answer of await Promise.all([ahead, ...later])) assert.equal(answer.status, 201);

    const spans = [...(await receiver.trace(one.traceId, 4)), ...(await receiver.trace(two.traceId, 4))];
    await waitFor('the commit', () => receiver.spans.some(({ links }) => links.length === 2));
    const appends = spans.filter(({ name }) => name === 'append');
    const commit = receiver.spans.find(({ name, links }) => name === 'group commit' && links.length === 2);
    assert.ok(commit !== undefined);
    assert.equal(appends.length, 2);
    for (const { links } of appends) assert.deepEqual(links, [commit.spanId]);
    assert.deepEqual([...commit.links].sort(), appends.map(({ spanId }) => spanId).sort());
    assert.ok(appends.some(({ spanId, traceId }) => spanId === commit.parentSpanId && traceId === commit.traceId));
    assert.equal(commit.attributes['grantd.operations'], 3);
  });

  it('shows each try, and why it came to nothing', async () => {
    await service.endHandles();
    const { traceId, traceparent } = newTrace();
    assert.equal((await check('user:warm', { traceparent })).status, 200);
    const spans = await receiver.trace(traceId, 7);
    const tries = spans
      .filter(({ kind, resource }) => kind === 'client' && resource['service.name'] === 'front')
      .sort((left, right) => left.startNs - right.startNs);
    assert.deepEqual(
      tries.map(({ name, failed, attributes }) => [name, failed, attributes['error.type']]),
      [
        ['grantd.v1.Shard/Check', true, 'handle-unknown'],
        ['grantd.v1.Shard/Authenticate', false, undefined],
        ['grantd.v1.Shard/Check', false, undefined],
      ],
    );
    assert.equal(tries[0]?.attributes['rpc.response.status_code'], 'UNAVAILABLE');
    assert.equal(find(spans, 'POST /v1/check').failed, false);
    assert.ok(!JSON.stringify(spans).includes(service.key), 'the key goes to the shard, and not into the trace');
  });

  it('says what was asked by the names of the conventions', async () => {
    const { traceId, traceparent } = newTrace();
    const answer = await check('user:conventions', { traceparent });
    const spans = await receiver.trace(traceId, 4);
    assert.deepEqual(find(spans, 'POST /v1/check').attributes, {
      'http.request.method': 'POST',
      'http.route': '/v1/check',
      'http.response.status_code': 200,
      'url.path': '/v1/check',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'grantd.request_id': answer.headers['x-service-request-id'],
      'grantd.tenant_id': service.tenantId,
    });
    const call = find(spans, 'grantd.v1.Shard/Check', 'client').attributes;
    assert.match(String(call['server.address']), /^127\.0\.0\.1$/);
    assert.ok(Number(call['server.port']) > 0);
    for (const kind of ['client', 'server'] as const) {
      const { attributes } = find(spans, 'grantd.v1.Shard/Check', kind);
      assert.equal(attributes['rpc.system.name'], 'grpc');
      assert.equal(attributes['rpc.method'], 'grantd.v1.Shard/Check');
      assert.equal(attributes['rpc.response.status_code'], 'OK');
    }
    assert.deepEqual(find(spans, 'SELECT grants').attributes, {
      'db.system.name': 'cassandra',
      'db.namespace': 'grantd',
      'db.operation.name': 'SELECT',
      'db.collection.name': 'grants',
    });
  });

  it('holds no key, subject, object or name that a client sent', async () => {
    const { traceId, traceparent } = newTrace();
    const headers = { traceparent };
    const name = 'unspeakable';
    await send('POST', '/v1/grants', headers, tupleOf(`${name}:subject`, `${name}:object`));
    await check(`${name}:subject`, headers);
    await send('GET', `/v1/objects?subject=${name}:subject&relation=viewer`, headers);
    await send('POST', '/v1/namespaces', headers, { name });
    await send('GET', '/v1/namespaces', headers);
    await send('GET', `/v1/${name}?${name}=${name}`, headers);
    await send('POST', '/v1/check', headers, `{"${name}`);
    const created = await send('POST', '/v1/keys', headers, { name, scopes: ['check:read'] });
    const { key, key_id: keyId } = created.json as { key: string; key_id: string };
    await service.send({ method: 'GET', path: '/v1/keys', key, headers });
    await send('DELETE', `/v1/keys/${keyId}`, headers);
    await service.send({ method: 'GET', path: '/v1/keys', key, headers });
    await waitFor('the last of them', () =>
      receiver.spans.some((span) => span.traceId === traceId && span.attributes['http.response.status_code'] === 401),
    );
    await receiver.trace(traceId, 30);
    const text = receiver.text();
    assert.ok(text.includes('/v1/keys/{key_id}'));
    for (const secret of [name, service.key, service.keyId, key, keyId, 'Bearer']) {
      assert.ok(!text.includes(secret), `${secret} was sent`);
    }
  });

  it('of a request that names nothing has no path', async () => {
    const { traceId, traceparent } = newTrace();
    assert.equal((await send('GET', '/v1/nowhere', { traceparent })).status, 404);
    const span = find(await receiver.trace(traceId, 3), 'GET');
    assert.equal(span.attributes['url.path'], undefined);
    assert.equal(span.attributes['http.response.status_code'], 404);
    assert.equal(span.failed, false);
  });

  it('is not made where the client says that it is not sampled, or says nothing', async () => {
    const { traceId, traceparent } = newTrace('00');
    const before = receiver.spans.length;
    await check('user:not-sampled', { traceparent });
    await check('user:silent', {});
    const later = newTrace();
    await check('user:warm', later);
    await receiver.trace(later.traceId, 3);
    assert.ok(receiver.spans.every((span) => span.traceId !== traceId));
    assert.equal(receiver.spans.length, before + 3);
  });

  it('is not made for who has no key, whatever the header says, at the front or at the shard', async () => {
    const { key: other } = (await send('POST', '/v1/keys', {}, { scopes: ['check:read'] })).json as { key: string };
    const unknown = createApiKey({ tenantId: service.tenantId, keyId: ids.create('key') }, systemRandom);
    const before = receiver.spans.length;
    const strange: [Partial<CallOptions>, number][] = [
      [{}, 401],
      [{ key: 'junk' }, 401],
      [{ key: unknown }, 401],
      [{ method: 'GET', path: '/errors' }, 200],
      [{ method: 'GET', path: '/errors/unauthorized' }, 200],
      [{ method: 'GET', path: '/nowhere' }, 404],
    ];
    for (const [options, status] of strange) {
      const { traceparent } = newTrace();
      const answer = await service.send({ ...CHECK, ...options, headers: { traceparent } });
      assert.equal(answer.status, status);
    }
    // The first request of a key is traced as any other, from its begin, but for the verification of the key.
    const first = newTrace();
    const granted = { ...CHECK, body: tupleOf('user:granted') };
    assert.equal((await service.send({ ...granted, key: other, headers: first })).status, 200);
    assert.deepEqual(treeOf(await receiver.trace(first.traceId, 3), CLIENT_SPAN), {
      'server POST /v1/check': { 'client grantd.v1.Shard/Check': { 'server grantd.v1.Shard/Check': {} } },
    });
    assert.equal(receiver.spans.length, before + 3);
  });

  it('takes the trace state of the client, within its bound', async () => {
    const stated = newTrace();
    await check('user:warm', { ...stated, tracestate: 'vendor=value,other=1' });
    assert.equal(find(await receiver.trace(stated.traceId, 3), 'POST /v1/check').traceState, 'vendor=value,other=1');
    const longest = newTrace();
    const answer = await check('user:warm', { ...longest, tracestate: `vendor=${'v'.repeat(4000)}` });
    assert.equal(answer.status, 200);
    assert.equal(find(await receiver.trace(longest.traceId, 3), 'POST /v1/check').traceState, '');
  });

  it('begins again where the client sends what is no trace context, and the request is answered', async () => {
    const always = trace('always', 'parentbased_always_on');
    const other = await startTracedService({ front: always, shard });
    for (const traceparent of [`00-${'0'.repeat(32)}-${CLIENT_SPAN}-01`, 'x'.repeat(8000), '00-<script>-1-01', '1']) {
      const { status } = await other.send({
        method: 'POST',
        path: '/v1/check',
        key: other.key,
        body: tupleOf('user:hostile'),
        headers: { traceparent, tracestate: '=,=' },
      });
      assert.equal(status, 200);
    }
    await other.close();
    await always.close();
    const roots = receiver.spans.filter(
      ({ name, resource }) => name === 'POST /v1/check' && resource['service.name'] === 'always',
    );
    assert.equal(roots.length, 4);
    assert.equal(new Set(roots.map(({ traceId }) => traceId)).size, 4);
    for (const { parentSpanId, traceId } of roots) {
      assert.equal(parentSpanId, '');
      assert.match(traceId, /^(?!0{32})[0-9a-f]{32}$/);
    }
  });

  it('is made for a share of the requests that bring none, and for all that are sampled already', async () => {
    const some = trace('draws', 'parentbased_traceidratio', 0.5);
    const other = await startTracedService({ front: some, shard });
    const ask = (headers: Readonly<Record<string, string>>) =>
      other.send({ method: 'POST', path: '/v1/check', key: other.key, body: tupleOf('user:draws'), headers });
    for (let request = 0; request < 200; request += 1) await ask({});
    const sampled = Array.from({ length: 10 }, () => newTrace());
    for (const headers of sampled) await ask(headers);
    await other.close();
    await some.close();
    const begun = receiver.spans.filter(
      ({ name, resource }) => name === 'POST /v1/check' && resource['service.name'] === 'draws',
    );
    const roots = begun.filter(({ parentSpanId }) => parentSpanId === '').length;
    assert.equal(begun.length - roots, sampled.length);
    assert.ok(roots > 50 && roots < 150, String(roots));
  });

  it('is made for the share of the requests that the sampler takes, whole or not at all', async () => {
    const some = trace('some', 'traceidratio', 0.5);
    const other = await startTracedService({ front: some, shard });
    const traces = Array.from({ length: 200 }, () => newTrace());
    for (const { traceparent } of traces) {
      const headers = { traceparent };
      await other.send({ method: 'POST', path: '/v1/check', key: other.key, body: tupleOf('user:some'), headers });
    }
    await other.close();
    await some.close();
    const complete = () =>
      traces.filter(({ traceId }) => receiver.spans.filter((span) => span.traceId === traceId).length >= 3).length;
    const begun = () => traces.filter(({ traceId }) => receiver.spans.some((span) => span.traceId === traceId)).length;
    await waitFor('the spans of the shard', () => complete() === begun());
    assert.ok(begun() > 50 && begun() < 150, String(begun()));
  });

  it('ends at the front where the shard traces nothing, and there is none where the front does not', async () => {
    const alone = await startTracedService({ front });
    const [known, unknown] = [newTrace(), newTrace()];
    const body = tupleOf('user:alone');
    await alone.send({ method: 'POST', path: '/v1/check', key: alone.key, body, headers: known });
    await alone.close();
    const behind = await startTracedService({ shard });
    await behind.send({ method: 'POST', path: '/v1/check', key: behind.key, body, headers: unknown });
    await behind.close();
    const spans = await receiver.trace(known.traceId, 2);
    assert.deepEqual([...new Set(spans.map(({ resource }) => resource['service.name']))], ['front']);
    assert.ok(receiver.spans.every(({ traceId }) => traceId !== unknown.traceId));
  });

  it('has nothing of what a shard does for itself', async () => {
    const all = trace('all', 'parentbased_always_on');
    let stateWrites = 0;
    const other = await startTracedService(
      { front: all, shard: all },
      {
        delay: async (operation, way) => {
          if (operation === 'writeState' && way === 'reply') stateWrites += 1;
        },
      },
    );
    // Each of the writes is the first after a pause, and sets what writes the state tables in motion.
    for (let object = 0; object < 3; object += 1) {
      const written = stateWrites;
      const body = tupleOf('user:background', `doc:${object}`);
      const path = '/v1/grants';
      assert.equal((await other.send({ method: 'POST', path, key: other.key, body })).status, 201);
      await waitFor('the state tables to be written', () => stateWrites > written);
    }
    await other.close();
    await all.close();
    const names = receiver.spans.filter(({ resource }) => resource['service.name'] === 'all').map(({ name }) => name);
    assert.ok(names.filter((name) => name === 'INSERT log').length > 0);
    const foreign = /^(BATCH state|INSERT checkpoints|(UPDATE|SELECT) (members|slots)|SELECT (checkpoints|log))$/;
    assert.deepEqual(
      names.filter((name) => foreign.test(name)),
      [],
    );
  });

  it('of a client that goes away in the middle of its request ends all the same', async () => {
    const { traceId, traceparent } = newTrace();
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const head = [
      'POST /v1/check HTTP/1.1',
      'Host: grantd',
      `Authorization: Bearer ${service.key}`,
      `traceparent: ${traceparent}`,
      'Content-Type: application/json',
      'Content-Length: 100',
      'Expect: 100-continue',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    // The service waits for the body.
    await once(socket, 'data');
    socket.resetAndDestroy();
    const span = find(await receiver.trace(traceId, 1), 'POST /v1/check');
    assert.equal(span.attributes['error.type'], 'client-closed');
  });
});
