// The settings of the durable store, and of what a shard keeps of it in memory.

import { SLOTS_MAX } from '../core/slots.ts';
import { parseContactPoints, parseKeyspace, parseName, parseSecretText, pemParser } from './cluster-parsers.ts';
import { bytesParser, choiceParser, integerParser, parsePath, quote } from './parsers.ts';
import { Secret } from './secret.ts';
import { type Origin, optional, plain, row, WrongSetting } from './setting.ts';

const MEBIBYTE = 1024 ** 2;
/** Below this, pages leave memory faster than checks can use them. */
const PAGE_CACHE_BYTES_MIN = MEBIBYTE;
const PAGE_CACHE_BYTES_MAX = 1024 * 1024 * MEBIBYTE;
/** Ten years. */
const LOG_RETENTION_HOURS_MAX = 87_600;
const REPLICATION_FACTOR_MAX = 99;

const SERIAL_LEVELS = ['LOCAL_SERIAL', 'SERIAL'] as const;

const storeRoles = ['shard', 'migrate'] as const;

/** Of one process, `grantd dev`. */
const EMBEDDED_STORE = 'sqlite';
/** Of processes that share it. */
const SHARED_STORES = ['cassandra'] as const;
export type StoreKind = typeof EMBEDDED_STORE | (typeof SHARED_STORES)[number];

function parseStore(text: string, { role }: Origin): StoreKind {
  const shared = SHARED_STORES.find((each) => each === text);
  if (shared === undefined && text !== EMBEDDED_STORE) {
    throw new WrongSetting(`must be ${[EMBEDDED_STORE, ...SHARED_STORES].join(' or ')}; it is ${quote(text)}`);
  }
  if (role === 'dev' && shared !== undefined) {
    throw new WrongSetting(
      `is ${shared}, but grantd dev runs on the embedded store only; on ${shared} run grantd migrate, shard, front and console`,
    );
  }
  if (role !== 'dev' && shared === undefined) {
    throw new WrongSetting(
      `is ${EMBEDDED_STORE}, the embedded store, which only grantd dev can use; for grantd ${role} set ${SHARED_STORES.join(' or ')}`,
    );
  }
  return shared ?? EMBEDDED_STORE;
}

const parsePrivateKey = (text: string): Secret => new Secret(pemParser('private key')(text));

export const STORE_SETTINGS = Object.freeze({
  store: optional({
    ...plain,
    name: 'GRANTD_STORE',
    roles: ['dev', ...storeRoles],
    form: 'cassandra; sqlite in `dev`',
    parse: parseStore,
    defaults: { dev: 'sqlite' },
    requiredBy: storeRoles,
    unset: 'none',
    description:
      'The durable store: `sqlite`, the embedded one, in `dev`; `cassandra` in a cluster. Front and console have none.',
  }),
  dataDirectory: row({
    ...plain,
    name: 'GRANTD_DATA_DIR',
    roles: ['dev', 'cli'],
    form: 'path',
    parse: parsePath,
    default: '.grantd',
    description:
      "The directory of the embedded store and of `dev.json`. It is made where there is none. The operator's commands find the service and its token in `dev.json`.",
  }),
  contactPoints: optional({
    ...plain,
    name: 'GRANTD_CASSANDRA_CONTACT_POINTS',
    roles: storeRoles,
    form: 'comma-separated hosts, or host:port',
    parse: parseContactPoints,
    unset: 'none',
    requiredBy: storeRoles,
    description: 'Nodes of Cassandra that are asked first; the others are found through them. Port 9042 unless given.',
  }),
  localDatacenter: optional({
    ...plain,
    name: 'GRANTD_CASSANDRA_LOCAL_DATACENTER',
    roles: storeRoles,
    form: 'name',
    parse: parseName,
    unset: 'none',
    requiredBy: storeRoles,
    description:
      'The datacentre, as Cassandra names it, whose nodes are used. With `LOCAL_SERIAL` all shards must use the same one.',
  }),
  keyspace: row({
    ...plain,
    name: 'GRANTD_CASSANDRA_KEYSPACE',
    roles: storeRoles,
    form: 'lower-case letters, digits, `_`',
    parse: parseKeyspace,
    default: 'grantd',
    description: 'The keyspace of the cluster. `grantd migrate` makes it where there is none.',
  }),
  replicationFactor: row({
    ...plain,
    name: 'GRANTD_CASSANDRA_REPLICATION_FACTOR',
    roles: ['migrate'],
    form: `number, 1 to ${REPLICATION_FACTOR_MAX}`,
    parse: integerParser(1, REPLICATION_FACTOR_MAX),
    default: '3',
    description:
      'Copies of each row in the local datacentre, for a keyspace that `grantd migrate` makes; an existing one stays as it is. With 3, one node may be down.',
  }),
  serialLevel: row({
    ...plain,
    name: 'GRANTD_CASSANDRA_SERIAL_LEVEL',
    roles: storeRoles,
    form: 'LOCAL_SERIAL or SERIAL',
    parse: choiceParser(SERIAL_LEVELS),
    default: 'LOCAL_SERIAL',
    description:
      'At which level conditional writes are decided: `LOCAL_SERIAL` where all shards use one datacentre, else `SERIAL`. Fixed at the first `grantd migrate`; a shard with another is refused.',
  }),
  cassandraUsername: optional({
    name: 'GRANTD_CASSANDRA_USERNAME',
    roles: storeRoles,
    form: 'name',
    parse: parseName,
    unset: 'no authentication',
    file: true,
    secret: false,
    description:
      'The role to log in as. That of `grantd migrate` needs the right to change the schema; that of shards only to read and write the keyspace.',
  }),
  cassandraPassword: optional({
    name: 'GRANTD_CASSANDRA_PASSWORD',
    roles: storeRoles,
    form: 'text',
    parse: parseSecretText,
    unset: 'no authentication',
    file: true,
    secret: true,
    description: 'Its password.',
  }),
  cassandraTlsCa: optional({
    name: 'GRANTD_CASSANDRA_TLS_CA',
    roles: storeRoles,
    form: 'PEM',
    parse: pemParser('certificate'),
    unset: 'Cassandra without TLS',
    file: true,
    secret: false,
    description: "Turns TLS to Cassandra on: the authorities by which its nodes' certificates are judged.",
  }),
  cassandraTlsCert: optional({
    name: 'GRANTD_CASSANDRA_TLS_CERT',
    roles: storeRoles,
    form: 'PEM',
    parse: pemParser('certificate'),
    unset: 'no client certificate',
    file: true,
    secret: false,
    description: 'The client certificate, where Cassandra asks for one.',
  }),
  cassandraTlsKey: optional({
    name: 'GRANTD_CASSANDRA_TLS_KEY',
    roles: storeRoles,
    form: 'PEM',
    parse: parsePrivateKey,
    unset: 'no client certificate',
    file: true,
    secret: true,
    description: 'The private key of the client certificate.',
  }),
  slots: optional({
    ...plain,
    name: 'GRANTD_SLOTS',
    roles: ['dev', ...storeRoles],
    form: `number, 1 to ${SLOTS_MAX}`,
    parse: integerParser(1, SLOTS_MAX),
    defaults: { dev: '256' },
    unset: 'that of the cluster; 256 where `grantd migrate` makes a new one',
    description:
      'How many slots the tenants are spread over. Fixed when the data directory or the keyspace is made; another number later is refused.',
  }),
  pageCacheBytes: row({
    ...plain,
    name: 'GRANTD_PAGE_CACHE_BYTES',
    roles: ['dev', 'shard'],
    form: 'bytes, or like 256MiB or 256Mi',
    parse: bytesParser(PAGE_CACHE_BYTES_MIN, PAGE_CACHE_BYTES_MAX),
    default: '256MiB',
    description:
      'The bound of what a process holds in memory of grants, of reads and writes in flight, and of operation ids; its shards share it. The process needs twice as much memory and 256 MiB: the heap of Node follows from it, and a start in less is refused.',
  }),
  logRetentionHours: row({
    ...plain,
    name: 'GRANTD_LOG_RETENTION_HOURS',
    roles: ['dev', 'shard'],
    form: `number, 1 to ${LOG_RETENTION_HOURS_MAX}`,
    parse: integerParser(1, LOG_RETENTION_HOURS_MAX),
    default: '168',
    description: 'How long the log is kept behind the checkpoint before it is trimmed, segment by segment.',
  }),
});
