// The settings of the decision log.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../../src/config/read-config.ts';

const TENANT = 'ten_01jhm9r0g0e8xsg4k6t2v8w0yc';

describe('the settings of the decision log', () => {
  it('leave it off', () => {
    const config = readConfig('dev', {});
    const { decisionLog, decisionLogRate, decisionLogTenants, decisionLogExplain } = config;
    assert.deepEqual([decisionLog, decisionLogRate, decisionLogTenants, decisionLogExplain], ['off', 1, undefined, 0]);
  });

  it('say where it goes, and what of it', () => {
    const config = readConfig('dev', {
      GRANTD_DECISION_LOG: 'stdout',
      GRANTD_DECISION_LOG_RATE: '0.01',
      GRANTD_DECISION_LOG_EXPLAIN: '0.5',
      GRANTD_DECISION_LOG_TENANTS: `${TENANT}, ${TENANT.replace('yc', 'yd')}`,
    });
    assert.equal(config.decisionLog, 'stdout');
    assert.equal(config.decisionLogRate, 0.01);
    assert.equal(config.decisionLogExplain, 0.5);
    assert.deepEqual(config.decisionLogTenants, [TENANT, TENANT.replace('yc', 'yd')]);
  });

  it('refuse what means nothing', () => {
    for (const [name, value] of [
      ['GRANTD_DECISION_LOG', 'file'],
      ['GRANTD_DECISION_LOG_RATE', '1.5'],
      ['GRANTD_DECISION_LOG_EXPLAIN', '-1'],
      ['GRANTD_DECISION_LOG_TENANTS', 'acme'],
      ['GRANTD_DECISION_LOG_TENANTS', Array.from({ length: 1001 }, () => TENANT).join(',')],
    ] as const) {
      assert.throws(() => readConfig('dev', { [name]: value }), new RegExp(name));
    }
  });

  it('need a collector to send it to one', () => {
    assert.throws(() => readConfig('dev', { GRANTD_DECISION_LOG: 'otlp' }), /needs a collector/);
    for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT']) {
      assert.equal(readConfig('dev', { GRANTD_DECISION_LOG: 'otlp', [name]: 'http://c:4318' }).decisionLog, 'otlp');
    }
  });
});
