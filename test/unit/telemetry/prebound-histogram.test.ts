// The tallied histogram, held against prom-client's: what is scraped is the same.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import { TalliedHistogram } from '../../../src/telemetry/prebound-histogram.ts';

const OPTIONS = {
  name: 'grantd_try_seconds',
  help: 'A try.',
  labelNames: ['operation', 'status'] as const,
  buckets: [0.001, 0.01, 0.1],
};
const OBSERVATIONS = [0, 0.0005, 0.001, 0.0011, 0.05, 0.1, 3, 12.5];

it('is scraped as a histogram of prom-client is', async () => {
  const [registry, reference] = [new Registry(), new Registry()];
  const tallied = new TalliedHistogram({ ...OPTIONS, registers: [registry] });
  const histogram = new Histogram({ ...OPTIONS, registers: [reference] });
  assert.equal(await registry.metrics(), await reference.metrics());
  for (const status of ['200', '4"0\n4']) {
    for (const seconds of OBSERVATIONS) {
      tallied.labels('check', status).observe(seconds);
      histogram.labels('check', status).observe(seconds);
    }
  }
  const lines = (text: string): string[] => text.split('\n').map((line) => line.replace(/\{(.*)\}/, sorted));
  const sorted = (_: string, labels: string): string => `{${labels.split(',').sort().join(',')}}`;
  assert.deepEqual(lines(await registry.metrics()), lines(await reference.metrics()));
});
