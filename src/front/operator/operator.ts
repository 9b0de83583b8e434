// What the operator asks of the cluster: calls on one tenant go to its owner, listings to every shard.

import { assert } from '../../core/assert.ts';
import { changeMatcher } from '../../core/audit-filter.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import type { Tenant } from '../../core/tenants.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import { PAGE_LIMIT_MAX, TRAIL_LIMIT_MAX } from '../../rpc/protocol.ts';
import type { TenantStatus, TrailPage, TrailQuery } from '../../shard/shard.ts';
import type {
  ClusterPicture,
  MemberView,
  OperatorApi,
  RequestContext,
  ShardLoad,
  SlotView,
  TenantSession,
  UsageMinute,
} from '../front.ts';
import type { CallBody } from '../links/outbox.ts';
import type { ShardLink } from '../links/shard-link.ts';
import type { FlightControl } from '../requests/flights.ts';
import { answered, pageFrom, tenantFrom, usageFrom } from '../requests/reply-decoders.ts';
import type { SessionCache } from '../requests/session-cache.ts';
import { ClusterSurvey } from './cluster-survey.ts';
import { TenantFlight } from './operator-flights.ts';
import { TenantListing, type TenantsPage, type TenantsQuery } from './tenant-listing.ts';

export interface OperatorDependencies {
  readonly control: FlightControl;
  readonly ids: IdFactory;
  readonly sessions: SessionCache;
  readonly readyLinks: () => readonly ShardLink[];
}

export class FrontOperator implements OperatorApi {
  readonly #control: FlightControl;
  readonly #ids: IdFactory;
  readonly #sessions: SessionCache;
  readonly #survey: ClusterSurvey;
  readonly #listing: TenantListing;

  constructor(dependencies: OperatorDependencies) {
    this.#control = dependencies.control;
    this.#ids = dependencies.ids;
    this.#sessions = dependencies.sessions;
    this.#survey = new ClusterSurvey(dependencies.control, dependencies.readyLinks);
    this.#listing = new TenantListing(dependencies.control);
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

  async readTenant(context: RequestContext, tenantId: TenantId): Promise<TenantStatus> {
    return tenantFrom(answered((await this.#ask(context, tenantId, { readTenant: { tenantId } }, false)).tenant));
  }

  async readUsage(context: RequestContext, tenantId: TenantId): Promise<readonly UsageMinute[]> {
    const body = { readTenant: { tenantId, usage: true } };
    return usageFrom(answered((await this.#ask(context, tenantId, body, false)).tenant));
  }

  listTenants(context: RequestContext, query: TenantsQuery): Promise<TenantsPage> {
    return this.#listing.list(context, query);
  }

  async listTrail(context: RequestContext, tenantId: TenantId, query: TrailQuery): Promise<TrailPage> {
    const { limit, cursor = '', newestFirst = false, sinceMs = 0, untilMs = 0 } = query;
    assert(limit >= 1 && limit <= PAGE_LIMIT_MAX, 'a page has 1 to 1,000 items');
    const page = { limit: Math.min(limit, TRAIL_LIMIT_MAX), cursor };
    const { action = '', actor = '', subject = '', object = '', requestId = '' } = query;
    const filter = { action, actor, subject, object, requestId };
    const body = { listTrail: { ...page, tenantId, newestFirst, sinceMs, untilMs, ...filter } };
    const trail = answered((await this.#ask(context, tenantId, body, false)).trail);
    const { items, nextCursor } = pageFrom(trail.entries, trail.nextCursor);
    // A shard of the version before does not know the filter.
    const fits = changeMatcher(filter);
    return {
      items: fits === undefined ? items : items.filter(fits),
      nextCursor,
      resumeCursor: trail.resumeCursor === '' ? undefined : trail.resumeCursor,
      scannedToMs: trail.scannedToMs === 0 ? undefined : trail.scannedToMs,
    };
  }

  listSlots(context: RequestContext): Promise<readonly SlotView[]> {
    return this.#survey.slots(context);
  }

  listMembers(context: RequestContext): Promise<readonly MemberView[]> {
    return this.#survey.members(context);
  }

  listLoads(context: RequestContext): Promise<readonly ShardLoad[]> {
    return this.#survey.loads(context);
  }

  surveyCluster(context: RequestContext): Promise<ClusterPicture> {
    return this.#survey.picture(context);
  }

  #ask(context: RequestContext, tenantId: TenantId, body: CallBody, write: boolean): Promise<Reply__Output> {
    return new Promise((resolve, reject) => {
      const flight = new TenantFlight(this.#control, context, { tenantId, body, write }, resolve, reject);
      this.#control.flights.start(flight);
    });
  }
}
