// State writes as statements. Every row has its own stamp as its timestamp, so the greatest stamp wins, in whatever
// order and however often writes arrive. They travel in batches, which are no transactions here but save messages: at
// the same load, the nodes take twice as many rows. Rows of one partition form one mutation; a few small mutations
// share a batch.

import { assertNever } from '../../../core/assert.ts';
import { grantColumnValues } from '../../../core/grant-attributes.ts';
import { bucketOfSubject } from '../../../core/slots.ts';
import { encodeTenantState } from '../../../core/tenants.ts';
import type { GrantWrite, StateWrite } from '../../store.ts';
import type { Statement, Value } from '../driver/executor.ts';
import { encodeGrantCount } from './grant-count-text.ts';
import { EXPIRY_COLUMNS, GRANT_COLUMNS } from './rows.ts';

/**
 * Bounds of one partition in one batch, in rows and approximate bytes: a mutation is small compared with what a node
 * accepts.
 */
const MUTATION_ROWS_MAX = 64;
const MUTATION_BYTES_MAX = 64 * 1024;
/**
 * Bounds of a batch over several partitions: what Cassandra accepts without a warning
 * (`unlogged_batch_across_partitions_warn_threshold`, `batch_size_warn_threshold`).
 */
const BATCH_MUTATIONS_MAX = 10;
const BATCH_BYTES_MAX = 4 * 1024;
/** Bytes of a row in addition to its text. */
const ROW_BYTES = 100;

interface Addressed {
  /** Equal only for rows of one partition of one table. */
  readonly partition: string;
  readonly row: StateRow;
}

interface Place {
  readonly partition: string;
  readonly statement: Statement;
}

interface StateRow {
  readonly write: StateWrite;
  readonly statement: Statement;
  readonly bytes: number;
}

/** Rows that are sent together. The two rows of a grant are mostly in different batches. */
export interface StateBatch {
  readonly writes: readonly StateWrite[];
  readonly statements: readonly Statement[];
}

/** Whole numbers are bigints in the tables. */
const toValue = (value: string | number): Value => (typeof value === 'number' ? BigInt(value) : value);

/** Length-prefixed, so that no two lists of parts give the same text. */
const partitionOf = (...parts: readonly (string | number)[]): string =>
  parts.map((part) => `${String(part).length}:${part}`).join('');

export class StateStatements {
  readonly #grants: string;
  readonly #objectGrants: string;
  readonly #expiries: string;
  readonly #subjects: string;
  readonly #namespaces: string;
  readonly #keys: string;
  readonly #tenants: string;
  readonly #rules: string;
  readonly #changes: string;
  readonly #grantCounts: string;

  constructor(keyspace: string) {
    const insert = (table: string, columns: string): string => {
      const marks = columns.replaceAll(/\w+/g, '?');
      return `INSERT INTO ${keyspace}.${table} (${columns}) VALUES (${marks}) USING TIMESTAMP ?`;
    };
    const grantColumns = `tenant, subject, ${GRANT_COLUMNS}, gone`;
    this.#grants = insert('grants', grantColumns);
    this.#objectGrants = insert('grants_by_object', grantColumns);
    this.#expiries = insert('grants_by_expiry', `tenant, bucket, ${EXPIRY_COLUMNS}`);
    this.#subjects = insert('subjects', 'tenant, bucket, subject');
    this.#namespaces = insert('namespaces', 'tenant, name, created_at_ms');
    this.#keys = insert(
      'keys',
      'tenant, key_id, name, scopes, created_at_ms, expires_at_ms, hash, gone, rotated_from, rotated_to',
    );
    this.#tenants = insert('tenants', 'slot, tenant, name, plan, state, created_at_ms');
    this.#rules = insert('tenant_rules', 'tenant, rules');
    this.#changes = insert('changes', 'tenant, month, seq, position, at_ms, actor, request_id, change');
    this.#grantCounts = insert('grant_counts', 'slot, tenant, count');
  }

  batches(writes: readonly StateWrite[]): StateBatch[] {
    const partitions = new Map<string, StateRow[]>();
    for (const write of writes) {
      for (const { partition, row } of this.#toRows(write)) {
        const rows = partitions.get(partition);
        if (rows === undefined) partitions.set(partition, [row]);
        else rows.push(row);
      }
    }
    const mutations = [...partitions.values()].flatMap((rows) => cut(rows, MUTATION_ROWS_MAX, MUTATION_BYTES_MAX));
    return share(mutations).map((rows) => ({
      writes: rows.map(({ write }) => write),
      statements: rows.map(({ statement }) => statement),
    }));
  }

  #toRows(write: StateWrite): Addressed[] {
    return this.#places(write).map(({ partition, statement }) => {
      const bytes = statement.params.reduce<number>(
        (sum, value) => sum + (typeof value === 'string' ? value.length : 0),
        ROW_BYTES,
      );
      return { partition, row: { write, statement, bytes } };
    });
  }

  #places(write: StateWrite): readonly Place[] {
    if (write.kind !== 'grant') return [this.#address(write)];
    const { tenantId, subject, relation, object, tombstone } = write;
    const attributes = grantColumnValues(write).map(toValue);
    const params = [tenantId, subject, relation, object, ...attributes, tombstone, BigInt(write.stamp)];
    return [
      { partition: partitionOf('g', tenantId, subject), statement: { query: this.#grants, params } },
      { partition: partitionOf('o', tenantId, object), statement: { query: this.#objectGrants, params } },
    ];
  }

  #address(write: Exclude<StateWrite, GrantWrite>): Place {
    const stamp = BigInt(write.stamp);
    switch (write.kind) {
      case 'subject': {
        const { tenantId, subject } = write;
        const bucket = bucketOfSubject(subject);
        const params = [tenantId, bucket, subject, stamp];
        return { partition: partitionOf('s', tenantId, bucket), statement: { query: this.#subjects, params } };
      }
      case 'expiry': {
        const { tenantId, expiresAtMs, subject, relation, object } = write;
        const bucket = bucketOfSubject(subject);
        const params = [tenantId, bucket, BigInt(expiresAtMs), subject, relation, object, stamp];
        return { partition: partitionOf('e', tenantId, bucket), statement: { query: this.#expiries, params } };
      }
      case 'namespace': {
        const { tenantId, name, createdAtMs } = write;
        const params = [tenantId, name, BigInt(createdAtMs), stamp];
        return { partition: partitionOf('n', tenantId), statement: { query: this.#namespaces, params } };
      }
      case 'key': {
        const { tenantId, tombstone } = write;
        const { keyId, name, scopes, createdAtMs, expiresAtMs, hash, rotatedFrom = '', rotatedTo = '' } = write.key;
        const times = [BigInt(createdAtMs), BigInt(expiresAtMs ?? 0)];
        const params = [tenantId, keyId, name, scopes, ...times, hash, tombstone, rotatedFrom, rotatedTo, stamp];
        return { partition: partitionOf('k', tenantId), statement: { query: this.#keys, params } };
      }
      case 'tenant': {
        const { slot } = write;
        const { tenantId, name, plan, createdAtMs } = write.tenant;
        const params = [slot, tenantId, name, plan, encodeTenantState(write.tenant), BigInt(createdAtMs), stamp];
        return { partition: partitionOf('t', slot), statement: { query: this.#tenants, params } };
      }
      case 'rules': {
        const { tenantId, rules } = write;
        return {
          partition: partitionOf('u', tenantId),
          statement: { query: this.#rules, params: [tenantId, rules, stamp] },
        };
      }
      case 'audit-log': {
        const { tenantId, month } = write;
        const { seq, index, atMs, actor, requestId, change } = write.row;
        const params = [tenantId, month, BigInt(seq), index, BigInt(atMs), actor, requestId, change, stamp];
        return { partition: partitionOf('c', tenantId, month), statement: { query: this.#changes, params } };
      }
      case 'grant-count': {
        const { slot, row } = write;
        const params = [slot, row.tenantId, encodeGrantCount(row), stamp];
        return { partition: partitionOf('r', slot), statement: { query: this.#grantCounts, params } };
      }
      default:
        return assertNever(write);
    }
  }
}

const bytesOf = (rows: readonly StateRow[]): number => rows.reduce((sum, { bytes }) => sum + bytes, 0);

/** Cuts rows into pieces of bounded rows and bytes; a single row may exceed the bytes. */
function cut(rows: readonly StateRow[], rowsMax: number, bytesMax: number): StateRow[][] {
  const pieces: StateRow[][] = [];
  let piece: StateRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (piece.length === rowsMax || (piece.length > 0 && bytes + row.bytes > bytesMax)) {
      pieces.push(piece);
      piece = [];
      bytes = 0;
    }
    piece.push(row);
    bytes += row.bytes;
  }
  if (piece.length > 0) pieces.push(piece);
  return pieces;
}

/** Small mutations share a batch; a large one has its own. */
function share(mutations: readonly StateRow[][]): StateRow[][] {
  const batches: StateRow[][] = [];
  let batch: { readonly rows: StateRow[]; mutations: number; bytes: number } | undefined;
  for (const rows of mutations) {
    const bytes = bytesOf(rows);
    if (batch === undefined || batch.mutations === BATCH_MUTATIONS_MAX || batch.bytes + bytes > BATCH_BYTES_MAX) {
      batch = { rows: [], mutations: 0, bytes: 0 };
      batches.push(batch.rows);
    }
    batch.rows.push(...rows);
    batch.mutations += 1;
    batch.bytes += bytes;
  }
  return batches;
}
