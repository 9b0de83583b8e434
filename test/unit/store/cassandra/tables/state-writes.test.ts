// How state travels: in batches that Cassandra takes without a word, with the stamp of every row, and onwards from
// where a call that failed had got.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createStateWrites, StateStatements } from '../../../../../src/store/cassandra/tables/state-writes.ts';
import type { NamespaceWrite } from '../../../../../src/store/store.ts';
import { createGrantWrite, newTenantId } from '../../../../kit/store/store-fixtures.ts';
import { createSession } from '../fake-driver.ts';

const grants = (count: number, change: (index: number) => object) => {
  const tenantId = newTenantId();
  return Array.from({ length: count }, (_, index) =>
    createGrantWrite(tenantId, { stamp: 1000 + index, ...change(index) }),
  );
};

const namespaces = (count: number, change: (index: number) => Partial<NamespaceWrite> = () => ({})): NamespaceWrite[] =>
  Array.from({ length: count }, (_, index) => ({
    kind: 'namespace',
    tenantId: newTenantId(),
    name: `ns${index}`,
    createdAtMs: 1,
    stamp: 1000 + index,
    ...change(index),
  }));

const tableOf = (statement: { readonly query: string } | undefined) =>
  statement?.query.match(/^INSERT INTO "grantd"\.(\w+)/)?.[1];

describe('batches of state', () => {
  const statements = new StateStatements('"grantd"');

  it('hold every grant once by subject and once by object, with its own stamp', () => {
    const writes = grants(500, (index) => ({ subject: `user:${index % 90}`, object: `doc:${index}` }));
    const batches = statements.batches(writes);
    for (const table of ['grants', 'grants_by_object']) {
      const rows = batches.flatMap((batch) => batch.writes.filter((_, at) => tableOf(batch.statements[at]) === table));
      assert.deepEqual(new Set(rows), new Set(writes));
      assert.equal(rows.length, writes.length);
    }
    for (const batch of batches) {
      assert.deepEqual(
        batch.statements.map(({ params }) => params.at(-1)),
        batch.writes.map(({ stamp }) => BigInt(stamp)),
      );
      assert.ok(batch.statements.every(({ query }) => query.endsWith('USING TIMESTAMP ?')));
    }
  });

  it('hold at most 64 rows of one partition, and at most 10 partitions', () => {
    const tenantId = newTenantId();
    const one = statements.batches(namespaces(200, () => ({ tenantId })));
    assert.deepEqual(
      one.map(({ writes }) => writes.length),
      [64, 64, 64, 8],
    );
    const many = statements.batches(namespaces(100));
    assert.deepEqual(new Set(many.map(({ writes }) => writes.length)), new Set([10]));
  });

  it('hold few bytes where several partitions share one', () => {
    const large = statements.batches(namespaces(20, () => ({ name: 'x'.repeat(1000) })));
    assert.ok(large.every(({ writes }) => writes.length <= 3));
  });
});

describe('writing state', () => {
  it('sends again only what was not confirmed when the same call is made again', async () => {
    const { executor, calls, clock } = createSession();
    const { writeState } = createStateWrites(executor, '"grantd"');
    const writes = namespaces(30);
    const first = writeState(writes, clock.monotonicMs() + 5000);
    first.catch(() => {});
    await clock.advance(0);
    assert.equal(calls.length, 3);
    calls[0]?.answer();
    calls[2]?.answer();
    await clock.advance(5000);
    await assert.rejects(first);
    const second = writeState(writes, clock.monotonicMs() + 5000);
    await clock.advance(0);
    assert.equal(calls.length, 4);
    assert.deepEqual(calls[3]?.params, calls[1]?.params);
    calls[3]?.answer();
    await second;
  });

  it('sends a grant again if one of its two rows was not confirmed', async () => {
    const { executor, calls, clock } = createSession();
    const { writeState } = createStateWrites(executor, '"grantd"');
    // Ten partitions by subject fill the first batch; those by object have the second.
    const writes = grants(5, (index) => ({ subject: `user:${index}`, object: `doc:${'x'.repeat(3000)}${index}` }));
    const first = writeState(writes, clock.monotonicMs() + 5000);
    first.catch(() => {});
    await clock.advance(0);
    assert.ok(calls.length > 1);
    for (const call of calls.slice(1)) call.answer();
    await clock.advance(5000);
    await assert.rejects(first);
    const sent = calls.length;
    void writeState(writes, clock.monotonicMs() + 5000).catch(() => {});
    await clock.advance(0);
    assert.deepEqual(calls[sent]?.params, calls[0]?.params);
    await clock.advance(5000);
  });
});
