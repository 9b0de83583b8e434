// Work that a signal ends.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { untilAborted } from '../../../../src/core/async/clock.ts';

const reason = new Error('stopping');

describe('work until a signal', () => {
  it('gives what the work gives', async () => {
    const { signal } = new AbortController();
    assert.equal(await untilAborted(Promise.resolve(1), signal), 1);
    await assert.rejects(untilAborted(Promise.reject(reason), signal), (error) => error === reason);
  });

  it('ends with the signal, and a later failure of the work troubles nobody', async () => {
    const stopping = new AbortController();
    const work = Promise.withResolvers<void>();
    const waiting = untilAborted(work.promise, stopping.signal);
    stopping.abort(reason);
    await assert.rejects(waiting, (error) => error === reason);
    work.reject(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});
