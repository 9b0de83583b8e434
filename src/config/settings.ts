// The table of settings: every environment variable that the program reads, with its form, default and meaning. Nothing
// else reads the environment. `--help` and docs/reference/settings.md are generated from this table.

import { BUILT_IN_PLANS } from '../core/plans.ts';
import { SLOTS_MAX } from '../core/slots.ts';
import { LOG_LEVELS, SAMPLER_NAMES } from '../telemetry/choices.ts';
import * as cluster from './cluster-parsers.ts';
import { MEBIBYTE } from './page-cache-memory.ts';
import * as parsers from './parsers.ts';
import { parseRedisUrl } from './redis-url.ts';
import { optional, type Role, row, type Setting } from './setting.ts';

const STORE_ROLES = ['shard', 'migrate'] as const;
const REDIS_ROLES = ['dev', 'front'] as const;
const OIDC_ROLES = ['dev', 'console'] as const;
const TRACED_ROLES = ['dev', 'front', 'shard', 'console'] as const;
const DECISION_LOG_ROLES = ['dev', 'front'] as const;

const SERIAL_LEVELS = ['LOCAL_SERIAL', 'SERIAL'] as const;
const DECISION_LOG_OUTPUTS = ['off', 'stdout', 'otlp'] as const;

/** Clocks are compared to within one or two seconds. */
const CLOCK_SKEW_SECONDS_MIN = 5;
const CLOCK_SKEW_SECONDS_MAX = 3600;

/** With less, pages are evicted before checks can use them. */
const PAGE_CACHE_BYTES_MIN = MEBIBYTE;
const PAGE_CACHE_BYTES_MAX = 1024 * 1024 * MEBIBYTE;
/** Ten years. */
const LOG_RETENTION_HOURS_MAX = 87_600;
const REPLICATION_FACTOR_MAX = 99;
const DRAIN_SECONDS_MAX = 300;
const SHUTDOWN_SECONDS_MAX = 3600;

// The forms that several settings share.

const ADDRESS = { form: 'host:port', parse: parsers.parseAddress };
const BOOLEAN = { form: 'true or false', parse: parsers.parseBoolean };
const URL_TEXT = { form: 'URL', parse: parsers.parseUrl };
const RATIO = { form: 'number, 0 to 1', parse: parsers.parseRatio };
const CERTIFICATE = { form: 'PEM', parse: cluster.pemParser('certificate'), file: true };
const CERTIFICATE_SOURCE = { form: 'PEM', parse: cluster.pemSourceParser('certificate'), file: true };
const TOKEN = { form: 'text', parse: parsers.parseToken };
const TEXTS = { form: 'comma-separated texts', parse: parsers.parseTexts };
const NAME = { form: 'name', parse: cluster.parseName };
const LINK = { form: 'an http or https URL', parse: parsers.parseLinkUrl };
const CERTIFICATE_NAMES = { form: 'comma-separated names', parse: cluster.parseCertificateNames };
const SECRET_TEXT = { form: 'text', parse: cluster.parseSecretText, file: true, secret: true };

const wholeNumber = (min: number, max: number) => ({
  form: `number, ${min} to ${max}`,
  parse: parsers.integerParser(min, max),
});

const choiceOf = <Choice extends string>(choices: readonly Choice[]) => ({
  form: choices.join(', '),
  parse: parsers.choiceParser(choices),
});

const RPC_TLS = 'Set all three or none. Values given as files are reloaded when the files change.' as const;

export const SETTINGS = Object.freeze({
  // ---- listening addresses, how processes find each other, and their certificates ----

  httpAddress: row({
    name: 'GRANTD_HTTP_ADDRESS',
    roles: ['dev', 'front'],
    ...ADDRESS,
    default: '0.0.0.0:8080',
    defaults: { dev: '127.0.0.1:8080' },
    description: 'Address on which the public API listens. With port 0, any free port.',
  }),
  opsAddress: row({
    name: 'GRANTD_OPS_ADDRESS',
    roles: ['dev', 'front', 'shard', 'console'],
    ...ADDRESS,
    default: '0.0.0.0:8081',
    defaults: { dev: '127.0.0.1:8081' },
    description: 'Address that serves `/livez`, `/readyz` and `/metrics`.',
  }),
  consoleAddress: row({
    name: 'GRANTD_CONSOLE_ADDRESS',
    roles: ['dev', 'console'],
    ...ADDRESS,
    default: '0.0.0.0:8090',
    defaults: { dev: '127.0.0.1:8090' },
    description: "Address that serves the console, and the operator's API under `/operator/v1/`.",
  }),
  rpcAddress: optional({
    name: 'GRANTD_RPC_ADDRESS',
    roles: ['dev', 'shard'],
    ...ADDRESS,
    defaults: { shard: '0.0.0.0:8082' },
    unset: 'does not listen: fronts and shards are one process',
    description:
      "Address on which a shard's gRPC listens. An address other than loopback needs mutual TLS (`GRANTD_RPC_TLS_CERT`, `GRANTD_RPC_TLS_KEY` and `GRANTD_RPC_TLS_CA`) or `GRANTD_RPC_INSECURE`. If one process runs several shards, they take this port and the following ones; with port 0, each takes any free port.",
  }),
  rpcInsecure: row({
    name: 'GRANTD_RPC_INSECURE',
    roles: ['dev', 'shard'],
    ...BOOLEAN,
    default: 'false',
    description:
      "With `true`, a shard may listen without mutual TLS on an address other than loopback. Anyone who can reach the port can then make the operator's calls for every tenant, without a token, and anyone on the network path can read keys and grants. The shard logs a warning at each start.",
  }),
  rpcAdvertise: optional({
    name: 'GRANTD_RPC_ADVERTISE',
    roles: ['shard'],
    form: 'host:port',
    parse: cluster.parseDialAddress,
    unset: 'the host of `GRANTD_RPC_ADDRESS`, or the host name if that is a wildcard, with the bound port',
    description: "The address at which fronts, consoles and other shards reach this shard's gRPC.",
  }),
  shardName: optional({
    name: 'GRANTD_SHARD_NAME',
    roles: ['dev', 'shard'],
    form: 'name',
    parse: parsers.parseShardName,
    defaults: { dev: 'dev' },
    unset: 'the host name',
    description:
      'The name of the shard. It must be unique and stay the same across restarts. `dev` appends the number of each shard: `dev-1`, `dev-2`.',
  }),
  discovery: optional({
    name: 'GRANTD_DISCOVERY',
    roles: ['front', 'console'],
    form: '`static:host:port,…`, `dns:name:port` or `kubernetes:namespace/service`',
    parse: cluster.parseDiscovery,
    requiredBy: ['front', 'console'],
    description:
      'How to find shards. One reachable shard is enough: it names the others. `dns` looks the name up every 2 seconds and dials every address. `kubernetes` watches the EndpointSlices of the Service and uses its port `rpc`, or the port named after a colon.',
  }),
  clusterId: optional({
    name: 'GRANTD_CLUSTER_ID',
    roles: ['front', 'shard', 'console'],
    form: 'cluster ID',
    parse: parsers.parseCluster,
    unset: 'a shard reads it from its store; fronts and consoles learn it from the shards',
    description:
      'The cluster that this process belongs to, as `grantd migrate` prints it. Shards of another cluster, such as a restored copy, are refused. With it, a front cannot learn a wrong one while no shard of its own is up.',
  }),
  rpcTlsCert: optional({
    name: 'GRANTD_RPC_TLS_CERT',
    roles: ['front', 'shard', 'console'],
    ...CERTIFICATE_SOURCE,
    unset: 'gRPC without TLS',
    description: `The certificate of this process for gRPC between fronts, consoles and shards, followed by any intermediate certificates. It serves as both server and client certificate. ${RPC_TLS}`,
  }),
  rpcTlsKey: optional({
    name: 'GRANTD_RPC_TLS_KEY',
    roles: ['front', 'shard', 'console'],
    form: 'PEM',
    parse: cluster.parseKeySource,
    unset: 'gRPC without TLS',
    file: true,
    secret: true,
    description: 'The private key of `GRANTD_RPC_TLS_CERT`.',
  }),
  rpcTlsCa: optional({
    name: 'GRANTD_RPC_TLS_CA',
    roles: ['front', 'shard', 'console'],
    ...CERTIFICATE_SOURCE,
    unset: 'gRPC without TLS',
    description: 'The CA certificates that verify the certificate of the other side.',
  }),
  rpcTlsConsoleNames: row({
    name: 'GRANTD_RPC_TLS_CONSOLE_NAMES',
    roles: ['shard'],
    ...CERTIFICATE_NAMES,
    default: 'grantd-console',
    description:
      'With TLS: clients whose certificate has one of these DNS names may make operator calls. The names must match exactly.',
  }),
  rpcTlsShardNames: row({
    name: 'GRANTD_RPC_TLS_SHARD_NAMES',
    roles: ['shard'],
    ...CERTIFICATE_NAMES,
    default: 'grantd-shard',
    description:
      'With TLS: clients whose certificate has one of these DNS names may read the changes of tenants as shards do. The names must match exactly. The certificate of a shard that this one connects to must be for one of them, too.',
  }),
  rpcTlsServerName: optional({
    name: 'GRANTD_RPC_TLS_SERVER_NAME',
    roles: ['front', 'console'],
    form: 'host name',
    parse: cluster.parseName,
    unset: 'with `dns`, the name that `GRANTD_DISCOVERY` looks up; with `static`, the host that is dialled',
    description: 'The DNS name that the certificates of the shards must have.',
  }),

  // ---- the durable store, and how much of it a shard keeps in memory ----

  store: optional({
    name: 'GRANTD_STORE',
    roles: ['dev', ...STORE_ROLES],
    form: 'cassandra; sqlite in `dev`',
    parse: cluster.parseStore,
    defaults: { dev: 'sqlite' },
    requiredBy: STORE_ROLES,
    description:
      'The durable store: the embedded `sqlite` in `dev`, `cassandra` in a cluster. Front and console use no store.',
  }),
  dataDirectory: row({
    name: 'GRANTD_DATA_DIR',
    roles: ['dev', 'cli'],
    form: 'path',
    parse: parsers.parsePath,
    default: '.grantd',
    description:
      "The directory of the embedded store and of `dev.json`. `dev` creates it if it does not exist. The operator's commands read the address of the service and its token from `dev.json`.",
  }),
  contactPoints: optional({
    name: 'GRANTD_CASSANDRA_CONTACT_POINTS',
    roles: STORE_ROLES,
    form: 'comma-separated hosts, or host:port',
    parse: cluster.parseContactPoints,
    requiredBy: STORE_ROLES,
    description:
      'Cassandra nodes to contact first; the driver finds the other nodes through them. The default port is 9042.',
  }),
  localDatacenter: optional({
    name: 'GRANTD_CASSANDRA_LOCAL_DATACENTER',
    roles: STORE_ROLES,
    ...NAME,
    requiredBy: STORE_ROLES,
    description:
      'The Cassandra datacenter whose nodes are used, by its name in Cassandra. With `LOCAL_SERIAL`, all shards must use the same one.',
  }),
  keyspace: row({
    name: 'GRANTD_CASSANDRA_KEYSPACE',
    roles: STORE_ROLES,
    form: 'lower-case letters, digits, `_`',
    parse: cluster.parseKeyspace,
    default: 'grantd',
    description: 'The keyspace of the cluster. `grantd migrate` creates it if it does not exist.',
  }),
  replicationFactor: row({
    name: 'GRANTD_CASSANDRA_REPLICATION_FACTOR',
    roles: ['migrate'],
    ...wholeNumber(1, REPLICATION_FACTOR_MAX),
    default: '3',
    description:
      'Copies of each row in the local datacenter. Applies only if `grantd migrate` creates the keyspace; an existing keyspace is not changed. With 3, one node may be down.',
  }),
  serialLevel: row({
    name: 'GRANTD_CASSANDRA_SERIAL_LEVEL',
    roles: STORE_ROLES,
    form: 'LOCAL_SERIAL or SERIAL',
    parse: parsers.choiceParser(SERIAL_LEVELS),
    default: 'LOCAL_SERIAL',
    description:
      'The serial consistency level of conditional writes: `LOCAL_SERIAL` if all shards use one datacenter, otherwise `SERIAL`. The first `grantd migrate` fixes it; a shard with another level does not start.',
  }),
  cassandraUsername: optional({
    name: 'GRANTD_CASSANDRA_USERNAME',
    roles: STORE_ROLES,
    ...NAME,
    unset: 'no authentication',
    file: true,
    description:
      'The Cassandra role to log in with. For `grantd migrate` it needs permission to change the schema; for shards, only to read and write the keyspace.',
  }),
  cassandraPassword: optional({
    name: 'GRANTD_CASSANDRA_PASSWORD',
    roles: STORE_ROLES,
    ...SECRET_TEXT,
    unset: 'no authentication',
    description: 'The password of `GRANTD_CASSANDRA_USERNAME`.',
  }),
  cassandraTlsCa: optional({
    name: 'GRANTD_CASSANDRA_TLS_CA',
    roles: STORE_ROLES,
    ...CERTIFICATE,
    unset: 'Cassandra without TLS',
    description: 'Turns on TLS to Cassandra: the CA certificates that verify the certificates of its nodes.',
  }),
  cassandraTlsCert: optional({
    name: 'GRANTD_CASSANDRA_TLS_CERT',
    roles: STORE_ROLES,
    ...CERTIFICATE,
    unset: 'no client certificate',
    description: 'The client certificate, if Cassandra requires one.',
  }),
  cassandraTlsKey: optional({
    name: 'GRANTD_CASSANDRA_TLS_KEY',
    roles: STORE_ROLES,
    form: 'PEM',
    parse: cluster.parsePrivateKey,
    unset: 'no client certificate',
    file: true,
    secret: true,
    description: 'The private key of the client certificate.',
  }),
  slots: optional({
    name: 'GRANTD_SLOTS',
    roles: ['dev', ...STORE_ROLES],
    ...wholeNumber(1, SLOTS_MAX),
    defaults: { dev: '256' },
    unset: 'the number that the cluster has; 256 if `grantd migrate` creates a new one',
    description:
      'The number of slots that the tenants are spread over. It is fixed when the data directory or the keyspace is created; a process with another number does not start.',
  }),
  pageCacheBytes: row({
    name: 'GRANTD_PAGE_CACHE_BYTES',
    roles: ['dev', 'shard'],
    form: 'bytes, or like 256MiB or 256Mi',
    parse: parsers.bytesParser(PAGE_CACHE_BYTES_MIN, PAGE_CACHE_BYTES_MAX),
    default: '256MiB',
    description:
      'The memory budget of a process for cached grants, reads and writes in flight, and operation IDs. All shards of the process share it. The process needs twice this amount plus 256 MiB of memory and does not start with less; it sizes the Node heap from this setting.',
  }),
  logRetentionHours: row({
    name: 'GRANTD_LOG_RETENTION_HOURS',
    roles: ['dev', 'shard'],
    ...wholeNumber(1, LOG_RETENTION_HOURS_MAX),
    default: '168',
    description: 'How long log segments behind the checkpoint are kept before they are deleted.',
  }),

  clockSkewMaxSeconds: row({
    name: 'GRANTD_CLOCK_SKEW_MAX_SECONDS',
    roles: ['dev', 'shard'],
    ...wholeNumber(CLOCK_SKEW_SECONDS_MIN, CLOCK_SKEW_SECONDS_MAX),
    default: '10',
    description:
      'How far the wall clock of a shard may be from the median of the other shards and the nodes of the store. Beyond that the shard serves nothing, until its clock is right. Grants and keys expire up to that much early or late.',
  }),

  // ---- Redis, through which fronts share the rate limits ----

  redisUrl: optional({
    name: 'GRANTD_REDIS_URL',
    roles: REDIS_ROLES,
    form: 'URL',
    parse: parseRedisUrl,
    unset: 'each front enforces the limits on its own',
    file: true,
    secret: true,
    description:
      'URL of the Redis through which fronts share the rate limits: `redis://host:port/database`, `redis+sentinel://host:port,…/master-name` or `redis+cluster://host:port,…`; with TLS `rediss://`, `rediss+sentinel://`, `rediss+cluster://`. Put `user:password@` before the hosts if Redis needs them.',
  }),
  redisPassword: optional({
    name: 'GRANTD_REDIS_PASSWORD',
    roles: REDIS_ROLES,
    ...SECRET_TEXT,
    unset: 'the one in `GRANTD_REDIS_URL`, or none',
    description: 'The password for Redis, if it is not in the URL.',
  }),
  redisSentinelPassword: optional({
    name: 'GRANTD_REDIS_SENTINEL_PASSWORD',
    roles: REDIS_ROLES,
    ...SECRET_TEXT,
    unset: 'no password for the sentinels',
    description: 'The password for the sentinels. It is separate from the password for Redis.',
  }),
  redisTlsCa: optional({
    name: 'GRANTD_REDIS_TLS_CA',
    roles: REDIS_ROLES,
    ...CERTIFICATE,
    unset: 'the CA certificates built into Node',
    description: 'With TLS: the CA certificates that verify the certificates of Redis.',
  }),

  // ---- the service for its users and operators, and the life cycle of a process ----

  demo: row({
    name: 'GRANTD_DEMO',
    roles: ['dev'],
    ...BOOLEAN,
    default: 'true',
    description:
      'Whether the first start creates a demo tenant and an API key with all scopes. With `false`, `dev.json` holds only the addresses and the operator token.',
  }),
  clusterName: optional({
    name: 'GRANTD_CLUSTER_NAME',
    roles: ['dev', 'console'],
    form: '1 to 64 characters',
    parse: parsers.parseClusterName,
    description:
      'The name of this cluster in the console, such as `production eu`, to distinguish it from other clusters.',
  }),
  dashboardUrl: optional({
    name: 'GRANTD_DASHBOARD_URL',
    roles: ['dev', 'console'],
    ...LINK,
    description: 'The dashboard of the metrics, such as that of Grafana. The console links to it.',
  }),
  runbookUrl: optional({
    name: 'GRANTD_RUNBOOK_URL',
    roles: ['dev', 'console'],
    ...LINK,
    description:
      'The page with the runbook of the alerts, such as `docs/operating/monitoring.md`. The console links to it, and appends the name of an alert in lower case as an anchor.',
  }),
  operatorToken: optional({
    name: 'GRANTD_OPERATOR_TOKEN',
    roles: ['dev', 'console', 'cli'],
    form: '32 printable ASCII characters or more',
    parse: parsers.parseOperatorToken,
    unset:
      'in `dev`: generated at the first start and kept in `dev.json`; in `console`: set this, `GRANTD_OPERATOR_TOKENS_FILE` or `GRANTD_OIDC_ISSUER`',
    file: true,
    secret: true,
    description:
      "The bearer token of the operator's API, with full access. For the operator's commands, it may also be an access token of the identity provider. In `dev` it is also written to `dev.json` (mode 0600), for the operator's commands. They send it only to `GRANTD_OPERATOR_URL`; without that, it must be the token in `dev.json`.",
  }),
  operatorTokens: optional({
    name: 'GRANTD_OPERATOR_TOKENS',
    roles: ['dev', 'console'],
    form: 'lines `name:sha256` or `name:sha256:read-only`',
    parse: parsers.parseTokenSource,
    file: true,
    description:
      'Additional named operator tokens, each given as the SHA-256 hash of the token in hexadecimal. The audit log records the name. With `:read-only`, a token can read everything and change nothing. A file is reloaded when it changes.',
  }),
  operatorUrl: optional({
    name: 'GRANTD_OPERATOR_URL',
    roles: ['cli'],
    ...URL_TEXT,
    unset: '`console_url` of `dev.json`',
    description: "URL of the operator's API for the operator's commands. Requires `GRANTD_OPERATOR_TOKEN`.",
  }),
  apiUrl: optional({
    name: 'GRANTD_URL',
    roles: ['cli'],
    ...URL_TEXT,
    description:
      "URL of the service's API, for the commands that work with an API key, and for the clients. Goes together with `GRANTD_KEY`.",
  }),
  apiKey: optional({
    name: 'GRANTD_KEY',
    roles: ['cli'],
    form: 'API key',
    parse: parsers.parseKeyText,
    file: true,
    secret: true,
    description: 'An API key, with which commands work within its tenant. Goes together with `GRANTD_URL`.',
  }),
  contextName: optional({
    name: 'GRANTD_CONTEXT',
    roles: ['cli'],
    form: 'name',
    parse: parsers.parseToken,
    unset: 'the one that `grantd context use` chose',
    description: 'The context of the command line, as `--use-context` names it.',
  }),
  tenant: optional({
    name: 'GRANTD_TENANT',
    roles: ['cli'],
    form: 'tenant ID',
    parse: parsers.parseTenant,
    unset: 'none: pass `--tenant`',
    description: "The default for `--tenant` of commands that call the operator's API.",
  }),
  plans: optional({
    name: 'GRANTD_PLANS',
    roles: ['dev', 'front', 'shard', 'console'],
    form: 'JSON',
    parse: parsers.plansParser(BUILT_IN_PLANS),
    unset: 'the built-in plans',
    file: true,
    description:
      'Plans that extend or replace the built-in ones: `{"name": {"requests": n or null (unlimited), "window_seconds": w, "namespaces_max"?: n, "keys_max"?: n, "grants_max"?: n or null (none), "streams_max"?: n, "readers"?: n or "auto", "readers_max"?: n}}`. Without `grants_max` or `streams_max`, a plan keeps the value of the built-in plan of the same name; any other plan gets 10,000,000 grants and 100 streams. Streams of the change feed are counted in each front. `readers` (0 to 16, 0 unless given) is how many shards answer reads of a tenant beside its owner; with `auto`, its owner chooses, up to `readers_max` (4 unless given). Use the same value for every process of a cluster.',
  }),
  baseUrl: optional({
    name: 'GRANTD_BASE_URL',
    roles: ['dev', 'front', 'console'],
    ...URL_TEXT,
    unset: 'the bound address; in `console`: set this or `GRANTD_ERRORS_BASE`',
    requiredBy: ['front'],
    description: 'The URL at which clients reach the public API.',
  }),
  errorsBase: optional({
    name: 'GRANTD_ERRORS_BASE',
    roles: ['dev', 'front', 'console'],
    ...URL_TEXT,
    unset: '`{base_url}/errors`',
    description: 'The URL prefix of the `type` of every problem document.',
  }),
  trustedProxies: optional({
    name: 'GRANTD_TRUSTED_PROXIES',
    roles: ['dev', 'front', 'console'],
    form: 'comma-separated addresses or ranges',
    parse: parsers.parseTrustedProxies,
    description:
      'Proxies whose `X-Forwarded-For` is trusted when failed authentications are counted by client address. `console` also trusts their `X-Forwarded-Proto`: behind TLS, it restricts the session cookie to TLS. `loopback`, `linklocal` and `uniquelocal` name address ranges.',
  }),
  logLevel: row({
    name: 'GRANTD_LOG_LEVEL',
    roles: ['dev', 'front', 'shard', 'console', 'migrate'],
    ...choiceOf(LOG_LEVELS),
    default: 'info',
    description:
      'The least severe level that is logged to standard error. Only `debug` logs a line per request. If not set, `grantd dev` on a terminal logs `warn` and above.',
  }),
  drainSeconds: row({
    name: 'GRANTD_DRAIN_SECONDS',
    roles: ['dev', 'front', 'shard', 'console'],
    ...wholeNumber(0, DRAIN_SECONDS_MAX),
    default: '5',
    defaults: { dev: '0', shard: '2' },
    description:
      'After SIGTERM: how long a front, a console or `grantd dev` accepts connections while it reports that it is not ready, so that load balancers notice; how long a shard that has handed over its slots redirects callers to the new owners.',
  }),
  shutdownSeconds: row({
    name: 'GRANTD_SHUTDOWN_SECONDS',
    roles: ['dev', 'front', 'shard', 'console'],
    ...wholeNumber(1, SHUTDOWN_SECONDS_MAX),
    default: '25',
    description:
      'After SIGTERM: if the process has not stopped by then, it exits with status 1. Must be longer than `GRANTD_DRAIN_SECONDS`, and shorter than the time after which the supervisor kills the process.',
  }),

  // ---- the operators' identity provider (OpenID Connect); without an issuer, only operator tokens give access ----

  consoleUrl: optional({
    name: 'GRANTD_CONSOLE_URL',
    roles: OIDC_ROLES,
    ...URL_TEXT,
    description:
      'The URL at which browsers reach the console. The identity provider sends them back to `/console/log-in/callback` below it.',
  }),
  oidcIssuer: optional({
    name: 'GRANTD_OIDC_ISSUER',
    roles: OIDC_ROLES,
    form: 'URL with https',
    parse: parsers.parseIssuer,
    unset: 'none: only operator tokens give access',
    description:
      "The issuer of the operators' identity provider, exactly as its tokens name it. The rest is read from its `/.well-known/openid-configuration`.",
  }),
  oidcClientId: optional({
    name: 'GRANTD_OIDC_CLIENT_ID',
    roles: OIDC_ROLES,
    ...TOKEN,
    unset: 'none: no log-ins to the console with the provider',
    description: 'The client as which the console is registered with the provider. Needs `GRANTD_CONSOLE_URL`.',
  }),
  oidcClientSecret: optional({
    name: 'GRANTD_OIDC_CLIENT_SECRET',
    roles: OIDC_ROLES,
    ...SECRET_TEXT,
    unset: 'none: a public client, with PKCE alone',
    description: 'The secret of that client.',
  }),
  oidcAudience: optional({
    name: 'GRANTD_OIDC_AUDIENCE',
    roles: OIDC_ROLES,
    ...TOKEN,
    unset: "none: the operator's API accepts no access tokens",
    description:
      "The audience (`aud`) that an access token needs for the operator's API. Must differ from `GRANTD_OIDC_CLIENT_ID`, so that no ID token passes for an access token.",
  }),
  oidcScope: row({
    name: 'GRANTD_OIDC_SCOPE',
    roles: OIDC_ROLES,
    form: 'scopes separated by spaces',
    parse: parsers.parseLogInScope,
    default: 'openid',
    description:
      'The scopes of a log-in. Some providers include the claims in the ID token only for additional scopes.',
  }),
  oidcNameClaim: row({
    name: 'GRANTD_OIDC_NAME_CLAIM',
    roles: OIDC_ROLES,
    ...TOKEN,
    default: 'sub',
    description:
      'The claim that names the operator in the audit log, as `operator:oidc:<value>`. Choose one that the provider never reassigns to another person.',
  }),
  oidcAccessClaim: row({
    name: 'GRANTD_OIDC_ACCESS_CLAIM',
    roles: OIDC_ROLES,
    ...TOKEN,
    default: 'grantd_access',
    description:
      'The claim that gives access: a text or a list of texts, such as roles or groups. Without any of the values below, access is denied.',
  }),
  oidcFullValues: row({
    name: 'GRANTD_OIDC_FULL_VALUES',
    roles: OIDC_ROLES,
    ...TEXTS,
    default: 'full',
    description: 'The values of that claim that give full access.',
  }),
  oidcReadOnlyValues: row({
    name: 'GRANTD_OIDC_READ_ONLY_VALUES',
    roles: OIDC_ROLES,
    ...TEXTS,
    default: 'read-only',
    description: 'The values of that claim that give read-only access.',
  }),
  oidcGroupsClaim: row({
    name: 'GRANTD_OIDC_GROUPS_CLAIM',
    roles: OIDC_ROLES,
    ...TOKEN,
    default: 'groups',
    description: 'The claim with the groups of a person: a text or a list of texts.',
  }),
  oidcRequiredGroups: optional({
    name: 'GRANTD_OIDC_REQUIRED_GROUPS',
    roles: OIDC_ROLES,
    ...TEXTS,
    description: 'Groups that a person must be in, every one of them, to have any access.',
  }),

  // ---- traces ----

  tracesDisabled: row({
    name: 'OTEL_SDK_DISABLED',
    roles: TRACED_ROLES,
    form: 'true or false',
    parse: (text: string) => parsers.parseBoolean(text.toLowerCase()),
    default: 'false',
    description: 'With `true`, tracing is off, whatever else is set.',
  }),
  tracesBaseEndpoint: optional({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    roles: TRACED_ROLES,
    ...URL_TEXT,
    unset: 'tracing is off',
    description:
      'Base URL of the collector; traces go to `/v1/traces` below it, as OTLP over HTTP (protobuf). This or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` turns on [tracing](../operating/tracing.md).',
  }),
  logsEndpoint: optional({
    name: 'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
    roles: ['dev', 'front'],
    ...URL_TEXT,
    unset: '`/v1/logs` below `OTEL_EXPORTER_OTLP_ENDPOINT`',
    description:
      'The full URL that the [decision log](../operating/decision-log.md) is sent to with `GRANTD_DECISION_LOG=otlp`, used unchanged.',
  }),
  tracesEndpoint: optional({
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    roles: TRACED_ROLES,
    ...URL_TEXT,
    unset: '`/v1/traces` below `OTEL_EXPORTER_OTLP_ENDPOINT`',
    description: 'The full URL that traces are sent to, used unchanged.',
  }),
  tracesHeaders: optional({
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    roles: TRACED_ROLES,
    form: '`name=value`, comma-separated, percent-encoded',
    parse: parsers.parseHeaders,
    file: true,
    secret: true,
    description:
      'HTTP headers sent with traces and with the decision log, for example the authorization that the collector requires.',
  }),
  serviceName: optional({
    name: 'OTEL_SERVICE_NAME',
    roles: TRACED_ROLES,
    form: 'name',
    parse: (text: string) => text,
    unset: '`grantd-front`, `grantd-shard`, `grantd-console`; `grantd` in `dev`',
    description: 'The `service.name` of the traces and of the decision log.',
  }),
  resourceAttributes: optional({
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    roles: TRACED_ROLES,
    form: '`key=value`, comma-separated, percent-encoded',
    parse: parsers.parsePairs,
    description:
      'Additional resource attributes, such as `deployment.environment.name=production`. They override the built-in ones, but `OTEL_SERVICE_NAME` overrides a `service.name` given here.',
  }),
  tracesSampler: row({
    name: 'OTEL_TRACES_SAMPLER',
    roles: TRACED_ROLES,
    ...choiceOf(SAMPLER_NAMES),
    default: 'parentbased_always_on',
    description:
      'Which requests are traced. The `parentbased_` samplers follow the `traceparent` header if the client sends one.',
  }),
  tracesSamplerRatio: row({
    name: 'OTEL_TRACES_SAMPLER_ARG',
    roles: TRACED_ROLES,
    ...RATIO,
    default: '1',
    description: 'For the `traceidratio` samplers: the share of requests that is traced.',
  }),

  // ---- the decision log (docs/operating/decision-log.md) ----

  decisionLog: row({
    name: 'GRANTD_DECISION_LOG',
    roles: DECISION_LOG_ROLES,
    ...choiceOf(DECISION_LOG_OUTPUTS),
    default: 'off',
    description:
      'Where the [decision log](../operating/decision-log.md) goes: nowhere; to standard output, as JSON lines; to an OpenTelemetry collector, as log records.',
  }),
  decisionLogRate: row({
    name: 'GRANTD_DECISION_LOG_RATE',
    roles: DECISION_LOG_ROLES,
    ...RATIO,
    default: '1',
    description: 'The share of requests whose decisions are logged.',
  }),
  decisionLogTenants: optional({
    name: 'GRANTD_DECISION_LOG_TENANTS',
    roles: DECISION_LOG_ROLES,
    form: 'tenant ids, comma-separated',
    parse: parsers.parseTenants,
    description: 'Tenants whose decisions are all logged, whatever the share. At most 1000.',
  }),
  decisionLogExplain: row({
    name: 'GRANTD_DECISION_LOG_EXPLAIN',
    roles: DECISION_LOG_ROLES,
    ...RATIO,
    default: '0',
    description: 'The share of logged denials that get a reason: at most 10 a second of each process.',
  }),
});

export type Settings = typeof SETTINGS;
type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;
/** Roles that always have a value. */
type FilledFor<Row extends Pick<Setting<unknown>, 'defaults' | 'requiredBy'>> =
  | keyof Row['defaults']
  | Row['requiredBy'][number];

/** The parsed settings of a role: those rows of the table that name it. */
export type Config<Reader extends Role> = {
  readonly [Key in keyof Settings as Reader extends Settings[Key]['roles'][number]
    ? Key
    : never]: Reader extends FilledFor<Settings[Key]> ? ValueOf<Settings[Key]> : ValueOf<Settings[Key]> | undefined;
};

export type DevConfig = Config<'dev'>;
export type FrontConfig = Config<'front'>;
export type ShardConfig = Config<'shard'>;
export type ConsoleConfig = Config<'console'>;
export type MigrateConfig = Config<'migrate'>;
export type CliConfig = Config<'cli'>;
