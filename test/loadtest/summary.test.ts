// What a run says of itself at its end.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RunFacts, renderSummary, type SummaryData } from '../../loadtest/summary.ts';

const FACTS: RunFacts = {
  name: 'check',
  baseUrl: 'http://127.0.0.1:8080',
  tenants: 10_000,
  rate: 500,
  rateMax: undefined,
  durationSeconds: 30,
};

/** As k6 gives it: of a rate, `passes` are the samples that were true. */
const rate = (passes: number, fails: number, ok = true) => ({
  type: 'rate',
  values: { rate: passes / (passes + fails), passes, fails },
  thresholds: { 'rate==1': { ok } },
});

const DATA: SummaryData = {
  state: { testRunDurationMs: 30_000 },
  metrics: {
    failed_requests: { ...rate(0, 15_000), thresholds: { 'rate<=0': { ok: true } } },
    positive_checks: rate(7400, 0),
    negative_checks: rate(7600, 0),
    'http_req_duration{operation:check}': {
      type: 'trend',
      values: { count: 15_000, med: 0.51, 'p(95)': 1.2, 'p(99)': 12.3, max: 123.4 },
      thresholds: { 'p(99)<100': { ok: true } },
    },
  },
};
const lineOf = (text: string, label: string): string | undefined =>
  text
    .split('\n')
    .find((line) => line.startsWith(`  ${label}`))
    ?.slice(28);

describe('the summary of a run', () => {
  it('says what was asked, how much of it, and how long it took', () => {
    const text = renderSummary(DATA, FACTS);
    assert.match(text, /^\ncheck: passed\n/);
    assert.equal(lineOf(text, 'target'), 'http://127.0.0.1:8080, 10,000 tenants');
    assert.equal(lineOf(text, 'for'), '30.0 s, 500 iterations a second');
    assert.equal(lineOf(text, 'requests'), '15,000 (500 a second), 0 failed');
    assert.equal(lineOf(text, 'dropped'), '0 that could not start in time');
    assert.equal(lineOf(text, 'positive checks'), '7,400, all right');
    assert.equal(lineOf(text, 'duration, check'), '15,000 × p50 0.51  p95 1.20  p99 12.3  max 123 ms');
    assert.ok(!text.includes('listings'));
  });

  it('names what did not hold', () => {
    const metrics = { ...DATA.metrics, negative_checks: rate(7599, 1, false) };
    const text = renderSummary({ ...DATA, metrics }, FACTS);
    assert.match(text, /^\ncheck: NOT PASSED\n/);
    assert.equal(lineOf(text, 'negative checks'), '7,600, 1 WRONG');
    assert.match(text, /\nFailed thresholds:\n {2}negative_checks: rate==1\n/);
  });

  it('is no pass where nothing was asked', () => {
    assert.match(renderSummary({ state: { testRunDurationMs: 10 }, metrics: {} }, FACTS), /^\ncheck: NOT RUN/);
  });

  it('of a rise says at which rate it ended, and takes no wrong answer for that end', () => {
    const facts: RunFacts = { ...FACTS, name: 'breakpoint', rate: 100, rateMax: 10_100, durationSeconds: 300 };
    const dropped = { type: 'counter', values: { count: 7 }, thresholds: { 'count==0': { ok: false } } };
    const metrics = { ...DATA.metrics, dropped_iterations: dropped };
    const text = renderSummary({ ...DATA, metrics }, facts);
    assert.match(text, /^\nbreakpoint: limit reached\n/);
    assert.equal(lineOf(text, 'rate at the end'), '1,100 a second');
    assert.equal(lineOf(text, 'dropped'), '7 that could not start in time');
    const wrong = renderSummary({ ...DATA, metrics: { ...metrics, positive_checks: rate(1, 1, false) } }, facts);
    assert.match(wrong, /^\nbreakpoint: NOT PASSED\n/);
  });

  it('has the memory of each process, and its slope', () => {
    const gauge = (value: number, ok = true) => ({
      type: 'gauge',
      values: { value },
      thresholds: { 'value<=10': { ok } },
    });
    const metrics = {
      ...DATA.metrics,
      'memory_growth_percent_per_hour{process:2}': gauge(24.3, false),
      'memory_slope_mib_per_hour{process:2}': gauge(49),
      'memory_mean_mib{process:2}': gauge(201.7),
    };
    const text = renderSummary({ ...DATA, metrics }, { ...FACTS, name: 'soak' });
    assert.equal(
      lineOf(text, 'memory, process 2'),
      '202 MiB, growing by 49.0 MiB (24.3 %) an hour: 28.5 bytes a request',
    );
    assert.match(text, /memory_growth_percent_per_hour\{process:2\}: value<=10/);
  });
});
