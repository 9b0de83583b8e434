// The store that GRANTD_STORE names, and the wait for one that is away.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../../../src/config/read-config.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { openStore, type StoreWait, whileStoreIsAway } from '../../../../src/roles/open/store.ts';
import { StartError } from '../../../../src/roles/process/start-error.ts';
import { systemClock, systemRandom } from '../../../../src/roles/process/system.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { useDirectory } from '../../../kit/directory.ts';
import { soon } from '../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const log = createLog({ level: 'silent', pretty: false });
const reason = new Error('stopping');
const dependencies = { clock: systemClock, random: systemRandom, log };
const CASSANDRA = {
  GRANTD_STORE: 'cassandra',
  // No process listens there.
  GRANTD_CASSANDRA_CONTACT_POINTS: '127.0.0.1:1',
  GRANTD_CASSANDRA_LOCAL_DATACENTER: 'dc1',
  GRANTD_RPC_ADDRESS: '127.0.0.1:0',
};

function waitingIn(parts: AsyncDisposableStack, change: Partial<StoreWait> = {}) {
  const { signal } = new AbortController();
  return {
    traced: false,
    metrics: createMetrics(),
    parts,
    signal,
    onWaiting: () => assert.fail('nothing to wait for'),
    ...change,
  };
}

describe('the store of the settings', () => {
  it('is the embedded one in dev, with the cluster made in it, and closed with the role', async () => {
    const directory = useDirectory();
    const config = readConfig('dev', { GRANTD_DATA_DIR: directory, GRANTD_SLOTS: '8' });
    const parts = new AsyncDisposableStack();
    const { store, meta } = await openStore(dependencies, config, waitingIn(parts));
    assert.equal(meta.slots, 8);
    assert.deepEqual(await store.readMeta(soon()), meta);
    await parts.disposeAsync();
    await assert.rejects(store.readMeta(soon()), /closed/);
  });

  it('is closed again if the settings are not those of its cluster, with an error for the operator', async () => {
    const directory = useDirectory();
    const path = join(directory, 'data');
    for (const [slots, outcome] of [
      ['8', undefined],
      ['16', StartError],
      ['8', undefined],
    ] as const) {
      await using parts = new AsyncDisposableStack();
      const config = readConfig('dev', { GRANTD_DATA_DIR: path, GRANTD_SLOTS: slots });
      const opening = openStore(dependencies, config, waitingIn(parts));
      if (outcome === undefined) await opening;
      else await assert.rejects(opening, outcome);
    }
  });

  it('is closed again if it opens after the start was aborted', async () => {
    const directory = useDirectory();
    const config = readConfig('dev', { GRANTD_DATA_DIR: directory, GRANTD_SLOTS: '8' });
    await using parts = new AsyncDisposableStack();
    const stopping = new AbortController();
    const opening = openStore(dependencies, config, waitingIn(parts, { signal: stopping.signal }));
    stopping.abort(reason);
    await assert.rejects(opening, (error) => error === reason);
    // One process at a time holds the directory, and no caller received that store to close it.
    await waitFor('the directory to be free', async () => {
      try {
        await openStore(dependencies, config, waitingIn(parts));
        return true;
      } catch (error) {
        assert.ok(error instanceof StartError, String(error));
        return false;
      }
    });
  });

  it('is Cassandra for a shard, which names it while it waits', async () => {
    const stopping = new AbortController();
    const reported: string[] = [];
    await using parts = new AsyncDisposableStack();
    const opening = openStore(
      dependencies,
      readConfig('shard', CASSANDRA),
      waitingIn(parts, {
        signal: stopping.signal,
        onWaiting: (what, why) => {
          reported.push(`${what}: ${why}`);
          stopping.abort(reason);
        },
      }),
    );
    await assert.rejects(opening, (error) => error === reason);
    assert.match(reported[0] ?? '', /^Cassandra: Cassandra at 127\.0\.0\.1:1: /);
  });

  it('is never the embedded one for a shard, even if such a setting was accepted', async () => {
    await using parts = new AsyncDisposableStack();
    const config = { ...readConfig('shard', CASSANDRA), store: 'sqlite' } as const;
    await assert.rejects(openStore(dependencies, config, waitingIn(parts)), /the embedded store for dev alone/);
  });
});

describe('waiting for a store that is away', () => {
  const outage = new GrantdError('unavailable', 'No host could be reached.');

  it('tries every second, reports the reason, and resolves once an attempt succeeds', async () => {
    const clock = new VirtualClock();
    const reported: string[] = [];
    let tries = 0;
    const waiting = whileStoreIsAway(
      { clock, log },
      'Cassandra',
      async () => {
        tries += 1;
        if (tries < 4) throw outage;
        return 'open';
      },
      { signal: new AbortController().signal, onWaiting: (what, why) => reported.push(`${what}: ${why}`) },
    );
    await clock.advance(2999);
    assert.equal(tries, 3);
    await clock.advance(1);
    assert.equal(await waiting, 'open');
    assert.deepEqual(reported, Array(3).fill('Cassandra: No host could be reached.'));
  });

  it('rejects with an error that a retry cannot resolve', async () => {
    const wrong = new Error('bad credentials');
    await assert.rejects(
      whileStoreIsAway({ clock: new VirtualClock(), log }, 'Cassandra', () => Promise.reject(wrong), {
        signal: new AbortController().signal,
        onWaiting: () => assert.fail('nothing to wait for'),
      }),
      (error) => error === wrong,
    );
  });

  it('ends with the signal, also during an attempt', async () => {
    const stopping = new AbortController();
    const waiting = whileStoreIsAway({ clock: new VirtualClock(), log }, 'Cassandra', () => new Promise(() => {}), {
      signal: stopping.signal,
      onWaiting: () => {},
    });
    stopping.abort(reason);
    await assert.rejects(waiting, (error) => error === reason);
  });
});
