// What the operator asks of the cluster: calls on one tenant go to its owner, listings to every shard. A listing of
// tenants is whole: it counts only where every slot had an owner and none changed while the shards answered.

import { assert } from '../core/assert.ts';
import type { IdFactory, TenantId } from '../core/ids.ts';
import type { Tenant } from '../core/tenants.ts';
import type { Reply__Output } from '../rpc/gen/grantd/v1/Reply.ts';
import { PAGE_LIMIT_MAX } from '../rpc/protocol.ts';
import { answered, tenantFrom } from './answers.ts';
import { ClusterSurvey } from './cluster-survey.ts';
import type { FlightControl } from './flights.ts';
import type { MemberView, OperatorApi, RequestContext, SlotView, TenantSession } from './front.ts';
import { LinkFlight, TenantFlight } from './operator-flights.ts';
import type { CallBody } from './outbox.ts';
import { pauseBetweenTries } from './retries.ts';
import type { Route } from './routing-table.ts';
import type { SessionCache } from './session-cache.ts';
import type { ShardLink } from './shard-link.ts';

export interface OperatorDependencies {
  readonly control: FlightControl;
  readonly ids: IdFactory;
  readonly sessions: SessionCache;
  readonly readyLinks: () => readonly ShardLink[];
}

const byId = (left: Tenant, right: Tenant): number => (left.tenantId < right.tenantId ? -1 : 1);

export class FrontOperator implements OperatorApi {
  readonly #control: FlightControl;
  readonly #ids: IdFactory;
  readonly #sessions: SessionCache;
  readonly #survey: ClusterSurvey;

  constructor(dependencies: OperatorDependencies) {
    this.#control = dependencies.control;
    this.#ids = dependencies.ids;
    this.#sessions = dependencies.sessions;
    this.#survey = new ClusterSurvey(dependencies.control, dependencies.readyLinks);
  }

  async tenant(context: RequestContext, tenantId: TenantId, operator: string): Promise<TenantSession> {
    // A tenant id has a fixed length, so that no two pairs share a key.
    const key = `${tenantId}/${operator}`;
    return (
      this.#sessions.get(key) ??
      this.#sessions.open(context, key, () => ({
        tenantId,
        keyId: `operator:${operator}`,
        claim: { authenticateOperator: { tenantId, operator } },
        operator: true,
      }))
    );
  }

  async createTenant(
    context: RequestContext,
    tenant: { name: string; plan: string; operator: string },
  ): Promise<Tenant> {
    const tenantId = this.#ids.create('ten');
    const { name, plan, operator } = tenant;
    const body = { createTenant: { tenantId, name, plan, operator } };
    return tenantFrom(answered((await this.#ask(context, tenantId, body, true)).tenant));
  }

  async updateTenant(
    context: RequestContext,
    change: {
      tenantId: TenantId;
      name?: string | undefined;
      plan?: string | undefined;
      state?: 'active' | 'suspended' | 'deleting' | undefined;
      operator: string;
    },
  ): Promise<Tenant> {
    const { tenantId, name = '', plan = '', state = '', operator } = change;
    const body = { updateTenant: { tenantId, name, plan, state, operator } };
    return tenantFrom(answered((await this.#ask(context, tenantId, body, true)).tenant));
  }

  async readTenant(context: RequestContext, tenantId: TenantId): Promise<Tenant> {
    return tenantFrom(answered((await this.#ask(context, tenantId, { readTenant: { tenantId } }, false)).tenant));
  }

  async listTenants(
    context: RequestContext,
    query: { after: TenantId | undefined; limit: number },
  ): Promise<{ tenants: readonly Tenant[]; next: TenantId | undefined }> {
    const { after = '', limit } = query;
    assert(limit >= 1 && limit <= PAGE_LIMIT_MAX, 'a page has 1 to 1,000 items');
    // One more than asked for tells whether another page follows.
    const limitEach = Math.min(limit + 1, PAGE_LIMIT_MAX);
    for (let tries = 0; ; tries += 1) {
      const routes = this.#control.routing.snapshot();
      if (routes !== undefined) {
        const links = [...new Set(routes.map(({ link }) => link))];
        const replies = await this.#askEach(context, links, { listTenants: { after, limit: limitEach } });
        // A slot that moved meanwhile may have been seen by neither its old owner nor its new one.
        if (replies !== undefined && this.#holds(routes)) {
          const pages = replies.map(({ tenants }) => answered(tenants).tenants.map(tenantFrom));
          const merged = [...new Map(pages.flat().map((tenant) => [tenant.tenantId, tenant])).values()].sort(byId);
          const tenants = merged.slice(0, limit);
          const more = merged.length > limit || pages.some((page) => page.length === limitEach);
          return { tenants, next: more ? tenants.at(-1)?.tenantId : undefined };
        }
      }
      await pauseBetweenTries(this.#control, context, tries);
    }
  }

  listSlots(context: RequestContext): Promise<readonly SlotView[]> {
    return this.#survey.slots(context);
  }

  listMembers(context: RequestContext): Promise<readonly MemberView[]> {
    return this.#survey.members(context);
  }

  #ask(context: RequestContext, tenantId: TenantId, body: CallBody, write: boolean): Promise<Reply__Output> {
    return new Promise((resolve, reject) => {
      const flight = new TenantFlight(this.#control, context, { tenantId, body, write }, resolve, reject);
      this.#control.flights.start(flight);
    });
  }

  /** The replies of all of them, or undefined where one could not answer now. */
  async #askEach(
    context: RequestContext,
    links: readonly ShardLink[],
    body: CallBody,
  ): Promise<readonly Reply__Output[] | undefined> {
    const replies = await Promise.all(
      links.map(
        (link) =>
          new Promise<Reply__Output | undefined>((resolve, reject) => {
            this.#control.flights.start(new LinkFlight(this.#control, context, { link, body }, resolve, reject));
          }),
      ),
    );
    const whole = replies.filter((reply) => reply !== undefined);
    return whole.length === links.length ? whole : undefined;
  }

  #holds(routes: readonly Route[]): boolean {
    return routes.every((route) => this.#control.routing.route(route.slot) === route);
  }
}
