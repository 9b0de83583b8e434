// The writer of the SQLite store, on a database in memory whose commits can be made to fail: what is grouped, what goes
// first, and what a failed commit means for everyone in it.

import assert from 'node:assert/strict';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import type { Reply } from '../../../../src/store/sqlite/messages.ts';
import { toStateBatch } from '../../../../src/store/sqlite/messages.ts';
import { migrate } from '../../../../src/store/sqlite/migrate.ts';
import { MIGRATIONS } from '../../../../src/store/sqlite/migrations.ts';
import { Damage } from '../../../../src/store/sqlite/sqlite-errors.ts';
import { Writer } from '../../../../src/store/sqlite/worker/writer.ts';
import { createGrantWrite, createRecord, newTenantId } from '../../../kit/store/store-fixtures.ts';

/** SQLITE_IOERR_FSYNC */
const FSYNC_FAILED = 1034;

/** Remembers transactions and settlings, and fails as many commits or settlings as it is told. */
class WatchedDatabase extends DatabaseSync {
  readonly events: string[] = [];
  commitsToFail = 0;
  settlingsToFail = 0;

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    if (sql === 'COMMIT') {
      const run = statement.run.bind(statement);
      statement.run = () => {
        if (this.commitsToFail > 0) {
          this.commitsToFail -= 1;
          this.events.push('commit fails');
          throw Object.assign(new Error('disk I/O error'), { errcode: FSYNC_FAILED });
        }
        this.events.push('commit');
        return run();
      };
    }
    if (sql === 'PRAGMA wal_checkpoint(TRUNCATE)') {
      statement.get = () => {
        this.settlingsToFail -= 1;
        this.events.push(this.settlingsToFail >= 0 ? 'settling fails' : 'settled');
        return { busy: this.settlingsToFail >= 0 ? 1 : 0 };
      };
    }
    return statement;
  }
}

function createWriter() {
  const damage = new Damage();
  /** What the witness was shown; it may refuse. */
  const witnessed: number[][] = [];
  const trouble: { error: Error | undefined } = { error: undefined };
  const witness = {
    beforeCommit() {},
    afterCommit(appends: Iterable<{ readonly slot: number }>) {
      witnessed.push(Array.from(appends, ({ slot }) => slot));
      if (trouble.error !== undefined) throw trouble.error;
    },
  };
  const database = new WatchedDatabase(':memory:');
  migrate(database, MIGRATIONS, 1);
  const replies: Reply[] = [];
  const writer = new Writer(database, (batch) => replies.push(...batch), { witness, damage });
  const run = () => {
    while (writer.runRound());
    return replies.splice(0);
  };
  const count = (table: 'log' | 'grants') => Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  return { database, writer, run, count, replies, damage, witnessed, trouble };
}

const append = (id: number, slot: number) => ({ id, name: 'append', args: [createRecord(slot, 1), 0] });
const state = (id: number, rows: number) => {
  const tenantId = newTenantId();
  const writes = Array.from({ length: rows }, (_, index) => createGrantWrite(tenantId, { object: `doc:${index}` }));
  return { id, name: 'writeState', args: [toStateBatch(writes)] };
};

describe('writer', () => {
  it('commits everything conditional that waits in one transaction', () => {
    const { database, writer, run } = createWriter();
    writer.accept([append(1, 1), append(2, 2)]);
    writer.accept([append(3, 3), append(4, 1)]);
    const answers = run().map((reply) => ('result' in reply ? (reply.result as { kind: string }).kind : 'failed'));
    assert.deepEqual(answers, ['appended', 'appended', 'appended', 'occupied']);
    assert.deepEqual(database.events, ['commit']);
  });

  it('fails everyone in a transaction whose commit fails, and keeps nothing of it', () => {
    const { database, writer, run, count } = createWriter();
    database.commitsToFail = 2;
    writer.accept([append(1, 1), state(2, 10), append(3, 2)]);
    const replies = run();
    assert.deepEqual(replies.map((reply) => reply.id).sort(), [1, 2, 3]);
    assert.ok(replies.every((reply) => 'failure' in reply && reply.failure.reason.includes('input/output')));
    assert.equal(count('log') + count('grants'), 0);
  });

  it('settles the write-ahead log after an input/output error, before it commits again', () => {
    const { database, writer, run, count } = createWriter();
    database.commitsToFail = 1;
    database.settlingsToFail = 1;
    for (const id of [1, 2, 3]) {
      writer.accept([append(id, id)]);
      const [reply] = run();
      assert.equal(reply !== undefined && 'result' in reply, id === 3);
    }
    assert.deepEqual(database.events, ['commit fails', 'settling fails', 'settled', 'commit']);
    assert.equal(count('log'), 1);
  });

  it('lets an append overtake a large batch of state', () => {
    const { writer, run, count, replies } = createWriter();
    writer.accept([state(1, 50_000)]);
    assert.equal(writer.runRound(), true);
    assert.deepEqual(replies, []);
    writer.accept([append(2, 1)]);
    assert.deepEqual(
      run().map((reply) => reply.id),
      [2, 1],
    );
    assert.equal(count('grants'), 50_000);
  });

  it('answers batches of state in their order, each once', () => {
    const { writer, run, count } = createWriter();
    writer.accept([state(1, 3000), state(2, 0), state(3, 3000), state(4, 1)]);
    assert.deepEqual(
      run().map((reply) => reply.id),
      [1, 2, 3, 4],
    );
    assert.equal(count('grants'), 6001);
  });

  it('confirms only what its witness has seen committed, and shows it every append', () => {
    const { writer, run, witnessed, trouble } = createWriter();
    writer.accept([append(1, 1), append(2, 2)]);
    assert.ok(run().every((reply) => 'result' in reply));
    // Repeated: it stands already.
    writer.accept([append(3, 1)]);
    run();
    assert.deepEqual(witnessed, [[1, 2], [1]]);
    trouble.error = new Error('the disk with the ends is full');
    writer.accept([append(4, 4), append(5, 5)]);
    assert.ok(run().every((reply) => 'failure' in reply));
    trouble.error = undefined;
    writer.accept([append(6, 6)]);
    assert.ok(run().every((reply) => 'result' in reply));
  });

  it('writes and confirms nothing more once damage is known, whoever has noticed it', () => {
    const { database, writer, run, count, damage, trouble } = createWriter();
    trouble.error = Object.assign(new Error('malformed'), { errcode: 11 });
    writer.accept([append(1, 1)]);
    assert.ok(run().every((reply) => 'failure' in reply));
    assert.equal(damage.reason, 'the database is damaged');
    trouble.error = undefined;
    const before = database.events.length;
    writer.accept([append(2, 2), state(3, 5)]);
    assert.deepEqual(
      run().map((reply) => 'failure' in reply && reply.failure.reason),
      ['the database is damaged', 'the database is damaged'],
    );
    assert.deepEqual([database.events.length, count('grants')], [before, 0]);
  });
});
