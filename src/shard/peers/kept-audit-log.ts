// For how long the store keeps the audit log, as the readers of a change feed rely on it. Invariant: a bound that is
// not known is not guessed. Of the calls of one connection, the first in a while reads it.

import type { Clock } from '../../core/async/clock.ts';
import type { StateStore } from '../../store/store.ts';
import { readFromStore, storeDeadline } from '../store-calls.ts';

/** How soon a change of the table counts. What was written before it is kept as long as it was to be. */
const KNOWN_MS = 60_000;
const MS_PER_DAY = 24 * 3_600_000;
/** Of a retention too short to give up a day. */
const MARGIN_SHARE = 0.1;

export interface Kept {
  /** Older cursors are refused. A page must not end before its reader comes back for the next one: a day early. */
  readonly keptMs: number;
  /** The earliest cursor serves for another such time. */
  readonly earliestMs: number;
}

export class KeptAuditLog {
  readonly #ports: { readonly store: Pick<StateStore, 'readAuditLogKeptMs'>; readonly clock: Clock };
  #known: Kept | undefined;
  #knownUntilMs = 0;

  constructor(ports: { readonly store: Pick<StateStore, 'readAuditLogKeptMs'>; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /** Rejects as `not-serving` if the store does not say. */
  async read(): Promise<Kept> {
    const { store, clock } = this.#ports;
    if (this.#known !== undefined && clock.monotonicMs() < this.#knownUntilMs) return this.#known;
    const storedMs = await readFromStore(store.readAuditLogKeptMs(storeDeadline(clock)));
    const marginMs = Math.min(MS_PER_DAY, MARGIN_SHARE * storedMs);
    this.#known = { keptMs: storedMs - marginMs, earliestMs: storedMs - 2 * marginMs };
    this.#knownUntilMs = clock.monotonicMs() + KNOWN_MS;
    return this.#known;
  }
}
