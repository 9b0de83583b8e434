// How a Cassandra cluster is found and spoken to. The keyspace's name becomes part of statements, so it is checked
// here.

export interface CassandraOptions {
  /** host or host:port (9042 unless given). Only to find the cluster: its nodes tell about one another. */
  readonly contactPoints: readonly string[];
  /** Only nodes of this datacentre are asked. */
  readonly localDatacenter: string;
  readonly keyspace: string;
  /** Of every conditional write and every read that must see them. The same for the whole cluster of shards. */
  readonly serialLevel: 'SERIAL' | 'LOCAL_SERIAL';
  readonly credentials?: { readonly username: string; readonly password: string };
  /**
   * PEM texts. `ca`: the authorities to trust, the system's unless given. `cert` and `key`: what this process shows.
   */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

/** https://cassandra.apache.org/doc/latest/cassandra/developing/cql/ddl.html: letters, digits, `_`; at most 48. */
const KEYSPACE = /^[A-Za-z][A-Za-z0-9_]{0,47}$/;

/** The keyspace's name as it stands in a statement. Throws an Error for the operator. */
export function quoteKeyspace(keyspace: string): string {
  if (!KEYSPACE.test(keyspace)) {
    throw new Error(
      `${JSON.stringify(keyspace)} is not a valid keyspace name: a letter, then letters, digits and "_".`,
    );
  }
  return `"${keyspace}"`;
}
