// The schema's history: numbered steps, only ever appended to, never edited once released. Each statement may be run
// again after a step that was cut off. What the choices are for:
//   - `speculative_retry = '50ms'`: a replica that died stalls reads until it is noticed, 15 to 20 s; a second one is
//     asked.
//   - No cell is ever written as null, and a revocation is a row marked `gone`: a removal would leave a tombstone,
//     which expires, and whatever missed it would bring the grant back.
//   - `gc_grace_seconds`: the default of ten days where a removal that a replica missed is worth repairing. One day for
//     the log: only whole segments are removed, behind the point from which anybody reads; it is longer than hints are
//     kept.
//   - Levelled compaction where rows are written again and read one by one; by size where they are written once; by
//     time for the audit log, whose months expire.
// `log`, `slots`, `members`, `meta` are written by lightweight transactions only, all else by stamped plain writes:
// their timestamps are unrelated, so they never share a row.

import type { SchemaVersion } from '../tables/rows.ts';

/** How long the audit log is kept. An operator may alter it. */
const AUDIT_LOG_SECONDS = 400 * 24 * 3600;
const LOG_GRACE_SECONDS = 24 * 3600;

const READ_SOON = "speculative_retry = '50ms'";
const LEVELED = "compaction = {'class': 'LeveledCompactionStrategy'}";
const BY_MONTH =
  "compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': 30}";

export interface Migration {
  /** 1 and up, without gaps. */
  readonly version: number;
  /** Programs made for this version, or a later one, run on the schema as this step leaves it. At most `version`. */
  readonly servesFrom: number;
  readonly name: string;
  /** `keyspace`: as it stands in a statement. */
  readonly statements: (keyspace: string) => readonly string[];
}

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    servesFrom: 1,
    name: 'tables of the log, of ownership and of state',
    statements: (keyspace) => [
      `CREATE TABLE IF NOT EXISTS ${keyspace}.meta (
        id text PRIMARY KEY,
        schema_version int,
        schema_serves_from int,
        slots int,
        segment_size int,
        serial_level text,
        datacentre text,
        lease_ms int,
        deadline_ms int,
        log_format int,
        cursor_secrets frozen<list<text>>
      ) WITH ${READ_SOON}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.log (
        slot int,
        segment bigint,
        seq bigint,
        epoch bigint,
        entry_id text,
        body blob,
        PRIMARY KEY ((slot, segment), seq)
      ) WITH ${READ_SOON} AND gc_grace_seconds = ${LOG_GRACE_SECONDS}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.slots (
        slot int PRIMARY KEY,
        owner text,
        epoch bigint,
        opened bigint,
        first bigint,
        successor text
      ) WITH ${READ_SOON}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.members (
        incarnation text PRIMARY KEY,
        shard_name text,
        address text,
        state text,
        beat bigint,
        started_at_ms bigint
      ) WITH ${READ_SOON}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.checkpoints (
        slot int PRIMARY KEY,
        seq bigint
      ) WITH ${READ_SOON}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.grants (
        tenant text,
        subject text,
        relation text,
        object text,
        grant_id text,
        created_at_ms bigint,
        gone boolean,
        PRIMARY KEY ((tenant, subject), relation, object)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.subjects (
        tenant text,
        bucket int,
        subject text,
        PRIMARY KEY ((tenant, bucket), subject)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.namespaces (
        tenant text,
        name text,
        created_at_ms bigint,
        PRIMARY KEY (tenant, name)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.keys (
        tenant text,
        key_id text,
        name text,
        scopes int,
        created_at_ms bigint,
        expires_at_ms bigint,
        hash text,
        gone boolean,
        PRIMARY KEY (tenant, key_id)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.tenants (
        slot int,
        tenant text,
        name text,
        plan text,
        state text,
        created_at_ms bigint,
        PRIMARY KEY (slot, tenant)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.changes (
        tenant text,
        month text,
        seq bigint,
        position int,
        at_ms bigint,
        actor text,
        request_id text,
        change text,
        PRIMARY KEY ((tenant, month), seq, position)
      ) WITH ${READ_SOON} AND ${BY_MONTH} AND default_time_to_live = ${AUDIT_LOG_SECONDS}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.key_uses (
        tenant text,
        key_id text,
        used_at_ms bigint,
        PRIMARY KEY (tenant, key_id)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
    ],
  },
  {
    version: 2,
    // Programs of version 1 do their work on it; what they leave out shows in the checkpoints.
    servesFrom: 1,
    name: 'the count of grants of each tenant',
    statements: (keyspace) => [
      `CREATE TABLE IF NOT EXISTS ${keyspace}.grant_counts (
        slot int,
        tenant text,
        count text,
        PRIMARY KEY (slot, tenant)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `ALTER TABLE ${keyspace}.checkpoints ADD IF NOT EXISTS counted_from bigint`,
    ],
  },
  {
    version: 3,
    // Programs of earlier versions leave the column alone, and so tell nothing of their health.
    servesFrom: 1,
    name: 'the health that members tell with their heartbeats',
    statements: (keyspace) => [`ALTER TABLE ${keyspace}.members ADD IF NOT EXISTS healthy_beat bigint`],
  },
  {
    version: 4,
    // What a program of an earlier version leaves standing there stays true.
    servesFrom: 1,
    name: 'the start of the idempotency window of each slot',
    statements: (keyspace) => [`ALTER TABLE ${keyspace}.checkpoints ADD IF NOT EXISTS window_from bigint`],
  },
  {
    version: 5,
    // Members of earlier versions have no place: their leases are waited for.
    servesFrom: 1,
    name: 'the place in which each member runs',
    statements: (keyspace) => [`ALTER TABLE ${keyspace}.members ADD IF NOT EXISTS place text`],
  },
  {
    version: 6,
    // Programs of earlier versions write no rows there; what they leave out shows in the checkpoints.
    servesFrom: 1,
    name: 'grants by their objects',
    statements: (keyspace) => [
      `CREATE TABLE IF NOT EXISTS ${keyspace}.grants_by_object (
        tenant text,
        object text,
        relation text,
        subject text,
        grant_id text,
        created_at_ms bigint,
        gone boolean,
        PRIMARY KEY ((tenant, object), relation, subject)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `ALTER TABLE ${keyspace}.checkpoints ADD IF NOT EXISTS indexed_from bigint`,
    ],
  },
];

/** The schema that this program is made for. */
export const SCHEMA_VERSION = MIGRATIONS.length;
/** As this program leaves it. */
export const SCHEMA: SchemaVersion = {
  version: SCHEMA_VERSION,
  servesFrom: MIGRATIONS.at(-1)?.servesFrom ?? SCHEMA_VERSION,
};
