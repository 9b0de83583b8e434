// The table of settings: every environment variable the program reads, its form, its default and its meaning. Nothing
// else reads the environment. `--help` and docs/reference/settings.md are made from this table.

import { BUILT_IN_PLANS, type Plans } from '../core/plans.ts';
import { SLOTS_MAX } from '../core/slots.ts';
import { LOG_LEVELS } from '../telemetry/log-levels.ts';
import {
  bytesParser,
  choiceParser,
  integerParser,
  type NamedToken,
  parseAddress,
  parseBoolean,
  parseNamedTokens,
  parseOperatorToken,
  parsePath,
  parseShardName,
  parseTrustedProxies,
  parseUrl,
  plansParser,
} from './parsers.ts';
import type { Secret } from './secret.ts';
import { type Role, type Setting, WrongSetting } from './setting.ts';

const MEBIBYTE = 1024 ** 2;
/** Below this, pages leave memory faster than checks can use them. */
const PAGE_CACHE_BYTES_MIN = MEBIBYTE;
const PAGE_CACHE_BYTES_MAX = 1024 * 1024 * MEBIBYTE;
/** Ten years. */
const LOG_RETENTION_HOURS_MAX = 87_600;

const plain = { file: false, secret: false } as const;

function parseStore(text: string): 'sqlite' {
  if (text === 'cassandra') throw new WrongSetting('is cassandra, which is not in this version; use sqlite');
  return choiceParser(['sqlite'])(text);
}

function row<Value, const Roles extends readonly Role[]>(
  setting: Setting<Value> & { readonly roles: Roles },
): Setting<Value> & { readonly roles: Roles } {
  return Object.freeze(setting);
}

/** A row without a default: its value may be undefined. */
function optional<Value, const Roles extends readonly Role[]>(
  setting: Omit<Setting<Value>, 'default'> & { readonly roles: Roles; readonly unset: string },
): Setting<Value | undefined> & { readonly roles: Roles } {
  return Object.freeze({ ...setting, default: undefined });
}

export const SETTINGS = Object.freeze({
  httpAddress: row({
    ...plain,
    name: 'GRANTD_HTTP_ADDRESS',
    roles: ['dev'],
    form: 'host:port',
    parse: parseAddress,
    default: '127.0.0.1:8080',
    description: 'Where the public API listens. Port 0 takes any free one.',
  }),
  opsAddress: row({
    ...plain,
    name: 'GRANTD_OPS_ADDRESS',
    roles: ['dev'],
    form: 'host:port',
    parse: parseAddress,
    default: '127.0.0.1:8081',
    description: 'Where `/livez`, `/readyz` and `/metrics` are served.',
  }),
  consoleAddress: row({
    ...plain,
    name: 'GRANTD_CONSOLE_ADDRESS',
    roles: ['dev'],
    form: 'host:port',
    parse: parseAddress,
    default: '127.0.0.1:8090',
    description: "Where the operator's API is served, under `/operator/v1/`.",
  }),
  rpcAddress: row({
    ...plain,
    name: 'GRANTD_RPC_ADDRESS',
    roles: ['dev'],
    form: 'host:port',
    parse: parseAddress,
    default: '127.0.0.1:0',
    description:
      "Where a shard's gRPC listens. With several shards in one process the first takes this port and each further one the next; with port 0 each takes any free one.",
  }),
  store: row({
    ...plain,
    name: 'GRANTD_STORE',
    roles: ['dev'],
    form: 'sqlite',
    parse: parseStore,
    default: 'sqlite',
    description: 'The durable store. This version has the embedded one only.',
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
  demo: row({
    ...plain,
    name: 'GRANTD_DEMO',
    roles: ['dev'],
    form: 'true or false',
    parse: parseBoolean,
    default: 'true',
    description:
      'Whether a demo tenant with a key of all scopes is made at the first start. With `false`, `dev.json` holds the addresses and the operator token only.',
  }),
  slots: row({
    ...plain,
    name: 'GRANTD_SLOTS',
    roles: ['dev'],
    form: `number, 1 to ${SLOTS_MAX}`,
    parse: integerParser(1, SLOTS_MAX),
    default: '256',
    description:
      'How many slots the tenants are spread over. Fixed when the data directory is made; another number later is refused.',
  }),
  shardName: row({
    ...plain,
    name: 'GRANTD_SHARD_NAME',
    roles: ['dev'],
    form: 'name',
    parse: parseShardName,
    default: 'dev',
    description: 'The stable name of the shards; in `dev` their number follows it: `dev-1`, `dev-2`.',
  }),
  operatorToken: optional<Secret, readonly ['dev', 'cli']>({
    name: 'GRANTD_OPERATOR_TOKEN',
    roles: ['dev', 'cli'],
    form: '32 printable ASCII characters or more',
    parse: parseOperatorToken,
    unset: 'made at the first start and kept in `dev.json`',
    file: true,
    secret: true,
    description:
      "The bearer token of the operator's API. In `dev` it is also written to `dev.json` (mode 0600), for the operator's commands.",
  }),
  operatorTokens: optional<readonly NamedToken[], readonly ['dev']>({
    ...plain,
    name: 'GRANTD_OPERATOR_TOKENS',
    roles: ['dev'],
    form: 'lines `name:sha256`',
    parse: parseNamedTokens,
    unset: 'none',
    file: true,
    description:
      'Further operator tokens by name, each as the SHA-256 of its text in hexadecimal. The name stands in the trail. Given as a file; read at the start.',
  }),
  operatorUrl: optional<string, readonly ['cli']>({
    ...plain,
    name: 'GRANTD_OPERATOR_URL',
    roles: ['cli'],
    form: 'URL',
    parse: parseUrl,
    unset: '`console_url` of `dev.json`',
    description: "Where the operator's commands find the operator's API. Needs `GRANTD_OPERATOR_TOKEN` with it.",
  }),
  plans: optional<Plans, readonly ['dev']>({
    ...plain,
    name: 'GRANTD_PLANS',
    roles: ['dev'],
    form: 'JSON',
    parse: plansParser(BUILT_IN_PLANS),
    unset: 'the built-in plans',
    file: true,
    description:
      'Plans laid over the built-in ones: `{"name": {"requests": n or null (unlimited), "window_seconds": w, "namespaces_max"?: n, "keys_max"?: n}}`.',
  }),
  baseUrl: optional<string, readonly ['dev']>({
    ...plain,
    name: 'GRANTD_BASE_URL',
    roles: ['dev'],
    form: 'URL',
    parse: parseUrl,
    unset: 'the bound address',
    description: 'The address under which clients reach the public API.',
  }),
  errorsBase: optional<string, readonly ['dev']>({
    ...plain,
    name: 'GRANTD_ERRORS_BASE',
    roles: ['dev'],
    form: 'URL',
    parse: parseUrl,
    unset: '`{base_url}/errors`',
    description: 'What the `type` of every problem document starts with.',
  }),
  trustedProxies: optional<readonly string[], readonly ['dev']>({
    ...plain,
    name: 'GRANTD_TRUSTED_PROXIES',
    roles: ['dev'],
    form: 'comma-separated addresses or ranges',
    parse: parseTrustedProxies,
    unset: 'none',
    description:
      'Proxies whose `X-Forwarded-For` is believed when failed authentications are counted by client address. `loopback`, `linklocal` and `uniquelocal` name ranges.',
  }),
  logLevel: row({
    ...plain,
    name: 'GRANTD_LOG_LEVEL',
    roles: ['dev'],
    form: LOG_LEVELS.join(', '),
    parse: choiceParser(LOG_LEVELS),
    default: 'info',
    description: 'What is logged on standard error. One line per request only at `debug`.',
  }),
  pageCacheBytes: row({
    ...plain,
    name: 'GRANTD_PAGE_CACHE_BYTES',
    roles: ['dev'],
    form: 'bytes, or like 256MiB',
    parse: bytesParser(PAGE_CACHE_BYTES_MIN, PAGE_CACHE_BYTES_MAX),
    default: '256MiB',
    description: 'The bound of the grants held in memory, for the process; its shards share it equally.',
  }),
  logRetentionHours: row({
    ...plain,
    name: 'GRANTD_LOG_RETENTION_HOURS',
    roles: ['dev'],
    form: `number, 1 to ${LOG_RETENTION_HOURS_MAX}`,
    parse: integerParser(1, LOG_RETENTION_HOURS_MAX),
    default: '168',
    description: 'How long the log is kept behind the checkpoint before it is trimmed, segment by segment.',
  }),
});

type Settings = typeof SETTINGS;
type ValueOf<Row> = Row extends Setting<infer Value> ? Value : never;

/** The parsed settings of a role: those rows of the table that name it. */
export type Config<Reader extends Role> = {
  readonly [Key in keyof Settings as Reader extends Settings[Key]['roles'][number] ? Key : never]: ValueOf<
    Settings[Key]
  >;
};

export type DevConfig = Config<'dev'>;
export type CliConfig = Config<'cli'>;
