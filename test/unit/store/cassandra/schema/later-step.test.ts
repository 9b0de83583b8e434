// A later step of the schema: applied once, however many migrations run at a time, and again from its first statement
// after one that was interrupted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GrantdError } from '../../../../../src/core/errors.ts';
import type { Executor } from '../../../../../src/store/cassandra/driver/executor.ts';
import { applySteps } from '../../../../../src/store/cassandra/schema/migrate.ts';
import { acquireMigrationLock } from '../../../../../src/store/cassandra/schema/migration-lock.ts';
import { MIGRATIONS, type Migration } from '../../../../../src/store/cassandra/schema/migrations.ts';
import { createRecordingLog } from '../../../../kit/store/store-directory.ts';
import { VirtualClock } from '../../../../kit/virtual-clock.ts';

const FIRST = 'ALTER TABLE k.grants ADD IF NOT EXISTS note text';
const SECOND = 'ALTER TABLE k.keys ADD IF NOT EXISTS note text';
const STEPS: readonly Migration[] = [
  ...MIGRATIONS,
  { version: MIGRATIONS.length + 1, servesFrom: 1, name: 'a later step', statements: () => [FIRST, SECOND] },
];
const log = createRecordingLog();

/** A keyspace after the steps of this program: the table of the lock and of the steps, and the changes so far. */
function createKeyspace() {
  const clock = new VirtualClock();
  const steps = new Map<unknown, unknown>(MIGRATIONS.map(({ version }) => [`step-${version}`, version]));
  const applied: string[] = [];
  let holder: unknown;
  const conditional = async (query: string, [first, second]: readonly unknown[]) => {
    const ofLock = query.includes("id = 'lock'") || query.includes("VALUES ('lock'");
    if (query.startsWith('INSERT') && !ofLock) {
      if (!steps.has(first)) steps.set(first, second);
      return { applied: true, row: {} };
    }
    if (query.startsWith('INSERT') && holder !== undefined) return { applied: false, row: { holder } };
    if (query.startsWith('UPDATE')) return { applied: holder === second, row: {} };
    holder = query.startsWith('DELETE') ? undefined : first;
    return { applied: true, row: {} };
  };
  const readSerial = async (_query: string, [id]: readonly unknown[]) => ({
    rows: steps.has(id) ? [{ version: steps.get(id) }] : [],
  });
  const executor = { conditional, readSerial } as unknown as Executor;

  async function migrate(holds: string, apply = async (_statement: string): Promise<void> => {}): Promise<void> {
    const lock = await acquireMigrationLock({ executor, clock, log }, 'k', holds);
    const change = async (statement: string): Promise<void> => {
      await apply(statement);
      applied.push(statement);
    };
    try {
      await applySteps(lock, { apply: change }, 'k', log, STEPS);
    } finally {
      await lock.release();
    }
  }

  return { clock, steps, applied, migrate };
}

test('a later step is applied once by several migrations at a time', async () => {
  const { clock, steps, applied, migrate } = createKeyspace();
  let done = 0;
  const all = ['a', 'b', 'c'].map((name) => migrate(name).then(() => (done += 1)));
  while (done < all.length) await clock.advance(500);
  await Promise.all(all);
  assert.deepEqual(applied, [FIRST, SECOND]);
  assert.equal(steps.size, STEPS.length);
});

test('a step that was interrupted is not done, and the next migration completes it', async () => {
  const { steps, applied, migrate } = createKeyspace();
  const unavailable = new GrantdError('unavailable', 'Cassandra failed.');
  const interrupted = migrate('a', async (statement) => {
    if (statement === SECOND) throw unavailable;
  });
  await assert.rejects(interrupted, unavailable);
  assert.equal(steps.size, MIGRATIONS.length);
  await migrate('b');
  await migrate('c');
  assert.deepEqual(applied, [FIRST, FIRST, SECOND]);
  assert.equal(steps.size, STEPS.length);
});
