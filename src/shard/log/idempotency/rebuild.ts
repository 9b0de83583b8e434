// Reading operation ids back at the start of a tenure, within the memory of writes. Writes to the slot wait for it, so
// it keeps: what is read is never more than the budget allows, and it is over at the latest when the idempotency window
// has passed since the opening, by this owner's monotonic clock: from then on nobody repeats what an earlier owner
// decided. So where memory is too short for the ids the writes of some slots wait for that long, and no id is forgotten
// before.

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
  /** Of the operation ids of all slots. */
  readonly held: HeldBytes;
  readonly order: RebuildQueue;
  /** When the tenure's first entry was made, on the monotonic clock. */
  readonly openedAtMs: number;
  /** The idempotency window. */
  readonly keepMs: number;
  readonly ended: () => boolean;
  /** It waits for capacity. */
  readonly onWait: () => void;
}

/** Memory is short, and an earlier slot waits for it too: what was read is given back. */
class Postponed extends Error {}

/** What was decided by an entry that stands in the log. */
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

/** Calls `read` until it has succeeded or nobody waits for it any more. Throws LogUnreadableError as it does. */
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
      if (!place.isFirst) throw new Postponed();
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
        first = error instanceof Postponed;
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
