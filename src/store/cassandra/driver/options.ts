// How a Cassandra cluster is found and spoken to. The keyspace's name becomes part of statements, so it is checked
// here.

import { StoreRefusal } from '../../store-adapter.ts';

export type SerialLevel = 'SERIAL' | 'LOCAL_SERIAL';

export interface CassandraOptions {
  /** host or host:port (9042 unless given). Only to find the cluster: its nodes tell about one another. */
  readonly contactPoints: readonly string[];
  /** Only nodes of this datacenter are asked. */
  readonly localDatacenter: string;
  readonly keyspace: string;
  /** Of every conditional write and every read that must see them. The same for the whole cluster of shards. */
  readonly serialLevel: SerialLevel;
  readonly credentials?: { readonly username: string; readonly password: string };
  /**
   * PEM texts. `ca`: the authorities to trust, the system's unless given. `cert` and `key`: what this process shows.
   */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/** Where conditional writes are decided. The same for every shard: those of two places would not exclude each other. */
export interface SerialPlace {
  readonly serialLevel: SerialLevel;
  /** Under `LOCAL_SERIAL`: the one datacenter of every shard. Else empty: shards may be in several. */
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

/** The keyspace's name as it stands in a statement. Throws a StoreRefusal. */
export function quoteKeyspace(keyspace: string): string {
  if (!KEYSPACE.test(keyspace)) {
    throw new StoreRefusal(
      `${JSON.stringify(keyspace)} is not a valid keyspace name: a letter, then letters, digits and "_".`,
    );
  }
  return `"${keyspace}"`;
}
