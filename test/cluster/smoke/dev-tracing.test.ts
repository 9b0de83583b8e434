// Traces of a running service: by its settings alone, with a collector and without one.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { call } from '../../kit/http-client.ts';
import { startHttpService } from '../../kit/http-service.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { startOtlpReceiver } from '../../unit/telemetry/otlp-receiver.ts';

/** Nothing listens at the port of the discard protocol. */
const DEAD_COLLECTOR = 'http://127.0.0.1:9';
const BODY = { subject: 'user:1', relation: 'viewer', object: 'doc:1' };

async function collect(t: TestContext) {
  const receiver = await startOtlpReceiver();
  t.after(() => receiver.close());
  return receiver;
}

describe('grantd dev', () => {
  it('sends traces where a collector is set, the last of them at its end', async (t) => {
    const receiver = await collect(t);
    const service = await startHttpService({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20s3cret',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      GRANTD_LOG_LEVEL: 'info',
    });
    const traceId = randomBytes(16).toString('hex');
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const granted = await service.send({ method: 'POST', path: '/v1/grants', key: service.key, body: BODY, headers });
    assert.equal(granted.status, 201);
    const listed = await call(service.consoleUrl, {
      method: 'GET',
      path: `/operator/v1/tenants/${service.tenantId}/keys`,
      key: service.operatorToken,
      headers,
    });
    assert.equal(listed.status, 200);
    const { text } = await call(service.opsUrl, { method: 'GET', path: '/metrics' });
    assert.match(text, /^# TYPE grantd_trace_spans_total counter$/m);
    await service.stop();

    const spans = receiver.spans.filter((span) => span.traceId === traceId);
    const names = spans.map(({ name }) => name);
    for (const name of ['POST /v1/grants', 'append', 'INSERT log', 'GET /operator/v1/tenants/{tenantId}/keys']) {
      assert.ok(names.includes(name), `${name} is not among ${names.join(', ')}`);
    }
    const [first] = spans;
    assert.equal(first?.resource['service.name'], 'grantd');
    assert.equal(first?.resource['service.instance.id'], 'dev');
    assert.equal(first?.resource['deployment.environment.name'], 'test');
    assert.equal(spans.find(({ name }) => name === 'INSERT log')?.attributes['db.system.name'], 'sqlite');
    for (const { path, headers: sent } of receiver.requests) {
      assert.equal(path, '/v1/traces');
      assert.equal(sent.authorization, 'Bearer s3cret');
    }
    assert.match(service.output(), /tracing is on/);
    assert.ok(!service.output().includes('s3cret'));
  });

  it('sends none where traces are disabled', async (t) => {
    const receiver = await collect(t);
    const service = await startHttpService({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_SDK_DISABLED: 'true' });
    await service.send({ method: 'POST', path: '/v1/check', key: service.key, body: BODY });
    await service.stop();
    assert.deepEqual(receiver.requests, []);
  });

  it('answers while the collector does not', async (t) => {
    let asked = 0;
    const silent = createServer(() => {
      asked += 1;
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const end = (): void => {
      silent.closeAllConnections();
      silent.close();
    };
    t.after(end);
    const { port } = silent.address() as AddressInfo;
    const service = await startHttpService({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    const check = () => service.send({ method: 'POST', path: '/v1/check', key: service.key, body: BODY });
    await check();
    await waitFor('spans at the collector', () => asked > 0);
    for (let request = 0; request < 50; request += 1) assert.equal((await check()).status, 200);
    end();
    await service.stop();
  });

  it('answers and stops as ever where the collector is away, and says so once', async () => {
    const service = await startHttpService({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: DEAD_COLLECTOR });
    const answer = await service.send({ method: 'POST', path: '/v1/check', key: service.key, body: BODY });
    assert.equal(answer.status, 200);
    await service.stop();
    const lines = service.output().split('\n');
    assert.ok(lines.filter((line) => line.includes('collector')).length <= 1);
  });
});
