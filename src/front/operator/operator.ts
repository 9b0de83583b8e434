// The operator's calls: those about one tenant go to its owner, listings to every shard.

import { GrantdError } from '../../core/errors.ts';
import { derivedTenantId } from '../../core/idempotency-keys.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json-members.ts';
import type { Tenant } from '../../core/tenants.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import type { AnswerOf, RepairedTime, RequestOf, TimeRepair } from '../../shard/shard.ts';
import type {
  AuditExportPage,
  AuditExportQuery,
  ClusterPicture,
  MemberView,
  OperatorApi,
  OperatorTenantSession,
  OwnerCallName,
  RequestContext,
  ShardLoad,
  SlotView,
} from '../front.ts';
import type { ShardLink } from '../links/shard-link.ts';
import { OwnerPath } from '../requests/flight-paths.ts';
import { makeCall } from '../requests/flight-requests.ts';
import type { FlightControl } from '../requests/flights.ts';
import type { SessionCache } from '../requests/session-cache.ts';
import { AuditExport } from './audit-export.ts';
import { ClusterSurvey } from './cluster-survey.ts';
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
  readonly #auditExport: AuditExport;

  constructor(dependencies: OperatorDependencies) {
    this.#control = dependencies.control;
    this.#ids = dependencies.ids;
    this.#sessions = dependencies.sessions;
    this.#survey = new ClusterSurvey(dependencies.control, dependencies.readyLinks);
    this.#listing = new TenantListing(dependencies.control);
    this.#auditExport = new AuditExport(dependencies.control, dependencies.readyLinks);
  }

  async tenant(context: RequestContext, tenantId: TenantId, operator: string): Promise<OperatorTenantSession> {
    // A tenant id has a fixed length, so no two pairs share a key.
    const key = `${tenantId}/${operator}`;
    return (
      this.#sessions.get(key) ??
      this.#sessions.open(context, key, () => ({
        tenantId,
        keyId: `operator:${operator}`,
        authentication: CALLS.authenticateOperator.toWire({ tenantId, operator }),
        authenticationAtReader: undefined,
        operator: true,
      }))
    );
  }

  async createTenant(
    context: RequestContext,
    tenant: { name: string; plan: string; operator: string },
    idempotencyKey?: string,
  ): Promise<Tenant> {
    const { operator } = tenant;
    const tenantId = idempotencyKey === undefined ? this.#ids.create('ten') : derivedTenantId(operator, idempotencyKey);
    // A repeat of a creation with an Idempotency-Key finds what the first one created.
    const write = idempotencyKey === undefined ? 'creates' : 'repeatable';
    const create = (): Promise<Tenant> =>
      makeCall(this.#control, new OwnerPath({ tenantId }), context, 'createTenant', { tenantId, ...tenant }, { write });
    if (idempotencyKey === undefined) return create();
    const readFirstChange = async (): Promise<string | undefined> => {
      const { items } = await this.call('listAuditLog', context, { tenantId, limit: 1, cursor: undefined });
      return items[0]?.change;
    };
    return createOnce({ create, read: () => this.call('readTenant', context, { tenantId }), readFirstChange }, tenant);
  }

  call<Name extends OwnerCallName>(
    name: Name,
    context: RequestContext,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    return makeCall(this.#control, new OwnerPath(request), context, name, request);
  }

  listTenants(context: RequestContext, query: TenantsQuery): Promise<TenantsPage> {
    return this.#listing.list(context, query);
  }

  exportAuditLog(context: RequestContext, query: AuditExportQuery): Promise<AuditExportPage> {
    return this.#auditExport.read(context, query);
  }

  listSlots(context: RequestContext): Promise<readonly SlotView[]> {
    return this.#survey.slots(context);
  }

  async repairTime(context: RequestContext, request: TimeRepair): Promise<RepairedTime> {
    const { slots } = this.#control.routing;
    if (request.slot >= slots) throw new GrantdError('invalid-request', `The cluster has the slots 0 to ${slots - 1}.`);
    return makeCall(this.#control, new OwnerPath(request), context, 'repairTime', request);
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
}

// ---- repeated creations ----
//
// Tenants created with an Idempotency-Key. The id is derived from the operator and the key, so the owner finds a tenant
// that an earlier request created. What that request asked for stands in the tenant's audit log, which also outlives a
// removed tenant. Invariant: one operator and one key never make two tenants, as long as the audit log is kept.

export interface CreationCalls {
  create(): Promise<Tenant>;
  /** Throws `tenant-not-found`. */
  read(): Promise<Tenant>;
  /** The JSON of the tenant's first change. Throws `tenant-not-found` if there never was such a tenant. */
  readFirstChange(): Promise<string | undefined>;
}

/** Undefined: the call failed with this code. */
async function unless<Value>(code: 'already-created' | 'tenant-not-found', call: Promise<Value>) {
  try {
    return await call;
  } catch (error) {
    if (error instanceof GrantdError && error.code === code) return undefined;
    throw error;
  }
}

/** Creates the tenant, or returns the one that an earlier request with the same fields created, as it is now. */
export async function createOnce(
  calls: CreationCalls,
  asked: { readonly name: string; readonly plan: string },
): Promise<Tenant> {
  let change = await unless('tenant-not-found', calls.readFirstChange());
  if (change === undefined) {
    const created = await unless('already-created', calls.create());
    if (created !== undefined) return created;
    change = await calls.readFirstChange();
  }
  const first: unknown = change === undefined ? undefined : JSON.parse(change);
  if (isJsonObject(first) && (first.name !== asked.name || first.plan !== asked.plan)) {
    throw new GrantdError('idempotency-key-reused', 'An earlier request has created a tenant with other fields.');
  }
  const tenant = await unless('tenant-not-found', calls.read());
  if (tenant === undefined || tenant.state === 'deleted') {
    throw new GrantdError('already-created', 'An earlier request has created this tenant, which was deleted since.');
  }
  return tenant;
}
