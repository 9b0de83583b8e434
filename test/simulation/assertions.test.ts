// A failed assertion of the code under test is told to the run although something catches it.

import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { ASSERTIONS_CHANNEL, watchAssertions } from './mutate.ts';

test('a failed assertion is told although it is caught', async () => {
  const told: unknown[] = [];
  subscribe(ASSERTIONS_CHANNEL, (message) => told.push(message));
  watchAssertions();
  const loaded: { assert: (condition: boolean, message: string) => void } = await import('../../src/core/assert.ts');
  loaded.assert(true, 'it holds');
  assert.throws(() => loaded.assert(false, 'it does not hold'), { message: 'Assertion failed: it does not hold' });
  assert.deepEqual(told, ['it does not hold']);
});
