// The operator's front over one real shard with a store in memory: the OperatorApi port without streams and retries
// between the two. The shard decides every call; a test sets faults, and what only a cluster would show.

import type { Clock, Random } from '../../src/core/async/clock.ts';
import { contextOf } from '../../src/core/call-context.ts';
import { GrantdError } from '../../src/core/errors.ts';
import { IdFactory, type TenantId } from '../../src/core/ids.ts';
import { BUILT_IN_PLANS } from '../../src/core/plans.ts';
import { ALL_SCOPES } from '../../src/core/scopes.ts';
import { tenantFits } from '../../src/core/tenants.ts';
import { MS_PER_MINUTE } from '../../src/core/text/timestamps.ts';
import { changesPageOf, feedQueryOf } from '../../src/front/feeds/feeds.ts';
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
  TenantProblem,
  UsageBucket,
} from '../../src/front/front.ts';
import { createKeyFor, naming } from '../../src/front/requests/creations.ts';
import { CALLS } from '../../src/rpc/calls/table.ts';
import type {
  AnswerOf,
  CallName,
  ConsoleConnection,
  NamedChecks,
  RequestOf,
  RulesPreview,
  TenantStatus,
  TimeRepair,
} from '../../src/shard/shard.ts';
import { ShardHarness } from './shard-harness.ts';
import { type Answers, callOn } from './shard-methods.ts';
import { META } from './store/store-fixtures.ts';
import { waitFor } from './wait-for.ts';

const MAINTENANCE_MS = 50;
const TENANTS_MAX = 100_000;
/** Enough that no write waits until earlier ones can no longer be repeated. */
const MEMORY_BYTES_MAX = 1024 ** 3;
/** What a handle of the operator is for. */
interface Under {
  readonly tenantId: TenantId;
  readonly operator: string;
}

const STRICT = { list: '', explain: false, denyUndefined: false };

export class ScriptedOperator implements OperatorApi {
  /** Thrown by the calls that follow, first to last; undefined lets one pass. */
  readonly faults: (Error | undefined)[] = [];
  /** The calls so far, newest last. */
  readonly calls: { readonly name: string; readonly context: RequestContext; readonly operator?: string }[] = [];
  /** Slots that no export can read. */
  slotsMissing = 0;
  /** What any change of rules would do, in place of what it really would. */
  preview: Partial<Omit<RulesPreview, 'revision'>> = {};
  /** A revocation by filter revokes this many at most. */
  revokedPerCall = 1000;
  /** A page of an audit log reads this many changes at most. */
  rowsPerAuditLogPage = Number.POSITIVE_INFINITY;
  /** The cursor of the earliest change that is kept; every other one is too old. */
  earliestCursor: string | undefined;
  /** Every page of an export leads to another one. */
  endlessExport = false;
  slots: readonly SlotView[] = [];
  members: readonly MemberView[] = [];
  loads: readonly ShardLoad[] = [];
  /** Of some tenants; others have no requests. */
  readonly lastMinutes = new Map<TenantId, UsageBucket>();
  /** Of any tenant. */
  usage: readonly UsageBucket[] = [];
  problems: readonly TenantProblem[] = [];
  /** The surveys of the cluster, newest last. They run by themselves, so they are among neither faults nor calls. */
  readonly surveys: RequestContext[] = [];
  /** Answers a survey in place of the views above. */
  onSurvey: (() => Promise<ClusterPicture>) | undefined;

  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ids: IdFactory;
  readonly #plans = new Map(BUILT_IN_PLANS);
  readonly #harness: ShardHarness;
  #started: Promise<{ readonly console: ConsoleConnection; readonly finishDeletions: () => Promise<void> }> | undefined;
  readonly #requestIds = new Set<string>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.#ids = new IdFactory(clock, random);
    this.#harness = new ShardHarness({
      meta: { ...META, slots: 1 },
      plans: this.#plans,
      maintenanceMs: MAINTENANCE_MS,
      pageCacheBytesMax: MEMORY_BYTES_MAX,
      // A test moves this clock alone.
      wallMs: () => clock.wallMs(),
      clockSkewMsMax: Number.POSITIVE_INFINITY,
    });
  }

  /** To be called after the server that uses it has ended. */
  stop(): void {
    this.#harness.killAll();
  }

  /** Deletions wait until the test finishes them. */
  async #start() {
    const { node, faults, operator } = await this.#harness.start();
    faults.turn('hold', ['purgeTenant']);
    const finishDeletions = async (): Promise<void> => {
      faults.restore(['purgeTenant']);
      await waitFor('the end of the deletions', async () => {
        const tenants = await operator.listTenants({ after: undefined, limit: TENANTS_MAX });
        return tenants.every(({ state }) => state !== 'deleting');
      });
      faults.turn('hold', ['purgeTenant']);
    };
    return { console: node.connectConsole(), finishDeletions };
  }

  async finishDeletions(): Promise<void> {
    this.#started ??= this.#start();
    await (await this.#started).finishDeletions();
  }

  set namespacesMax(namespacesMax: number) {
    for (const [name, plan] of BUILT_IN_PLANS) this.#plans.set(name, { ...plan, namespacesMax });
  }

  #enter(name: string, context: RequestContext, operator?: string): void {
    this.calls.push(operator === undefined ? { name, context } : { name, context, operator });
    const fault = this.faults.shift();
    if (fault !== undefined) throw fault;
  }

  /** A test may reuse a context, but every write is an operation of its own. */
  #attempt(name: CallName, { requestId }: RequestContext) {
    if (CALLS[name].write === 'no') return undefined;
    const isNew = !this.#requestIds.has(requestId);
    this.#requestIds.add(requestId);
    const attempt = this.#harness.attempt(60_000);
    return isNew ? { ...attempt, requestId } : attempt;
  }

  /** A call to the shard, under a fresh handle of the operator on the tenant, if any. */
  async #call<Name extends CallName>(
    name: Name,
    context: RequestContext,
    request: RequestOf<Name>,
    under?: Under,
  ): Promise<AnswerOf<Name>> {
    this.#started ??= this.#start();
    const { console } = await this.#started;
    const handle = under && (await console.operator.call('authenticateOperator', {}, under)).handle;
    const real = (made: RequestOf<Name>) =>
      callOn(console, name, { handle, attempt: this.#attempt(name, context) } as never, made);
    const answer = this.#answers(context, under)[name];
    const answered = await (answer === undefined ? real(request) : answer(request, real));
    // As the reply of a shard says it.
    const denied = CALLS[name].namespacesDenied(request, answered);
    if (handle !== undefined && denied.length > 0) {
      context.unknownNamespaces = console.tenant.unknownNamespaces(handle, denied);
    }
    return answered;
  }

  #answers(context: RequestContext, under?: Under): Answers {
    return {
      readTenant: async (request, real) => this.#shown(await real(request)),
      readUsage: async (request, real) => {
        const { bucketMs } = await real(request);
        return { bucketMs, buckets: this.usage, problems: this.problems };
      },
      listAuditLog: async (query, real) => {
        const isShort = this.rowsPerAuditLogPage < query.limit;
        if (!isShort) return real(query);
        const page = await real({ ...query, limit: this.rowsPerAuditLogPage });
        return page.nextCursor === undefined ? page : { ...page, scannedToMs: page.items.at(-1)?.atMs };
      },
      previewRules: async (request, real) => ({ ...(await real(request)), ...this.preview }),
      exportGrants: async (query, real) =>
        this.endlessExport ? { ...(await real({ ...query, cursor: undefined })), nextCursor: 'endless' } : real(query),
      readChanges: async (query, real) => {
        const earliest = this.earliestCursor;
        if (earliest === undefined || query.cursor === earliest) return real(query);
        const details = { earliest };
        throw new GrantdError('cursor-too-old', 'Changes before today are no longer kept.', { details });
      },
      revokeGrants: async (filter, real) => {
        const limit = this.revokedPerCall;
        if (limit >= 1000) return real(filter);
        const page = await this.#call('listGrants', context, { ...filter, limit, cursor: undefined }, under);
        const writes = page.items.map(({ subject, relation, object }) => ({ subject, relation, object, revoke: true }));
        if (writes.length > 0) await this.#call('writeGrants', context, writes, under);
        return { revoked: writes.length, complete: page.nextCursor === undefined };
      },
      previewRevocation: async (filter, real) => {
        const { revoked, complete } = await real(filter);
        const isAll = complete && revoked <= this.revokedPerCall;
        return isAll ? { revoked, complete } : { revoked: Math.min(revoked, this.revokedPerCall), complete: false };
      },
    };
  }

  #shown(status: TenantStatus): TenantStatus {
    if (status.deletion === undefined) return status;
    return { ...status, deletion: { partsRemoved: 3, lastPartAtMs: this.#clock.wallMs() } };
  }

  async createTenant(context: RequestContext, tenant: { name: string; plan: string; operator: string }) {
    this.#enter('createTenant', context, tenant.operator);
    return this.#call('createTenant', context, { tenantId: this.#ids.create('ten'), ...tenant });
  }

  async call<Name extends OwnerCallName>(
    name: Name,
    context: RequestContext,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    const operator = 'operator' in request && typeof request.operator === 'string' ? request.operator : undefined;
    this.#enter(name, context, operator);
    return this.#call(name, context, request);
  }

  async listTenants(context: RequestContext, query: Parameters<OperatorApi['listTenants']>[1]) {
    this.#enter('listTenants', context);
    const all = await this.#call('listTenants', context, { after: query.after, limit: TENANTS_MAX });
    const fitting = all.filter((tenant) => tenantFits(tenant, query));
    const atMs = Math.floor(this.#clock.wallMs() / MS_PER_MINUTE - 1) * MS_PER_MINUTE;
    const tenants = await Promise.all(
      fitting.slice(0, query.limit).map(async ({ tenantId }) => ({
        ...(await this.#call('readTenant', context, { tenantId })),
        lastMinute: this.lastMinutes.get(tenantId) ?? { atMs, requests: 0, refused: 0, checks: 0 },
      })),
    );
    return { tenants, next: fitting.length > tenants.length ? tenants.at(-1)?.tenantId : undefined };
  }

  async listSlots(context: RequestContext) {
    this.#enter('listSlots', context);
    return this.slots;
  }

  async repairTime(context: RequestContext, request: TimeRepair) {
    this.#enter('repairTime', context);
    return this.#call('repairTime', context, request);
  }

  async listMembers(context: RequestContext) {
    this.#enter('listMembers', context);
    return this.members;
  }

  async listLoads(context: RequestContext) {
    this.#enter('listLoads', context);
    return this.loads;
  }

  async surveyCluster(context: RequestContext): Promise<ClusterPicture> {
    this.surveys.push(context);
    if (this.onSurvey !== undefined) return this.onSurvey();
    return { slots: this.slots, members: this.members, loads: this.loads };
  }

  async exportAuditLog(context: RequestContext, { cursor, since = 0 }: AuditExportQuery): Promise<AuditExportPage> {
    this.#enter('exportAuditLog', context);
    const { ranges } = await this.#call('listLogEnds', context, undefined);
    const start = since === 'now' ? (ranges[0]?.last ?? 0) : 0;
    const afterSeq = cursor === undefined ? start : Number(cursor);
    const sinceMs = since === 'now' ? 0 : since;
    const { items, nextSeq, atEnd } = await this.#call('readLog', context, { slot: 0, afterSeq, sinceMs });
    const { slotsMissing } = this;
    return { items, cursor: String(nextSeq), atEnd: atEnd && slotsMissing === 0, slotsMissing };
  }

  async tenant(context: RequestContext, tenantId: TenantId, operator: string): Promise<OperatorTenantSession> {
    this.#enter('tenant', context, operator);
    const { plan, state } = await this.#call('readTenant', context, { tenantId });
    if (state === 'deleting') throw new GrantdError('tenant-not-found', `There is no tenant ${tenantId}.`);
    return this.#session({ tenantId, operator }, plan, state === 'suspended');
  }

  #session(under: Under, plan: string, suspended: boolean): OperatorTenantSession {
    const { tenantId, operator } = under;
    const keyId = `operator:${operator}`;
    const named = (context: RequestContext, request: NamedChecks) => this.#call('checkNamed', context, request, under);
    const newKey = (idempotencyKey: string | undefined) =>
      createKeyFor({ ids: this.#ids, random: this.#random }, tenantId, keyId, idempotencyKey);
    return {
      tenantId,
      keyId,
      scopes: ALL_SCOPES,
      plan,
      suspended,
      rateWindow: undefined,
      expired: false,
      countRequest: () => {},
      noteProblem: () => {},
      call: async (name, context, request) => {
        this.#enter(name, context);
        return this.#call(name, context, request, under);
      },
      confirm: async (context) => {
        this.#enter('confirm', context);
        await this.#call('confirm', context, undefined, under);
      },
      check: async (context, check) => {
        this.#enter('check', context);
        const { authorized, checkedAtMs } = await named(context, { ...STRICT, ...contextOf(check), checks: [check] });
        return { authorized: authorized[0] === true, checkedAtMs };
      },
      explain: async (context, check) => {
        this.#enter('explain', context);
        const asked = { ...STRICT, ...contextOf(check), checks: [check], explain: true };
        const { because, proofs, reasons, authorized, checkedAtMs } = await named(context, asked);
        const [[grants = []], [proof = ''], [reason = '']] = [because, proofs, reasons];
        return { authorized: authorized[0] === true, checkedAtMs, because: grants, proof, reason };
      },
      checkBulk: async (context, checks, call = {}) => {
        this.#enter('checkBulk', context);
        return named(context, { ...STRICT, ...contextOf(call), checks, list: 'checks' });
      },
      checkOrDeny: async (context, checks, call = {}) => {
        this.#enter('checkOrDeny', context);
        return named(context, { ...STRICT, ...contextOf(call), checks, denyUndefined: true });
      },
      readChanges: async (context, query) => {
        this.#enter('readChanges', context);
        return changesPageOf(await this.#call('readChanges', context, feedQueryOf(query), under));
      },
      followChanges: () => Promise.reject(new Error('No operator follows a tenant.')),
      createKey: async (context, key, idempotencyKey) => {
        this.#enter('createKey', context);
        const { keyId, text, hash } = newKey(idempotencyKey);
        const request = { keyId, hash, ...key };
        const record = await this.#call('createKey', context, request, under).catch((error: unknown) => {
          throw naming(keyId, error);
        });
        return { record, text };
      },
      rotateKey: async (context, rotation, idempotencyKey) => {
        this.#enter('rotateKey', context);
        const { keyId: newKeyId, text, hash } = newKey(idempotencyKey);
        return { ...(await this.#call('rotateKey', context, { ...rotation, newKeyId, hash }, under)), text };
      },
    };
  }
}
