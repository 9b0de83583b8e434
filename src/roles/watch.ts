// The role `watch`: once the process of a shard has ended, in whatever way, it declares that shard dead, so that the
// others take its slots without waiting for its lease. It runs beside the shard, in the same network namespace and with
// the same settings: as its child, or in a container of its own in the pod, which the end of the shard's container does
// not touch. It holds one connection to the shard, and none to the store until the shard has ended: they would be one
// more for each shard. The code for the store is there from the start: to load it takes up to half a second where all
// cores are busy, and 17 MiB of memory.
//
// Invariant: it declares dead only what the store lists while this process holds the place, and only once their
// promises are over (declareVacant).

import '../store/cassandra/cassandra-store.ts';
import '../store/cassandra/schema/schema-gate.ts';
import type { ShardConfig } from '../config/settings.ts';
import type { Clock } from '../core/async/clock.ts';
import { outlastMs } from '../shard/log/quiet-promises.ts';
import { READER_LIMITS } from '../shard/memory/limits.ts';
import { declareVacant, type HeldPlace } from '../shard/ownership/predecessors.ts';
import type { MemberStore } from '../store/store.ts';
import type { Log } from '../telemetry/log.ts';
import { createCassandraAdapter } from './open/store.ts';
import { watchPlace } from './process/place-watch.ts';
import { readPlace } from './process/shard-identity.ts';
import { StartError } from './process/start-error.ts';

/** A store that takes longer to open is away: a shard that starts soon declares it itself. */
const OPEN_MS_MAX = 5000;

export interface WatchDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

export interface WatchOptions {
  readonly config: ShardConfig;
  /** Of the shard's process, if the watch is for that one alone. */
  readonly parentPid: number | undefined;
}

/** Resolves to the exit code: after a signal, or once the parent has ended. Rejects with a StartError. */
export async function runWatch(
  { clock, log }: WatchDependencies,
  { config, parentPid }: WatchOptions,
  signal: AbortSignal,
): Promise<number> {
  const { rpcAddress: address } = config;
  const place = readPlace(address);
  if (place === undefined) {
    throw new StartError(
      `A shard at ${address} cannot be watched: set GRANTD_RPC_ADDRESS to an IP address and a port, on Linux.`,
    );
  }
  log.info({ role: 'watch', address }, 'watching');
  await watchPlace(clock, {
    address,
    signal,
    isAbandoned: parentPid === undefined ? undefined : () => process.ppid !== parentPid,
    onVacant: (held) => openAndDeclare({ clock, log }, config, { place, held }),
  });
  return 0;
}

/** False: the store did not respond in time. */
async function openAndDeclare(
  { clock, log }: WatchDependencies,
  config: ShardConfig,
  { place, held }: { readonly place: string; readonly held: HeldPlace },
): Promise<boolean> {
  const startMs = clock.monotonicMs();
  try {
    await using parts = new AsyncDisposableStack();
    const store = await openMembers({ clock, log }, config, parts);
    const openMs = Math.round(clock.monotonicMs() - startMs);
    log.info({ openMs }, 'the shard has ended');
    return await declareVacant({ store, clock, log }, { place, held, promisesMs: outlastMs(READER_LIMITS) });
  } catch (error) {
    log.warn({ err: error }, 'cannot declare the shard that has ended dead yet; retrying');
    return false;
  }
}

async function openMembers(
  dependencies: WatchDependencies,
  config: ShardConfig,
  parts: AsyncDisposableStack,
): Promise<MemberStore> {
  const { store, awaitMeta } = await createCassandraAdapter(dependencies, config).open();
  parts.defer(() => store.close());
  // It rejects settings that do not fit the cluster, such as another serial level.
  await awaitMeta({ signal: AbortSignal.timeout(OPEN_MS_MAX), onWaiting: () => {} });
  return store;
}
