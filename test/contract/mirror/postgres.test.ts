// A mirror in a real Postgres, and the functions by which it is asked.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { batchOf, type MirrorSource, OPEN } from '../../../packages/sync/src/mirror.ts';
import { PostgresDatabase } from '../../../packages/sync/src/postgres-database.ts';
import { quotedName } from '../../../packages/sync/src/postgres-functions.ts';
import { runMirror } from '../../../packages/sync/src/run-mirror.ts';
import { SqlMirror } from '../../../packages/sync/src/sql-mirror.ts';
import { namespaceOf } from '../../../src/core/tuples.ts';
import { missingPostgres, PostgresServer } from '../../../tools/engines/postgres.ts';
import { NaiveJoin, type NaiveSets } from '../../kit/naive-join.ts';
import { naiveModel } from '../../kit/naive-rules.ts';
import { sync } from '../../unit/cli/scripted-sync.ts';
import { joinCases, setsOf } from '../../unit/rules/join-cases.ts';
import type { CaseKind } from '../../unit/rules/random-rules.ts';
import { type JoinedRow, mirroredRows } from '../../unit/sync/join-sql-cases.ts';
import { compareMoments, defineMirrorContract } from './mirror-contract.ts';
import { joinsOf, ScriptedHistory } from './scripted-history.ts';

const missing = await missingPostgres('the contract of a mirror in Postgres');
const SCHEMA = 'grantd "quoted"';
const ID = 'document.can_read';
const [ONE, ALL_OBJECTS] = [quotedName(ID), quotedName(`${ID}:objects`)];
const REFUSED = { behind: 'GR001', stale: 'GR002', 'other-rules': 'GR003', 'not-ready': 'GR004' };

type Values = readonly (string | number | null | readonly string[])[];

/** Behind an object, as the functions take them. */
const valuesOf = (
  { subjects, held, perhaps, own }: NaiveSets,
  seq: number | null = 7,
  timeMs: number | null = 1000,
): Values => [
  ...[subjects, held, perhaps],
  own.slice(0, Math.max(0, own.lastIndexOf('#'))),
  own.slice(own.lastIndexOf('#') + 1),
  ...[seq, timeMs],
];

const SETS: NaiveSets = { subjects: ['user:ada'], held: [], perhaps: [], own: 'user:ada#self' };
const call = (name: string, values: Values): string =>
  `${name}(${values.map((_, index) => `$${index + 1}`).join(', ')})`;

describe('a mirror in Postgres', { skip: missing ?? false }, () => {
  let server: PostgresServer;
  const open = (): Promise<PostgresDatabase> => PostgresDatabase.open(server.url, SCHEMA);
  const clear = async (): Promise<void> => {
    const database = await open();
    await database.run(`DROP SCHEMA IF EXISTS ${database.table('').slice(0, -1)} CASCADE`);
    await database.close();
  };
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.stop());

  defineMirrorContract({ open, clear });

  /** A mirror at entry 7, from 5 on, of the rules `r1`. */
  async function mirrorOf(
    database: PostgresDatabase,
    rows: readonly JoinedRow[],
    joins = joinsOf('r1', []),
  ): Promise<void> {
    const mirror = new SqlMirror(database);
    await mirror.open();
    await mirror.begin('grants_next');
    for (const row of rows) {
      await database.run(
        `INSERT INTO ${database.table('grants_next')} VALUES ($1, $2, $3, $4, $5, $6, $7 = 1, $8)`,
        ...row,
      );
    }
    await mirror.swap(joins, { seq: 7, cursor: '', horizon: 5, pairs: [] });
  }

  function testJoins(kind: CaseKind, seeds: number): void {
    it(`answers what the join says: ${kind}`, async () => {
      await clear();
      const database = await open();
      for (const each of joinCases(kind, seeds)) {
        const { join, ruleSet, grants, subjects, objects } = each;
        await mirrorOf(database, mirroredRows(join, grants), { revision: 'r1', joins: [{ id: ID, join }] });
        for (const subject of subjects) {
          const sets = setsOf(each, subject, naiveModel(ruleSet, grants, subject));
          const naive = new NaiveJoin(join, grants, sets);
          const values = [...valuesOf(sets), 7, 'r1'];
          const name = database.table(ALL_OBJECTS);
          const listed = await database.run(`SELECT object, sure FROM ${call(name, values)}`, ...values);
          const here = objects.filter((object) => namespaceOf(object) === join.namespace);
          for (const object of here) {
            const what = `${each.what}, ${subject}, ${object}`;
            const truth = naive.truthOf(object);
            const [row] = await database.run(
              `SELECT ${call(database.table(ONE), [object, ...values])} AS held`,
              ...[object, ...values],
            );
            assert.equal(row?.held, truth === 'undefined' ? null : truth, what);
            const found = listed.find((one) => one.object === object);
            assert.equal(found === undefined ? false : found.sure, row?.held, `${what}, listed`);
          }
        }
      }
      await database.close();
    });
  }
  testJoins('union', 4);
  testJoins('conditions', 4);
  testJoins('whole', 8);

  const ROWS: readonly JoinedRow[] = ['1', '2', '3'].map((id) => [
    ...([`document:${id}`, 'viewer', 'user:ada'] as const),
    ...([0, Number.MAX_SAFE_INTEGER, null, 0, 0] as const),
  ]);
  const objectsOf = async (database: PostgresDatabase, values: Values): Promise<readonly unknown[]> => {
    const rows = await database.run(`SELECT object FROM ${call(database.table(ALL_OBJECTS), values)}`, ...values);
    return rows.map(({ object }) => object).sort();
  };
  const ALL = ['document:1', 'document:2', 'document:3'];

  for (const [name, seq, state, timeMs = 1000] of [
    ['behind', 9, [8, 'r1']],
    ['stale', 4, [4, 'r1']],
    ['other-rules', 7, [7, 'r2']],
    ['not-ready', 7, [7, 'r1']],
    ['behind', 7, [null, 'r1']],
    ['stale', null, [7, 'r1']],
    ['stale', 7, [7, 'r1'], null],
    ['other-rules', 7, [7, null]],
  ] as const) {
    it(`raises ${name}, and never answers: as of ${seq} at ${timeMs}, ${state}`, async () => {
      await clear();
      const database = await open();
      await mirrorOf(database, ROWS);
      if (name === 'not-ready') await database.run(`UPDATE ${database.table('place')} SET seq = NULL`);
      const values = [...valuesOf(SETS, seq, timeMs), ...state];
      const error = { code: REFUSED[name], message: new RegExp(`^${name}: `) };
      await assert.rejects(objectsOf(database, [...values, null, 0]), error);
      const of = ['document:1', ...values];
      await assert.rejects(database.run(`SELECT ${call(database.table(ONE), of)}`, ...of), error);
      await database.close();
    });
  }

  it('waits, in a transaction too, and the keeper of the mirror knows at once', async () => {
    await clear();
    const [database, keeper] = [await open(), await open()];
    await mirrorOf(keeper, ROWS);
    const asked = Promise.withResolvers<void>();
    const looked = Promise.withResolvers<void>();
    const stop = keeper.onAsked(asked.resolve, looked.resolve);
    await looked.promise;
    await database.run('BEGIN');
    const found = objectsOf(database, [...valuesOf(SETS, 8), 8, 'r1', null, 60_000]);
    await asked.promise;
    await stop();
    const grant = {
      object: 'document:1',
      relation: 'viewer',
      subject: 'user:ada',
      expires_at: null,
      conditional: false,
    };
    const batch = batchOf([{ seq: 8, grant, isThere: false }], 7);
    await new SqlMirror(keeper).apply(batch, { seq: 8, cursor: '', horizon: 5 });
    assert.deepEqual(await found, ALL.slice(1));
    await database.run('COMMIT');
    assert.deepEqual(await objectsOf(database, [...valuesOf(SETS, 7), 7, 'r1']), ALL);
    await Promise.all([database.close(), keeper.close()]);
  });

  it('lists no objects but says so where there are more than the caller takes', async () => {
    await clear();
    const database = await open();
    await mirrorOf(database, ROWS);
    const values = [...valuesOf(SETS), 7, 'r1'];
    assert.deepEqual(await objectsOf(database, [...values, 3]), ALL);
    assert.deepEqual(await objectsOf(database, [...values, 2]), [null]);
    await database.close();
  });

  it('says so by a few objects where a large mirror has most of them for somebody', async () => {
    await clear();
    const database = await open();
    await mirrorOf(database, ROWS.slice(1));
    const grants = database.table('grants');
    await database.run(`INSERT INTO ${grants} SELECT 'document:x' || i, 'viewer', 'user:eve', 0, ${OPEN}, NULL, false, 0
      FROM generate_series(1, 2000) AS i`);
    await database.run(`ANALYZE ${grants}`);
    const values = (subject: string) => [...valuesOf({ ...SETS, subjects: [subject] }), 7, 'r1'];
    assert.deepEqual(await objectsOf(database, [...values('user:eve'), 50]), [null]);
    assert.deepEqual(await objectsOf(database, [...values('user:ada'), 50]), ALL.slice(1));
    assert.equal((await objectsOf(database, values('user:eve'))).length, 2000);
    const behind = [...valuesOf({ ...SETS, subjects: ['user:eve'] }, 9), 8, 'r1', 50, 0];
    await assert.rejects(objectsOf(database, behind), { code: REFUSED.behind });
    await database.close();
  });

  it('is kept by a command that goes on when its connection is ended', async () => {
    await clear();
    const database = await open();
    const pairs = ['document:parent', 'document:viewer'];
    const history = new ScriptedHistory(9, 60, joinsOf('r1', pairs));
    let pages = 0;
    history.beforePage = async () => {
      pages += 1;
      if (pages % 7 !== 0) return;
      await database.run(
        'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
        'grantd sync',
      );
    };
    const { code, stderr } = await sync(history, [
      ...['postgres', '--join', 'document.can_read', '--url', server.url, '--schema', 'grantd'],
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /Trying again until it responds\.$/m);
    await database.close();
    const kept = await PostgresDatabase.open(server.url, 'grantd');
    assert.ok((await compareMoments(kept, history, 'at the end')) > 1);
    await kept.close();
  });

  it('ends when its connection is lost while it waits for a change', { timeout: 60_000 }, async () => {
    await clear();
    const [database, other] = [await open(), await open()];
    const history = new ScriptedHistory(10, 0, joinsOf('r1', ['document:viewer']));
    let waits = 0;
    const source: MirrorSource = {
      joins: () => history.joins(),
      snapshot: (pairs, cursor) => history.snapshot(pairs, cursor),
      async changes(pairs, cursor, { signal }) {
        if (signal === undefined) return history.changes(pairs, cursor);
        waits += 1;
        await other.run(
          'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
          'grantd sync',
        );
        if (!signal.aborted) await once(signal, 'abort');
        return undefined;
      },
    };
    const run = runMirror({
      source,
      mirror: new SqlMirror(database),
      watch: { note: () => undefined, loaded: () => undefined, followed: () => undefined },
      signal: new AbortController().signal,
      nowMs: () => 0,
    });
    await assert.rejects(run, (error) => database.troubleOf(error) === 'passing');
    assert.equal(waits, 1);
    await Promise.all([database.close().catch(() => undefined), other.close()]);
  });

  it('answers a role that may use the schema, and sees no grants', async () => {
    await clear();
    const database = await open();
    await mirrorOf(database, ROWS);
    await database.run('CREATE ROLE app');
    await database.run(`GRANT USAGE ON SCHEMA ${database.table('').slice(0, -1)} TO app`);
    await database.run('SET ROLE app');
    assert.deepEqual(await objectsOf(database, [...valuesOf(SETS), 7, 'r1']), ALL);
    await assert.rejects(database.run(`SELECT * FROM ${database.table('grants')}`), { code: '42501' });
    await database.close();
  });
});
