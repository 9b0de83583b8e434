// One peer's connection to a shard: the calls of tenants, and for the console the operator's.

import { assert } from '../core/assert.ts';
import { GrantdError } from '../core/errors.ts';
import { parseTenantId } from '../core/ids.ts';
import { ALL_SCOPES } from '../core/scopes.ts';
import { isLeaving, type Tenant } from '../core/tenants.ts';
import type { MemberRow, TrailRow } from '../store/store.ts';
import { exportGrants, listSubjectGrants, listSubjects, listTrail } from './listings.ts';
import { decideTenant, decideTenantUpdate, type OperationResult } from './operations.ts';
import type { Attempt, HandleGrant, Page, PageQuery, ShardConnection, SlotStatus, SlotsReport } from './shard.ts';
import { TenantCalls, type TenantCallsDependencies } from './tenant-calls.ts';
import type { TenantMemory } from './tenant-memory.ts';
import type { Tenure } from './tenure.ts';

/** Of a tenant's name (256 code points, two characters each) and of a plan's. */
const TENANT_CHARACTERS_MAX = 1024;

export interface ConnectionDependencies extends TenantCallsDependencies {
  readonly tenures: () => Iterable<Tenure>;
  readonly members: () => Promise<readonly MemberRow[]>;
  /** What the shard knows besides its own slots. */
  readonly report: () => Omit<SlotsReport, 'owned'>;
}

const noTenant = (tenantId: string): GrantdError =>
  new GrantdError('tenant-not-found', `There is no tenant ${tenantId}.`);

export class Connection extends TenantCalls<ConnectionDependencies> implements ShardConnection {
  readonly #operatorAllowed: boolean;
  readonly #onClose: () => void;

  constructor(dependencies: ConnectionDependencies, kind: 'front' | 'console', onClose: () => void) {
    super(dependencies);
    this.#operatorAllowed = kind === 'console';
    this.#onClose = onClose;
  }

  close(): void {
    this.handles.close();
    this.#onClose();
  }

  async authenticateOperator(claim: { tenantId: string; operator: string }): Promise<HandleGrant> {
    this.#assertOperator();
    const { tenure, memory } = this.#tenantOf(claim.tenantId);
    if (isLeaving(memory.tenant)) throw noTenant(claim.tenantId);
    const actor = `operator:${claim.operator}`;
    return this.handles.grant({ tenure, memory, keyId: '', actor, use: undefined, expiresAtMs: undefined }, ALL_SCOPES);
  }

  #assertOperator(): void {
    if (this.#operatorAllowed) return;
    throw new GrantdError('insufficient-scope', "Only the console may make the operator's calls.");
  }

  #tenantOf(text: string): { tenure: Tenure; memory: TenantMemory } {
    const tenantId = parseTenantId(text);
    if (tenantId === undefined) throw noTenant(text);
    const tenure = this.tenureOf(tenantId);
    const memory = tenure.tenants.get(tenantId);
    if (memory === undefined) throw noTenant(text);
    return { tenure, memory };
  }

  async createTenant(
    attempt: Attempt,
    request: { tenantId: string; name: string; plan: string; operator: string },
  ): Promise<Tenant> {
    this.#assertOperator();
    const tenantId = parseTenantId(request.tenantId);
    assert(tenantId !== undefined, 'a console makes well-formed tenant ids');
    const tenure = this.tenureOf(tenantId);
    const { name, plan } = request;
    const tenant: Tenant = { tenantId, name, plan, state: 'active', createdAtMs: this.dependencies.clock.wallMs() };
    const decide = decideTenant(tenant, () => tenure.tenants.has(tenantId));
    const of = { tenure, memory: { tenantId }, actor: `operator:${request.operator}` };
    return tenantOf(await this.submit(of, attempt, 0, name.length + plan.length, decide));
  }

  async updateTenant(
    attempt: Attempt,
    change: {
      tenantId: string;
      name: string | undefined;
      plan: string | undefined;
      state: 'active' | 'suspended' | 'deleting' | undefined;
      operator: string;
    },
  ): Promise<Tenant> {
    this.#assertOperator();
    const { tenure, memory } = this.#tenantOf(change.tenantId);
    const of = { tenure, memory, actor: `operator:${change.operator}` };
    // A change that precedes in the batch may have set the fields that this one leaves.
    const characters = TENANT_CHARACTERS_MAX + (change.plan ?? memory.tenant.plan).length;
    return tenantOf(await this.submit(of, attempt, 0, characters, decideTenantUpdate(memory, change)));
  }

  async readTenant(tenantId: string): Promise<Tenant> {
    this.#assertOperator();
    return this.#tenantOf(tenantId).memory.tenant;
  }

  async listTenants(query: { after: string | undefined; limit: number }): Promise<readonly Tenant[]> {
    this.#assertOperator();
    const { after = '', limit } = query;
    const tenants: Tenant[] = [];
    for (const tenure of this.dependencies.tenures()) {
      if (!tenure.serving) continue;
      tenure.assertServing();
      for (const { tenant } of tenure.tenants.values()) if (tenant.tenantId > after) tenants.push(tenant);
    }
    return tenants.sort((left, right) => (left.tenantId < right.tenantId ? -1 : 1)).slice(0, limit);
  }

  async listSubjects(number: number, query: PageQuery): Promise<Page<string>> {
    this.#assertOperator();
    return this.read(number, ({ tenure, memory }) => listSubjects(this.dependencies, tenure, memory, query));
  }

  async listSubjectGrants(
    number: number,
    query: PageQuery & { subject: string },
  ): ReturnType<ShardConnection['listSubjectGrants']> {
    this.#assertOperator();
    return this.read(number, ({ memory }) => listSubjectGrants(this.dependencies, memory, query));
  }

  async listTrail(number: number, query: PageQuery): Promise<Page<TrailRow>> {
    this.#assertOperator();
    return this.read(number, ({ tenure, memory }) => listTrail(this.dependencies, tenure, memory, query));
  }

  async exportGrants(number: number, query: PageQuery): ReturnType<ShardConnection['exportGrants']> {
    this.#assertOperator();
    return this.read(number, ({ tenure, memory }) => exportGrants(this.dependencies, tenure, memory, query));
  }

  async listSlots(): Promise<SlotsReport> {
    this.#assertOperator();
    const owned: SlotStatus[] = [];
    for (const tenure of this.dependencies.tenures()) {
      const status = tenure.status();
      if (status !== undefined) owned.push(status);
    }
    return { ...this.dependencies.report(), owned: owned.sort((left, right) => left.slot - right.slot) };
  }

  async listMembers(): Promise<readonly MemberRow[]> {
    this.#assertOperator();
    return this.dependencies.members();
  }
}

function tenantOf(result: OperationResult): Tenant {
  assert(result.kind === 'tenant', 'a tenant operation has a tenant result');
  return result.tenant;
}
