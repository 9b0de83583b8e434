// State writes as statements: every row with its own stamp as its timestamp, so that the greatest stamp wins, whatever comes
// when and however often. Rows of one partition go together; they are one mutation for the database.

import { assertNever } from '../../core/assert.ts';
import { bucketOfSubject } from '../../core/slots.ts';
import type { StateWrite } from '../store.ts';
import type { Statement } from './session.ts';

/** Rows, and characters of text roughly, in one batch: a mutation is small beside what a node takes. */
const BATCH_ROWS_MAX = 64;
const BATCH_CHARACTERS_MAX = 64 * 1024;

interface Addressed {
  /** The same for rows of one partition of one table only. */
  readonly partition: string;
  readonly statement: Statement;
}

/** Length-prefixed: no two lists of parts make the same text. */
const partitionOf = (...parts: readonly (string | number)[]): string =>
  parts.map((part) => `${String(part).length}:${part}`).join('');

export class StateStatements {
  readonly #grants: string;
  readonly #subjects: string;
  readonly #namespaces: string;
  readonly #keys: string;
  readonly #tenants: string;
  readonly #changes: string;

  constructor(keyspace: string) {
    const insert = (table: string, columns: string): string => {
      const marks = columns.replaceAll(/\w+/g, '?');
      return `INSERT INTO ${keyspace}.${table} (${columns}) VALUES (${marks}) USING TIMESTAMP ?`;
    };
    this.#grants = insert('grants', 'tenant, subject, relation, object, grant_id, created_at_ms, gone');
    this.#subjects = insert('subjects', 'tenant, bucket, subject');
    this.#namespaces = insert('namespaces', 'tenant, name, created_at_ms');
    this.#keys = insert('keys', 'tenant, key_id, name, scopes, created_at_ms, expires_at_ms, hash, gone');
    this.#tenants = insert('tenants', 'slot, tenant, name, plan, state, created_at_ms');
    this.#changes = insert('changes', 'tenant, month, seq, position, at_ms, actor, request_id, change');
  }

  /** In batches of rows of one partition each. */
  batches(writes: readonly StateWrite[]): Statement[][] {
    const partitions = new Map<string, Statement[]>();
    for (const write of writes) {
      const { partition, statement } = this.#address(write);
      const statements = partitions.get(partition);
      if (statements === undefined) partitions.set(partition, [statement]);
      else statements.push(statement);
    }
    return [...partitions.values()].flatMap(cut);
  }

  #address(write: StateWrite): Addressed {
    const stamp = BigInt(write.stamp);
    switch (write.kind) {
      case 'grant': {
        const { tenantId, subject, relation, object, grantId, createdAtMs, gone } = write;
        const params = [tenantId, subject, relation, object, grantId, BigInt(createdAtMs), gone, stamp];
        return { partition: partitionOf('g', tenantId, subject), statement: { query: this.#grants, params } };
      }
      case 'subject': {
        const { tenantId, subject } = write;
        const bucket = bucketOfSubject(subject);
        const params = [tenantId, bucket, subject, stamp];
        return { partition: partitionOf('s', tenantId, bucket), statement: { query: this.#subjects, params } };
      }
      case 'namespace': {
        const { tenantId, name, createdAtMs } = write;
        const params = [tenantId, name, BigInt(createdAtMs), stamp];
        return { partition: partitionOf('n', tenantId), statement: { query: this.#namespaces, params } };
      }
      case 'key': {
        const { tenantId, gone } = write;
        const { keyId, name, scopes, createdAtMs, expiresAtMs, hash } = write.key;
        const times = [BigInt(createdAtMs), BigInt(expiresAtMs ?? 0)];
        const params = [tenantId, keyId, name, scopes, ...times, hash, gone, stamp];
        return { partition: partitionOf('k', tenantId), statement: { query: this.#keys, params } };
      }
      case 'tenant': {
        const { slot } = write;
        const { tenantId, name, plan, state, createdAtMs } = write.tenant;
        const params = [slot, tenantId, name, plan, state, BigInt(createdAtMs), stamp];
        return { partition: partitionOf('t', slot), statement: { query: this.#tenants, params } };
      }
      case 'trail': {
        const { tenantId, month } = write;
        const { seq, index, atMs, actor, requestId, change } = write.row;
        const params = [tenantId, month, BigInt(seq), index, BigInt(atMs), actor, requestId, change, stamp];
        return { partition: partitionOf('c', tenantId, month), statement: { query: this.#changes, params } };
      }
      default:
        return assertNever(write);
    }
  }
}

function cut(statements: readonly Statement[]): Statement[][] {
  const batches: Statement[][] = [];
  let batch: Statement[] = [];
  let characters = 0;
  for (const statement of statements) {
    const length = statement.params.reduce<number>(
      (sum, value) => sum + (typeof value === 'string' ? value.length : 8),
      0,
    );
    if (batch.length === BATCH_ROWS_MAX || (batch.length > 0 && characters + length > BATCH_CHARACTERS_MAX)) {
      batches.push(batch);
      batch = [];
      characters = 0;
    }
    batch.push(statement);
    characters += length;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
