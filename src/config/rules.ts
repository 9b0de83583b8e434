// Conditions on several settings: values that are valid each by itself, but wrong together.

import { isLoopback } from './cluster-parsers.ts';
import type { RedisUrl } from './redis-url.ts';
import type { Role } from './setting.ts';
import { SETTINGS, type Settings } from './settings.ts';

type Values = Readonly<Partial<Record<keyof Settings, unknown>>>;

type Key = keyof Settings;

interface Rule {
  readonly roles: readonly Role[];
  /** The settings that the rule reads. The rule is skipped if one of them is invalid by itself. */
  readonly settings: readonly Key[];
  /** Whether the values are allowed together. */
  readonly holds: (values: Values) => boolean;
  /** A whole sentence, without a full stop; it begins with the name of a setting. */
  readonly problem: string;
}

/** `roles`: by default, all that read each of the settings. */
const rule = (
  settings: readonly Key[],
  holds: Rule['holds'],
  problem: string,
  roles = SETTINGS[settings[0] ?? 'logLevel'].roles.filter((role) =>
    settings.every((key) => SETTINGS[key].roles.some((each) => each === role)),
  ),
): Rule => ({ settings, holds, problem, roles });

const countSet = (values: Values, settings: readonly Key[]): number =>
  settings.filter((key) => values[key] !== undefined).length;

const together = (settings: readonly Key[], otherwise: string): Rule => {
  const names = settings.map((key) => SETTINGS[key].name);
  const holds = (values: Values): boolean => [0, settings.length].includes(countSet(values, settings));
  return rule(settings, holds, `${names.slice(0, -1).join(', ')} and ${names.at(-1)} go together; set ${otherwise}`);
};

const oneOf = (role: Role, settings: readonly Key[], problem: string): Rule =>
  rule(settings, (values) => countSet(values, settings) > 0, problem, [role]);

const needs = (setting: Key, needed: Key, problem = `${SETTINGS[setting].name} needs ${SETTINGS[needed].name}`): Rule =>
  rule([setting, needed], (values) => values[setting] === undefined || values[needed] !== undefined, problem);

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
  rule(
    ['decisionLog', 'logsEndpoint', 'tracesBaseEndpoint'],
    ({ decisionLog, logsEndpoint, tracesBaseEndpoint }) =>
      decisionLog !== 'otlp' || logsEndpoint !== undefined || tracesBaseEndpoint !== undefined,
    'GRANTD_DECISION_LOG=otlp needs a collector; set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT',
  ),
  rule(
    ['rpcAddress', 'rpcTlsCert', 'rpcTlsKey', 'rpcTlsCa', 'rpcInsecure'],
    rpcIsSafe,
    'GRANTD_RPC_TLS_CERT, GRANTD_RPC_TLS_KEY and GRANTD_RPC_TLS_CA are not set, and GRANTD_RPC_ADDRESS (0.0.0.0:8082 unless set) is not loopback: anyone who can reach it would have full access to every tenant; set all three, or GRANTD_RPC_INSECURE=true if only fronts, consoles and shards can reach it',
  ),
  rule(
    ['rpcAddress', 'rpcInsecure'],
    rpcIsSafe,
    'GRANTD_RPC_ADDRESS is not loopback, and grantd dev has no TLS for it: anyone who can reach it would have full access to every tenant; unset it, or set GRANTD_RPC_INSECURE=true if only fronts, consoles and shards can reach it',
    ['dev'],
  ),
  together(['rpcTlsCert', 'rpcTlsKey', 'rpcTlsCa'], 'all three or none'),
  together(['cassandraUsername', 'cassandraPassword'], 'both or none'),
  together(['cassandraTlsCert', 'cassandraTlsKey'], 'both or none'),
  needs(
    'cassandraTlsCert',
    'cassandraTlsCa',
    'GRANTD_CASSANDRA_TLS_CERT needs GRANTD_CASSANDRA_TLS_CA, which turns TLS on',
  ),
  needs('redisPassword', 'redisUrl'),
  rule(
    ['redisUrl', 'redisPassword'],
    (values) => values.redisPassword === undefined || redisPart(values, 'password') === undefined,
    'GRANTD_REDIS_PASSWORD is set, but GRANTD_REDIS_URL also contains a password; remove one of them',
  ),
  rule(
    ['redisUrl', 'redisSentinelPassword'],
    (values) => values.redisSentinelPassword === undefined || redisPart(values, 'kind') === 'sentinel',
    'GRANTD_REDIS_SENTINEL_PASSWORD needs a GRANTD_REDIS_URL that names sentinels, redis+sentinel://…',
  ),
  rule(
    ['redisUrl', 'redisTlsCa'],
    (values) => values.redisTlsCa === undefined || redisPart(values, 'tls') === true,
    'GRANTD_REDIS_TLS_CA needs a GRANTD_REDIS_URL with TLS, rediss://…',
  ),
  together(['apiUrl', 'apiKey'], 'both or neither'),
  rule(
    ['contextName', 'apiUrl', 'operatorUrl'],
    (values) => values.contextName === undefined || countSet(values, ['apiUrl', 'operatorUrl']) === 0,
    'GRANTD_CONTEXT and an address (GRANTD_URL or GRANTD_OPERATOR_URL) both name a service; set only one of them',
  ),
  needs('operatorUrl', 'operatorToken', 'GRANTD_OPERATOR_URL is set, but not GRANTD_OPERATOR_TOKEN'),
  oneOf(
    'console',
    ['operatorToken', 'operatorTokens', 'oidcIssuer'],
    'GRANTD_OPERATOR_TOKEN or GRANTD_OPERATOR_TOKENS_FILE must be set, or GRANTD_OIDC_ISSUER: otherwise no operator can log in to the console',
  ),
  rule(
    ['oidcIssuer', 'oidcClientId', 'oidcAudience'],
    (values) => (values.oidcIssuer === undefined) === (countSet(values, ['oidcClientId', 'oidcAudience']) === 0),
    'GRANTD_OIDC_ISSUER goes together with GRANTD_OIDC_CLIENT_ID (log-ins to the console) or GRANTD_OIDC_AUDIENCE (access tokens for the API), or both',
  ),
  needs(
    'oidcClientId',
    'consoleUrl',
    'GRANTD_OIDC_CLIENT_ID needs GRANTD_CONSOLE_URL, to which the identity provider sends browsers back',
  ),
  needs('oidcClientSecret', 'oidcClientId'),
  rule(
    ['oidcClientId', 'oidcAudience'],
    (values) => values.oidcAudience === undefined || values.oidcAudience !== values.oidcClientId,
    'GRANTD_OIDC_AUDIENCE must differ from GRANTD_OIDC_CLIENT_ID: otherwise, an ID token would pass for an access token',
  ),
  oneOf(
    'console',
    ['baseUrl', 'errorsBase'],
    'GRANTD_BASE_URL or GRANTD_ERRORS_BASE must be set: the errors of the console link to pages of the public API',
  ),
  rule(
    ['drainSeconds', 'shutdownSeconds'],
    ({ drainSeconds, shutdownSeconds }) => Number(drainSeconds) < Number(shutdownSeconds),
    'GRANTD_SHUTDOWN_SECONDS must be longer than GRANTD_DRAIN_SECONDS',
  ),
]);
