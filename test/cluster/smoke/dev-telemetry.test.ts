// Traces and the decision log of a running service, by its settings alone: with a collector and without one.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { readDevFacts, testEnvironment } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';
import { call } from '../../kit/http-client.ts';
import { startHttpService } from '../../kit/http-service.ts';
import { startOtlpReceiver } from '../../unit/telemetry/otlp-receiver.ts';
import { startHere } from '../support/roles-here.ts';

const BODY = { subject: 'user:1', relation: 'viewer', object: 'doc:1' };

const eventsOf = (output: string): Record<string, unknown>[] =>
  output
    .split('\n')
    .filter((line) => line.includes('"specversion"'))
    .map((line) => JSON.parse(line));

async function collect(t: TestContext) {
  const receiver = await startOtlpReceiver();
  t.after(() => receiver.close());
  return receiver;
}

/** The URL of a collector that takes connections and never answers. */
async function startSilentCollector(t: TestContext): Promise<string> {
  const server = createServer((socket) => socket.on('error', () => {}));
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

describe('grantd dev', () => {
  it('sends traces to a collector and decisions to standard output, the last of them at its end', async (t) => {
    const receiver = await collect(t);
    const service = await startHttpService({
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20s3cret',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      GRANTD_DECISION_LOG: 'stdout',
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
    for (const name of ['grantd_trace_spans_total', 'grantd_decision_log_records_total'])
      assert.match(text, new RegExp(`^# TYPE ${name} counter$`, 'm'));
    const checked = await service.send({ method: 'POST', path: '/v1/check', key: service.key, body: BODY });
    assert.equal(checked.status, 200);
    const body = { checks: [BODY, { ...BODY, object: 'doc:2' }] };
    await service.send({ method: 'POST', path: '/v1/check/bulk', key: service.key, body });
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

    const events = eventsOf(service.output());
    assert.equal(events.length, 3);
    const [event] = events;
    assert.deepEqual(
      [event?.type, event?.source, event?.id],
      ['grantd.decision.v1', '/grantd/dev', `${checked.headers['x-service-request-id']}.0`],
    );
    const data = event?.data as Record<string, unknown>;
    assert.deepEqual([data.tenant_id, data.object, data.authorized], [service.tenantId, 'doc:1', true]);
    assert.ok(!service.output().includes(service.key));
  });

  it('sends none where traces are disabled', async (t) => {
    const receiver = await collect(t);
    const directory = useDirectory();
    const service = await startHere('dev', {
      ...testEnvironment(directory),
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_SDK_DISABLED: 'true',
    });
    const { base_url: baseUrl, key } = readDevFacts(directory);
    const checked = await call(baseUrl, { method: 'POST', path: '/v1/check', key, body: BODY });
    assert.equal(checked.status, 200);
    await service.stop();
    assert.deepEqual(receiver.requests, []);
  });

  it('answers and stops as ever where the collector does not answer, and takes the share of decisions that is set', async (t) => {
    const service = await startHttpService({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: await startSilentCollector(t),
      GRANTD_DECISION_LOG: 'stdout',
      GRANTD_DECISION_LOG_RATE: '0',
    });
    for (let request = 0; request < 50; request += 1) {
      const answer = await service.send({ method: 'POST', path: '/v1/check', key: service.key, body: BODY });
      assert.equal(answer.status, 200);
    }
    // A stop that took longer than the program allows itself would end with another code.
    await service.stop();
    const lines = service.output().split('\n');
    assert.ok(lines.filter((line) => line.includes('collector')).length <= 1);
    assert.deepEqual(eventsOf(service.output()), []);
  });
});
