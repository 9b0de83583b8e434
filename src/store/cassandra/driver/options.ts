// How to find and talk to a Cassandra cluster. The keyspace's name becomes part of statements, so it is validated here.

import { StoreRefusal } from '../../store-adapter.ts';

export type SerialLevel = 'SERIAL' | 'LOCAL_SERIAL';

export interface CassandraOptions {
  /** host or host:port (9042 by default). Only used to find the cluster: its nodes report one another. */
  readonly contactPoints: readonly string[];
  /** Calls go only to nodes of this datacenter. */
  readonly localDatacenter: string;
  readonly keyspace: string;
  /** The level of every conditional write, and of every read that must see them. The same for all shards. */
  readonly serialLevel: SerialLevel;
  readonly credentials?: { readonly username: string; readonly password: string };
  /**
   * PEM strings. `ca`: the trusted authorities, by default the system's. `cert` and `key`: what this process presents.
   */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/**
 * Where conditional writes are decided. The same for every shard: writes decided in two places would not exclude each
 * other.
 */
export interface SerialPlace {
  readonly serialLevel: SerialLevel;
  /** With `LOCAL_SERIAL`: the one datacenter of all shards. Otherwise empty: shards may be in several. */
  readonly datacenter: string;
}

export function serialPlaceOf({
  serialLevel,
  localDatacenter,
}: Pick<CassandraOptions, 'serialLevel' | 'localDatacenter'>): SerialPlace {
  return { serialLevel, datacenter: serialLevel === 'LOCAL_SERIAL' ? localDatacenter : '' };
}

/** https://cassandra.apache.org/doc/latest/cassandra/developing/cql/ddl.html: letters, digits, `_`; at most 48. */
const KEYSPACE = /^[A-Za-z][A-Za-z0-9_]{0,47}$/;

/** The keyspace's name as it appears in a statement. Throws a StoreRefusal. */
export function quoteKeyspace(keyspace: string): string {
  if (!KEYSPACE.test(keyspace)) {
    throw new StoreRefusal(
      `${JSON.stringify(keyspace)} is not a valid keyspace name: a letter, then letters, digits and "_".`,
    );
  }
  return `"${keyspace}"`;
}
