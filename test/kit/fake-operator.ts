// An operator's front in memory: the OperatorApi port over plain maps, for tests of the console and the CLI. It keeps
// the port's rules on order, pages and results; faults are set by the test.

import { createApiKey, hashApiKey } from '../../src/core/api-keys.ts';
import type { Clock, Random } from '../../src/core/async/clock.ts';
import { auditMatcher, filterScope } from '../../src/core/audit-filter.ts';
import { type FeedChange, feedMatcher, parseFeedContent } from '../../src/core/change-feed.ts';
import { GrantdError } from '../../src/core/errors.ts';
import { auditedAttributes, withTerms } from '../../src/core/grant-attributes.ts';
import { IdFactory, type KeyId, type TenantId } from '../../src/core/ids.ts';
import { ALL_SCOPES } from '../../src/core/scopes.ts';
import { type Tenant, tenantFits } from '../../src/core/tenants.ts';
import { MS_PER_MINUTE } from '../../src/core/text/timestamps.ts';
import {
  compareUtf8,
  type Grant,
  grantOf,
  isRelation,
  type Namespace,
  namespaceOf,
  RELATIONS,
  relationOf,
} from '../../src/core/tuples.ts';
import type {
  AuditExportPage,
  AuditExportQuery,
  ClusterPicture,
  MemberView,
  OperatorApi,
  OperatorTenantCallName,
  OperatorTenantSession,
  OwnerCallName,
  RequestContext,
  ShardLoad,
  SlotView,
  UsageMinute,
} from '../../src/front/front.ts';
import type { DefinedCall } from '../../src/rpc/calls/define-call.ts';
import { CheckEvaluation } from '../../src/rules/check-evaluation.ts';
import { CompiledRules } from '../../src/rules/compiled-rules.ts';
import { type NamedTuple, undefinedName } from '../../src/rules/questions.ts';
import {
  hasRules,
  NO_RULES,
  type RuleSet,
  revisionOfRules,
  ruleSetRecord,
  textOfRules,
} from '../../src/rules/rule-set.ts';
import { bytesOfGrant } from '../../src/shard/memory/grant-count.ts';
import type {
  AnswerOf,
  AuditRecord,
  BulkWrite,
  BulkWriteResult,
  GrantFilter,
  GrantRequest,
  GrantResult,
  ListedKey,
  LoggedChange,
  PageQuery,
  RequestOf,
  ResultPage,
  RulesPreview,
  TenantStatus,
} from '../../src/shard/shard.ts';
import { GrantGraph } from '../unit/rules/grant-graph.ts';
import { answerBy, type CallHandlers } from './call-handlers.ts';
import { naiveHeld } from './naive-rules.ts';

interface TenantData {
  tenant: Tenant;
  readonly grants: Map<string, Grant>;
  readonly namespaces: Map<string, Namespace>;
  readonly keys: Map<string, ListedKey>;
  /** Of the texts of the keys. */
  readonly hashes: Map<string, string>;
  readonly auditLog: AuditRecord[];
  rules: RuleSet;
}

const grantKey = (tuple: NamedTuple): string => `${tuple.subject}\t${tuple.relation}\t${tuple.object}`;

function demandName(ruleSet: RuleSet, name: string): void {
  if (!isRelation(name) && !ruleSet.rules.some((rule) => rule.name === name)) throw undefinedName(name);
}

/** All that the subject holds under the rules, ascending. */
function heldBy(ruleSet: RuleSet, grants: readonly Grant[], subject: string): readonly NamedTuple[] {
  return [...naiveHeld(ruleSet, grants, subject)].sort().map((fact) => {
    const space = fact.indexOf(' ');
    return { subject, relation: fact.slice(0, space), object: fact.slice(space + 1) };
  });
}

/** Every subject and object, and their groups that have grants. */
const subjectsAmong = (grants: readonly Grant[]): readonly string[] => [
  ...new Set(grants.flatMap(({ subject, object }) => [subject, object, `${object}#member`])),
];

/** A shortest chain; only where the check is authorized. */
function chainOf(ruleSet: RuleSet, grants: readonly Grant[], { subject, relation, object }: NamedTuple): Grant[] {
  const compiled = new CompiledRules(ruleSet);
  const limits = {
    depthMax: 25,
    entitiesMax: 10_000,
    grantsMax: 20_000,
    streamsMax: 10,
    entityGrantsMax: 10_000,
    charactersMax: 1_000_000,
    spentMax: Number.POSITIVE_INFINITY,
    lead: 0,
  };
  const question = { subject, number: compiled.numberOf(relation) ?? 0, object };
  const evaluation = new CheckEvaluation(compiled, new GrantGraph(grants), limits, question);
  evaluation.runForShortest();
  return evaluation.chain.flatMap((step) => {
    const key = grantKey({ ...step, relation: relationOf(step.relation) ?? '' });
    return grants.find((grant) => grantKey(grant) === key) ?? [];
  });
}

/** Of every page of grants. */
export const FEED_CURSOR = 'cursor-of-the-feed';

export class FakeOperator implements OperatorApi {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ids: IdFactory;
  readonly #tenants = new Map<string, TenantData>();
  /** The audit logs of deleted tenants. */
  readonly #tombstone = new Map<string, readonly AuditRecord[]>();
  /** Thrown, first to last, by the calls that follow; undefined lets one pass. */
  readonly faults: (Error | undefined)[] = [];
  /** What each call was given, newest last: its name and its request. */
  readonly calls: { readonly name: string; readonly context: RequestContext; readonly operator?: string }[] = [];
  namespacesMax = 1000;
  /** Slots that no export can read. */
  slotsMissing = 0;
  /** What any change of rules would do. */
  preview: Omit<RulesPreview, 'revision'> = {
    groupSubjects: 0,
    publicGrants: 0,
    notFollowed: 0,
    ungranted: [],
    scannedGrants: 0,
    complete: true,
  };
  /** A revocation by filter revokes this many at most. */
  revokedPerCall = 1000;
  /** So many changes are read for a page at most. */
  rowsPerAuditLogPage = Number.POSITIVE_INFINITY;
  /** The feed no longer has so many of the first changes. */
  changesForgotten = 0;
  /** Every page of an export leads to another one. */
  endlessExport = false;
  slots: readonly SlotView[] = [];
  members: readonly MemberView[] = [];
  /** Of some tenants; others have no requests. */
  readonly lastMinutes = new Map<TenantId, UsageMinute>();
  /** Of any tenant. */
  usage: readonly UsageMinute[] = [];
  loads: readonly ShardLoad[] = [];
  /**
   * What looks at the whole cluster were given, newest last. They run by themselves: neither faults nor calls count
   * them.
   */
  readonly surveys: RequestContext[] = [];
  /** Answers a look at the whole cluster in place of what is set above. */
  onSurvey: (() => Promise<ClusterPicture>) | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.#ids = new IdFactory(clock, random);
  }

  /** The background work of a deletion. */
  finishDeletions(): void {
    for (const [id, data] of this.#tenants) {
      const { name, plan, state } = data.tenant;
      if (state !== 'deleting') continue;
      this.#auditLog(data, { requestId: 'req_0', deadlineMs: 0 }, undefined, {
        action: 'tenant.updated',
        name,
        plan,
        state: 'deleted',
      });
      this.#tenants.delete(id);
      this.#tombstone.set(id, data.auditLog);
    }
  }

  #enter(name: string, context: RequestContext, operator?: string): void {
    this.calls.push(operator === undefined ? { name, context } : { name, context, operator });
    const fault = this.faults.shift();
    if (fault !== undefined) throw fault;
  }

  #data(tenantId: string): TenantData {
    const data = this.#tenants.get(tenantId);
    if (data === undefined) throw new GrantdError('tenant-not-found', 'There is no tenant with this ID.');
    return data;
  }

  async createTenant(context: RequestContext, tenant: { name: string; plan: string; operator: string }) {
    this.#enter('createTenant', context, tenant.operator);
    const record: Tenant = {
      tenantId: this.#ids.create('ten'),
      name: tenant.name,
      plan: tenant.plan,
      state: 'active',
      createdAtMs: this.#clock.wallMs(),
    };
    this.#tenants.set(record.tenantId, {
      tenant: record,
      grants: new Map(),
      namespaces: new Map(),
      rules: NO_RULES,
      keys: new Map(),
      hashes: new Map(),
      auditLog: [],
    });
    return record;
  }

  readonly #calls: CallHandlers<OwnerCallName> = {
    updateTenant: async (_, change) => {
      const data = this.#data(change.tenantId);
      const { name, plan, state } = data.tenant;
      data.tenant = {
        ...data.tenant,
        name: change.name ?? name,
        plan: change.plan ?? plan,
        state: change.state ?? state,
      };
      return data.tenant;
    },
    readTenant: async (_, { tenantId }) => this.#status(this.#data(tenantId)),
    readUsage: async (_, { tenantId }) => {
      this.#data(tenantId);
      return this.usage;
    },
    listAuditLog: async (_, { tenantId, ...query }) => {
      const { sinceMs = 0, untilMs = Number.POSITIVE_INFINITY, newestFirst = false } = query;
      const tombstone = this.#tombstone.get(tenantId);
      const isDeleted = tombstone !== undefined;
      const auditLog = tombstone ?? this.#data(tenantId).auditLog;
      const fits = auditMatcher(query) ?? (() => true);
      const rows = auditLog.filter((row) => row.atMs >= sinceMs && row.atMs < untilMs && fits(row));
      // A cursor belongs to its filter.
      const scope = filterScope(query).join('|');
      const cursor = query.cursor?.endsWith(scope)
        ? query.cursor.slice(0, query.cursor.length - scope.length)
        : 'other';
      const at = { ...query, cursor: query.cursor === undefined ? undefined : cursor };
      const ordered = newestFirst ? rows.toReversed() : rows;
      // As where enough was read for a page before it was full.
      const short = this.rowsPerAuditLogPage < query.limit;
      const page = this.#page(ordered, { ...at, limit: Math.min(query.limit, this.rowsPerAuditLogPage) });
      const { nextCursor } = page;
      const known = newestFirst ? query.cursor === undefined : nextCursor === undefined;
      return {
        items: page.items,
        nextCursor: nextCursor && nextCursor + scope,
        resumeCursor: known && !isDeleted ? `at-${rows.length}${scope}` : undefined,
        scannedToMs: short && nextCursor !== undefined ? page.items.at(-1)?.atMs : undefined,
      };
    },
  };

  async call<Name extends OwnerCallName>(
    call: DefinedCall<Name>,
    context: RequestContext,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    const operator = 'operator' in request && typeof request.operator === 'string' ? request.operator : undefined;
    this.#enter(call.name, context, operator);
    return answerBy(this.#calls, call, context, request);
  }

  #status({ tenant, namespaces, keys, grants }: TenantData): TenantStatus {
    const deletion = { partsRemoved: 3, lastPartAtMs: this.#clock.wallMs() };
    if (tenant.state === 'deleting') return { ...tenant, deletion };
    const bytes = [...grants.values()].reduce((sum, each) => sum + bytesOfGrant(each), 0);
    const counts = { namespaces: namespaces.size, keys: keys.size };
    return { ...tenant, counts, grants: { grants: grants.size, bytes } };
  }

  async listTenants(context: RequestContext, query: Parameters<OperatorApi['listTenants']>[1]) {
    this.#enter('listTenants', context);
    const lastMinuteMs = Math.floor(this.#clock.wallMs() / MS_PER_MINUTE - 1) * MS_PER_MINUTE;
    const noUsage = { atMs: lastMinuteMs, requests: 0, refused: 0, checks: 0 };
    const all = [...this.#tenants.values()]
      .filter(({ tenant }) => tenantFits(tenant, query))
      .map((data) => ({ ...this.#status(data), lastMinute: this.lastMinutes.get(data.tenant.tenantId) ?? noUsage }))
      .sort((left, right) => compareUtf8(left.tenantId, right.tenantId))
      .filter(({ tenantId }) => query.after === undefined || tenantId > query.after);
    const tenants = all.slice(0, query.limit);
    return { tenants, next: all.length > tenants.length ? tenants.at(-1)?.tenantId : undefined };
  }

  async listSlots(context: RequestContext) {
    this.#enter('listSlots', context);
    return this.slots;
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

  /** Tenant by tenant. */
  async exportAuditLog(context: RequestContext, { cursor, since = 0 }: AuditExportQuery): Promise<AuditExportPage> {
    this.#enter('exportAuditLog', context);
    const logs = [...[...this.#tenants].map(([id, { auditLog }]) => [id, auditLog] as const), ...this.#tombstone];
    const all = logs.flatMap(([tenantId, rows]) => rows.map((row) => ({ tenantId, ...row })));
    const told = new Set<string>(cursor === undefined ? [] : JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    const placeOf = ({ tenantId, seq, index }: LoggedChange): string => `${tenantId}.${seq}.${index}`;
    const sinceMs = since === 'now' ? Number.POSITIVE_INFINITY : since;
    const left = all.filter((row) => !told.has(placeOf(row)));
    const next = Buffer.from(JSON.stringify(all.map(placeOf))).toString('base64url');
    const items = left.filter(({ atMs }) => atMs >= sinceMs);
    return { items, cursor: next, atEnd: this.slotsMissing === 0, slotsMissing: this.slotsMissing };
  }

  async tenant(context: RequestContext, tenantId: TenantId, operator: string): Promise<OperatorTenantSession> {
    this.#enter('tenant', context, operator);
    const data = this.#data(tenantId);
    if (data.tenant.state === 'deleting') throw new GrantdError('tenant-not-found', 'There is no tenant with this ID.');
    return this.#session(data, operator);
  }

  #page<Item>(items: readonly Item[], query: PageQuery): ResultPage<Item> {
    const start = query.cursor === undefined ? 0 : Number(/^at-([0-9]+)$/.exec(query.cursor)?.[1] ?? Number.NaN);
    if (Number.isNaN(start)) throw new GrantdError('invalid-cursor', 'The cursor does not belong to this listing.');
    const end = start + query.limit;
    return { items: items.slice(start, end), nextCursor: end < items.length ? `at-${end}` : undefined };
  }

  #write(data: TenantData, context: RequestContext, operator: string, write: GrantRequest): GrantResult {
    const { revoke, expiresAtMs: _, condition: __, ...tuple } = write;
    const present = data.grants.get(grantKey(tuple));
    const nowMs = this.#clock.wallMs();
    if (revoke) {
      if (present === undefined) return { kind: 'not-found' };
      data.grants.delete(grantKey(tuple));
      this.#auditLog(data, context, operator, { action: 'grant.revoked', ...tuple, ...auditedAttributes(present) });
      return { kind: 'revoked' };
    }
    if (present !== undefined) {
      const kept = withTerms(present, write);
      data.grants.set(grantKey(tuple), grantOf(tuple, kept));
      return { kind: 'exists', ...kept };
    }
    const missing = [...new Set([namespaceOf(tuple.subject), namespaceOf(tuple.object)])].filter(
      (name) => !data.namespaces.has(name),
    );
    if (data.namespaces.size + missing.length > this.namespacesMax) {
      return { kind: 'refused', code: 'namespace-limit-reached', message: 'The tenant has as many as it may have.' };
    }
    for (const name of missing) data.namespaces.set(name, { name, createdAtMs: nowMs });
    const attributes = withTerms({ grantId: this.#ids.create('grt'), createdAtMs: nowMs }, write);
    const grant = grantOf(tuple, attributes);
    data.grants.set(grantKey(tuple), grant);
    this.#auditLog(data, context, operator, { action: 'grant.created', ...tuple, ...auditedAttributes(attributes) });
    return { kind: 'created', ...attributes };
  }

  #writeBulk(data: TenantData, context: RequestContext, operator: string, write: BulkWrite): BulkWriteResult {
    const { grants, revocations, conditions } = write;
    const unmet = conditions.findIndex((each) => data.grants.has(grantKey(each)) !== each.exists);
    if (unmet >= 0) return { kind: 'condition-not-met', condition: unmet };
    const named = new Set(grants.flatMap(({ subject, object }) => [namespaceOf(subject), namespaceOf(object)]));
    if (new Set([...data.namespaces.keys(), ...named]).size > this.namespacesMax) {
      return { kind: 'refused', code: 'namespace-limit-reached', message: 'The tenant has as many as it may have.' };
    }
    const created = grants.map((tuple) => {
      const result = this.#write(data, context, operator, { ...tuple, revoke: false });
      if (result.kind !== 'created' && result.kind !== 'exists') throw new Error('A grant is created or found.');
      return { created: result.kind === 'created', grantId: result.grantId, createdAtMs: result.createdAtMs };
    });
    const revoked = revocations.map(
      (tuple) => this.#write(data, context, operator, { ...tuple, revoke: true }).kind === 'revoked',
    );
    return { kind: 'written', grants: created, revoked };
  }

  #grantsOf(data: TenantData, { of, relation }: GrantFilter): Grant[] {
    return [...data.grants.values()]
      .filter((grant) => ('subject' in of ? grant.subject === of.subject : grant.object === of.object))
      .filter((grant) => relation === undefined || grant.relation === relation)
      .sort((a, b) => compareUtf8(grantKey(a), grantKey(b)));
  }

  #auditLog(data: TenantData, context: RequestContext, operator: string | undefined, change: object): void {
    data.auditLog.push({
      seq: data.auditLog.length + 1,
      index: 0,
      atMs: this.#clock.wallMs(),
      actor: operator === undefined ? 'system' : `operator:${operator}`,
      requestId: context.requestId,
      change: JSON.stringify(change),
    });
  }

  #session(data: TenantData, operator: string): OperatorTenantSession {
    const sorted = (): Grant[] => [...data.grants.values()].sort((a, b) => compareUtf8(grantKey(a), grantKey(b)));
    const held = (subject: string): readonly NamedTuple[] => heldBy(data.rules, sorted(), subject);
    const checkNow = (check: NamedTuple): boolean => {
      demandName(data.rules, check.relation);
      if (!hasRules(data.rules)) return data.grants.has(grantKey(check));
      return held(check.subject).some(({ relation, object }) => relation === check.relation && object === check.object);
    };
    const calls: CallHandlers<OperatorTenantCallName> = {
      listNames: async (_, { subject, object, ...page }) => {
        const derived = data.rules.rules.filter(
          ({ namespace, name }) => namespace === namespaceOf(object) && !isRelation(name),
        );
        const names = derived.length === 0 ? RELATIONS : derived.map(({ name }) => name);
        return this.#page(names.filter((relation) => checkNow({ subject, relation, object })).sort(), page);
      },
      writeGrants: async (context, writes) => {
        return writes.map((write) => this.#write(data, context, operator, write));
      },
      writeBulk: async (context, write) => {
        return this.#writeBulk(data, context, operator, write);
      },
      revokeGrants: async (context, filter) => {
        const found = this.#grantsOf(data, filter);
        const revoked = found.slice(0, this.revokedPerCall);
        for (const grant of revoked) this.#write(data, context, operator, { ...grant, revoke: true });
        return { revoked: revoked.length, complete: revoked.length === found.length };
      },
      listObjects: async (_, query) => {
        demandName(data.rules, query.relation);
        const direct = query.direct === true || !hasRules(data.rules);
        const objects = (direct ? sorted() : held(query.subject))
          .filter(({ subject, relation }) => subject === query.subject && relation === query.relation)
          .map(({ object }) => object)
          .filter((object) => query.namespace === undefined || namespaceOf(object) === query.namespace);
        return this.#page(objects, query);
      },
      listNamespaces: async () => {
        return [...data.namespaces.values()].sort((a, b) => compareUtf8(a.name, b.name));
      },
      createNamespace: async (_, name) => {
        const present = data.namespaces.get(name);
        const namespace = present ?? { name, createdAtMs: this.#clock.wallMs() };
        data.namespaces.set(name, namespace);
        return { created: present === undefined, namespace };
      },
      listKeys: async (_, query) => {
        return this.#page([...data.keys.values()], query);
      },
      identifyKey: async (_, { keyId, hash }) => {
        const key = data.keys.get(keyId);
        return key === undefined ? undefined : { key, matches: data.hashes.get(keyId) === hash };
      },
      revokeKey: async (_, keyId) => {
        if (!data.keys.delete(keyId)) throw new GrantdError('key-not-found', 'The tenant has no such key.');
      },
      readRules: async () => {
        return data.rules;
      },
      writeRules: async (context, { ruleSet, ifMatch }) => {
        const revision = revisionOfRules(textOfRules(data.rules));
        if (ifMatch?.includes(revision) === false) throw new GrantdError('precondition-failed', 'Other rules.');
        const [rules, former] = [ruleSetRecord(ruleSet), ruleSetRecord(data.rules)];
        data.rules = ruleSet;
        this.#auditLog(data, context, operator, { action: 'rules.updated', rules, former });
      },
      previewRules: async () => {
        return { ...this.preview, revision: revisionOfRules(textOfRules(data.rules)) };
      },
      listSubjects: async (_, query) => {
        return this.#page([...new Set(sorted().map(({ subject }) => subject))], query);
      },
      listHolders: async (_, query) => {
        demandName(data.rules, query.relation);
        const direct = query.direct === true || !hasRules(data.rules);
        const all = direct ? sorted() : subjectsAmong(sorted()).flatMap(held);
        const isOwn = (subject: string): boolean => !direct && subject.startsWith(`${query.object}#`);
        const holders = all.filter(
          ({ subject, object, relation }) =>
            object === query.object && relation === query.relation && (query.includeSelf === true || !isOwn(subject)),
        );
        return this.#page([...new Set(holders.map(({ subject }) => subject))].sort(), query);
      },
      listGrants: async (_, { of, relation, ...query }) => {
        return { ...this.#page(this.#grantsOf(data, { of, relation }), query), feedCursor: FEED_CURSOR };
      },
      exportGrants: async (_, query) => {
        const page = this.endlessExport ? { items: sorted(), nextCursor: 'at-0' } : this.#page(sorted(), query);
        return { ...page, feedCursor: FEED_CURSOR };
      },
    };
    return {
      tenantId: data.tenant.tenantId,
      keyId: `operator:${operator}`,
      scopes: ALL_SCOPES,
      plan: data.tenant.plan,
      suspended: data.tenant.state === 'suspended',
      expired: false,
      countRequest: () => {},
      call: async (call, context, request) => {
        this.#enter(call.name, context);
        return answerBy(calls, call, context, request);
      },
      confirm: async (context) => this.#enter('confirm', context),
      check: async (context, tuple) => {
        this.#enter('check', context);
        return { authorized: checkNow(tuple), checkedAtMs: this.#clock.wallMs() };
      },
      explain: async (context, check) => {
        this.#enter('explain', context);
        const because = checkNow(check) ? chainOf(data.rules, sorted(), check) : [];
        return { authorized: checkNow(check), checkedAtMs: this.#clock.wallMs(), because };
      },
      checkBulk: async (context, checks) => {
        this.#enter('checkBulk', context);
        return { authorized: checks.map(checkNow), checkedAtMs: this.#clock.wallMs() };
      },
      checkOrDeny: async (context, checks) => {
        this.#enter('checkOrDeny', context);
        const isDefined = ({ relation }: NamedTuple): boolean =>
          isRelation(relation) || data.rules.rules.some(({ name }) => name === relation);
        return {
          authorized: checks.map((each) => isDefined(each) && checkNow(each)),
          checkedAtMs: this.#clock.wallMs(),
          undefinedAt: [...checks.keys()].filter((at) => checks.slice(at, at + 1).every((each) => !isDefined(each))),
        };
      },
      readChanges: async (context, { cursor, since, filter, limit }) => {
        this.#enter('readChanges', context);
        const sinceMs = typeof since === 'number' ? since : 0;
        const first = data.auditLog.findIndex(({ atMs }) => atMs >= sinceMs);
        const from = since === 'now' || first < 0 ? data.auditLog.length : first;
        const start = cursor === undefined ? from : Number(/^after-(\d+)$/.exec(cursor)?.[1] ?? Number.NaN);
        if (Number.isNaN(start)) throw new GrantdError('invalid-cursor', 'This is no cursor.');
        if (start < this.changesForgotten) {
          const details = { earliest: `after-${this.changesForgotten}` };
          throw new GrantdError('cursor-too-old', 'Changes before today are no longer kept.', { details });
        }
        const fits = feedMatcher(filter) ?? (() => true);
        const told = data.auditLog.slice(start).flatMap((record, index): FeedChange[] => {
          const change = parseFeedContent(record.change);
          return change === undefined ? [] : [{ ...record, change, cursor: `after-${start + index + 1}` }];
        });
        const changes = told.filter(fits).slice(0, limit);
        const atEnd = changes.length < limit;
        const end = `after-${data.auditLog.length}`;
        return { changes, cursor: atEnd ? end : (changes.at(-1)?.cursor ?? end), atMs: this.#clock.wallMs(), atEnd };
      },
      followChanges: () => Promise.reject(new Error('No operator follows a tenant.')),
      unknownNamespaces: async (context, namespaces) => {
        this.#enter('unknownNamespaces', context);
        return namespaces.filter((name) => !data.namespaces.has(name));
      },
      createKey: async (context, key) => {
        this.#enter('createKey', context);
        const keyId: KeyId = this.#ids.create('key');
        const record = { keyId, ...key, createdAtMs: this.#clock.wallMs(), lastUsedAtMs: undefined };
        data.keys.set(keyId, record);
        const text = createApiKey({ tenantId: data.tenant.tenantId, keyId }, this.#random);
        data.hashes.set(keyId, hashApiKey(text));
        return { record, text };
      },
      rotateKey: async (context, { keyId, graceMs }) => {
        this.#enter('rotateKey', context);
        const present = data.keys.get(keyId);
        if (present === undefined) throw new GrantdError('key-not-found', 'The tenant has no such key.');
        const nowMs = this.#clock.wallMs();
        if ((present.expiresAtMs ?? Number.POSITIVE_INFINITY) <= nowMs || present.rotatedTo !== undefined) {
          throw new GrantdError('key-not-rotatable', 'The key has expired, or was rotated before.');
        }
        const newKeyId: KeyId = this.#ids.create('key');
        const endsAtMs = Math.min(present.expiresAtMs ?? Number.POSITIVE_INFINITY, nowMs + graceMs);
        const { name, scopes, expiresAtMs } = present;
        const links = { rotatedFrom: keyId };
        const key = {
          keyId: newKeyId,
          name,
          scopes,
          expiresAtMs,
          createdAtMs: nowMs,
          lastUsedAtMs: undefined,
          ...links,
        };
        const former = { ...present, expiresAtMs: endsAtMs, rotatedTo: newKeyId };
        data.keys.set(newKeyId, key);
        if (graceMs === 0) data.keys.delete(keyId);
        else data.keys.set(keyId, former);
        const text = createApiKey({ tenantId: data.tenant.tenantId, keyId: newKeyId }, this.#random);
        data.hashes.set(newKeyId, hashApiKey(text));
        return { key, former, revoked: graceMs === 0, text };
      },
    };
  }
}
