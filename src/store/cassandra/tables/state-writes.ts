// Writes of state, confirmed by a quorum. A failed call is repeated with the very same writes. Writes that were already
// confirmed are not sent again, so a repeat makes progress even if a database under load cannot finish all of them
// within one deadline.

import { inParallel } from '../../../core/async/in-parallel.ts';
import type { StateStore, StateWrite } from '../../store.ts';
import type { Executor } from '../driver/executor.ts';
import { type StateBatch, StateStatements } from './state-statements.ts';

/** Batches of one call in flight; the batches of all calls together have another bound. */
const BATCHES_AT_ONCE = 8;

export function createStateWrites(
  executor: Executor,
  keyspace: string,
): Pick<StateStore, 'writeState' | 'writeCheckpoint' | 'writeHotPages' | 'writeKeyUse'> {
  const statements = new StateStatements(keyspace);
  const checkpoint = `INSERT INTO ${keyspace}.checkpoints (slot, seq, window_from) VALUES (?, ?, ?) USING TIMESTAMP ?`;
  const keyUse = `INSERT INTO ${keyspace}.key_uses (tenant, key_id, used_at_ms) VALUES (?, ?, ?) USING TIMESTAMP ?`;
  const hotPages = `INSERT INTO ${keyspace}.hot_pages (slot, pages) VALUES (?, ?) USING TIMESTAMP ?`;
  /** From failed calls. The writes are stamped, so what was confirmed once stays applied. */
  const confirmed = new WeakSet<StateWrite>();
  return {
    async writeState(writes, deadline) {
      const batches = statements.batches(writes.filter((write) => !confirmed.has(write)));
      const pending = new Set<StateBatch>(batches);
      try {
        await inParallel(batches, BATCHES_AT_ONCE, async (batch) => {
          await executor.writeBatch(batch.statements, deadline);
          pending.delete(batch);
        });
      } catch (error) {
        const unconfirmed = new Set([...pending].flatMap((batch) => batch.writes));
        for (const { writes: sent } of batches) {
          for (const write of sent) if (!unconfirmed.has(write)) confirmed.add(write);
        }
        throw error;
      }
    },

    /**
     * Of two values with one timestamp, Cassandra keeps the greater one of each cell: only the cell of the window
     * differs.
     */
    async writeCheckpoint(slot, { seq, stamp, windowFrom }, deadline) {
      await executor.write(checkpoint, [slot, BigInt(seq), BigInt(windowFrom), BigInt(stamp)], deadline);
    },

    /** As for key uses. */
    async writeHotPages(slot, list, atMs, deadline) {
      await executor.write(hotPages, [slot, list, BigInt(atMs) * 1000n], deadline);
    },

    /** A use has no stamp: its time in microseconds is the timestamp, so that a later use wins. */
    async writeKeyUse(tenantId, keyId, usedAtMs, deadline) {
      const moment = BigInt(usedAtMs);
      await executor.write(keyUse, [tenantId, keyId, moment, moment * 1000n], deadline);
    },
  };
}
