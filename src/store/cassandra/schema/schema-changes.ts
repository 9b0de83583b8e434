// Changes the schema one statement at a time: each is sent once, and the next starts when every live node has it. Two
// concurrent changes can leave a table in two versions. All changes go through one node: it knows its own changes at
// once, so it cannot mistake agreement on the old schema for agreement on the new one.

import { createHash } from 'node:crypto';
import cassandra, { type Client, type Host } from 'cassandra-driver';
import { type Clock, delay } from '../../../core/async/clock.ts';
import { GrantdError } from '../../../core/errors.ts';
import { StoreRefusal } from '../../store-adapter.ts';
import { causeOf, reasonOf } from '../driver/errors.ts';

const { errors, policies, types } = cassandra;

const CHANGE_TIMEOUT_MS = 30_000;
/** A node that missed a change may request it from the others only after a minute (`cassandra.migration_delay_ms`). */
const AGREEMENT_MS_MAX = 120_000;
const AGREEMENT_INTERVAL_MS = 50;
const REFUSALS: ReadonlySet<number> = new Set([
  types.responseErrorCodes.unauthorized,
  types.responseErrorCodes.syntaxError,
  types.responseErrorCodes.invalid,
  types.responseErrorCodes.configError,
]);

/**
 * A table id that every process derives in the same way: two processes that create the table at once create the same
 * one.
 */
export function tableIdOf(keyspace: string, table: string): string {
  const hash = createHash('sha256').update(`${keyspace}.${table}`, 'utf8').digest('hex');
  // Version 8 of RFC 9562: defined by the application.
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

export class SchemaChanges {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #host: Host;

  /** Throws GrantdError `unavailable` if no node is up. */
  constructor(client: Client, hosts: readonly Host[], clock: Clock) {
    const host = hosts.find((each) => each.isUp());
    if (host === undefined) throw new GrantdError('unavailable', 'No Cassandra node is up.');
    this.#client = client;
    this.#clock = clock;
    this.#host = host;
  }

  async hasKeyspace(keyspace: string): Promise<boolean> {
    const query = 'SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = ?';
    return (await this.#read(query, [keyspace])).length > 0;
  }

  async hasTable(keyspace: string, table: string): Promise<boolean> {
    const query = 'SELECT table_name FROM system_schema.tables WHERE keyspace_name = ? AND table_name = ?';
    return (await this.#read(query, [keyspace, table])).length > 0;
  }

  /** Throws StoreRefusal if Cassandra refuses the change, and GrantdError `unavailable` if its outcome is unknown. */
  async apply(statement: string): Promise<void> {
    try {
      await this.#client.execute(statement, [], {
        host: this.#host,
        prepare: false,
        readTimeout: CHANGE_TIMEOUT_MS,
        retry: new policies.retry.FallthroughRetryPolicy(),
      });
    } catch (error) {
      if (error instanceof errors.ResponseError && REFUSALS.has(error.code)) {
        throw new StoreRefusal(`Cassandra refuses to change the schema: ${error.message}`);
      }
      throw unavailable(error);
    }
    await this.awaitAgreement();
  }

  /** Resolves when every live node has the same schema. */
  async awaitAgreement(): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + AGREEMENT_MS_MAX;
    while (!(await this.#agree())) {
      if (this.#clock.monotonicMs() > untilMs) {
        throw new GrantdError('unavailable', 'The Cassandra nodes do not agree on the schema.');
      }
      await delay(this.#clock, AGREEMENT_INTERVAL_MS);
    }
  }

  async #agree(): Promise<boolean> {
    const local = await this.#read('SELECT schema_version FROM system.local', []);
    const peers = await this.#read('SELECT rpc_address, schema_version FROM system.peers', []);
    const isUp = (address: unknown): boolean => {
      const host = this.#client.hosts.values().find((each) => each.address.startsWith(`${String(address)}:`));
      return host?.isUp() ?? true;
    };
    const versions = [...local, ...peers.filter((peer) => isUp(peer.rpc_address))].map((row) =>
      String(row.schema_version),
    );
    return new Set(versions).size === 1;
  }

  async #read(query: string, params: readonly string[]): Promise<readonly cassandra.types.Row[]> {
    try {
      const { rows } = await this.#client.execute(query, [...params], { host: this.#host, prepare: params.length > 0 });
      return rows;
    } catch (error) {
      throw unavailable(error);
    }
  }
}

const unavailable = (error: unknown): GrantdError =>
  new GrantdError('unavailable', `Cassandra failed: ${reasonOf(error)}.`, {
    cause: causeOf(error),
  });
