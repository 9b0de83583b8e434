// Reading operation ids back at the start of a tenure, within the memory of writes. Writes to the slot wait for it, so
// it keeps: what is read is never more than there is room for, and it is over at the latest when the idempotency window
// has passed since the opening, by this owner's monotonic clock: from then on nobody repeats what an earlier owner
// decided. So where memory is too short for the ids the writes of some slots wait for that long, and no id is forgotten
// before.

import { type Clock, delay } from '../../../core/async/clock.ts';
import { RECALL_READ_BYTES, type RecallOrder } from '../../memory/rebuild-queue.ts';
import type { HeldBytes } from '../../memory/write-memory.ts';
import { LogUnreadableError, type TailEntry } from '../entries.ts';
import type { TailPorts } from '../recovery.ts';
import { recallResult } from '../write-decisions.ts';
import type { OperationMemory } from './cache.ts';
import type { DecidedOperation } from './operation-table.ts';

const RETRY_MS = 200;

export interface RecallWithinPorts {
  readonly clock: Clock;
  readonly operations: OperationMemory;
  /** Of the operation ids of all slots. */
  readonly held: HeldBytes;
  readonly order: RecallOrder;
  /** When the tenure's first entry was made, on the monotonic clock. */
  readonly openedAtMs: number;
  /** The idempotency window. */
  readonly keepMs: number;
  readonly ended: () => boolean;
  /** It waits for room. */
  readonly onWait: () => void;
}

/** Memory is short, and an earlier slot waits for it too: what was read is given back. */
class Postponed extends Error {}

/** What was decided by an entry that stands in the log. */
export function decidedIn(entry: TailEntry): DecidedOperation[] {
  const decided: DecidedOperation[] = [];
  for (const operation of entry.operations) {
    const result = recallResult(operation);
    if (result !== undefined) {
      decided.push({ requestId: operation.requestId, index: operation.index, outcome: { result } });
    }
  }
  return decided;
}

/** Calls `read` until it has succeeded or nobody waits for it any more. Throws LogUnreadableError as it does. */
export async function recallWithin(
  ports: RecallWithinPorts,
  read: (ports: Required<Pick<TailPorts, 'recall' | 'room' | 'over'>>) => Promise<void>,
): Promise<void> {
  const { clock, operations, held, order, openedAtMs, keepMs, ended, onWait } = ports;
  const untilMs = openedAtMs + keepMs;
  const over = (): boolean => ended() || clock.monotonicMs() >= untilMs;
  const place = order.enter();
  const room = async (): Promise<void> => {
    while (!held.processHasRoom && !over()) {
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
      const recall = operations.beginRecall(openedAtMs);
      held.add(RECALL_READ_BYTES);
      try {
        await read({ recall: (entry, epoch) => recall.add(decidedIn(entry), epoch), room, over });
        return;
      } catch (error) {
        if (error instanceof LogUnreadableError) throw error;
        first = error instanceof Postponed;
      } finally {
        recall.end();
        held.add(-RECALL_READ_BYTES);
      }
      if (!first) await delay(clock, RETRY_MS);
    }
  } finally {
    timer.cancel();
    place.leave();
  }
}
