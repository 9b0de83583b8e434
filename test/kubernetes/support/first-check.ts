// The first thing that a new installation is asked: whether a grant that was just made is there.

import assert from 'node:assert/strict';
import { waitFor } from '../../kit/wait-for.ts';
import type { Release } from './release.ts';

const FIRST_MS_MAX = 180_000;
const CALL_MS_MAX = 5000;
const TUPLE = JSON.stringify({ subject: 'user:first', relation: 'viewer', object: 'doc:first' });

async function call(release: Release, path: string, key: string): Promise<ReturnType<typeof JSON.parse>> {
  const response = await fetch(`${release.frontUrl}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: TUPLE,
    // A connection to a pod that is gone hears nothing.
    signal: AbortSignal.timeout(CALL_MS_MAX),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

/** Whether the grant of the first check is there. Rejects where it cannot be told. */
export async function check(release: Release, key: string): Promise<boolean> {
  return (await call(release, '/v1/check', key)).authorized;
}

/** Resolves with its key once a tenant was made, given a grant, and a check of it was answered with yes. */
export async function answerFirstCheck(release: Release): Promise<string> {
  let last: unknown;
  let answered = '';
  await waitFor(
    'the first check',
    async () => {
      try {
        const { key } = await release.operator.createTenant('first');
        await call(release, '/v1/grants', key);
        assert.equal(await check(release, key), true);
        answered = key;
        return true;
      } catch (error) {
        // Not yet: no pod is ready. A wrong answer is none that passes.
        if (error instanceof assert.AssertionError) throw error;
        last = error;
        return false;
      }
    },
    FIRST_MS_MAX,
    () => String(last),
  );
  return answered;
}
