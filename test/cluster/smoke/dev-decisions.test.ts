// The decision log of a running service, by its settings alone.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { call } from '../../kit/http-client.ts';
import { startHttpService } from '../../kit/http-service.ts';

const BODY = { subject: 'user:1', relation: 'viewer', object: 'doc:1' };

const eventsOf = (output: string): Record<string, unknown>[] =>
  output
    .split('\n')
    .filter((line) => line.includes('"specversion"'))
    .map((line) => JSON.parse(line));

describe('the decision log of grantd dev', () => {
  it('is events on standard output, the last of them at its end', async () => {
    const service = await startHttpService({ GRANTD_DECISION_LOG: 'stdout' });
    const check = { method: 'POST', path: '/v1/check', key: service.key, body: BODY };
    const { status, headers } = await service.send(check);
    assert.equal(status, 200);
    const body = { checks: [BODY, { ...BODY, object: 'doc:2' }] };
    await service.send({ method: 'POST', path: '/v1/check/bulk', key: service.key, body });
    await service.stop();
    const events = eventsOf(service.output());
    assert.equal(events.length, 3);
    const [first] = events;
    assert.deepEqual(
      [first?.type, first?.source, first?.id],
      ['grantd.decision.v1', '/grantd/dev', `${headers['x-service-request-id']}.0`],
    );
    const data = first?.data as Record<string, unknown>;
    assert.deepEqual([data.tenant_id, data.object, data.authorized], [service.tenantId, 'doc:1', false]);
    assert.ok(!service.output().includes(service.key));
  });

  it('is off unless it is set, and then takes the share and the tenants that are set', async () => {
    const settings = [{}, { GRANTD_DECISION_LOG: 'stdout', GRANTD_DECISION_LOG_RATE: '0' }];
    for (const [index, each] of settings.entries()) {
      const service = await startHttpService(each);
      await service.send({ method: 'POST', path: '/v1/check', key: service.key, body: BODY });
      const { text } = await call(service.opsUrl, { method: 'GET', path: '/metrics' });
      assert.ok(text.includes('# TYPE grantd_decision_log_records_total counter'));
      await service.stop();
      assert.deepEqual(eventsOf(service.output()), [], String(index));
    }
  });
});
