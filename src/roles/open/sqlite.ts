// The embedded store from the settings. Only this process uses it. It migrates the schema when it opens the store, and
// creates the cluster if there is none.

import type { DevConfig } from '../../config/settings.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import type { StoreAdapter } from '../../store/store-adapter.ts';
import type { Log } from '../../telemetry/log.ts';
import { DEADLINE_MS, makeCursorSecret, newCluster } from './new-cluster.ts';

interface SqliteDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export function createSqliteAdapter(
  { clock, random, log }: SqliteDependencies,
  { dataDirectory: directory, slots }: Pick<DevConfig, 'dataDirectory' | 'slots'>,
): StoreAdapter {
  return {
    product: 'SQLite',
    database: { system: 'sqlite' },
    open: async () => {
      const store = await openSqliteStore({ directory, slots, clock, log });
      return {
        store,
        awaitMeta: () =>
          store.initializeMeta(
            { ...newCluster(slots), cursorSecrets: [makeCursorSecret(random)] },
            clock.monotonicMs() + DEADLINE_MS,
          ),
      };
    },
  };
}
