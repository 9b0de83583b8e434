// Opens the two HTTP interfaces: the public one over a front, and the operator's over a front that identifies itself to
// shards as a console.

import type { LogInCode } from '../../../packages/console/src/log-in-code.ts';
import { createPages } from '../../../packages/console/src/page-table.ts';
import type { ConsoleConfig, FrontConfig } from '../../config/settings.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { IdFactory } from '../../core/ids.ts';
import type { Plans } from '../../core/plans.ts';
import type { Front, OperatorApi } from '../../front/front.ts';
import { createFailureLimiter } from '../../front/limits/failure-limiter.ts';
import type { RateLimiter } from '../../front/limits/rate-limiter.ts';
import { type HttpServer, listenHttp } from '../../http/server.ts';
import { type ConsoleServer, listenConsole } from '../../operator/server.ts';
import type { DecisionRecorder } from '../../telemetry/decision-log.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tracing } from '../../telemetry/spans.ts';
import { listenOn } from '../process/start-error.ts';
import { type IdentityConfig, openIdentityProvider } from './identity-provider.ts';
import { openOperatorTokens } from './operator-tokens.ts';

interface ApiDependencies {
  readonly ids: IdFactory;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
}

/** `baseUrl`: undefined if the bound address is the public one. */
export function openPublicApi(
  dependencies: ApiDependencies & {
    readonly front: Front;
    readonly turns: Turns;
    readonly random: Random;
    readonly rateLimiter: RateLimiter;
    readonly decisions: DecisionRecorder | undefined;
  },
  config: Pick<FrontConfig, 'httpAddress' | 'errorsBase' | 'trustedProxies'> & { readonly baseUrl: string | undefined },
  options: { readonly plans: Plans; readonly deadlineMs: number; readonly joins?: boolean },
): Promise<HttpServer> {
  return listenOn('GRANTD_HTTP_ADDRESS', config.httpAddress, () =>
    listenHttp(
      { ...dependencies, failureLimiter: createFailureLimiter(dependencies) },
      {
        address: config.httpAddress,
        baseUrl: config.baseUrl,
        errorsBase: config.errorsBase,
        trustedProxies: config.trustedProxies ?? [],
        ...options,
      },
    ),
  );
}

export async function openOperatorApi(
  dependencies: ApiDependencies & {
    readonly operator: OperatorApi;
    readonly turns?: Turns;
    readonly random: Random;
    readonly logInCode?: LogInCode | undefined;
  },
  config: IdentityConfig &
    Pick<
      ConsoleConfig,
      | 'clusterName'
      | 'consoleAddress'
      | 'dashboardUrl'
      | 'operatorToken'
      | 'operatorTokens'
      | 'runbookUrl'
      | 'trustedProxies'
    >,
  options: { readonly plans: Plans; readonly errorsBase: string; readonly version: string },
): Promise<ConsoleServer> {
  const identityProvider = await openIdentityProvider(dependencies, config);
  const tokens = openOperatorTokens(dependencies, config);
  try {
    const parts = { ...dependencies, tokens, identityProvider, failureLimiter: createFailureLimiter(dependencies) };
    const site = { ...options, trustedProxies: config.trustedProxies ?? [] };
    const links = { dashboardUrl: config.dashboardUrl, runbookUrl: config.runbookUrl };
    const pages = createPages(parts, { ...site, clusterName: config.clusterName, links });
    const server = await listenOn('GRANTD_CONSOLE_ADDRESS', config.consoleAddress, () =>
      listenConsole({ ...parts, pages }, { ...site, address: config.consoleAddress }),
    );
    return {
      url: server.url,
      async close() {
        tokens.close();
        await server.close();
      },
    };
  } catch (error) {
    tokens.close();
    throw error;
  }
}
