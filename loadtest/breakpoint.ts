// Checks at a rising rate. The run ends when one is too slow, fails, or finds no free client, and the summary shows the
// rate at that moment. That is the expected end, but k6 counts it as a failure (status 99).

import { askCheck } from './calls.ts';
import { question } from './data-set.ts';
import { answersRight } from './judgement.ts';
import { openTest } from './load-test.ts';

const test = openTest('breakpoint');
const { failedMax, p99Ms, rateMax = test.rate } = test.settings;

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: {
    breakpoint: {
      executor: 'ramping-arrival-rate',
      startRate: test.rate,
      timeUnit: '1s',
      preAllocatedVUs: test.vus,
      exec: 'ask',
      stages: [{ duration: `${test.durationSeconds}s`, target: rateMax }],
    },
  },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks']),
    failed_requests: [{ threshold: `rate<=${failedMax}`, abortOnFail: true }],
    dropped_iterations: [{ threshold: 'count==0', abortOnFail: true }],
    'http_req_duration{operation:check}': [
      // With few requests, a single slow one means little.
      { threshold: `p(99)<${p99Ms}`, abortOnFail: true, delayAbortEval: '10s' },
    ],
  },
});

export function ask(): void {
  const caller = test.pickCaller();
  askCheck(caller, question(caller.tenant.grants, Math.random));
}
