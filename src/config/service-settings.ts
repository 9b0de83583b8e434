// The settings of the service as its users and its operator meet it, and of the life of a process.

import { BUILT_IN_PLANS } from '../core/plans.ts';
import { LOG_LEVELS } from '../telemetry/log-levels.ts';
import {
  choiceParser,
  integerParser,
  parseBoolean,
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
      'Whether a demo tenant with a key of all scopes is made at the first start. With `false`, `dev.json` holds the addresses and the operator token only.',
  }),
  operatorToken: optional({
    name: 'GRANTD_OPERATOR_TOKEN',
    roles: ['dev', 'console', 'cli'],
    form: '32 printable ASCII characters or more',
    parse: parseOperatorToken,
    unset:
      'in `dev`: made at the first start and kept in `dev.json`; in `console`: this or `GRANTD_OPERATOR_TOKENS_FILE` must be set',
    file: true,
    secret: true,
    description:
      "The bearer token of the operator's API. In `dev` it is also written to `dev.json` (mode 0600), for the operator's commands.",
  }),
  operatorTokens: optional({
    name: 'GRANTD_OPERATOR_TOKENS',
    roles: ['dev', 'console'],
    form: 'lines `name:sha256`',
    parse: parseTokenSource,
    unset: 'none',
    file: true,
    secret: false,
    description:
      'Further operator tokens by name, each as the SHA-256 of its text in hexadecimal. The name stands in the trail. A file is read again when it changes.',
  }),
  operatorUrl: optional({
    ...plain,
    name: 'GRANTD_OPERATOR_URL',
    roles: ['cli'],
    form: 'URL',
    parse: parseUrl,
    unset: '`console_url` of `dev.json`',
    description: "Where the operator's commands find the operator's API. Needs `GRANTD_OPERATOR_TOKEN` with it.",
  }),
  tenant: optional({
    ...plain,
    name: 'GRANTD_TENANT',
    roles: ['cli'],
    form: 'id of a tenant',
    parse: parseTenant,
    unset: 'none: `--tenant` has to be given',
    description: "The tenant of the operator's commands that take `--tenant`, where they are called without it.",
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
      'Plans laid over the built-in ones: `{"name": {"requests": n or null (unlimited), "window_seconds": w, "namespaces_max"?: n, "keys_max"?: n, "grants_max"?: n or null (none)}}`. Without `grants_max` a plan keeps that of the built-in one of its name, and another has 10,000,000. The same for every process of a cluster.',
  }),
  baseUrl: optional({
    ...plain,
    name: 'GRANTD_BASE_URL',
    roles: ['dev', 'front', 'console'],
    form: 'URL',
    parse: parseUrl,
    unset: 'the bound address; in `console`: this or `GRANTD_ERRORS_BASE` must be set',
    requiredBy: ['front'],
    description: 'The address under which clients reach the public API.',
  }),
  errorsBase: optional({
    ...plain,
    name: 'GRANTD_ERRORS_BASE',
    roles: ['dev', 'front', 'console'],
    form: 'URL',
    parse: parseUrl,
    unset: '`{base_url}/errors`',
    description: 'What the `type` of every problem document starts with.',
  }),
  trustedProxies: optional({
    ...plain,
    name: 'GRANTD_TRUSTED_PROXIES',
    roles: ['dev', 'front', 'console'],
    form: 'comma-separated addresses or ranges',
    parse: parseTrustedProxies,
    unset: 'none',
    description:
      'Proxies whose `X-Forwarded-For` is believed when failed authentications are counted by client address, and in `console` also `X-Forwarded-Proto`: behind TLS, the cookie of a session goes over TLS only. `loopback`, `linklocal` and `uniquelocal` name ranges.',
  }),
  logLevel: row({
    ...plain,
    name: 'GRANTD_LOG_LEVEL',
    roles: ['dev', 'front', 'shard', 'console', 'migrate'],
    form: LOG_LEVELS.join(', '),
    parse: choiceParser(LOG_LEVELS),
    default: 'info',
    description:
      'What is logged on standard error. One line per request only at `debug`. Where it is not set, `grantd dev` on a terminal logs from `warn` on.',
  }),
  drainSeconds: row({
    ...plain,
    name: 'GRANTD_DRAIN_SECONDS',
    roles: ['front', 'shard', 'console'],
    form: `number, 0 to ${DRAIN_SECONDS_MAX}`,
    parse: integerParser(0, DRAIN_SECONDS_MAX),
    default: '5',
    defaults: { shard: '2' },
    description:
      'After SIGTERM: how long a front or console, not ready any more, still takes connections while load balancers learn of it; how long a shard that has handed its slots over still tells where they went.',
  }),
  shutdownSeconds: row({
    ...plain,
    name: 'GRANTD_SHUTDOWN_SECONDS',
    roles: ['front', 'shard', 'console'],
    form: `number, 1 to ${SHUTDOWN_SECONDS_MAX}`,
    parse: integerParser(1, SHUTDOWN_SECONDS_MAX),
    default: '25',
    description:
      'After SIGTERM: when a stop that is not done is given up, with status 1. Longer than `GRANTD_DRAIN_SECONDS`, and shorter than what the supervisor of the process waits before it kills it.',
  }),
});
