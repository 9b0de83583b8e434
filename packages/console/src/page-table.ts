// The table of all pages of the console, and what they need to be served.

import type { Clock, Random } from '../../../src/core/async/clock.ts';
import type { IdFactory } from '../../../src/core/ids.ts';
import type { Plans } from '../../../src/core/plans.ts';
import type { OperatorApi } from '../../../src/front/front.ts';
import type { FailureLimiter } from '../../../src/front/limits/rate-limiter.ts';
import { createRequestOrigin } from '../../../src/http/wire/client-address.ts';
import { type OperatorPages, STEP_MS_MAX } from '../../../src/operator/api/app.ts';
import type { IdentityProvider } from '../../../src/operator/identity/identity-provider.ts';
import type { OperatorTokens } from '../../../src/operator/operator-tokens.ts';
import type { Log } from '../../../src/telemetry/log.ts';
import type { Metrics } from '../../../src/telemetry/metrics.ts';
import { loadAssets } from './assets.ts';
import { ClusterWatch } from './cluster-watch.ts';
import { type Refusal, refuseThrown } from './forms.ts';
import type { LogInCode } from './log-in-code.ts';
import { type ConsolePage, PAGES_PREFIX, type PageCall, type PageResult } from './page.ts';
import { auditLogFile, auditLogPage } from './pages/audit-log.ts';
import { auditOfAllFile, auditOfAllPage } from './pages/audit-of-all.ts';
import { changesPage, liveChanges } from './pages/changes.ts';
import { askCheck, checkPage } from './pages/check.ts';
import { checkMany, checkManyPage, checksFile } from './pages/check-many.ts';
import { clusterFigures, clusterPage, clusterPast } from './pages/cluster.ts';
import { createLines, linesPage } from './pages/grant-lines.ts';
import { askHolders, grantsPage } from './pages/grants.ts';
import { identifyKey, identifyKeyPage } from './pages/identify-key.ts';
import { keyPage } from './pages/key.ts';
import { askToRevokeKey, askToRotateKey, createKey, keysPage, revokeKey, rotateKey } from './pages/keys.ts';
import { askObjects, objectsPage } from './pages/listings.ts';
import { createLogIn } from './pages/log-in.ts';
import { createNamespace, namespacesPage } from './pages/namespaces.ts';
import { createGrant, newGrantPage } from './pages/new-grant.ts';
import { createProviderLogIn } from './pages/provider-log-in.ts';
import { askToRevokeAll, revokeAll } from './pages/revoke-all.ts';
import { askToRevokeGrant, revokeGrant } from './pages/revoke-grant.ts';
import { rulesPage, validateRules, writeRules } from './pages/rules.ts';
import { versionPage, versionsPage } from './pages/rules-versions.ts';
import { search, searchPage } from './pages/search.ts';
import { slotsPage } from './pages/slots.ts';
import {
  changeName,
  changePlan,
  changeReaders,
  deletionPart,
  LIFE_STEPS,
  lifePage,
  namePage,
  overviewPage,
  planPage,
  readersPage,
  takeLifeStep,
} from './pages/tenant.ts';
import { usagePart } from './pages/tenant-usage.ts';
import { createTenant, newTenantPage, tenantsPage } from './pages/tenants.ts';
import type { ConsoleIdentity } from './parts/layout.ts';
import { createPageRouter } from './router.ts';
import { createSealedTexts } from './sealed-text.ts';
import { OperatorSessions } from './sessions.ts';

interface PagesDependencies {
  readonly operator: OperatorApi;
  readonly tokens: OperatorTokens;
  readonly identityProvider?: IdentityProvider | undefined;
  readonly ids: IdFactory;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly failureLimiter?: FailureLimiter;
  /** Without it, only a token opens the pages. */
  readonly logInCode?: LogInCode | undefined;
}

interface PagesOptions extends ConsoleIdentity {
  readonly errorsBase: string;
  readonly plans: Plans;
  /** Addresses and networks (CIDR) of proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted. */
  readonly trustedProxies: readonly string[];
}

type Run = ConsolePage['run'];

type Entry = (path: string, name: string, run: Run) => ConsolePage;

/** A page that every operator may see. */
const read: Entry = (path, name, run) => ({ method: 'GET', path, name, access: 'read-only', run });

/** A part of a page that it requests by itself. */
const refresh: Entry = (...page) => ({ ...read(...page), unattended: true });

/** A form that every operator may send, because it changes nothing. */
const query: Entry = (...page) => ({ ...read(...page), method: 'POST' });

/** A page that exists for the form on it. */
const ask: Entry = (...page) => ({ ...read(...page), access: 'full' });

/** A form that needs full access. */
const send: Entry = (...page) => ({ ...query(...page), access: 'full' });

/** Sends a form, and shows it again with the reason if it is refused. */
const unlessRefused =
  (
    attempt: (call: PageCall) => Promise<PageResult | Refusal>,
    again: (call: PageCall, refusal: Refusal) => PageResult | Promise<PageResult>,
  ): Run =>
  async (call) => {
    let refusal: Refusal;
    try {
      const result = await attempt(call);
      if ('kind' in result) return result;
      refusal = result;
    } catch (error) {
      refusal = refuseThrown(error);
    }
    return again(call, refusal);
  };

/** A form that changes something. `again`: the page that shows it again if it is refused. */
const change = (path: string, name: string, ...form: Parameters<typeof unlessRefused>): ConsolePage =>
  send(path, name, unlessRefused(...form));

const TENANT = '/tenants/:tenantId';

const PAGES: readonly ConsolePage[] = [
  read('/cluster', 'page-cluster', clusterPage),
  refresh('/cluster/live', 'page-cluster-live', clusterFigures),
  refresh('/cluster/past', 'page-cluster-past', clusterPast),
  read('/cluster/slots', 'page-slots', slotsPage),
  read('/audit-log', 'page-audit-of-all', auditOfAllPage),
  read('/audit-log/file', 'page-audit-file', auditOfAllFile),
  read('/search', 'page-search', searchPage),
  query('/search', 'page-search', search),
  read('/tenants', 'page-tenants', tenantsPage),
  change('/tenants', 'page-create-tenant', createTenant, newTenantPage),
  // Before the page of one tenant: `new` is not an ID.
  ask('/tenants/new', 'page-new-tenant', newTenantPage),
  read(TENANT, 'page-tenant', overviewPage),
  refresh(`${TENANT}/usage`, 'page-usage', usagePart),
  change(`${TENANT}/plan`, 'page-change-plan', changePlan, planPage),
  change(`${TENANT}/name`, 'page-change-name', changeName, namePage),
  change(`${TENANT}/readers`, 'page-change-readers', changeReaders, readersPage),
  ...LIFE_STEPS.flatMap((step) => [
    ask(`${TENANT}/${step.path}`, `page-${step.path}-tenant`, lifePage(step)),
    change(`${TENANT}/${step.path}`, `page-${step.path}-tenant`, takeLifeStep(step), lifePage(step)),
  ]),
  refresh(`${TENANT}/deletion`, 'page-deletion', deletionPart),
  read(`${TENANT}/keys`, 'page-keys', keysPage),
  change(`${TENANT}/keys`, 'page-create-key', createKey, keysPage),
  read(`${TENANT}/keys/:keyId`, 'page-key', keyPage),
  ask(`${TENANT}/keys/:keyId/revoke`, 'page-revoke-key', askToRevokeKey),
  change(`${TENANT}/keys/:keyId/revoke`, 'page-revoke-key', revokeKey, askToRevokeKey),
  ask(`${TENANT}/keys/:keyId/rotate`, 'page-rotate-key', askToRotateKey),
  change(`${TENANT}/keys/:keyId/rotate`, 'page-rotate-key', rotateKey, askToRotateKey),
  read('/identify-key', 'page-identify-key', identifyKeyPage),
  query('/identify-key', 'page-identify-key', unlessRefused(identifyKey, identifyKeyPage)),
  read(`${TENANT}/namespaces`, 'page-namespaces', namespacesPage),
  change(`${TENANT}/namespaces`, 'page-create-namespace', createNamespace, namespacesPage),
  read(`${TENANT}/grants`, 'page-grants', grantsPage),
  change(`${TENANT}/grants`, 'page-create-grant', createGrant, newGrantPage),
  ask(`${TENANT}/grants/new`, 'page-new-grant', newGrantPage),
  ask(`${TENANT}/grants/revoke`, 'page-revoke-grant', askToRevokeGrant),
  change(`${TENANT}/grants/revoke`, 'page-revoke-grant', revokeGrant, askToRevokeGrant),
  ask(`${TENANT}/grants/lines`, 'page-grant-lines', linesPage),
  change(`${TENANT}/grants/lines`, 'page-grant-lines', createLines, linesPage),
  ask(`${TENANT}/grants/revoke-all`, 'page-revoke-all', askToRevokeAll),
  send(`${TENANT}/grants/revoke-all`, 'page-revoke-all', revokeAll),
  query(`${TENANT}/grants/holders`, 'page-grants', askHolders),
  read(`${TENANT}/objects`, 'page-objects', objectsPage),
  query(`${TENANT}/objects`, 'page-objects', askObjects),
  read(`${TENANT}/check`, 'page-check', checkPage),
  query(`${TENANT}/check`, 'page-check', askCheck),
  read(`${TENANT}/check/many`, 'page-check-many', checkManyPage),
  query(`${TENANT}/check/many`, 'page-check-many', checkMany),
  query(`${TENANT}/check/many/file`, 'page-check-file', checksFile),
  read(`${TENANT}/rules`, 'page-rules', rulesPage),
  send(`${TENANT}/rules`, 'page-write-rules', writeRules),
  send(`${TENANT}/rules/validate`, 'page-validate-rules', validateRules),
  read(`${TENANT}/rules/versions`, 'page-rules-versions', versionsPage),
  read(`${TENANT}/rules/versions/:version`, 'page-rules-version', versionPage),
  read(`${TENANT}/changes`, 'page-changes', changesPage),
  refresh(`${TENANT}/changes/live`, 'page-changes-live', liveChanges),
  read(`${TENANT}/audit-log`, 'page-audit-log', auditLogPage),
  read(`${TENANT}/audit-log/file`, 'page-audit-file', auditLogFile),
];

export function createPages(dependencies: PagesDependencies, options: PagesOptions): OperatorPages {
  const { metrics, failureLimiter, logInCode, identityProvider: provider } = dependencies;
  const sessions = new OperatorSessions(dependencies);
  const logIn = createLogIn({ sessions, failureLimiter, metrics, logInCode });
  const providerLogIn =
    provider?.logsIn === true
      ? createProviderLogIn({ provider, sealed: createSealedTexts(dependencies), sessions, failureLimiter, metrics })
      : undefined;
  const { plans, links = {} } = options;
  const [watch, origin] = [new ClusterWatch(dependencies), createRequestOrigin(options.trustedProxies)];
  const forRouter = { ...dependencies, plans, links, watch, origin, pages: PAGES, logIn, providerLogIn, sessions };
  const router = createPageRouter({ ...forRouter, assets: loadAssets() }, { ...options, deadlineMs: STEP_MS_MAX });
  return { prefix: PAGES_PREFIX, router, start: () => watch.start(), close: () => watch.close() };
}
