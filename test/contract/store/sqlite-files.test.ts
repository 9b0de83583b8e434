// The files of the SQLite store, each damaged, missing or replaced by another, after a crash and after a stop in order:
// a start has everything that was acknowledged, or is refused with what to do and destroys nothing.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { holdDirectory } from '../../../src/store/sqlite/data-directory.ts';
import { MIGRATIONS } from '../../../src/store/sqlite/migrations.ts';
import { describeRefusal, examineStart } from '../../../src/store/sqlite/start-check.ts';
import type { Store } from '../../../src/store/store.ts';
import { StoreRefusal } from '../../../src/store/store-adapter.ts';
import { useDirectory } from '../../kit/directory.ts';
import { createRecordingLog, openStore } from '../../kit/store/store-directory.ts';
import { createGrantWrite, createRecord, META, newTenantId, soon } from '../../kit/store/store-fixtures.ts';

const DB = 'grantd.db';
const WAL = 'grantd.db-wal';
const ENDS = 'grantd.log-ends';
/** Of the files that any start writes anew. */
const TRANSIENT = ['grantd.lock', 'grantd.pid', 'grantd.db-shm'];
const SLOTS = 12;
const ENTRIES = 10;

const path = (...parts: string[]) => join(...parts);
const flip = (file: string, at: number): void => {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
  writeFileSync(file, bytes);
};
const sizeOf = (file: string) => readFileSync(file).length;

const tenantId = newTenantId();

async function write(store: Store, from: number, to: number): Promise<void> {
  for (let seq = from; seq <= to; seq += 1) {
    await Promise.all(
      Array.from({ length: SLOTS }, async (_, slot) => {
        await store.append(createRecord(slot, seq), soon());
        await store.writeState([createGrantWrite(tenantId, { object: `doc:${slot}-${seq}`, stamp: seq })], soon());
        await store.writeCheckpoint(slot, { seq, stamp: seq, windowFrom: 1 }, soon());
      }),
    );
  }
}

/** What a crash would leave now: nothing is under way. */
function copyAsCrashed(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  for (const name of TRANSIENT) rmSync(path(to, name), { force: true });
}

/** By name, a digest of each file that a start must not change. */
function digests(directory: string): Map<string, string> {
  const names = readdirSync(directory).filter((name) => !TRANSIENT.includes(name));
  return new Map(
    names.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(path(directory, name)))
        .digest('hex'),
    ]),
  );
}

/** Every entry of every log is there, and the state up to the checkpoints. */
function requireWhole(directory: string): void {
  const database = new DatabaseSync(path(directory, DB));
  const query = (sql: string) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement.all() as unknown as number[][];
  };
  try {
    const logs = query('SELECT slot, count(*), max(seq) FROM log GROUP BY slot ORDER BY slot');
    assert.deepEqual(
      logs,
      Array.from({ length: SLOTS }, (_, slot) => [slot, ENTRIES, ENTRIES]),
    );
    const objects = new Set(query('SELECT object FROM grants').flat().map(String));
    for (const [slot, seq = 0] of query('SELECT slot, seq FROM checkpoints')) {
      for (let each = 1; each <= seq; each += 1) assert.ok(objects.has(`doc:${slot}-${each}`), `${slot} ${each}`);
    }
  } finally {
    database.close();
  }
}

type Outcome = 'whole' | 'refused' | 'either';
type Fault = (directory: string, other: { readonly older: string; readonly foreign: string }) => void;

/** After a crash, and after a stop in order. */
const FAULTS: readonly (readonly [string, Outcome, Outcome, Fault])[] = [
  ['nothing', 'whole', 'whole', () => {}],
  ['the write-ahead log is missing', 'refused', 'whole', (at) => rmSync(path(at, WAL), { force: true })],
  ['the write-ahead log is empty', 'refused', 'whole', (at) => writeFileSync(path(at, WAL), '')],
  ['the write-ahead log is text', 'refused', 'refused', (at) => writeFileSync(path(at, WAL), 'text '.repeat(9000))],
  [
    'the write-ahead log is of an older time',
    'refused',
    'refused',
    (at, { older }) => copyFileSync(path(older, WAL), path(at, WAL)),
  ],
  [
    'the write-ahead log is of another folder',
    'refused',
    'refused',
    (at, { foreign }) => copyFileSync(path(foreign, WAL), path(at, WAL)),
  ],
  ['the database is missing', 'refused', 'refused', (at) => rmSync(path(at, DB))],
  ['the database is empty', 'refused', 'refused', (at) => truncateSync(path(at, DB), 0)],
  ['the database is cut to a page', 'refused', 'refused', (at) => truncateSync(path(at, DB), 4096)],
  [
    'the database is cut in the middle',
    'either',
    'refused',
    (at) => truncateSync(path(at, DB), sizeOf(path(at, DB)) / 2),
  ],
  ['the database is text', 'refused', 'refused', (at) => writeFileSync(path(at, DB), 'text '.repeat(9000))],
  [
    'the database is of an older time',
    'refused',
    'refused',
    (at, { older }) => copyFileSync(path(older, DB), path(at, DB)),
  ],
  [
    'the database is of another folder',
    'refused',
    'refused',
    (at, { foreign }) => copyFileSync(path(foreign, DB), path(at, DB)),
  ],
  [
    'the index of the write-ahead log is odd',
    'whole',
    'whole',
    (at) => writeFileSync(path(at, 'grantd.db-shm'), 'odd '.repeat(9000)),
  ],
  [
    'a rollback journal is there',
    'refused',
    'refused',
    (at) => writeFileSync(path(at, 'grantd.db-journal'), 'odd '.repeat(900)),
  ],
  ['the ends are missing', 'refused', 'refused', (at) => rmSync(path(at, ENDS))],
  ['the ends are empty', 'refused', 'refused', (at) => truncateSync(path(at, ENDS), 0)],
  ['the ends are cut', 'refused', 'refused', (at) => truncateSync(path(at, ENDS), 2 * 4096)],
  ['the ends are text', 'refused', 'refused', (at) => writeFileSync(path(at, ENDS), 'text '.repeat(9000))],
  [
    'the ends are of an older time',
    'refused',
    'whole',
    (at, { older }) => copyFileSync(path(older, ENDS), path(at, ENDS)),
  ],
  [
    'the ends are of another folder',
    'refused',
    'refused',
    (at, { foreign }) => copyFileSync(path(foreign, ENDS), path(at, ENDS)),
  ],
  ...[0, 1, 2, 3].map((copy): (typeof FAULTS)[number] => [
    `a bit of page ${copy} of the ends is wrong`,
    'either',
    'either',
    (at) => flip(path(at, ENDS), copy * 4096 + 40),
  ]),
  ...[8, 16, 24].map((offset): (typeof FAULTS)[number] => [
    `a bit of the header of the write-ahead log is wrong, at ${offset}`,
    'refused',
    'whole',
    (at) => existsSync(path(at, WAL)) && flip(path(at, WAL), offset),
  ]),
  ...[0.1, 0.3, 0.5, 0.7, 0.9, 0.999].map((share): (typeof FAULTS)[number] => [
    `a bit of the write-ahead log is wrong, at ${share}`,
    share < 0.9 ? 'refused' : 'either',
    'whole',
    (at) => existsSync(path(at, WAL)) && flip(path(at, WAL), Math.floor(share * sizeOf(path(at, WAL)))),
  ]),
  ...[0.1, 0.5, 0.9, 0.999].map((share): (typeof FAULTS)[number] => [
    `the write-ahead log is cut, at ${share}`,
    share < 0.9 ? 'refused' : 'either',
    'whole',
    (at) => existsSync(path(at, WAL)) && truncateSync(path(at, WAL), Math.floor(share * sizeOf(path(at, WAL)))),
  ]),
  ...[0.01, 0.2, 0.4, 0.6, 0.8].map((share): (typeof FAULTS)[number] => [
    `a bit of the database is wrong, at ${share}`,
    'either',
    'refused',
    (at) => flip(path(at, DB), Math.floor(share * sizeOf(path(at, DB)))),
  ]),
];

describe('the files of the sqlite store', () => {
  const temporary = useDirectory();
  const own = path(temporary, 'own');
  const images = { older: path(temporary, 'older'), foreign: path(temporary, 'foreign') };
  const crashed = path(temporary, 'crashed');
  const closed = path(temporary, 'closed');

  before(async () => {
    const foreign = await openStore(path(temporary, 'other'));
    await foreign.initializeMeta(META, soon());
    await write(foreign, 1, ENTRIES + 5);
    copyAsCrashed(path(temporary, 'other'), images.foreign);
    await foreign.close();

    const first = await openStore(own);
    await first.initializeMeta(META, soon());
    await write(first, 1, 4);
    copyAsCrashed(own, images.older);
    await first.close();
    const second = await openStore(own);
    await write(second, 5, ENTRIES);
    copyAsCrashed(own, crashed);
    await second.close();
    copyAsCrashed(own, closed);
  });

  /** As the store opens it, without its threads. Undefined: it has everything. Otherwise why it is refused. */
  function refusalOf(directory: string): string | undefined {
    try {
      holdDirectory(directory, ['dev.json']).release();
      examineStart(directory, MIGRATIONS, { isFirst: true, acceptLoss: false });
    } catch (error) {
      return `${directory}: ${error instanceof StoreRefusal ? error.message : describeRefusal(error)}`;
    }
    requireWhole(directory);
    return undefined;
  }

  for (const [what, afterCrash, afterStop, spoil] of FAULTS) {
    for (const [when, image, expected] of [
      ['a crash', crashed, afterCrash],
      ['a stop', closed, afterStop],
    ] as const) {
      it(`after ${when}: ${what}`, () => {
        const directory = path(temporary, 'case');
        rmSync(directory, { recursive: true, force: true });
        cpSync(image, directory, { recursive: true });
        spoil(directory, images);
        const before = digests(directory);
        const refusal = refusalOf(directory);
        if (expected !== 'either')
          assert.equal(refusal === undefined ? 'whole' : 'refused', expected, refusal ?? 'it starts');
        if (refusal === undefined) return;
        assert.ok(refusal.includes(directory) && /from a backup|Remove the folder/i.test(refusal), refusal);
        const left = digests(directory);
        for (const [name, digest] of before) assert.equal(left.get(name), digest, `${name} is as it was`);
      });
    }
  }

  it('after a crash: a database file from before the write-ahead log began anew, twice', async () => {
    const directory = path(temporary, 'large');
    const store = await openStore(directory);
    await store.initializeMeta(META, soon());
    const older: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      older.push(path(temporary, `older-${round}`));
      copyFileSync(path(directory, DB), older.at(-1) ?? '');
      await write(store, 3 * round + 1, 3 * round + 3);
      // As the writer does it once the log is large.
      const other = new DatabaseSync(path(directory, DB));
      if (round < 3) other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      other.close();
    }
    const image = path(temporary, 'large-crashed');
    copyAsCrashed(directory, image);
    await store.close();
    examineStart(image, MIGRATIONS, { isFirst: true, acceptLoss: false });
    assert.deepEqual(readFileSync(older.at(-1) ?? ''), readFileSync(path(image, DB)));
    for (const file of older.slice(0, -1)) {
      copyFileSync(file, path(image, DB));
      assert.throws(
        () => examineStart(image, MIGRATIONS, { isFirst: true, acceptLoss: true }),
        /grantd\.db is older than grantd\.db-wal, which does not belong to it/,
      );
    }
  });

  it('goes on without what is missing if the operator accepts that, and keeps a note of it', async () => {
    const directory = path(temporary, 'accepted');
    cpSync(crashed, directory, { recursive: true });
    const wal = path(directory, WAL);
    flip(wal, Math.floor(sizeOf(wal) / 2));
    const log = createRecordingLog();
    await assert.rejects(openStore(directory, { log }), /lacks \d+ acknowledged entries .*--accept-loss/);
    const store = await openStore(directory, { log, acceptLoss: true });
    const line = log.lines.find((each) => each.includes('going on without'));
    assert.match(line ?? '', /^warn: going on without what is missing .*lacks \d+ acknowledged/);
    const { seq: last } = (await store.readRecords(0, 8, 100, soon())).at(-1) ?? { seq: 7 };
    assert.ok(last < ENTRIES);
    await store.append(createRecord(0, last + 1), soon());
    await store.close();
    const database = new DatabaseSync(path(directory, DB));
    assert.match(
      String(database.prepare('SELECT reason FROM accepted_losses').get()?.reason),
      /lacks \d+ acknowledged/,
    );
    database.close();
    await (await openStore(directory)).close();
  });
});
