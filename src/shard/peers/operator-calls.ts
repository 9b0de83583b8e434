// The operator's calls on the connection of a console. Only such a connection gets this object, and a peer that has it
// may make all these calls.

import { assert } from '../../core/assert.ts';
import { GrantdError } from '../../core/errors.ts';
import { isDerivedId, parseTenantId, type TenantId, timeOfId } from '../../core/ids.ts';
import { ALL_SCOPES } from '../../core/scopes.ts';
import { isLeaving, type Tenant } from '../../core/tenants.ts';
import { cursorKeysFor } from '../../core/text/cursors.ts';
import type { MemberRow, Store } from '../../store/store.ts';
import type { Tenure } from '../log/tenure.ts';
import { type DecideContext, decideTenant, decideTenantUpdate, type OperationResult } from '../log/write-decisions.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type {
  Attempt,
  AuditLogPage,
  AuditLogQuery,
  ClusterMember,
  IdentifiedKey,
  IssuedHandle,
  KeyClaim,
  Load,
  LogEnds,
  LoggedPage,
  LogQuery,
  OperatorConnection,
  PageQuery,
  ResultPage,
  RotatedKey,
  RotationRequest,
  SlotStatus,
  SlotsReport,
  TenantStatus,
  UsageMinute,
} from '../shard.ts';
import { CLOCK_STEP_MS, listAuditLog } from './audit-log.ts';
import { withFeedCursor } from './change-feed.ts';
import { exportGrants, listSubjects } from './enumerations.ts';
import { readLog } from './exported-log.ts';
import type { HandleCalls, HandleCallsDependencies } from './handle-calls.ts';
import { KeptAuditLog } from './kept-audit-log.ts';
import { KeyCalls } from './key-calls.ts';
import { type LoadWindow, mergeLoads } from './load.ts';
import { findTenants, listTenants, loadCounts, tenantStatus } from './tenant-status.ts';
import { clusterMemberOf, slotClaimOf } from './views.ts';

/** Characters of a tenant's name (256 code points, two characters each) and of a plan's name. */
const TENANT_CHARACTERS_MAX = 1024;

/** How far back the audit log of a removed tenant is looked for: it is kept for 400 days. */
const AUDIT_LOG_SEARCHED_MS = 450 * 24 * 3_600_000;

export interface OperatorCallsDependencies extends HandleCallsDependencies, DecideContext {
  readonly store: Store;
  readonly segmentSize: number;
  readonly tenures: () => Iterable<Tenure>;
  readonly members: () => Promise<readonly MemberRow[]>;
  /** The load from each front. */
  readonly loads: () => Iterable<LoadWindow>;
  /** What the shard knows apart from its own slots. */
  readonly report: () => Omit<SlotsReport, 'owned'>;
}

const noTenant = (tenantId: string): GrantdError =>
  new GrantdError('tenant-not-found', `There is no tenant ${tenantId}.`);

export class OperatorCalls implements OperatorConnection {
  readonly #dependencies: OperatorCallsDependencies;
  readonly #calls: HandleCalls;
  readonly #keys: KeyCalls;
  readonly #kept: KeptAuditLog;

  constructor(dependencies: OperatorCallsDependencies, calls: HandleCalls) {
    this.#dependencies = dependencies;
    this.#calls = calls;
    this.#keys = new KeyCalls(dependencies, calls);
    this.#kept = new KeptAuditLog(dependencies);
  }

  async authenticateOperator(claim: { tenantId: string; operator: string }): Promise<IssuedHandle> {
    const { tenure, memory } = this.#tenantOf(claim.tenantId);
    if (isLeaving(memory.tenant)) throw noTenant(claim.tenantId);
    const actor = `operator:${claim.operator}`;
    return this.#calls.handles.issue(
      { tenure, memory, keyId: '', actor, use: undefined, expiresAtMs: undefined },
      ALL_SCOPES,
    );
  }

  #tenantOf(text: string): { tenure: Tenure; memory: TenantMemory } {
    const tenantId = parseTenantId(text);
    if (tenantId === undefined) throw noTenant(text);
    const tenure = this.#calls.tenureOf(tenantId);
    const memory = tenure.tenants.get(tenantId);
    if (memory === undefined) throw noTenant(text);
    return { tenure, memory };
  }

  async createTenant(
    attempt: Attempt,
    request: { tenantId: string; name: string; plan: string; operator: string },
  ): Promise<Tenant> {
    const tenantId = parseTenantId(request.tenantId);
    assert(tenantId !== undefined, 'a console creates well-formed tenant ids');
    const tenure = this.#calls.tenureOf(tenantId);
    const { name, plan } = request;
    const tenant: Tenant = { tenantId, name, plan, state: 'active', createdAtMs: this.#dependencies.clock.wallMs() };
    const decide = decideTenant(tenant, () => tenure.tenants.has(tenantId));
    const of = { tenure, memory: { tenantId }, actor: `operator:${request.operator}` };
    return tenantOf(await this.#calls.submit(of, attempt, name.length + plan.length, decide));
  }

  async updateTenant(
    attempt: Attempt,
    change: {
      tenantId: string;
      name?: string | undefined;
      plan?: string | undefined;
      state?: 'active' | 'suspended' | 'deleting' | undefined;
      operator: string;
    },
  ): Promise<Tenant> {
    const { tenure, memory } = this.#tenantOf(change.tenantId);
    const of = { tenure, memory, actor: `operator:${change.operator}` };
    // An earlier change of the batch may have set the fields that this one leaves unchanged.
    const characters = TENANT_CHARACTERS_MAX + (change.plan ?? memory.tenant.plan).length;
    return tenantOf(await this.#calls.submit(of, attempt, characters, decideTenantUpdate(memory, change)));
  }

  async readTenant(tenantId: string): Promise<TenantStatus> {
    const { tenure, memory } = this.#tenantOf(tenantId);
    if (!isLeaving(memory.tenant)) await loadCounts(memory, this.#dependencies.clock);
    tenure.assertServing();
    return tenantStatus(memory);
  }

  async readUsage(tenantId: string): Promise<readonly UsageMinute[]> {
    return this.#tenantOf(tenantId).memory.usage.read(this.#dependencies.clock.wallMs());
  }

  async listTenants(query: { after: string | undefined; limit: number }): Promise<readonly TenantStatus[]> {
    return listTenants(this.#dependencies.tenures(), query, this.#dependencies.clock.wallMs());
  }

  async findTenants(query: {
    name: string;
    after: string | undefined;
    limit: number;
  }): ReturnType<OperatorConnection['findTenants']> {
    return findTenants(this.#dependencies.tenures(), query, this.#dependencies.clock.wallMs());
  }

  async listSubjects(number: number, query: PageQuery): Promise<ResultPage<string>> {
    return this.#calls.read(number, (listing) => listSubjects(this.#dependencies, listing, query));
  }

  async rotateKey(number: number, attempt: Attempt, request: RotationRequest): Promise<RotatedKey> {
    return this.#keys.rotate(number, attempt, request);
  }

  async identifyKey(number: number, claim: KeyClaim): Promise<IdentifiedKey | undefined> {
    return this.#keys.identify(number, claim);
  }

  async listAuditLog(query: AuditLogQuery & { readonly tenantId: string }): Promise<AuditLogPage> {
    const tenantId = parseTenantId(query.tenantId);
    if (tenantId === undefined) throw noTenant(query.tenantId);
    const tenure = this.#calls.tenureOf(tenantId);
    const memory = tenure.tenants.get(tenantId);
    const createdAtMs = memory?.tenant.createdAtMs ?? this.#timeOfRemoved(tenantId) - CLOCK_STEP_MS;
    const isDeleted = memory === undefined || memory.tenant.state === 'deleted';
    const of = { tenantId, createdAtMs, isDeleted };
    const context = { ...this.#dependencies, kept: this.#kept };
    const page = await listAuditLog(context, tenure, of, query);
    const isNothing = ({ items, nextCursor }: AuditLogPage): boolean => items.length === 0 && nextCursor === undefined;
    if (memory === undefined && query.cursor === undefined && isNothing(page)) {
      // Either no entry matches, or the tenant has none.
      const last = { limit: 1, cursor: undefined, newestFirst: true };
      if (isNothing(await listAuditLog(context, tenure, of, last))) throw noTenant(tenantId);
    }
    tenure.assertServing();
    return page;
  }

  /** When a removed tenant was created, or a time before that. Its id gives it by the clock of a console. */
  #timeOfRemoved(tenantId: TenantId): number {
    if (isDerivedId(tenantId)) return this.#dependencies.clock.wallMs() - AUDIT_LOG_SEARCHED_MS;
    return timeOfId(tenantId) ?? 0;
  }

  async exportGrants(number: number, query: PageQuery): ReturnType<OperatorConnection['exportGrants']> {
    return this.#calls.read(number, (listing) =>
      withFeedCursor(this.#dependencies, listing, () => exportGrants(this.#dependencies, listing, query)),
    );
  }

  async listLogEnds(): Promise<LogEnds> {
    const { tenures, secrets } = this.#dependencies;
    const serving = Array.from(tenures()).filter(mayAnswer);
    const ranges = serving.map(({ slot, first, lastSeq }) => ({ slot, first, last: lastSeq }));
    return { ranges, cursorKeys: cursorKeysFor(secrets, 'audit-export') };
  }

  async readLog({ slot, ...from }: LogQuery): Promise<LoggedPage> {
    return readLog(this.#dependencies, this.#dependencies.tenureOf(slot), from);
  }

  async listSlots(): Promise<SlotsReport> {
    const owned: SlotStatus[] = [];
    for (const tenure of this.#dependencies.tenures()) {
      const status = tenure.status();
      if (status !== undefined) owned.push(status);
    }
    const report = this.#dependencies.report();
    return {
      ...report,
      rows: report.rows.map(slotClaimOf),
      owned: owned.sort((left, right) => left.slot - right.slot),
    };
  }

  async listMembers(): Promise<readonly ClusterMember[]> {
    return (await this.#dependencies.members()).map(clusterMemberOf);
  }

  async readLoad(): Promise<Load> {
    return mergeLoads(this.#dependencies.loads(), this.#dependencies.clock.monotonicMs());
  }
}

/** A former owner that was paused does not say where a log ends. */
function mayAnswer(tenure: Tenure): boolean {
  try {
    tenure.assertServing();
    return true;
  } catch {
    return false;
  }
}

function tenantOf(result: OperationResult): Tenant {
  assert(result.kind === 'tenant', 'a tenant operation has a tenant result');
  return result.tenant;
}
