// A page of the console: a method, a path, and a function from a call to a response. Pages know neither express nor
// sockets; the router finds the session, enforces log-in and CSRF, and sends the response.

import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import { type KeyId, parseKeyId, parseTenantId, type TenantId } from '../../core/ids.ts';
import type { Plans } from '../../core/plans.ts';
import type { OperatorAccess } from '../../core/scopes.ts';
import type { OperatorApi, OperatorTenantSession, RequestContext } from '../../front/front.ts';
import type { Markup } from '../../http/pages/markup.ts';
import type { ClusterWatch } from '../cluster-watch.ts';
import type { Fields } from './forms.ts';
import type { OperatorSession, Undo } from './sessions.ts';

/** All pages of the console are below this path. */
export const PAGES_PREFIX = '/console';

export type PageResult =
  | { readonly kind: 'page'; readonly status: number; readonly title: string; readonly body: Markup }
  /** A part of a page that refreshes itself. */
  | { readonly kind: 'part'; readonly body: Markup }
  /** A file that the browser saves. */
  | { readonly kind: 'file'; readonly name: string; readonly contentType: string; readonly text: string }
  /** After a change: the page to go to, and the notice to show there. */
  | { readonly kind: 'redirect'; readonly to: string; readonly notice?: string; readonly undo?: Undo };

export interface PageCall {
  readonly request: IncomingMessage;
  /** From the query. */
  readonly query: Fields;
  /** From the body; empty except for POST. */
  readonly form: Fields;
  /** From the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly session: OperatorSession;
  /** The request's id with a full deadline from now on. */
  context(): RequestContext;
}

export interface ConsolePage {
  readonly method: 'GET' | 'POST';
  /** Below the prefix, with `:name` parameters. */
  readonly path: string;
  /** The label of its metrics. */
  readonly name: string;
  /** What the operator must have; `full` unless it says otherwise. */
  readonly access?: OperatorAccess;
  /** The page requests this by itself, without the operator: it does not extend the session. */
  readonly unattended?: boolean;
  run(call: PageCall): Promise<PageResult>;
}

export interface PageDependencies {
  readonly operator: OperatorApi;
  readonly clock: Clock;
  readonly plans: Plans;
  readonly watch: ClusterWatch;
}

/** The tenant in the path. Throws `tenant-not-found` for an id that grantd cannot have issued. */
export function tenantIdOf(call: PageCall): TenantId {
  const tenantId = parseTenantId(call.parameters.tenantId ?? '');
  if (tenantId === undefined) throw new GrantdError('tenant-not-found', 'There is no tenant with this ID.');
  return tenantId;
}

/** The key in the path. */
export function keyIdOf(call: PageCall): KeyId {
  const keyId = parseKeyId(call.parameters.keyId ?? '');
  if (keyId === undefined) throw new GrantdError('key-not-found', 'The tenant has no active API key with this ID.');
  return keyId;
}

/** A session for the tenant in the path, with every scope. */
export function tenantSessionOf(operator: OperatorApi, call: PageCall): Promise<OperatorTenantSession> {
  return operator.tenant(call.context(), tenantIdOf(call), call.session.operator);
}

/** A path below the prefix. Every part is encoded; empty query values are omitted. */
export function pathTo(parts: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const path = [PAGES_PREFIX, ...parts.map(encodeURIComponent)].join('/');
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}
