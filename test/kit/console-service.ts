// A console on a free port over a real shard in memory, for tests.

import { after } from 'node:test';
import type { LogInCode } from '../../packages/console/src/log-in-code.ts';
import { createPages } from '../../packages/console/src/page-table.ts';
import type { Clock, Random } from '../../src/core/async/clock.ts';
import { IdFactory } from '../../src/core/ids.ts';
import { BUILT_IN_PLANS, type Plans } from '../../src/core/plans.ts';
import type { FailureLimiter } from '../../src/front/limits/rate-limiter.ts';
import type { IdentityProvider } from '../../src/operator/identity/identity-provider.ts';
import { createOperatorTokens, hashOperatorToken } from '../../src/operator/operator-tokens.ts';
import { type ConsoleServer, listenConsole } from '../../src/operator/server.ts';
import { systemClock, systemRandom } from '../../src/roles/process/system.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { ScriptedOperator } from './scripted-operator.ts';

/** Of no tenant, as new as any: the audit log of an old one might have been kept. */
export const UNKNOWN_TENANT = new IdFactory(systemClock, systemRandom).create('ten');
export const OPERATOR_NAME = 'alice';
export const OPERATOR_TOKEN = 'an-operator-token-of-32-characters-or-more';
export const READ_ONLY_TOKEN = 'a-read-only-token-of-32-characters-or-more';
export const ERRORS_BASE = 'https://errors.example/errors';

export interface ConsoleService extends ConsoleServer, AsyncDisposable {
  readonly operator: ScriptedOperator;
  readonly metrics: Metrics;
}

interface ConsoleOverrides {
  readonly clock: Clock;
  readonly random: Random;
  readonly failureLimiter?: FailureLimiter;
  readonly address?: string;
  readonly trustedProxies?: readonly string[];
  readonly connectionsMax?: number;
  readonly stallTimeoutMs?: number;
  readonly logInCode?: LogInCode;
  readonly identityProvider?: IdentityProvider;
  readonly clusterName?: string;
  readonly plans?: Plans;
}

/** A console for the tests around, which ends with them. */
export async function useConsole(overrides: Partial<ConsoleOverrides> = {}): Promise<ConsoleService> {
  const service = await startConsole({ clock: systemClock, random: systemRandom, ...overrides });
  after(() => service.close());
  return service;
}

export async function startConsole(overrides: ConsoleOverrides): Promise<ConsoleService> {
  const {
    clock,
    random,
    failureLimiter,
    address = '127.0.0.1:0',
    trustedProxies = [],
    connectionsMax,
    stallTimeoutMs,
    logInCode,
    identityProvider,
    clusterName,
    plans = BUILT_IN_PLANS,
  } = overrides;
  const operator = new ScriptedOperator(clock, random);
  const metrics = createMetrics();
  const parts = {
    operator,
    tokens: createOperatorTokens([
      { name: 'bob', sha256: hashOperatorToken('another-operator-token-of-32-characters'), access: 'full' },
      { name: OPERATOR_NAME, sha256: hashOperatorToken(OPERATOR_TOKEN), access: 'full' },
      { name: 'rita', sha256: hashOperatorToken(READ_ONLY_TOKEN), access: 'read-only' },
    ]),
    ids: new IdFactory(clock, random),
    clock,
    random,
    log: createLog({ level: 'silent', pretty: false }),
    metrics,
    identityProvider,
    ...(failureLimiter === undefined ? {} : { failureLimiter }),
  };
  const site = { errorsBase: ERRORS_BASE, plans, trustedProxies };
  const pages = createPages({ ...parts, logInCode }, { ...site, clusterName, version: '1.2.3' });
  const server = await listenConsole({ ...parts, pages }, { ...site, address, connectionsMax, stallTimeoutMs });
  const close = async (): Promise<void> => {
    await server.close();
    operator.stop();
  };
  return { ...server, operator, metrics, close, [Symbol.asyncDispose]: close };
}
