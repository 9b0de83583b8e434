// The database as one process sees it: every call takes a way there and a way back, either of which can be slow, cut or
// fail. What the caller is told as a timeout may not have happened, may have happened, or may yet happen, up to a
// minute later and also after the caller is dead. It keeps: an answer that is given is the one of the moment at which
// the call was applied; an acknowledged write was applied before its acknowledgement. A plain read of the log alone may
// miss what is there.

import { GrantdError } from '../../src/core/errors.ts';
import type { LogRecord, StateWrite, Store } from '../../src/store/store.ts';
import type { MemoryStore } from '../kit/store/memory-store.ts';
import { createGatedStore, type StoreOperation } from '../kit/store/store-gate.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { StoreRules } from './store-rules.ts';

export type CallKind = 'state' | 'log' | 'scan' | 'write';

export interface StoreFaults {
  /** Of each call: takes up to two seconds on the way there. */
  readonly slow: number;
  /** Of each call of a kind: is applied at once, and its response takes up to `slowResponseMsMax` on the way back. */
  readonly slowResponse: Readonly<Record<CallKind, number>>;
  readonly slowResponseMsMax: number;
  /** Times out and never happens. */
  readonly lost: number;
  /** Happens, and the answer is lost. */
  readonly unanswered: number;
  /** Times out and happens later. */
  readonly late: number;
  /**
   * Of late calls: an append whose seq is taken by then lands at the end of the log, as an entry of a former owner
   * does.
   */
  readonly displaced: number;
  /** Of appends to the log: times out and happens later, besides the others. */
  readonly lateAppend: number;
  /** Of writes that are sent while the store cannot be reached: arrive later all the same. */
  readonly lateWhenCut: number;
  readonly lateMsMax: number;
  /** A scan of members or slots shows what was there up to this long ago. */
  readonly staleMsMax: number;
}

export interface StoreWorld {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly store: MemoryStore;
  faults: StoreFaults;
  /** How far its wall clock is off. */
  wallSkewMs: number;
  /** Nobody reaches it. */
  down: boolean;
  /** Names of the processes that do not reach it. */
  readonly cutOff: Set<string>;
  /** Names of the processes that reach the log, and can neither heartbeat nor write state. */
  readonly withoutHeartbeats: Set<string>;
  /** Writes that may still happen. */
  pending: number;
  /** What scans of the last seconds have found, in the order of time. */
  readonly scans: Map<StoreOperation, readonly { readonly atMs: number; readonly answer: unknown }[]>;
  /** Entries of former epochs that landed behind a newer one. */
  displaced: number;
}

export const NO_STORE_FAULTS: StoreFaults = {
  slow: 0,
  slowResponse: { state: 0, log: 0, scan: 0, write: 0 },
  slowResponseMsMax: 0,
  lost: 0,
  unanswered: 0,
  late: 0,
  lateAppend: 0,
  displaced: 0,
  lateWhenCut: 0.1,
  lateMsMax: 0,
  staleMsMax: 0,
};

const HINTS: ReadonlySet<StoreOperation> = new Set(['listMembers', 'listSlots']);
const READS = /^(read|list)/;
const LOG_READS: ReadonlySet<StoreOperation> = new Set(['readRecord', 'readRecords', 'readTail']);
/** Scans are remembered for so long. */
const STALE_MS_MAX = 5000;
/** Of the plain reads of the log: miss records. */
const TAIL_MISSES = 0.2;
/** A server gives up a write after this long, and the client is told. */
const SERVER_TIMEOUT_MS = 2000;

const unavailable = (message: string) => new GrantdError('unavailable', message);

type Fate = 'prompt' | 'slow' | 'slow-response' | 'lost' | 'unanswered' | 'late';
const ANSWERED: ReadonlySet<Fate> = new Set(['prompt', 'slow', 'slow-response']);

function kindOf(operation: StoreOperation): CallKind {
  if (!READS.test(operation)) return 'write';
  if (HINTS.has(operation)) return 'scan';
  return LOG_READS.has(operation) ? 'log' : 'state';
}

/** The store as `process` reaches it. */
export function createStoreView(world: StoreWorld, rules: StoreRules, process: SimulatedProcess): Store {
  const { scheduler, random } = world;

  const drawFate = (operation: StoreOperation): Fate => {
    const { slow, slowResponse, lost, unanswered, late } = world.faults;
    const read = READS.test(operation);
    if (random.chance(slowResponse[kindOf(operation)])) return 'slow-response';
    const draw = random.fraction();
    if (draw < slow) return 'slow';
    if (draw < slow + lost) return 'lost';
    if (draw < slow + lost + unanswered) return read ? 'lost' : 'unanswered';
    if (draw < slow + lost + unanswered + late) return read ? 'lost' : 'late';
    return operation === 'append' && random.chance(world.faults.lateAppend) ? 'late' : 'prompt';
  };

  const unreachableFor = (operation: StoreOperation): boolean =>
    world.down ||
    world.cutOff.has(process.name) ||
    (world.withoutHeartbeats.has(process.name) && /Member|Dead$|^write/.test(operation));

  const gate = <Result>(
    operation: StoreOperation,
    deadline: number,
    run: () => Promise<Result>,
    runLate: () => Promise<unknown> = run,
  ) =>
    new Promise<Result>((resolve, reject) => {
      const { clock } = process;
      const unreachable = (): boolean => unreachableFor(operation);
      let settled = false;
      const timer = clock.setTimer(
        () => {
          settled = true;
          reject(unavailable('The store did not answer in time.'));
        },
        Math.max(0, deadline - clock.monotonicMs()),
      );
      const settle = (finish: () => void): void => {
        if (settled) return;
        settled = true;
        timer.cancel();
        finish();
      };
      /** The answer's way back. */
      const answer = (delayMs: number, finish: () => void): void => {
        scheduler.after(delayMs, () => {
          if (!unreachable()) process.deliver(() => settle(finish));
        });
      };
      const apply = (): Promise<Result> => hinted(operation, run);
      const wayMs = (): number => random.between(0.5, 10);

      let fate = drawFate(operation);
      // A call that is on its way when the store is cut off may have arrived, or may arrive later.
      if (unreachable()) fate = !READS.test(operation) && random.chance(world.faults.lateWhenCut) ? 'late' : 'lost';
      const timeoutMs = random.between(50, SERVER_TIMEOUT_MS);
      if (fate === 'late') world.pending += 1;
      const requestMs =
        fate === 'late'
          ? random.between(timeoutMs, Math.max(timeoutMs, world.faults.lateMsMax))
          : wayMs() + (fate === 'slow' ? random.between(20, 2000) : 0);
      if (fate !== 'lost') {
        scheduler.after(requestMs, () => {
          if (fate === 'late') {
            world.pending -= 1;
            void runLate().catch(() => {});
            return;
          }
          if (unreachable()) return;
          void apply().then(
            (result) => {
              const backMs = fate === 'slow-response' ? random.between(20, world.faults.slowResponseMsMax) : wayMs();
              if (fate !== 'unanswered') answer(backMs, () => resolve(result));
            },
            (error: unknown) => answer(wayMs(), () => reject(error)),
          );
        });
      }
      // A driver that has lost its connections knows at once.
      if (unreachable() && random.chance(0.5)) {
        scheduler.after(random.between(1, 300), () =>
          process.deliver(() => settle(() => reject(unavailable('No node of the store can be reached.')))),
        );
      }
      // A coordinator says so when replicas are silent; where it is silent itself, only the deadline ends the call.
      if (!ANSWERED.has(fate) && !unreachable() && random.chance(0.7)) {
        answer(timeoutMs, () => reject(unavailable('The store timed out.')));
      }
    });

  /** An append that took effect late: where a newer epoch has its seq, it lands behind all that stands, sometimes. */
  const appendLate = async (record: LogRecord): Promise<void> => {
    const { displaced } = world.faults;
    let outcome = await world.store.append(record, Number.POSITIVE_INFINITY);
    const superseded = outcome.kind === 'occupied' && outcome.record.epoch > record.epoch;
    if (!superseded || !random.chance(displaced)) return;
    for (let seq = record.seq + 1; outcome.kind === 'occupied'; seq += 1) {
      outcome = await world.store.append({ ...record, seq }, Number.POSITIVE_INFINITY);
    }
    world.displaced += 1;
  };

  /** What was there a while ago, by the scans of all processes: also before what this one was shown last. */
  const hinted = async <Result>(operation: StoreOperation, run: () => Promise<Result>): Promise<Result> => {
    if (!HINTS.has(operation)) return run();
    const asOfMs = scheduler.nowMs - random.between(0, world.faults.staleMsMax);
    const now = { atMs: scheduler.nowMs, answer: await run() };
    const seen = [...(world.scans.get(operation) ?? []), now];
    const shown = seen.findLast(({ atMs }) => atMs <= asOfMs) ?? now;
    world.scans.set(
      operation,
      seen.filter(({ atMs }) => atMs >= scheduler.nowMs - STALE_MS_MAX),
    );
    return shown.answer as Result;
  };

  const store = createGatedStore(rules.store, gate);
  return {
    ...store,
    append: (record, deadline) => {
      rules.sent(record);
      return gate(
        'append',
        deadline,
        () => world.store.append(record, Number.POSITIVE_INFINITY),
        () => appendLate(record),
      );
    },
    // A plain read of the log may miss any record.
    readTail: async (...query) => {
      const records = await store.readTail(...query);
      if (!random.chance(TAIL_MISSES)) return records;
      const missed = random.whole(0, records.length);
      return records.filter((_, index) => index !== missed && (index < missed || random.chance(0.5)));
    },
    // The rows of one call are single statements: each has a fate of its own where the call does not succeed.
    writeState: (writes, deadline) => writeStateInParts(store, world, writes, deadline),
  };
}

async function writeStateInParts(
  store: Store,
  world: StoreWorld,
  writes: readonly StateWrite[],
  deadline: number,
): Promise<void> {
  if (writes.length < 2 || !world.random.chance(0.5)) return store.writeState(writes, deadline);
  const cut = world.random.whole(1, writes.length - 1);
  const outcomes = await Promise.allSettled([
    store.writeState(writes.slice(0, cut), deadline),
    store.writeState(writes.slice(cut), deadline),
  ]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
