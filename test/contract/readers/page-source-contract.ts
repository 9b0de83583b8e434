// What the source of a reader's pages owes, over any store: rows that are never ahead of what the reader has applied
// when it uses them, and over them every commit that they may lack.

import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { KeyId, TenantId } from '../../../src/core/ids.ts';
import { bucketOfSubject } from '../../../src/core/slots.ts';
import { type BuiltInTuple, columnsOf } from '../../../src/core/tuples.ts';
import { systemClock } from '../../../src/roles/process/system.ts';
import { createStreamHost } from '../../../src/rpc/serving/stream-host.ts';
import { currentReads } from '../../../src/shard/readers/tenant-reader.ts';
import type { StateReads, Store } from '../../../src/store/store.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { directOwners } from '../../kit/direct-owners.ts';
import { delayedStore, WRITE_BEHIND } from '../../kit/store/faulty-store.ts';
import {
  createGrantWrite,
  createKeyRecord,
  createRulesWrite,
  newTenantId,
  soon,
} from '../../kit/store/store-fixtures.ts';
import type { StoreOperation } from '../../kit/store/store-gate.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { silentLog } from '../../unit/rpc/harness.ts';
import { ReaderPair } from '../support/reader-pair.ts';

const [RULES_VERSION, STAMP] = [3, 1_700_000_000_000_000];
const GRANT = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;
const ROUNDS = 10;
const READ_OPERATIONS: readonly StoreOperation[] = ['readGrant', 'listGrants', 'listObjectGrants'];

/** Each read, as it finds what `writeRows` has written. */
const READS: {
  readonly [Name in keyof StateReads]: (
    reads: StateReads,
    of: { tenantId: TenantId; keyId: KeyId },
  ) => Promise<unknown>;
} = {
  readGrant: (reads, { tenantId }) => reads.readGrant(tenantId, GRANT.subject, GRANT.relation, GRANT.object, soon()),
  listGrants: (reads, { tenantId }) => reads.listGrants({ tenantId, subject: GRANT.subject, limit: 10 }, soon()),
  listObjectGrants: (reads, { tenantId }) =>
    reads.listObjectGrants({ tenantId, object: GRANT.object, limit: 10 }, soon()),
  listGrantsOfEach: (reads, { tenantId }) =>
    reads.listGrantsOfEach({ tenantId, subjects: [GRANT.subject], limit: 10 }, soon()),
  listObjectGrantsOfEach: (reads, { tenantId }) =>
    reads.listObjectGrantsOfEach({ tenantId, objects: [GRANT.object], limit: 10 }, soon()),
  listSubjects: (reads, { tenantId }) =>
    reads.listSubjects({ tenantId, bucket: bucketOfSubject(GRANT.subject), limit: 10 }, soon()),
  listNamespaces: (reads, { tenantId }) => reads.listNamespaces(tenantId, soon()),
  readKey: (reads, { tenantId, keyId }) => reads.readKey(tenantId, keyId, soon()),
  listKeys: (reads, { tenantId }) => reads.listKeys({ tenantId, limit: 10 }, soon()),
  readRules: (reads, { tenantId }) => reads.readRules(tenantId, RULES_VERSION, soon()),
};

async function writeRows(store: Store): Promise<{ tenantId: TenantId; keyId: KeyId }> {
  const tenantId = newTenantId();
  const key = createKeyRecord();
  const stamp = STAMP;
  const writes = [
    createGrantWrite(tenantId, GRANT),
    { kind: 'subject', tenantId, subject: GRANT.subject, stamp },
    { kind: 'namespace', tenantId, name: 'doc', createdAtMs: 1, stamp },
    { kind: 'key', tenantId, key, tombstone: false, stamp },
    createRulesWrite(tenantId, RULES_VERSION),
  ] as const;
  await store.writeState(writes, soon());
  return { tenantId, keyId: key.keyId };
}

const startPair = (t: TestContext, store: Store): Promise<ReaderPair> =>
  ReaderPair.start(t, store, (node) => {
    const { accept } = createStreamHost({
      shard: () => node,
      clock: systemClock,
      log: silentLog,
      metrics: createMetrics(),
    });
    return directOwners(systemClock, new Map([['owner:1', accept]]));
  });

const viewer = (subject: string): BuiltInTuple => ({ subject, relation: 'viewer', object: 'doc:1' });
const [ANN, BOB] = [viewer('user:ann'), viewer('user:bob')];

/** A pair in which Ann is a viewer, and the reader has her page in memory, but not Bob's. */
async function readAnn(t: TestContext, store: Store) {
  const pair = await startPair(t, store);
  await pair.write({ grants: [ANN, { ...BOB, object: 'doc:2' }] });
  const handle = await pair.read(await pair.createKey());
  const { connection, faults } = pair.reader;
  const check = async (tuples: readonly BuiltInTuple[]): Promise<readonly boolean[]> =>
    (await connection.checkBulk(handle, columnsOf(tuples))).authorized;
  const viewers = async (): Promise<readonly string[]> => {
    const query = { object: 'doc:1', relation: 'viewer', namespace: undefined, limit: 10, cursor: undefined };
    return (await connection.listHolders(handle, query)).items;
  };
  assert.deepEqual(await check([ANN]), [true]);
  const held = (): Promise<void> => waitFor('a read of the store', () => faults.heldCalls() > 0);
  return { pair, check, viewers, faults, held };
}

export function definePageSourceContract(
  name: string,
  open: () => Promise<{ readonly store: Store; close(): Promise<void> }>,
): void {
  describe(`the source of a reader's pages over ${name}`, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());

    for (const [operation, read] of Object.entries(READS)) {
      it(`${operation} gives the rows of the store once the reader has caught up with them`, async () => {
        const { store } = opened;
        const rows = await writeRows(store);
        const arrived = Promise.withResolvers<void>();
        const hooks = { fault: () => ({ kind: 'delay-reply', until: () => arrived.promise }) as const };
        const caughtUp = Promise.withResolvers<void>();
        let asked = 0;
        const reads = currentReads(delayedStore(store, systemClock, hooks).store, () => {
          asked += 1;
          return caughtUp.promise;
        });
        let isSettled = false;
        const reading = read(reads, rows).finally(() => {
          isSettled = true;
        });
        const expected = await read(store, rows);
        assert.notDeepEqual(expected, await read(store, { ...rows, tenantId: newTenantId() }));
        assert.equal(asked, 0, 'what is committed before the rows have arrived may be in them');
        arrived.resolve();
        await waitFor('the reader to be asked', () => asked > 0);
        assert.deepEqual([asked, isSettled], [1, false]);
        caughtUp.resolve();
        assert.deepEqual(await reading, expected);
      });
    }

    it('gives no rows if the reader cannot catch up with them', async () => {
      const { store } = opened;
      const rows = await writeRows(store);
      const reads = currentReads(store, () => Promise.reject(new Error('ended')));
      for (const read of Object.values(READS)) await assert.rejects(read(reads, rows), /ended/);
    });

    it('mixes no rows that are ahead with what is in memory', async (t) => {
      const { pair, check, faults, held } = await readAnn(t, opened.store);
      faults.turn('hold', READ_OPERATIONS);
      const checking = check([ANN, BOB]);
      await held();
      await pair.write({ grants: [BOB], revocations: [ANN] });
      await pair.stored(BOB, true);
      faults.restore(READ_OPERATIONS);
      assert.deepEqual(await checking, [false, true]);
    });

    it('puts over its rows what was committed after they were read', async (t) => {
      const { pair, check, viewers, faults, held } = await readAnn(t, opened.store);
      faults.turn('hold-reply', READ_OPERATIONS);
      const answers = Promise.all([check([ANN, BOB]), viewers()]);
      await held();
      await pair.write({ grants: [BOB], revocations: [ANN] });
      faults.restore(READ_OPERATIONS);
      assert.deepEqual(await answers, [[false, true], ['user:bob']]);
    });

    it('puts over its rows what the state tables lack', async (t) => {
      const { pair, check, viewers } = await readAnn(t, opened.store);
      pair.owner.faults.turn('hold', WRITE_BEHIND);
      await pair.write({ grants: [BOB], revocations: [ANN] });
      const answers = await Promise.all([check([ANN, BOB]), viewers(), pair.stored(BOB, false)]);
      pair.owner.faults.restore(WRITE_BEHIND);
      assert.deepEqual(answers, [[false, true], ['user:bob'], undefined]);
    });

    it('gives what is committed while it reads page after page', async (t) => {
      const { pair, check, viewers } = await readAnn(t, opened.store);
      for (let round = 0; round < ROUNDS; round += 1) {
        const [granted, revoked] = round % 2 === 0 ? [BOB, ANN] : [ANN, BOB];
        await pair.write({ grants: [granted], revocations: [revoked] });
        assert.deepEqual(await check([granted, revoked]), [true, false]);
        assert.deepEqual(await viewers(), [granted.subject]);
      }
    });
  });
}
