// One usable session, whatever becomes of the others, on a clock of the test's.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Reconnection } from '../../../../../src/store/cassandra/driver/session.ts';
import { createRecordingLog } from '../../../../kit/store/store-directory.ts';
import { VirtualClock } from '../../../../kit/virtual-clock.ts';

class FakeSession {
  usable = true;
  ended = 0;
  readonly isUsable = (): boolean => this.usable;
  readonly end = (): Promise<void> => {
    this.ended += 1;
    return Promise.resolve();
  };
}

function keepOne() {
  const clock = new VirtualClock();
  const attempts: { resolve: (session: FakeSession) => void; reject: (error: Error) => void }[] = [];
  const open = (): Promise<FakeSession> =>
    new Promise((resolve, reject) => {
      attempts.push({ resolve, reject });
    });
  const first = new FakeSession();
  return { clock, attempts, first, sessions: new Reconnection({ clock, log: createRecordingLog(), open }, first) };
}

describe('the session with Cassandra', () => {
  it('stays the same while it is usable', async () => {
    const { clock, attempts, first, sessions } = keepOne();
    await clock.advance(60_000);
    assert.equal(sessions.current, first);
    assert.equal(attempts.length, 0);
    await sessions.close();
    assert.equal(first.ended, 1);
  });

  it('is ended once it has lost every node, and another one takes over as soon as one connects', async () => {
    const { clock, attempts, first, sessions } = keepOne();
    first.usable = false;
    await clock.advance(250);
    assert.equal(first.ended, 1);
    assert.equal(attempts.length, 1, 'one at a time');
    await clock.advance(20_000);
    assert.equal(attempts.length, 1, 'one at a time');
    attempts[0]?.reject(new Error('refused'));
    await clock.advance(500);
    assert.equal(attempts.length, 2);
    const second = new FakeSession();
    attempts[1]?.resolve(second);
    await clock.advance(1000);
    assert.equal(sessions.current, second);
    second.usable = false;
    await clock.advance(250);
    assert.deepEqual([second.ended, attempts.length], [1, 3], 'it is watched as the first one was');
    await sessions.close();
  });

  it('leaves nothing open if it is closed while another one is being opened', async () => {
    const { clock, attempts, first, sessions } = keepOne();
    first.usable = false;
    await clock.advance(250);
    await sessions.close();
    const late = new FakeSession();
    attempts[0]?.resolve(late);
    await clock.advance(60_000);
    assert.deepEqual([late.ended, attempts.length, sessions.current], [1, 1, first]);
  });
});
