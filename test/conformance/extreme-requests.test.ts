// Every operation with some extremes of its parameters and members; slow/extreme-requests.test.ts sends them all.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runExtremes } from './support/extreme-run.ts';

test('no extreme of a parameter or member fails in the service, or reaches another tenant', async (t) => {
  const { sent, statuses, faults } = await runExtremes(1, 'some');
  t.diagnostic(`${sent} requests: ${[...statuses].map(([kind, count]) => `${count} × ${kind}xx`).join(', ')}`);
  assert.deepEqual(faults, []);
  // Most are refused, and some are valid.
  assert.ok((statuses.get(2) ?? 0) > 0.02 * sent && (statuses.get(4) ?? 0) > sent / 2);
});
