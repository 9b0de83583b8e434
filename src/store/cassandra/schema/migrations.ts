// The schema's history: numbered steps. New ones are appended; a released one is never edited. Each statement is safe
// to run again after an interrupted step. The reasons for the options:
// - `speculative_retry = '50ms'`: a replica that died stalls reads until it is noticed, after 15 to 20 s, so a second
//   replica is asked.
// - No cell is ever written as null, and a revocation is a row marked `gone`. A deletion would leave a tombstone that
//   expires, and a replica that missed it would bring the grant back.
// - `gc_grace_seconds`: the default of ten days where a deletion that a replica missed is worth repairing. One day for
//   the log, which is longer than hints are kept: only whole segments are deleted, and no reader starts that far back.
// - Levelled compaction for rows that are rewritten and read one by one; by size for rows written once; by time for the
//   audit log, whose months expire.
//
// Only lightweight transactions write `log`, `slots`, `members` and `meta`. Stamped plain writes write everything else.
// Their timestamps are unrelated, so they never share a row.

import { createHash } from 'node:crypto';
import { PROGRAM_VERSION } from '../../../core/program-version.ts';
import { AUDIT_LOG_KEPT_DAYS, USAGE_KEPT_DAYS } from '../../store.ts';
import type { SchemaVersion } from '../tables/rows.ts';

/** An operator may alter it. */
const AUDIT_LOG_SECONDS = AUDIT_LOG_KEPT_DAYS * 24 * 3600;
const USAGE_SECONDS = USAGE_KEPT_DAYS * 24 * 3600;
const LOG_GRACE_SECONDS = 24 * 3600;

const READ_SOON = "speculative_retry = '50ms'";
const LEVELED = "compaction = {'class': 'LeveledCompactionStrategy'}";
const BY_MONTH =
  "compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': 30}";

export interface Migration {
  /** 1 and up, without gaps. */
  readonly version: number;
  /**
   * The oldest program version, by its schema number, that can run on the schema after this step. At most `version`.
   */
  readonly servesFrom: number;
  readonly name: string;
  /** `keyspace`: as it appears in a statement. */
  readonly statements: (keyspace: string) => readonly string[];
}

export const MIGRATIONS: readonly Migration[] = [
  {
    version: 1,
    servesFrom: 1,
    name: 'the schema of 0.2.0',
    statements: (keyspace) => [
      `CREATE TABLE IF NOT EXISTS ${keyspace}.meta (
        id text PRIMARY KEY,
        cluster_id text,
        schema_version int,
        schema_serves_from int,
        schema_program text,
        schema_fingerprint text,
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
        first bigint
      ) WITH ${READ_SOON}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.members (
        incarnation text PRIMARY KEY,
        shard_name text,
        address text,
        state text,
        beat bigint,
        started_at_ms bigint,
        healthy_beat bigint,
        wall_ms bigint,
        place text
      ) WITH ${READ_SOON}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.checkpoints (
        slot int PRIMARY KEY,
        seq bigint,
        window_from bigint
      ) WITH ${READ_SOON}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.grants (
        tenant text,
        subject text,
        relation text,
        object text,
        grant_id text,
        created_at_ms bigint,
        expires_at_ms bigint,
        condition text,
        gone boolean,
        PRIMARY KEY ((tenant, subject), relation, object)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.grants_by_object (
        tenant text,
        object text,
        relation text,
        subject text,
        grant_id text,
        created_at_ms bigint,
        expires_at_ms bigint,
        condition text,
        gone boolean,
        PRIMARY KEY ((tenant, object), relation, subject)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.grants_by_expiry (
        tenant text,
        bucket int,
        expires_at_ms bigint,
        subject text,
        relation text,
        object text,
        PRIMARY KEY ((tenant, bucket), expires_at_ms, subject, relation, object)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.grant_counts (
        slot int,
        tenant text,
        count text,
        PRIMARY KEY (slot, tenant)
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
      `CREATE TABLE IF NOT EXISTS ${keyspace}.tenant_rules (
        tenant text,
        place int,
        version bigint,
        revision text,
        at_ms bigint,
        actor text,
        request_id text,
        added int,
        removed int,
        rules text,
        PRIMARY KEY (tenant, place)
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
        rotated_from text,
        rotated_to text,
        PRIMARY KEY (tenant, key_id)
      ) WITH ${READ_SOON} AND ${LEVELED}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.tenants (
        slot int,
        tenant text,
        name text,
        plan text,
        state text,
        created_at_ms bigint,
        readers int,
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
      `CREATE TABLE IF NOT EXISTS ${keyspace}.usage (
        tenant text,
        place int,
        counts text,
        PRIMARY KEY (tenant, place)
      ) WITH ${READ_SOON} AND ${LEVELED} AND default_time_to_live = ${USAGE_SECONDS}`,
      `CREATE TABLE IF NOT EXISTS ${keyspace}.hot_pages (
        slot int PRIMARY KEY,
        pages text
      ) WITH ${READ_SOON} AND ${LEVELED}`,
    ],
  },
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** What tells tables made by the first `version` steps of this program from those of steps with another text. */
export function fingerprintAt(version: number): string {
  const hash = createHash('sha256');
  for (const { statements } of MIGRATIONS.slice(0, version)) hash.update(statements('k').join(';'));
  return hash.digest('hex').slice(0, 16);
}

/** The schema after all steps of this program. */
export const SCHEMA: SchemaVersion = {
  version: SCHEMA_VERSION,
  servesFrom: MIGRATIONS.at(-1)?.servesFrom ?? SCHEMA_VERSION,
  program: PROGRAM_VERSION,
  fingerprint: fingerprintAt(SCHEMA_VERSION),
};
