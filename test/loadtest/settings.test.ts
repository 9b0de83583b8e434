// The settings of the load scenarios: defaults per scenario, and every wrong one named.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SCENARIO_NAMES, SCENARIOS } from '../../loadtest/scenarios.ts';
import { defaultVus, readSettings, renderDuration } from '../../loadtest/settings.ts';

const REQUIRED = { LOAD_BASE_URL: 'http://127.0.0.1:8080/', LOAD_TENANTS_FILE: 'tenants.json' };

describe('the settings of a scenario', () => {
  it('have the defaults of its own', () => {
    for (const name of SCENARIO_NAMES) {
      const ops = name === 'soak' ? { LOAD_OPS_URLS: 'http://127.0.0.1:8081' } : {};
      const { values, problems } = readSettings(name, { ...REQUIRED, ...ops });
      assert.deepEqual(problems, []);
      const { rate, durationSeconds, p99Ms } = SCENARIOS[name];
      assert.deepEqual(
        [values.rate, values.durationSeconds, values.p99Ms, values.failedMax],
        [rate, durationSeconds, p99Ms, 0],
      );
    }
  });

  it('are read in their forms', () => {
    const given = { LOAD_RATE: '20', LOAD_DURATION: '2h', LOAD_P99_MS: '1.5', LOAD_VUS: '7', LOAD_FAILED_MAX: '0.25' };
    const { values, problems } = readSettings('check', { ...REQUIRED, ...given });
    assert.deepEqual(problems, []);
    assert.equal(values.baseUrl, 'http://127.0.0.1:8080');
    const { rate, durationSeconds, p99Ms, vus, failedMax } = values;
    assert.deepEqual([rate, durationSeconds, p99Ms, vus, failedMax], [20, 7200, 1.5, 7, 0.25]);
    const soak = readSettings('soak', { ...REQUIRED, LOAD_OPS_URLS: 'http://a:1/, http://b:2' });
    assert.deepEqual(soak.values.opsUrls, ['http://a:1', 'http://b:2']);
  });

  it('that are missing are all named; empty ones are missing', () => {
    const { problems } = readSettings('soak', { LOAD_BASE_URL: '' });
    const names = problems.map((problem) => problem.replace(/ must be set \(.*\)$/, ''));
    assert.deepEqual(names, ['LOAD_BASE_URL', 'LOAD_TENANTS_FILE', 'LOAD_OPS_URLS']);
  });

  it('that are wrong are all named, and count as not set', () => {
    const wrong: Record<string, string> = {
      LOAD_BASE_URL: 'localhost:8080',
      LOAD_RATE: '0',
      LOAD_DURATION: '5 minutes',
      LOAD_VUS: '1.5',
      LOAD_P99_MS: '-1',
      LOAD_FAILED_MAX: '2',
      LOAD_BULK_SIZE: '101',
      LOAD_NONSENSE: '1',
    };
    const { values, problems } = readSettings('bulk', { ...REQUIRED, ...wrong });
    assert.deepEqual(problems.map((problem) => problem.split(' ')[0]).sort(), Object.keys(wrong).sort());
    assert.deepEqual([values.baseUrl, values.rate, values.bulkSize], [undefined, SCENARIOS.bulk.rate, 100]);
  });

  it('of other scenarios are not looked at, nor what Kubernetes sets', () => {
    const others = { LOAD_RATE_MAX: 'high', LOAD_BALANCER_SERVICE_HOST: '10.0.0.1', LOAD_PORT: 'tcp://10.0.0.1:80' };
    assert.deepEqual(readSettings('check', { ...REQUIRED, ...others }).problems, []);
  });
});

describe('the room for iterations', () => {
  it('is what begins in the time that one may take', () => {
    assert.equal(defaultVus('check', 500), 500);
    assert.equal(defaultVus('shard-loss', 100), 600);
    assert.equal(defaultVus('check', 1), 20);
  });
});

describe('a duration', () => {
  it('is shown as it would be set', () => {
    assert.deepEqual([1, 90, 60, 1200, 3600, 7200].map(renderDuration), ['1s', '90s', '1m', '20m', '1h', '2h']);
  });
});
