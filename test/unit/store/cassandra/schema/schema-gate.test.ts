// Which schema serves this program, and what is said while it does not.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GrantdError } from '../../../../../src/core/errors.ts';
import { fingerprintAt, MIGRATIONS, SCHEMA_VERSION } from '../../../../../src/store/cassandra/schema/migrations.ts';
import { tableIdOf } from '../../../../../src/store/cassandra/schema/schema-changes.ts';
import { requireSameCluster, waitForSchema } from '../../../../../src/store/cassandra/schema/schema-gate.ts';
import type { ClusterRow } from '../../../../../src/store/cassandra/tables/rows.ts';
import { StoreRefusal } from '../../../../../src/store/store-adapter.ts';
import { createRecordingLog } from '../../../../kit/store/store-directory.ts';
import { META } from '../../../../kit/store/store-fixtures.ts';
import { VirtualClock } from '../../../../kit/virtual-clock.ts';

const CHOICES = { keyspace: 'grantd', slots: META.slots, serialLevel: 'LOCAL_SERIAL', localDatacenter: 'dc1' } as const;

const clusterAt = (version: number, servesFrom: number): ClusterRow => ({
  meta: META,
  schema: { version, servesFrom, program: '9.9.9', fingerprint: fingerprintAt(version) },
  serial: { serialLevel: 'LOCAL_SERIAL', datacenter: 'dc1' },
});

function startWaiting(...answers: readonly (ClusterRow | undefined | Error)[]) {
  const clock = new VirtualClock();
  const reasons: string[] = [];
  const abort = new AbortController();
  let looks = 0;
  const readCluster = async (): Promise<ClusterRow | undefined> => {
    const answer = answers[Math.min(looks, answers.length - 1)];
    looks += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const waiting = waitForSchema({ clock, log: createRecordingLog() }, { readCluster }, CHOICES, {
    signal: abort.signal,
    onWaiting: (reason) => void reasons.push(reason),
  });
  waiting.catch(() => {});
  return { clock, reasons, abort, waiting, looks: () => looks };
}

describe('waiting for the schema', () => {
  it('waits while there is none, it cannot be read or it is older, and tells why', async () => {
    const served = clusterAt(SCHEMA_VERSION, 1);
    const outage = new GrantdError('unavailable', 'no node can be reached');
    const { clock, reasons, waiting } = startWaiting(undefined, outage, clusterAt(SCHEMA_VERSION - 1, 0), served);
    await clock.advance(10_000);
    assert.deepEqual(await waiting, served);
    assert.equal(reasons.length, 3);
    assert.match(reasons[0] ?? '', /no schema yet/);
    assert.match(reasons[1] ?? '', /no node can be reached/);
    assert.match(
      reasons[2] ?? '',
      new RegExp(`version ${SCHEMA_VERSION - 1}, but this program needs ${SCHEMA_VERSION}`),
    );
  });

  it('takes a newer one that serves this program, and refuses one that does not', async () => {
    const newer = clusterAt(SCHEMA_VERSION + 3, SCHEMA_VERSION);
    assert.deepEqual(await startWaiting(newer).waiting, newer);
    await assert.rejects(startWaiting(clusterAt(SCHEMA_VERSION + 3, SCHEMA_VERSION + 1)).waiting, StoreRefusal);
  });

  it('refuses one that another text of its steps has made, and says who made it', async () => {
    const standing = clusterAt(SCHEMA_VERSION, 1);
    const other = { ...standing, schema: { ...standing.schema, fingerprint: 'fedcba9876543210' } };
    await assert.rejects(
      startWaiting(other).waiting,
      (error) => error instanceof StoreRefusal && /keyspace grantd were made by grantd 9\.9\.9/.test(error.message),
    );
  });

  it('ends with the signal, and with what is no outage', async () => {
    const { clock, abort, waiting } = startWaiting(undefined);
    await clock.advance(5000);
    abort.abort(new Error('stopped'));
    await assert.rejects(waiting, /stopped/);
    assert.equal(clock.timers, 0);
    await assert.rejects(startWaiting(new Error('a defect')).waiting, /a defect/);
  });
});

describe('the settings of a process in a cluster', () => {
  const standing = clusterAt(SCHEMA_VERSION, 1);

  it('are taken where they are those of the cluster, or say nothing', () => {
    requireSameCluster(CHOICES, standing);
    requireSameCluster({ ...CHOICES, slots: undefined }, standing);
    requireSameCluster(
      { ...CHOICES, serialLevel: 'SERIAL', localDatacenter: 'dc2' },
      { ...standing, serial: { serialLevel: 'SERIAL', datacenter: '' } },
    );
  });

  it('are refused with all that differs', () => {
    for (const [settings, patterns] of [
      [{ slots: 128 }, [/GRANTD_SLOTS is 128, but the cluster was created with 256\./]],
      [{ localDatacenter: 'dc2' }, [/GRANTD_CASSANDRA_LOCAL_DATACENTER is dc2, but .* dc1/]],
      [{ serialLevel: 'SERIAL' }, [/GRANTD_CASSANDRA_SERIAL_LEVEL is SERIAL, but .* LOCAL_SERIAL\./]],
      [{ slots: 1, serialLevel: 'SERIAL' }, [/GRANTD_SLOTS is 1/, /SERIAL_LEVEL is SERIAL/]],
    ] as const) {
      assert.throws(
        () => requireSameCluster({ ...CHOICES, ...settings }, standing),
        (error) => error instanceof StoreRefusal && patterns.every((pattern) => pattern.test(error.message)),
      );
    }
  });

  it('are compared before a process works on the tables', async () => {
    const other = { ...standing, meta: { ...META, slots: 8 } };
    await assert.rejects(startWaiting(other).waiting, StoreRefusal);
  });
});

describe('the steps of the schema', () => {
  it('are numbered from 1 without gaps, and none serves only programs of the future', () => {
    assert.deepEqual(
      MIGRATIONS.map(({ version }) => version),
      MIGRATIONS.map((_, index) => index + 1),
    );
    assert.ok(MIGRATIONS.every(({ version, servesFrom }) => servesFrom >= 1 && servesFrom <= version));
  });

  it('make only tables that notice a replica that is away, and can be run again', () => {
    for (const statement of MIGRATIONS.flatMap(({ statements }) => statements('"k"'))) {
      if (!statement.startsWith('CREATE TABLE')) continue;
      assert.match(statement, /^CREATE TABLE IF NOT EXISTS "k"\./);
      assert.match(statement, /speculative_retry = '50ms'/);
    }
  });

  it('give the lock table an id that anybody derives alike, and another in each keyspace', () => {
    assert.match(tableIdOf('a', 't'), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(tableIdOf('a', 't'), tableIdOf('a', 't'));
    assert.notEqual(tableIdOf('a', 't'), tableIdOf('b', 't'));
  });
});
