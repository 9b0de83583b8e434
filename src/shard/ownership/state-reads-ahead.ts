// Reads the state of slots that this shard is about to open: of several at once, because the store answers that with a
// few statements, and while the slots are being claimed. It needs no claim: state that is older than the claim is as
// good, since the replay of the log goes on from its checkpoint (recovery.ts). Bound: what is read and not taken yet
// belongs to openings of the current plan that are next, or were before requests waited for others, or to the slots
// that other owners hand over next, or leave behind if they are dead.

import type { SlotState } from '../log/recovery.ts';

/** The number of slots that are opened at once. */
const AHEAD_MAX = 16;

/** What an owner writes in this time is replayed. */
const AGE_MS_MAX = 10_000;

/** `withPages`: also its hot pages, since there is time. */
export type StateReader = (slot: number, withPages: boolean) => Promise<SlotState>;

/** Releases a state that is not used. */
export function disposeState(state: Promise<SlotState>): void {
  void state
    .then(({ ahead, tail }) => {
      ahead?.[Symbol.dispose]();
      tail?.[Symbol.dispose]();
    })
    .catch(() => {});
}

interface SlotRead {
  readonly state: Promise<SlotState>;
  readonly sinceMs: number;
}

export class StateReadsAhead {
  readonly #read: StateReader;
  readonly #nowMs: () => number;
  readonly #reading = new Map<number, SlotRead>();
  #planned: readonly number[] = [];

  constructor(read: StateReader, nowMs: () => number) {
    this.#read = read;
    this.#nowMs = nowMs;
  }

  /** The slots to open, in order, and those that may follow soon. Forgets what was read of any other. */
  plan(slots: readonly number[], expected: readonly number[]): void {
    this.#planned = slots;
    const planned = new Set([...slots, ...expected]);
    const nowMs = this.#nowMs();
    for (const [slot, { sinceMs }] of this.#reading) {
      if (!planned.has(slot) || nowMs - sinceMs > AGE_MS_MAX) this.#forget(slot);
    }
    for (const slot of expected) this.#begin(slot, true);
  }

  /** Resolves when everything that is read of the slot now has been read. */
  async ready(slot: number): Promise<void> {
    const state = await this.#reading.get(slot)?.state;
    await state?.ahead?.read;
  }

  /** The state of a slot that is being opened; each reading is given out once. */
  take(slot: number): Promise<SlotState> {
    if (!this.#reading.has(slot)) this.#readFrom(slot);
    const state = this.#reading.get(slot)?.state ?? this.#read(slot, false);
    this.#reading.delete(slot);
    return state;
  }

  /** Reads the states of this slot and the next ones, all in this turn. */
  #readFrom(slot: number): void {
    const from = this.#planned.indexOf(slot);
    const next = from < 0 ? [] : this.#planned.slice(from + 1, from + AHEAD_MAX);
    for (const each of [slot, ...next]) this.#begin(each, false);
  }

  #forget(slot: number): void {
    const reading = this.#reading.get(slot);
    this.#reading.delete(slot);
    if (reading !== undefined) disposeState(reading.state);
  }

  #begin(slot: number, withPages: boolean): void {
    if (this.#reading.has(slot)) return;
    const state = this.#read(slot, withPages);
    // The opening that takes it finds the failure.
    state.catch(() => {});
    this.#reading.set(slot, { state, sinceMs: this.#nowMs() });
  }
}
