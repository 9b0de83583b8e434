// Reads rows of the audit log, for its listing and for the change feed, and for how long the store keeps them.
// Invariants: every read passes the gate of its tenant and waits for its turn; nothing is read for a tenure that no
// longer serves; how long rows are kept is never guessed.

import type { Clock } from '../../core/async/clock.ts';
import { turnOf } from '../../core/async/turns.ts';
import type { TenantId } from '../../core/ids.ts';
import { MS_PER_DAY } from '../../core/text/timestamps.ts';
import type { AuditLogRow, StateStore } from '../../store/store.ts';
import type { ServedTenure } from '../log/tenure.ts';
import type { AuditRecord } from '../shard.ts';
import { AUDIT_LENGTH_PER_READ, readFromStore, storeDeadline } from '../store-calls.ts';
import type { ListingContext } from './listings.ts';

/** Estimated bytes of a row while it is read, for the gate. */
const ROW_BYTES = 1024;
/** The cost of a read and of each of its rows in the turns of tenants. */
const READ_MS = 0.2;
const ROW_MS = 0.003;

export interface AuditLogPlace {
  readonly month: string;
  /** Undefined: before the first row of the month, in listing order. */
  readonly after: { readonly seq: number; readonly index: number } | undefined;
}

/** Rows after a place in its month. */
export function readAuditLog(
  { store, clock }: Pick<ListingContext, 'store' | 'clock'>,
  tenure: ServedTenure,
  { tenantId, newestFirst }: { readonly tenantId: TenantId; readonly newestFirst: boolean },
  { month, after }: AuditLogPlace,
  limit: number,
): Promise<readonly AuditLogRow[]> {
  const { loads, turns } = tenure.budget;
  return loads.run(tenantId, ROW_BYTES * limit, clock, async () => {
    await turnOf(turns, tenantId, READ_MS + ROW_MS * limit);
    // The slot may have moved in the meantime; then no peer would get the result.
    tenure.assertServing();
    const lengthMax = AUDIT_LENGTH_PER_READ;
    const query = { tenantId, month, newestFirst, limit, lengthMax, ...(after === undefined ? {} : { after }) };
    return readFromStore(store.listAuditLog(query, storeDeadline(clock)));
  });
}

/** Field by field, so that a new column stays invisible to peers until this function exposes it. */
export const auditRecordOf = (row: AuditLogRow): AuditRecord => ({
  seq: row.seq,
  index: row.index,
  atMs: row.atMs,
  actor: row.actor,
  requestId: row.requestId,
  change: row.change,
});

/** How soon a change of the table counts. What was written before it is kept as long as it was to be. */
const KNOWN_MS = 60_000;
/** The margin of a retention that is too short to give up a day, as a share of it. */
const MARGIN_SHARE = 0.1;

export interface AuditRetention {
  /** Older cursors are refused. A page must not end before its reader comes back for the next one: a day early. */
  readonly keptMs: number;
  /** The earliest cursor serves for another such time. */
  readonly earliestMs: number;
}

/** The retention of the audit log, read by the first call in a while on one connection. */
export class KeptAuditLog {
  readonly #ports: { readonly store: Pick<StateStore, 'readAuditLogKeptMs'>; readonly clock: Clock };
  #known: AuditRetention | undefined;
  #knownUntilMs = 0;

  constructor(ports: { readonly store: Pick<StateStore, 'readAuditLogKeptMs'>; readonly clock: Clock }) {
    this.#ports = ports;
  }

  /** Rejects with `not-serving` if the store does not say. */
  async read(): Promise<AuditRetention> {
    const { store, clock } = this.#ports;
    if (this.#known !== undefined && clock.monotonicMs() < this.#knownUntilMs) return this.#known;
    const storedMs = await readFromStore(store.readAuditLogKeptMs(storeDeadline(clock)));
    const marginMs = Math.min(MS_PER_DAY, MARGIN_SHARE * storedMs);
    this.#known = { keptMs: storedMs - marginMs, earliestMs: storedMs - 2 * marginMs };
    this.#knownUntilMs = clock.monotonicMs() + KNOWN_MS;
    return this.#known;
  }
}
