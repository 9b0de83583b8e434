// Checks at a rising rate, until one is too late, fails, or finds no client to begin with: the run ends there, and its
// summary says at which rate that was. That it ends so is no fault: it is what was looked for, but k6 counts it as one
// (status 99).

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
      // Of few requests a slow one says little.
      { threshold: `p(99)<${p99Ms}`, abortOnFail: true, delayAbortEval: '10s' },
    ],
  },
});

export function ask(): void {
  const caller = test.pickCaller();
  askCheck(caller, question(caller.tenant.grants, Math.random));
}
