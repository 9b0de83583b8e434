// Waiting that a signal ends: for work, for a Cassandra that is away.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../../src/core/errors.ts';
import { whileCassandraIsAway } from '../../../../src/roles/open/cassandra.ts';
import { untilAborted } from '../../../../src/roles/process/waiting.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const log = createLog({ level: 'silent', pretty: false });
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

describe('waiting for Cassandra', () => {
  const outage = new GrantdError('unavailable', 'No host could be reached.');

  it('tries every second, tells why, and gives what works in the end', async () => {
    const clock = new VirtualClock();
    const told: string[] = [];
    let tries = 0;
    const waiting = whileCassandraIsAway(
      { clock, log },
      async () => {
        tries += 1;
        if (tries < 4) throw outage;
        return 'open';
      },
      { signal: new AbortController().signal, onWaiting: (why) => told.push(why) },
    );
    await clock.advance(2999);
    assert.equal(tries, 3);
    await clock.advance(1);
    assert.equal(await waiting, 'open');
    assert.deepEqual(told, Array(3).fill('No host could be reached.'));
  });

  it('passes on what no waiting mends', async () => {
    const wrong = new Error('bad credentials');
    await assert.rejects(
      whileCassandraIsAway({ clock: new VirtualClock(), log }, () => Promise.reject(wrong), {
        signal: new AbortController().signal,
        onWaiting: () => assert.fail('nothing to wait for'),
      }),
      (error) => error === wrong,
    );
  });

  it('ends with the signal, in the middle of a try too', async () => {
    const stopping = new AbortController();
    const waiting = whileCassandraIsAway({ clock: new VirtualClock(), log }, () => new Promise(() => {}), {
      signal: stopping.signal,
      onWaiting: () => {},
    });
    stopping.abort(reason);
    await assert.rejects(waiting, (error) => error === reason);
  });
});
