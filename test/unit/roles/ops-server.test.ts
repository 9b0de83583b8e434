// The ops port: liveness, readiness with its reasons, metrics.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { listenOps, type OpsServer } from '../../../src/roles/ops-server.ts';
import { listenOn, StartError } from '../../../src/roles/start-error.ts';
import { createLog } from '../../../src/telemetry/log.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';

const log = createLog({ level: 'silent', pretty: false });
const metrics = createMetrics();

describe('the ops port', () => {
  let server: OpsServer;
  let reasons: string[] = [];
  before(async () => {
    server = await listenOps({ metrics, log, notReady: () => reasons }, { address: '127.0.0.1:0' });
  });
  after(() => server.close());

  it('is alive whatever else is wrong', async () => {
    reasons = ['starting'];
    const response = await fetch(`${server.url}/livez`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { status: 'alive' });
  });

  it('is ready where there is no reason against it', async () => {
    reasons = [];
    const response = await fetch(`${server.url}/readyz`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { status: 'ready' });
  });

  it('says why it is not ready', async () => {
    reasons = ['starting', 'no owner'];
    const response = await fetch(`${server.url}/readyz?verbose`);
    assert.equal(response.status, 503);
    assert.deepEqual(await response.json(), { status: 'not ready', reasons });
  });

  it('serves every metric as Prometheus text', async () => {
    const response = await fetch(`${server.url}/metrics`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    assert.match(text, /^# TYPE grantd_checks_total counter$/m);
    assert.match(text, /^process_cpu_seconds_total /m);
  });

  it('has nothing else and takes no other method', async () => {
    assert.equal((await fetch(`${server.url}/`)).status, 404);
    const response = await fetch(`${server.url}/livez`, { method: 'POST', body: 'x' });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'GET, HEAD');
    assert.equal((await fetch(`${server.url}/livez`, { method: 'HEAD' })).status, 200);
  });

  it('answers 500 where the metrics cannot be read, and goes on', async (context) => {
    const failing = { ...metrics, render: () => Promise.reject(new Error('x')) };
    const other = await listenOps({ metrics: failing, log, notReady: () => [] }, { address: '127.0.0.1:0' });
    context.after(() => other.close());
    assert.equal((await fetch(`${other.url}/metrics`)).status, 500);
    assert.equal((await fetch(`${other.url}/livez`)).status, 200);
  });

  it('names the setting and the address where the port is in use', async () => {
    const address = server.url.slice('http://'.length);
    await assert.rejects(
      listenOn('GRANTD_OPS_ADDRESS', address, () => listenOps({ metrics, log, notReady: () => [] }, { address })),
      (error) =>
        error instanceof StartError &&
        error.message === `The address ${address} is in use by another process. Set GRANTD_OPS_ADDRESS to another one.`,
    );
  });

  it('names the setting where the address is not of this machine', async () => {
    await assert.rejects(
      listenOn('GRANTD_OPS_ADDRESS', '192.0.2.1:0', () =>
        listenOps({ metrics, log, notReady: () => [] }, { address: '192.0.2.1:0' }),
      ),
      /is not an address of this machine\. Set GRANTD_OPS_ADDRESS/,
    );
  });
});

describe('listenOn', () => {
  it('passes any other error on as it is', async () => {
    const defect = new TypeError('x is not a function');
    await assert.rejects(
      listenOn('GRANTD_OPS_ADDRESS', 'a:1', () => Promise.reject(defect)),
      (error) => error === defect,
    );
  });
});
