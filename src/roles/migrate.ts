// The role `migrate`: brings the schema of the store to what this program needs. With `wait` it only waits until
// another process has done so, and changes nothing; for a restored copy, it gives the cluster a new id instead. A task,
// not a service: it prints its progress and ends.

import type { MigrateConfig } from '../config/settings.ts';
import { assertNever } from '../core/assert.ts';
import type { Clock, Random } from '../core/async/clock.ts';
import type { Log } from '../telemetry/log.ts';
import { openSchemaTask, type StoreWait } from './open/store.ts';

/** Exit codes of `grantd migrate`, in addition to those of signals; docs/operating/cluster.md lists them. */
const EXIT = Object.freeze({ done: 0, timedOut: 3 });

export interface MigrateDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Takes a line without its line end. */
  readonly print: (line: string) => void;
}

export interface MigrateOptions {
  readonly config: MigrateConfig;
  /** `wait`: only for a schema that serves this program. `new-cluster-id`: for a restored copy. */
  readonly task: 'migrate' | 'wait' | 'new-cluster-id';
  /** When to give up; undefined: never. */
  readonly timeoutMs: number | undefined;
}

/** Resolves to the exit code. Rejects with a StartError if the schema or the settings cannot be used. */
export async function runMigrate(
  dependencies: MigrateDependencies,
  options: MigrateOptions,
  signal: AbortSignal,
): Promise<number> {
  const { clock, print } = dependencies;
  const { config, timeoutMs } = options;
  const timeout = new AbortController();
  const timer = timeoutMs === undefined ? undefined : clock.setTimer(() => timeout.abort(), timeoutMs);
  let lastReason = '';
  const waiting: StoreWait = {
    signal: AbortSignal.any([signal, timeout.signal]),
    onWaiting: (_what, reason) => {
      if (reason !== lastReason) print(`Waiting: ${reason}`);
      lastReason = reason;
    },
  };
  try {
    const { target, ...tasks } = openSchemaTask(dependencies, config);
    switch (options.task) {
      case 'migrate':
        print(`Migrating ${target}.`);
        print(await tasks.migrate(waiting));
        break;
      case 'wait':
        print(await tasks.wait(waiting));
        break;
      case 'new-cluster-id':
        print(`Giving the cluster of ${target} a new ID.`);
        print(await tasks.newClusterId(waiting));
        break;
      default:
        return assertNever(options.task);
    }
    return EXIT.done;
  } catch (error) {
    if (signal.aborted || error !== timeout.signal.reason) throw error;
    print(`Timed out after ${(timeoutMs ?? 0) / 1000} s${lastReason === '' ? '.' : `; last reason: ${lastReason}`}`);
    return EXIT.timedOut;
  } finally {
    timer?.cancel();
  }
}
