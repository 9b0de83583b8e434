// A page of the console: a method, a path, and a function from a call to a response. Pages know neither express nor
// sockets; the router finds the session, enforces log-in and CSRF, and sends the response.

import type { Clock } from '../../../src/core/async/clock.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import type { Plans } from '../../../src/core/plans.ts';
import type { OperatorAccess } from '../../../src/core/scopes.ts';
import type { Tenant } from '../../../src/core/tenants.ts';
import type { OperatorApi, OperatorTenantSession, RequestContext } from '../../../src/front/front.ts';
import type { Markup } from '../../../src/http/pages/markup.ts';
import { requirePresent, tenantIdOf } from '../../../src/operator/path-ids.ts';
import type { RuleSet } from '../../../src/rules/rule-set.ts';
import { parseSentRules } from '../../../src/rules/rules-writes.ts';
import type { TenantStatus } from '../../../src/shard/shard.ts';
import type { ClusterWatch } from './cluster-watch.ts';
import type { Fields, Refusal } from './forms.ts';
import type { OperatorSession, Undo } from './sessions.ts';

/** All pages of the console are below this path. */
export const PAGES_PREFIX = '/console';

export interface ShownPage {
  readonly kind: 'page';
  readonly status: number;
  readonly title: string;
  readonly body: Markup;
  /** Whether the page has an editor, for which the browser loads a script of its own. */
  readonly hasEditor?: boolean;
}

export type PageResult =
  | ShownPage
  /** A part of a page that refreshes itself. */
  | { readonly kind: 'part'; readonly body: Markup }
  /** A file that the browser saves. */
  | { readonly kind: 'file'; readonly name: string; readonly contentType: string; readonly text: string }
  /** The same, sent as it is read. */
  | {
      readonly kind: 'stream';
      readonly name: string;
      readonly contentType: string;
      readonly chunks: AsyncIterable<string>;
    }
  /** After a change: the page to go to, and the notice to show there. */
  | { readonly kind: 'redirect'; readonly to: string; readonly notice: string | undefined; readonly undo?: Undo };

export interface ConsoleLinks {
  /** The dashboard of the metrics. */
  readonly dashboardUrl?: string | undefined;
  /** The page of the runbook; the name of an alert in lower case is an anchor on it. */
  readonly runbookUrl?: string | undefined;
}

export interface PageDependencies {
  readonly operator: OperatorApi;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly watch: ClusterWatch;
  readonly links: ConsoleLinks;
}

export interface PageCall extends PageDependencies {
  /** From the query. */
  readonly query: Fields;
  /** From the body; empty except for POST. */
  readonly form: Fields;
  /** From the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly session: OperatorSession;
  /** The request's ID with a full deadline from now on. */
  context(): RequestContext;
}

export interface ConsolePage {
  readonly method: 'GET' | 'POST';
  /** Below the prefix, with `:name` parameters. */
  readonly path: string;
  /** The label of its metrics. */
  readonly name: string;
  /** The access that the operator needs. */
  readonly access: OperatorAccess;
  /** The page requests this by itself, without the operator: it does not extend the session. */
  readonly unattended?: boolean;
  run(call: PageCall): PageResult | Promise<PageResult>;
}

/** `refusal`: why the form on the page was refused. */
export const page = (title: string, body: Markup, refusal?: Pick<Refusal, 'status'>): ShownPage => ({
  kind: 'page',
  status: refusal?.status ?? 200,
  title,
  body,
});

export const redirect = (to: string, notice?: string): PageResult => ({ kind: 'redirect', to, notice });

/** The tenant in the path. Throws `tenant-not-found` also for a tenant that no longer exists. */
export async function readTenant(call: PageCall): Promise<TenantStatus> {
  const { operator } = call;
  return requirePresent(await operator.call('readTenant', call.context(), { tenantId: tenantIdOf(call) }));
}

/** The fields of a tenant that the frame of its pages shows. */
export type FramedTenant = Pick<Tenant, 'tenantId' | 'name' | 'state'>;

/** If the tenant cannot be read, its ID replaces its name: an error page would lose what was typed. */
export async function readTenantOrId(call: PageCall): Promise<FramedTenant> {
  try {
    return await readTenant(call);
  } catch {
    const tenantId = tenantIdOf(call);
    return { tenantId, name: tenantId, state: 'active' };
  }
}

/** Undefined if the tenant does not exist, or no longer. */
export async function unlessGone<Result>(read: Promise<Result>): Promise<Result | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof GrantdError && error.code === 'tenant-not-found') return undefined;
    throw error;
  }
}

/** A session for the tenant in the path, with every scope. */
export const tenantSessionOf = (call: PageCall): Promise<OperatorTenantSession> =>
  call.operator.tenant(call.context(), tenantIdOf(call), call.session.operator);

/** The present rules of the tenant. */
export const readRuleSet = async (call: PageCall, session: OperatorTenantSession): Promise<RuleSet> =>
  parseSentRules(await session.call('readRules', call.context(), undefined));

/** The tenant in the path, and a session for it with every scope. */
export async function openTenant(
  call: PageCall,
): Promise<{ readonly tenant: TenantStatus; readonly session: OperatorTenantSession }> {
  const tenant = await readTenant(call);
  return { tenant, session: await tenantSessionOf(call) };
}

export type Query = Readonly<Record<string, string | undefined>>;

/** Empty query values are omitted. */
export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** A path below the prefix. Every part is encoded. */
export const pathTo = (parts: readonly string[], query: Query = {}): string =>
  withQuery([PAGES_PREFIX, ...parts.map(encodeURIComponent)].join('/'), query);

/** The path of a page of a tenant, such as `grants/revoke`; its overview by default. */
export const tenantPath = (tenantId: string, path = '', query: Query = {}): string =>
  pathTo(['tenants', tenantId, ...path.split('/').filter(Boolean)], query);
