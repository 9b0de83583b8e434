// Reads operation ids back from the log at the start of a tenure, within the memory for writes. Writes to the slot wait
// for it. Invariant: it never holds more than the budget allows, and it ends at the latest when the idempotency window
// has passed since the opening, by this owner's monotonic clock. After that, no client repeats an operation that an
// earlier owner decided. So if memory is too short for the ids, writes of some slots wait that long, but no id is
// forgotten early.

import { type Clock, delay } from '../../../core/async/clock.ts';
import { REBUILD_READ_BYTES, type RebuildQueue } from '../../memory/rebuild-queue.ts';
import type { HeldBytes } from '../../memory/write-memory.ts';
import { LogUnreadableError, type TailEntry } from '../entries.ts';
import type { TailPorts } from '../recovery.ts';
import { resultFromLog } from '../write-decisions.ts';
import type { OperationMemory } from './cache.ts';
import type { DecidedOperation } from './operation-table.ts';

const RETRY_MS = 200;

export interface RebuildPorts {
  readonly clock: Clock;
  readonly operations: OperationMemory;
  /** Bytes held by the operation ids of all slots. */
  readonly held: HeldBytes;
  readonly order: RebuildQueue;
  /** When the tenure's first entry was created, on the monotonic clock. */
  readonly openedAtMs: number;
  /** The length of the idempotency window. */
  readonly keepMs: number;
  readonly ended: () => boolean;
  /** Called when the rebuild has to wait for capacity. */
  readonly onWait: () => void;
}

/** Memory is short, and an earlier slot also waits for it: this rebuild releases the memory it holds. */
class PostponedRebuild extends Error {}

/** The outcomes of an entry in the log. */
export function decidedIn(entry: TailEntry): DecidedOperation[] {
  const decided: DecidedOperation[] = [];
  for (const operation of entry.operations) {
    const result = resultFromLog(operation);
    if (result !== undefined) {
      decided.push({ requestId: operation.requestId, index: operation.index, outcome: { result } });
    }
  }
  return decided;
}

/** Calls `read` until it succeeds or the result is no longer needed. Rethrows LogUnreadableError. */
export async function rebuildWithin(
  ports: RebuildPorts,
  read: (ports: Required<Pick<TailPorts, 'restore' | 'waitForCapacity' | 'over'>>) => Promise<void>,
): Promise<void> {
  const { clock, operations, held, order, openedAtMs, keepMs, ended, onWait } = ports;
  const untilMs = openedAtMs + keepMs;
  const over = (): boolean => ended() || clock.monotonicMs() >= untilMs;
  const place = order.enter();
  const waitForCapacity = async (): Promise<void> => {
    while (!held.processHasCapacity && !over()) {
      onWait();
      if (!place.isFirst) throw new PostponedRebuild();
      await held.changed();
    }
  };
  const timer = clock.setTimer(
    () => {
      place.leave();
      held.wake();
    },
    Math.max(0, untilMs - clock.monotonicMs()),
  );
  try {
    let first = false;
    while (!over()) {
      await place.turn({ first });
      const restore = operations.beginRebuild(openedAtMs);
      held.add(REBUILD_READ_BYTES);
      try {
        await read({ restore: (entry, epoch) => restore.add(decidedIn(entry), epoch), waitForCapacity, over });
        return;
      } catch (error) {
        if (error instanceof LogUnreadableError) throw error;
        first = error instanceof PostponedRebuild;
      } finally {
        restore.end();
        held.add(-REBUILD_READ_BYTES);
      }
      if (!first) await delay(clock, RETRY_MS);
    }
  } finally {
    timer.cancel();
    place.leave();
  }
}
