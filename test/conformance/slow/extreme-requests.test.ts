// Every operation with every extreme of its parameters and members, in an order that each seed changes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runExtremes } from '../support/extreme-run.ts';

for (const seed of [1, 2]) {
  test(`no extreme of a parameter or member fails in the service, or reaches another tenant: seed ${seed}`, async (t) => {
    const { sent, statuses, faults } = await runExtremes(seed, 'all');
    t.diagnostic(`${sent} requests: ${[...statuses].map(([kind, count]) => `${count} × ${kind}xx`).join(', ')}`);
    assert.deepEqual(faults, []);
  });
}
