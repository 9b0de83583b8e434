// Reads rows of the audit log, for its listing and for the change feed. Invariant: every read passes the gate of its
// tenant and waits for its turn, and nothing is read for a tenure that no longer serves.

import { turnOf } from '../../core/async/turns.ts';
import type { TenantId } from '../../core/ids.ts';
import type { AuditLogRow } from '../../store/store.ts';
import type { Tenure } from '../log/tenure.ts';
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
  tenure: Tenure,
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
