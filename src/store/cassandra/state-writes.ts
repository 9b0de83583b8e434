// Writes of state, confirmed by a quorum.

import type { StateStore } from '../store.ts';
import { inParallel } from './in-parallel.ts';
import type { Session } from './session.ts';
import { StateStatements } from './state-statements.ts';

/** Batches of one call on their way; what all calls have on their way is bounded besides. */
const BATCHES_AT_ONCE = 16;

export function createStateWrites(
  session: Session,
  keyspace: string,
): Pick<StateStore, 'writeState' | 'writeCheckpoint' | 'writeKeyUse'> {
  const statements = new StateStatements(keyspace);
  const checkpoint = `INSERT INTO ${keyspace}.checkpoints (slot, seq) VALUES (?, ?) USING TIMESTAMP ?`;
  const keyUse = `INSERT INTO ${keyspace}.key_uses (tenant, key_id, used_at_ms) VALUES (?, ?, ?) USING TIMESTAMP ?`;
  return {
    async writeState(writes, deadline) {
      await inParallel(statements.batches(writes), BATCHES_AT_ONCE, (batch) => session.writeBatch(batch, deadline));
    },

    async writeCheckpoint(slot, { seq, stamp }, deadline) {
      await session.write(checkpoint, [slot, BigInt(seq), BigInt(stamp)], deadline);
    },

    /** A use has no stamp: its moment, in microseconds, is its timestamp, so that a later use wins. */
    async writeKeyUse(tenantId, keyId, usedAtMs, deadline) {
      const moment = BigInt(usedAtMs);
      await session.write(keyUse, [tenantId, keyId, moment, moment * 1000n], deadline);
    },
  };
}
