// Lists the tenants of the whole cluster page by page; each shard lists its own. Invariants: a page is complete: it
// counts only if every slot had an owner and none changed while the shards replied; if one shard cut a search short,
// the page ends there for all.

import { assert } from '../../core/assert.ts';
import type { TenantId } from '../../core/ids.ts';
import { NAME_UNITS_MAX, PAGE_LIMIT_MAX } from '../../core/limits.ts';
import { type TenantFilter, tenantFits } from '../../core/tenants.ts';
import type { FoundTenants, TenantStatus } from '../../shard/shard.ts';
import type { RequestContext } from '../front.ts';
import type { Route } from '../links/routing-table.ts';
import type { ShardLink } from '../links/shard-link.ts';
import { askShard } from '../requests/flight-paths.ts';
import { type FlightControl, pauseBetweenTries } from '../requests/flights.ts';

/**
 * Rounds of calls to the shards for one page of a search. In each, a shard examines up to 2,000 names or lists 1,000
 * records.
 */
const ROUNDS_MAX = 10;

export interface TenantsQuery extends TenantFilter {
  readonly after: TenantId | undefined;
  readonly limit: number;
}

export interface TenantsPage {
  readonly tenants: readonly TenantStatus[];
  readonly next: TenantId | undefined;
}

const byId = (left: TenantStatus, right: TenantStatus): number => (left.tenantId < right.tenantId ? -1 : 1);

export class TenantListing {
  readonly #control: FlightControl;

  constructor(control: FlightControl) {
    this.#control = control;
  }

  async list(context: RequestContext, query: TenantsQuery): Promise<TenantsPage> {
    const { limit, name = '', plan, state } = query;
    assert(limit >= 1 && limit <= PAGE_LIMIT_MAX, 'a page has 1 to 1,000 items');
    // No name or id is longer, and a shard accepts no longer text.
    if (name.length > NAME_UNITS_MAX) return { tenants: [], next: undefined };
    // Shards know no other filter than the name: each page of theirs is filtered here.
    const isFiltered = plan !== undefined || state !== undefined;
    const found: TenantStatus[] = [];
    let next = query.after;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const asked = isFiltered ? PAGE_LIMIT_MAX : limit - found.length;
      const page = await this.#page(context, { ...query, after: next, limit: asked });
      next = page.next;
      for (const tenant of page.tenants) {
        if (isFiltered && !tenantFits(tenant, query)) continue;
        if (found.length === limit) return { tenants: found, next: found.at(-1)?.tenantId };
        found.push(tenant);
      }
      if (next === undefined || found.length >= limit) break;
    }
    return { tenants: found, next };
  }

  async #page(context: RequestContext, query: TenantsQuery): Promise<TenantsPage> {
    const { after = '', limit, name = '' } = query;
    // One more than requested shows whether another page follows.
    const limitEach = Math.min(limit + 1, PAGE_LIMIT_MAX);
    for (let tries = 0; ; tries += 1) {
      const routes = this.#control.routing.snapshot();
      if (routes !== undefined) {
        const links = [...new Set(routes.map(({ link }) => link))];
        const pages = await this.#askEach(context, links, { after, limit: limitEach, name });
        // If a slot moved in between, perhaps neither its old owner nor its new one has listed it.
        if (pages !== undefined && this.#holds(routes)) return mergePages(pages, { limit, limitEach });
      }
      await pauseBetweenTries(this.#control, context, tries);
    }
  }

  /** What all of them list; undefined if one could not reply now. */
  async #askEach(
    context: RequestContext,
    links: readonly ShardLink[],
    query: { readonly after: string; readonly limit: number; readonly name: string },
  ): Promise<readonly FoundTenants[] | undefined> {
    const { name, after, limit } = query;
    const ask = async (link: ShardLink): Promise<FoundTenants | undefined> => {
      if (name !== '') return askShard(this.#control, link, context, 'findTenants', query);
      const tenants = await askShard(this.#control, link, context, 'listTenants', { after, limit });
      return tenants && { tenants, scannedTo: undefined };
    };
    const pages = await Promise.all(links.map(ask));
    const whole = pages.filter((page) => page !== undefined);
    return whole.length < links.length ? undefined : whole;
  }

  #holds(routes: readonly Route[]): boolean {
    return routes.every((route) => this.#control.routing.route(route.slot) === route);
  }
}

function mergePages(
  pages: readonly FoundTenants[],
  { limit, limitEach }: { readonly limit: number; readonly limitEach: number },
): TenantsPage {
  const byTenant = new Map<TenantId, TenantStatus>();
  /** How far every shard has looked; undefined: to its end. */
  let end: TenantId | undefined;
  for (const { tenants: listed, scannedTo } of pages) {
    const lookedTo = scannedTo ?? (listed.length >= limitEach ? listed.at(-1)?.tenantId : undefined);
    if (lookedTo !== undefined && (end === undefined || lookedTo < end)) end = lookedTo;
    for (const tenant of listed) byTenant.set(tenant.tenantId, tenant);
  }
  const merged = [...byTenant.values()].filter(({ tenantId }) => end === undefined || tenantId <= end).sort(byId);
  const tenants = merged.slice(0, limit);
  return { tenants, next: merged.length > limit ? tenants.at(-1)?.tenantId : end };
}
