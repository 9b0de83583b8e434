// Settings of the durable store, and of how much of it a shard keeps in memory.

import { SLOTS_MAX } from '../core/slots.ts';
import { parseContactPoints, parseKeyspace, parseName, parseSecretText, pemParser } from './cluster-parsers.ts';
import { MEBIBYTE } from './page-cache-memory.ts';
import { bytesParser, choiceParser, integerParser, parsePath, quote } from './parsers.ts';
import { Secret } from './secret.ts';
import { type Origin, optional, plain, row, WrongSetting } from './setting.ts';

/** With less, pages leave memory before checks can use them. */
const PAGE_CACHE_BYTES_MIN = MEBIBYTE;
const PAGE_CACHE_BYTES_MAX = 1024 * 1024 * MEBIBYTE;
/** Ten years. */
const LOG_RETENTION_HOURS_MAX = 87_600;
const REPLICATION_FACTOR_MAX = 99;

const SERIAL_LEVELS = ['LOCAL_SERIAL', 'SERIAL'] as const;

const storeRoles = ['shard', 'migrate'] as const;

/** For a single process, `grantd dev`. */
const EMBEDDED_STORE = 'sqlite';
/** For processes that share the store. */
const SHARED_STORES = ['cassandra'] as const;
export type StoreKind = typeof EMBEDDED_STORE | (typeof SHARED_STORES)[number];

function parseStore(text: string, { role }: Origin): StoreKind {
  const shared = SHARED_STORES.find((each) => each === text);
  if (shared === undefined && text !== EMBEDDED_STORE) {
    throw new WrongSetting(`must be ${[EMBEDDED_STORE, ...SHARED_STORES].join(' or ')}; it is ${quote(text)}`);
  }
  if (role === 'dev' && shared !== undefined) {
    throw new WrongSetting(
      `is ${shared}, but grantd dev supports only the embedded store; with ${shared}, run grantd migrate, shard, front and console`,
    );
  }
  if (role !== 'dev' && shared === undefined) {
    throw new WrongSetting(
      `is ${EMBEDDED_STORE}, the embedded store, which only grantd dev supports; for grantd ${role}, set ${SHARED_STORES.join(' or ')}`,
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
      'The durable store: the embedded `sqlite` in `dev`, `cassandra` in a cluster. Front and console use no store.',
  }),
  dataDirectory: row({
    ...plain,
    name: 'GRANTD_DATA_DIR',
    roles: ['dev', 'cli'],
    form: 'path',
    parse: parsePath,
    default: '.grantd',
    description:
      "The directory of the embedded store and of `dev.json`. `dev` creates it if it does not exist. The operator's commands read the address of the service and its token from `dev.json`.",
  }),
  contactPoints: optional({
    ...plain,
    name: 'GRANTD_CASSANDRA_CONTACT_POINTS',
    roles: storeRoles,
    form: 'comma-separated hosts, or host:port',
    parse: parseContactPoints,
    unset: 'none',
    requiredBy: storeRoles,
    description:
      'Cassandra nodes to contact first; the driver finds the other nodes through them. The default port is 9042.',
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
      'The Cassandra datacenter whose nodes are used, by its name in Cassandra. With `LOCAL_SERIAL`, all shards must use the same one.',
  }),
  keyspace: row({
    ...plain,
    name: 'GRANTD_CASSANDRA_KEYSPACE',
    roles: storeRoles,
    form: 'lower-case letters, digits, `_`',
    parse: parseKeyspace,
    default: 'grantd',
    description: 'The keyspace of the cluster. `grantd migrate` creates it if it does not exist.',
  }),
  replicationFactor: row({
    ...plain,
    name: 'GRANTD_CASSANDRA_REPLICATION_FACTOR',
    roles: ['migrate'],
    form: `number, 1 to ${REPLICATION_FACTOR_MAX}`,
    parse: integerParser(1, REPLICATION_FACTOR_MAX),
    default: '3',
    description:
      'Copies of each row in the local datacenter. Applies only if `grantd migrate` creates the keyspace; an existing keyspace is not changed. With 3, one node may be down.',
  }),
  serialLevel: row({
    ...plain,
    name: 'GRANTD_CASSANDRA_SERIAL_LEVEL',
    roles: storeRoles,
    form: 'LOCAL_SERIAL or SERIAL',
    parse: choiceParser(SERIAL_LEVELS),
    default: 'LOCAL_SERIAL',
    description:
      'The serial consistency level of conditional writes: `LOCAL_SERIAL` if all shards use one datacenter, otherwise `SERIAL`. The first `grantd migrate` fixes it; a shard with another level does not start.',
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
      'The Cassandra role to log in with. For `grantd migrate` it needs permission to change the schema; for shards, only to read and write the keyspace.',
  }),
  cassandraPassword: optional({
    name: 'GRANTD_CASSANDRA_PASSWORD',
    roles: storeRoles,
    form: 'text',
    parse: parseSecretText,
    unset: 'no authentication',
    file: true,
    secret: true,
    description: 'The password of `GRANTD_CASSANDRA_USERNAME`.',
  }),
  cassandraTlsCa: optional({
    name: 'GRANTD_CASSANDRA_TLS_CA',
    roles: storeRoles,
    form: 'PEM',
    parse: pemParser('certificate'),
    unset: 'Cassandra without TLS',
    file: true,
    secret: false,
    description: 'Turns on TLS to Cassandra: the CA certificates that verify the certificates of its nodes.',
  }),
  cassandraTlsCert: optional({
    name: 'GRANTD_CASSANDRA_TLS_CERT',
    roles: storeRoles,
    form: 'PEM',
    parse: pemParser('certificate'),
    unset: 'no client certificate',
    file: true,
    secret: false,
    description: 'The client certificate, if Cassandra requires one.',
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
    unset: 'the number that the cluster has; 256 if `grantd migrate` creates a new one',
    description:
      'The number of slots that the tenants are spread over. It is fixed when the data directory or the keyspace is created; a process with another number does not start.',
  }),
  pageCacheBytes: row({
    ...plain,
    name: 'GRANTD_PAGE_CACHE_BYTES',
    roles: ['dev', 'shard'],
    form: 'bytes, or like 256MiB or 256Mi',
    parse: bytesParser(PAGE_CACHE_BYTES_MIN, PAGE_CACHE_BYTES_MAX),
    default: '256MiB',
    description:
      'The memory budget of a process for cached grants, reads and writes in flight, and operation IDs. All shards of the process share it. The process needs twice this amount plus 256 MiB of memory and does not start with less; it sizes the Node heap from this setting.',
  }),
  logRetentionHours: row({
    ...plain,
    name: 'GRANTD_LOG_RETENTION_HOURS',
    roles: ['dev', 'shard'],
    form: `number, 1 to ${LOG_RETENTION_HOURS_MAX}`,
    parse: integerParser(1, LOG_RETENTION_HOURS_MAX),
    default: '168',
    description: 'How long log segments behind the checkpoint are kept before they are deleted.',
  }),
});
