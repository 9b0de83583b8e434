// The only node falls silent until the driver has given it up, again and again: each time the store is back soon after
// the node, and nothing fails outside of a call. The driver's own way back ends the process, or never reconnects.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../../src/roles/process/system.ts';
import type { Store } from '../../../src/store/store.ts';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { type SharedCassandra, shareCassandra } from '../../../tools/engines/shared-cassandra.ts';
import { migrate, openStore } from '../../kit/store/cassandra-keyspace.ts';
import { createGrantWrite, newTenantId, soon } from '../../kit/store/store-fixtures.ts';
import { startTcpLink, type TcpLink } from '../../kit/tcp-link.ts';
import { letRun, waitFor } from '../../kit/wait-for.ts';

const missing = await missingCassandra('Cassandra with a node that falls silent');
const ROUNDS = 2;
const READ_INTERVAL_MS = 50;
const CALL_MS = 3000;
/** Longer than the driver waits for a response and for a heartbeat, one after the other. */
const SILENT_MS = 8000;

describe('the only node of Cassandra', { skip: missing ?? false }, () => {
  let cluster: SharedCassandra;
  let link: TcpLink;
  let store: Store;
  before(async () => {
    cluster = await shareCassandra();
    await migrate(cluster);
    link = await startTcpLink(`${cluster.contactPoints[0]}:9042`);
    store = await openStore({ ...cluster, contactPoints: [link.address] });
  });
  after(async () => {
    await store?.close();
    await link?.close();
    await cluster.release();
  });

  it('is used again after each silence', async (test) => {
    const tenantId = newTenantId();
    await store.writeState([createGrantWrite(tenantId)], soon());
    let answered = 0;
    let failed = 0;
    const read = (): void => {
      store.readGrant(tenantId, 'user:ann', 'viewer', 'doc:1', systemClock.monotonicMs() + CALL_MS).then(
        (row) => {
          assert.ok(row !== undefined);
          answered += 1;
        },
        () => {
          failed += 1;
        },
      );
    };
    const timer = setInterval(read, READ_INTERVAL_MS);
    test.after(() => clearInterval(timer));
    for (let round = 0; round < ROUNDS; round += 1) {
      const failedBefore = failed;
      link.silence();
      await letRun(SILENT_MS);
      await waitFor('the node to be given up', () => failed > failedBefore);
      link.resume();
      const answeredBefore = answered;
      const backMs = systemClock.monotonicMs();
      // Calls that were sent before may still be answered; many answers come from calls after the silence.
      await waitFor('the store to be back', () => answered > answeredBefore + 100);
      test.diagnostic(`back after ${Math.round(systemClock.monotonicMs() - backMs)} ms, with ${failed} failed reads`);
    }
  });
});
