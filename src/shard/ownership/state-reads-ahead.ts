// Reads the state of slots that this shard is about to open: of several at once, because the store answers that with a
// few statements, and while the slots are being claimed. It needs no claim: state that is older than the claim is as
// good, since the replay of the log goes on from its checkpoint (recovery.ts). Bound: what is read and not taken yet
// belongs to the next few openings of the current plan.

import type { SlotState } from '../log/recovery.ts';

/** As many as are opened at once. */
const AHEAD_MAX = 16;

export class StateReadsAhead {
  readonly #read: (slot: number) => Promise<SlotState>;
  readonly #reading = new Map<number, Promise<SlotState>>();
  #planned: readonly number[] = [];

  constructor(read: (slot: number) => Promise<SlotState>) {
    this.#read = read;
  }

  /** The slots to open, in order. Forgets what was read of any other. */
  plan(slots: readonly number[]): void {
    this.#planned = slots;
    const planned = new Set(slots);
    for (const slot of this.#reading.keys()) if (!planned.has(slot)) this.#reading.delete(slot);
  }

  /** The state of a slot that is being opened; each reading is given out once. */
  take(slot: number): Promise<SlotState> {
    if (!this.#reading.has(slot)) this.#readFrom(slot);
    const reading = this.#reading.get(slot) ?? this.#read(slot);
    this.#reading.delete(slot);
    return reading;
  }

  /** Of this slot and of the next ones, all in this turn. */
  #readFrom(slot: number): void {
    const from = this.#planned.indexOf(slot);
    const next = from < 0 ? [] : this.#planned.slice(from + 1, from + AHEAD_MAX);
    for (const each of [slot, ...next]) {
      if (this.#reading.has(each)) continue;
      const reading = this.#read(each);
      // The opening that takes it finds the failure.
      reading.catch(() => {});
      this.#reading.set(each, reading);
    }
  }
}
