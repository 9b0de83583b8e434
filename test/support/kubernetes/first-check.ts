// The first thing that a new installation is asked: whether a grant that was just made is there.

import assert from 'node:assert/strict';
import { waitFor } from '../cluster/wait-for.ts';
import type { Release } from './release.ts';

const FIRST_MS_MAX = 180_000;
const TUPLE = JSON.stringify({ subject: 'user:first', relation: 'viewer', object: 'doc:first' });

/** Resolves once a tenant was made, given a grant, and a check of it was answered with yes. */
export async function answerFirstCheck(release: Release): Promise<void> {
  let last: unknown;
  const call = async (path: string, key: string): Promise<ReturnType<typeof JSON.parse>> => {
    const response = await fetch(`${release.frontUrl}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: TUPLE,
    });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  };
  await waitFor(
    'the first check',
    async () => {
      try {
        const { key } = await release.operator.createTenant('first');
        await call('/v1/grants', key);
        const { authorized } = await call('/v1/check', key);
        assert.equal(authorized, true);
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
}
