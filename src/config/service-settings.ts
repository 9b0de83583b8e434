// Settings of the service for its users and operators, and of the life cycle of a process.

import { BUILT_IN_PLANS } from '../core/plans.ts';
import { LOG_LEVELS } from '../telemetry/log-levels.ts';
import {
  choiceParser,
  integerParser,
  parseBoolean,
  parseClusterName,
  parseOperatorToken,
  parseTenant,
  parseTokenSource,
  parseTrustedProxies,
  parseUrl,
  plansParser,
} from './parsers.ts';
import { optional, plain, row } from './setting.ts';

const DRAIN_SECONDS_MAX = 300;
const SHUTDOWN_SECONDS_MAX = 3600;

export const SERVICE_SETTINGS = Object.freeze({
  demo: row({
    ...plain,
    name: 'GRANTD_DEMO',
    roles: ['dev'],
    form: 'true or false',
    parse: parseBoolean,
    default: 'true',
    description:
      'Whether the first start creates a demo tenant and an API key with all scopes. With `false`, `dev.json` holds only the addresses and the operator token.',
  }),
  clusterName: optional({
    ...plain,
    name: 'GRANTD_CLUSTER_NAME',
    roles: ['dev', 'console'],
    form: '1 to 64 characters',
    parse: parseClusterName,
    unset: 'none',
    description: 'The name of this cluster in the console, to tell it from others, such as `production eu`.',
  }),
  operatorToken: optional({
    name: 'GRANTD_OPERATOR_TOKEN',
    roles: ['dev', 'console', 'cli'],
    form: '32 printable ASCII characters or more',
    parse: parseOperatorToken,
    unset:
      'in `dev`: generated at the first start and kept in `dev.json`; in `console`: set this, `GRANTD_OPERATOR_TOKENS_FILE` or `GRANTD_OIDC_ISSUER`',
    file: true,
    secret: true,
    description:
      "The bearer token of the operator's API, with full access. For the operator's commands, it may also be an access token of the identity provider. In `dev` it is also written to `dev.json` (mode 0600), for the operator's commands.",
  }),
  operatorTokens: optional({
    name: 'GRANTD_OPERATOR_TOKENS',
    roles: ['dev', 'console'],
    form: 'lines `name:sha256` or `name:sha256:read-only`',
    parse: parseTokenSource,
    unset: 'none',
    file: true,
    secret: false,
    description:
      'Additional named operator tokens, each given as the SHA-256 hash of the token in hexadecimal. The audit log records the name. With `:read-only`, a token reads everything and changes nothing. A file is reloaded when it changes.',
  }),
  operatorUrl: optional({
    ...plain,
    name: 'GRANTD_OPERATOR_URL',
    roles: ['cli'],
    form: 'URL',
    parse: parseUrl,
    unset: '`console_url` of `dev.json`',
    description: "URL of the operator's API for the operator's commands. Requires `GRANTD_OPERATOR_TOKEN`.",
  }),
  tenant: optional({
    ...plain,
    name: 'GRANTD_TENANT',
    roles: ['cli'],
    form: 'tenant ID',
    parse: parseTenant,
    unset: 'none: pass `--tenant`',
    description: "The default for `--tenant` of the operator's commands.",
  }),
  plans: optional({
    name: 'GRANTD_PLANS',
    roles: ['dev', 'front', 'shard', 'console'],
    form: 'JSON',
    parse: plansParser(BUILT_IN_PLANS),
    unset: 'the built-in plans',
    file: true,
    secret: false,
    description:
      'Plans that extend or replace the built-in ones: `{"name": {"requests": n or null (unlimited), "window_seconds": w, "namespaces_max"?: n, "keys_max"?: n, "grants_max"?: n or null (none), "streams_max"?: n}}`. Without `grants_max` or `streams_max`, a plan keeps the value of the built-in plan of the same name; any other plan gets 10,000,000 grants and 100 streams. Streams of the change feed are counted in each front. Use the same value for every process of a cluster.',
  }),
  baseUrl: optional({
    ...plain,
    name: 'GRANTD_BASE_URL',
    roles: ['dev', 'front', 'console'],
    form: 'URL',
    parse: parseUrl,
    unset: 'the bound address; in `console`: set this or `GRANTD_ERRORS_BASE`',
    requiredBy: ['front'],
    description: 'The URL at which clients reach the public API.',
  }),
  errorsBase: optional({
    ...plain,
    name: 'GRANTD_ERRORS_BASE',
    roles: ['dev', 'front', 'console'],
    form: 'URL',
    parse: parseUrl,
    unset: '`{base_url}/errors`',
    description: 'The URL prefix of the `type` of every problem document.',
  }),
  trustedProxies: optional({
    ...plain,
    name: 'GRANTD_TRUSTED_PROXIES',
    roles: ['dev', 'front', 'console'],
    form: 'comma-separated addresses or ranges',
    parse: parseTrustedProxies,
    unset: 'none',
    description:
      'Proxies whose `X-Forwarded-For` is trusted when failed authentications are counted by client address. `console` also trusts their `X-Forwarded-Proto`: behind TLS, it restricts the session cookie to TLS. `loopback`, `linklocal` and `uniquelocal` name address ranges.',
  }),
  logLevel: row({
    ...plain,
    name: 'GRANTD_LOG_LEVEL',
    roles: ['dev', 'front', 'shard', 'console', 'migrate'],
    form: LOG_LEVELS.join(', '),
    parse: choiceParser(LOG_LEVELS),
    default: 'info',
    description:
      'The least severe level that is logged to standard error. Only `debug` logs a line per request. If not set, `grantd dev` on a terminal logs `warn` and above.',
  }),
  drainSeconds: row({
    ...plain,
    name: 'GRANTD_DRAIN_SECONDS',
    roles: ['dev', 'front', 'shard', 'console'],
    form: `number, 0 to ${DRAIN_SECONDS_MAX}`,
    parse: integerParser(0, DRAIN_SECONDS_MAX),
    default: '5',
    defaults: { dev: '0', shard: '2' },
    description:
      'After SIGTERM: how long a front, a console or `grantd dev` reports that it is not ready but still accepts connections, so that load balancers notice; how long a shard that has handed over its slots still redirects callers to the new owners.',
  }),
  shutdownSeconds: row({
    ...plain,
    name: 'GRANTD_SHUTDOWN_SECONDS',
    roles: ['dev', 'front', 'shard', 'console'],
    form: `number, 1 to ${SHUTDOWN_SECONDS_MAX}`,
    parse: integerParser(1, SHUTDOWN_SECONDS_MAX),
    default: '25',
    description:
      'After SIGTERM: if the process has not stopped by then, it exits with status 1. Must be longer than `GRANTD_DRAIN_SECONDS`, and shorter than the time after which the supervisor kills the process.',
  }),
});
