// Records in the row of a slot where the first entry of a tenure is. It lets a later owner detect that the log has lost
// that entry. The entry itself already fences.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { SlotStore } from '../../store/store.ts';
import { storeDeadline } from '../store-calls.ts';

/** When many slots are opened at once, this conditional write can wait for the others. */
const RECORD_OPENED_MS = 1000;
const RETRY_MS = 200;

interface Owned {
  readonly slot: number;
  readonly owner: string;
  readonly epoch: number;
  readonly state: string;
}

/** Retries until the store has recorded it, or the tenure is over. */
export async function recordOpened(
  { store, clock }: { readonly store: SlotStore; readonly clock: Clock },
  tenure: Owned,
  opened: number,
  lose: (reason: string) => void,
): Promise<void> {
  const { slot, owner, epoch } = tenure;
  await delay(clock, RECORD_OPENED_MS);
  while (tenure.state !== 'ended') {
    try {
      const { applied, row } = await store.recordOpened({ slot, owner, epoch, opened }, storeDeadline(clock));
      if (applied) return;
      if (row?.owner !== owner || row.epoch !== epoch) lose('The slot has another owner now.');
    } catch {
      // The next attempt finds out whether it was recorded.
    }
    await delay(clock, RETRY_MS);
  }
}
