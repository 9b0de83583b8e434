// The loss of a shard, as clients see it: they only wait. The scenario generates load and judges; you kill the shard at
// its prompt. The first third of the run is quiet. In the second, the loss must happen and end. In the last, everything
// must be as before.

import { scenario } from 'k6/execution';
import { askCheck } from './calls.ts';
import { question } from './data-set.ts';
import { answersRight, fast, nothingLost } from './judgement.ts';
import { openTest } from './load-test.ts';
import { writeAndCheck } from './mixture.ts';

const WRITES = 0.05;
/** The deadline of a request at the service: the longest delay that the loss may cause. */
const WAIT_MS_MAX = 10_000;

const test = openTest('shard-loss');
const phaseSeconds = test.durationSeconds / 3;

export const { setup, handleSummary } = test;
export const options = test.options({
  scenarios: {
    'shard-loss': test.steady('ask'),
    announcement: { executor: 'per-vu-iterations', startTime: `${Math.round(phaseSeconds)}s`, exec: 'announce' },
  },
  thresholds: {
    ...answersRight(['positive_checks', 'negative_checks', 'writes']),
    ...nothingLost(test.settings, '{phase:before}'),
    ...nothingLost(test.settings, '{phase:loss}'),
    ...nothingLost(test.settings, '{phase:after}'),
    ...fast(test.settings, ['phase:before', 'phase:after']),
    'http_req_duration{phase:loss}': [`max<${WAIT_MS_MAX}`],
  },
});

export function announce(): void {
  const seconds = Math.round(phaseSeconds / 2);
  console.warn(`NOW: kill one shard (kill -9, or kubectl delete pod --force), within ${seconds} s.`);
}

export function ask(): void {
  const elapsedSeconds = (Date.now() - scenario.startTime) / 1000;
  const phase = elapsedSeconds < phaseSeconds ? 'before' : elapsedSeconds < 2 * phaseSeconds ? 'loss' : 'after';
  const caller = test.pickCaller({ phase });
  if (Math.random() < WRITES) writeAndCheck(caller);
  else askCheck(caller, question(caller.tenant.grants, Math.random));
}
