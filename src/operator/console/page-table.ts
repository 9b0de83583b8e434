// All pages of the console, together with the sessions that give access to them.

import type { Router } from 'express';
import type { Clock, Random } from '../../core/async/clock.ts';
import type { Plans } from '../../core/plans.ts';
import type { OperatorApi } from '../../front/front.ts';
import type { FailureLimiter } from '../../front/limits/rate-limiter.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { RequestOrigin } from '../client-address.ts';
import type { ClusterWatch } from '../cluster-watch.ts';
import type { IdentityProvider } from '../identity/identity-provider.ts';
import { createSealedTexts } from '../identity/sealed-text.ts';
import type { OperatorTokens } from '../operator-tokens.ts';
import { loadAssets } from './assets.ts';
import type { LogInCode } from './log-in-code.ts';
import { auditLogPages } from './pages/audit-log.ts';
import { changesPages } from './pages/changes.ts';
import { checkPages } from './pages/check.ts';
import { checkManyPages } from './pages/check-many.ts';
import { clusterPages } from './pages/cluster.ts';
import { grantLinePages } from './pages/grant-lines.ts';
import { grantPages } from './pages/grants.ts';
import { identifyKeyPages } from './pages/identify-key.ts';
import { keyRotationPages } from './pages/key-rotation.ts';
import { keyPages } from './pages/keys.ts';
import { createLogIn } from './pages/log-in.ts';
import { namespacePages } from './pages/namespaces.ts';
import { objectPages } from './pages/objects.ts';
import { createProviderLogIn } from './pages/provider-log-in.ts';
import { revokeAllPages } from './pages/revoke-all.ts';
import { rulesPages } from './pages/rules.ts';
import { slotsPages } from './pages/slots.ts';
import { tenantPages } from './pages/tenant.ts';
import { tenantLifePages } from './pages/tenant-life.ts';
import { tenantsPages } from './pages/tenants.ts';
import type { ConsoleIdentity } from './parts/layout.ts';
import { createPageRouter } from './router.ts';
import { OperatorSessions } from './sessions.ts';

interface PagesDependencies {
  readonly operator: OperatorApi;
  readonly watch: ClusterWatch;
  readonly tokens: OperatorTokens;
  readonly identityProvider?: IdentityProvider | undefined;
  readonly origin: RequestOrigin;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly failureLimiter?: FailureLimiter;
  readonly logInCode?: LogInCode | undefined;
}

interface PagesOptions extends ConsoleIdentity {
  readonly errorsBase: string;
  readonly plans: Plans;
  readonly deadlineMs: number;
}

/** To mount below the prefix of the pages. */
export function createPages(dependencies: PagesDependencies, options: PagesOptions): Router {
  const { operator, watch, clock, metrics, failureLimiter, logInCode } = dependencies;
  const sessions = new OperatorSessions(dependencies);
  const forPages = { operator, clock, plans: options.plans, watch };
  const pages = [
    ...clusterPages(forPages),
    ...slotsPages(forPages),
    // Before the page of one tenant: `new` is not an id.
    ...tenantsPages(forPages),
    ...tenantPages(forPages),
    ...tenantLifePages(forPages),
    ...keyPages(forPages),
    ...keyRotationPages(forPages),
    ...identifyKeyPages(forPages),
    ...namespacePages(forPages),
    ...grantPages(forPages),
    ...grantLinePages(forPages),
    ...revokeAllPages(forPages),
    ...objectPages(forPages),
    ...checkPages(forPages),
    ...checkManyPages(forPages),
    ...rulesPages(forPages),
    ...changesPages(forPages),
    ...auditLogPages(forPages),
  ];
  const logIn = createLogIn({ sessions, failureLimiter, metrics, logInCode });
  const provider = dependencies.identityProvider;
  const providerLogIn =
    provider?.logsIn === true
      ? createProviderLogIn({ provider, sealed: createSealedTexts(dependencies), sessions, failureLimiter, metrics })
      : undefined;
  return createPageRouter({ ...dependencies, pages, logIn, providerLogIn, sessions, assets: loadAssets() }, options);
}
