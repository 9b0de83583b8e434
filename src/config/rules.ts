// Conditions on several settings: values that are valid each by itself, but wrong together.

import { isLoopback } from './cluster-parsers.ts';
import type { RedisUrl } from './redis-url.ts';
import type { Role } from './setting.ts';
import type { Settings } from './settings.ts';

type Values = Readonly<Partial<Record<keyof Settings, unknown>>>;

interface Rule {
  readonly roles: readonly Role[];
  /** The settings that the rule reads. The rule is skipped if one of them is invalid by itself. */
  readonly settings: readonly (keyof Settings)[];
  /** Whether the values are allowed together. */
  readonly holds: (values: Values) => boolean;
  /** A whole sentence, without a full stop; it begins with the name of a setting. */
  readonly problem: string;
}

const countSet = (values: Values, settings: readonly (keyof Settings)[]): number =>
  settings.filter((key) => values[key] !== undefined).length;

const together = (roles: readonly Role[], settings: readonly (keyof Settings)[], problem: string): Rule => ({
  roles,
  settings,
  holds: (values) => [0, settings.length].includes(countSet(values, settings)),
  problem,
});

const oneOf = (roles: readonly Role[], settings: readonly (keyof Settings)[], problem: string): Rule => ({
  roles,
  settings,
  holds: (values) => countSet(values, settings) > 0,
  problem,
});

const needs = (roles: readonly Role[], setting: keyof Settings, needed: keyof Settings, problem: string): Rule => ({
  roles,
  settings: [setting, needed],
  holds: (values) => values[setting] === undefined || values[needed] !== undefined,
  problem,
});

/** One part of the Redis URL, whatever its form. */
const redisPart = ({ redisUrl }: Values, part: keyof RedisUrl): unknown =>
  typeof redisUrl === 'object' && redisUrl !== null
    ? new Map<string, unknown>(Object.entries(redisUrl)).get(part)
    : undefined;

/**
 * Without TLS, a shard cannot distinguish a console from any other client that reaches the port. So accepting an
 * unproven console must be an explicit choice.
 */
const rpcIsSafe = ({ rpcAddress, rpcTlsCert, rpcInsecure }: Values): boolean =>
  typeof rpcAddress !== 'string' || isLoopback(rpcAddress) || rpcTlsCert !== undefined || rpcInsecure === true;

export const RULES: readonly Rule[] = Object.freeze([
  {
    roles: ['dev', 'front'],
    settings: ['decisionLog', 'logsEndpoint', 'tracesBaseEndpoint'],
    holds: ({ decisionLog, logsEndpoint, tracesBaseEndpoint }) =>
      decisionLog !== 'otlp' || logsEndpoint !== undefined || tracesBaseEndpoint !== undefined,
    problem:
      'GRANTD_DECISION_LOG=otlp needs a collector; set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT',
  },
  {
    roles: ['shard'],
    settings: ['rpcAddress', 'rpcTlsCert', 'rpcTlsKey', 'rpcTlsCa', 'rpcInsecure'],
    holds: rpcIsSafe,
    problem:
      'GRANTD_RPC_TLS_CERT, GRANTD_RPC_TLS_KEY and GRANTD_RPC_TLS_CA are not set, and GRANTD_RPC_ADDRESS (0.0.0.0:8082 unless set) is not loopback: anyone who can reach it would have full access to every tenant; set all three, or GRANTD_RPC_INSECURE=true if only fronts, consoles and shards can reach it',
  },
  {
    roles: ['dev'],
    settings: ['rpcAddress', 'rpcInsecure'],
    holds: rpcIsSafe,
    problem:
      'GRANTD_RPC_ADDRESS is not loopback, and grantd dev has no TLS for it: anyone who can reach it would have full access to every tenant; unset it, or set GRANTD_RPC_INSECURE=true if only fronts, consoles and shards can reach it',
  },
  together(
    ['front', 'shard', 'console'],
    ['rpcTlsCert', 'rpcTlsKey', 'rpcTlsCa'],
    'GRANTD_RPC_TLS_CERT, GRANTD_RPC_TLS_KEY and GRANTD_RPC_TLS_CA go together; set all three or none',
  ),
  together(
    ['shard', 'migrate'],
    ['cassandraUsername', 'cassandraPassword'],
    'GRANTD_CASSANDRA_USERNAME and GRANTD_CASSANDRA_PASSWORD go together; set both or none',
  ),
  together(
    ['shard', 'migrate'],
    ['cassandraTlsCert', 'cassandraTlsKey'],
    'GRANTD_CASSANDRA_TLS_CERT and GRANTD_CASSANDRA_TLS_KEY go together; set both or none',
  ),
  needs(
    ['shard', 'migrate'],
    'cassandraTlsCert',
    'cassandraTlsCa',
    'GRANTD_CASSANDRA_TLS_CERT needs GRANTD_CASSANDRA_TLS_CA, which turns TLS on',
  ),
  needs(['dev', 'front'], 'redisPassword', 'redisUrl', 'GRANTD_REDIS_PASSWORD needs GRANTD_REDIS_URL'),
  {
    roles: ['dev', 'front'],
    settings: ['redisUrl', 'redisPassword'],
    holds: (values) => values.redisPassword === undefined || redisPart(values, 'password') === undefined,
    problem: 'GRANTD_REDIS_PASSWORD is set, but GRANTD_REDIS_URL also contains a password; remove one of them',
  },
  {
    roles: ['dev', 'front'],
    settings: ['redisUrl', 'redisSentinelPassword'],
    holds: (values) => values.redisSentinelPassword === undefined || redisPart(values, 'kind') === 'sentinel',
    problem: 'GRANTD_REDIS_SENTINEL_PASSWORD needs a GRANTD_REDIS_URL that names sentinels, redis+sentinel://…',
  },
  {
    roles: ['dev', 'front'],
    settings: ['redisUrl', 'redisTlsCa'],
    holds: (values) => values.redisTlsCa === undefined || redisPart(values, 'tls') === true,
    problem: 'GRANTD_REDIS_TLS_CA needs a GRANTD_REDIS_URL with TLS, rediss://…',
  },
  together(['cli'], ['apiUrl', 'apiKey'], 'GRANTD_URL and GRANTD_KEY go together; set both or neither'),
  {
    roles: ['cli'],
    settings: ['contextName', 'apiUrl', 'operatorUrl'],
    holds: (values) => values.contextName === undefined || countSet(values, ['apiUrl', 'operatorUrl']) === 0,
    problem:
      'GRANTD_CONTEXT and an address (GRANTD_URL or GRANTD_OPERATOR_URL) both name a service; set only one of them',
  },
  needs(['cli'], 'operatorUrl', 'operatorToken', 'GRANTD_OPERATOR_URL is set, but not GRANTD_OPERATOR_TOKEN'),
  oneOf(
    ['console'],
    ['operatorToken', 'operatorTokens', 'oidcIssuer'],
    'GRANTD_OPERATOR_TOKEN or GRANTD_OPERATOR_TOKENS_FILE must be set, or GRANTD_OIDC_ISSUER: otherwise no operator can log in to the console',
  ),
  {
    roles: ['dev', 'console'],
    settings: ['oidcIssuer', 'oidcClientId', 'oidcAudience'],
    holds: (values) => (values.oidcIssuer === undefined) === (countSet(values, ['oidcClientId', 'oidcAudience']) === 0),
    problem:
      'GRANTD_OIDC_ISSUER goes together with GRANTD_OIDC_CLIENT_ID (log-ins to the console) or GRANTD_OIDC_AUDIENCE (access tokens for the API), or both',
  },
  needs(
    ['dev', 'console'],
    'oidcClientId',
    'consoleUrl',
    'GRANTD_OIDC_CLIENT_ID needs GRANTD_CONSOLE_URL, to which the identity provider sends browsers back',
  ),
  needs(
    ['dev', 'console'],
    'oidcClientSecret',
    'oidcClientId',
    'GRANTD_OIDC_CLIENT_SECRET needs GRANTD_OIDC_CLIENT_ID',
  ),
  {
    roles: ['dev', 'console'],
    settings: ['oidcClientId', 'oidcAudience'],
    holds: (values) => values.oidcAudience === undefined || values.oidcAudience !== values.oidcClientId,
    problem:
      'GRANTD_OIDC_AUDIENCE must differ from GRANTD_OIDC_CLIENT_ID: otherwise, an ID token would pass for an access token',
  },
  oneOf(
    ['console'],
    ['baseUrl', 'errorsBase'],
    'GRANTD_BASE_URL or GRANTD_ERRORS_BASE must be set: the errors of the console link to pages of the public API',
  ),
  {
    roles: ['dev', 'front', 'shard', 'console'],
    settings: ['drainSeconds', 'shutdownSeconds'],
    holds: ({ drainSeconds, shutdownSeconds }) => Number(drainSeconds) < Number(shutdownSeconds),
    problem: 'GRANTD_SHUTDOWN_SECONDS must be longer than GRANTD_DRAIN_SECONDS',
  },
]);
