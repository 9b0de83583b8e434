// A tenant as seen with one API key, or as the operator. Shared by every request of that key; what the owner says about
// the key (scopes, plan, suspension) is updated in place whenever the handle is acquired again.

import { createApiKey, hashApiKey } from '../../core/api-keys.ts';
import { assert } from '../../core/assert.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { IdFactory, KeyId, TenantId } from '../../core/ids.ts';
import type { ScopeMask } from '../../core/scopes.ts';
import { columnsOf, type Grant, type Namespace, type Relation, type Tuple, wireNumberOf } from '../../core/tuples.ts';
import type { Handle__Output } from '../../rpc/gen/grantd/v1/Handle.ts';
import type { Relation__Output as WireRelation } from '../../rpc/gen/grantd/v1/Relation.ts';
import type { Reply__Output } from '../../rpc/gen/grantd/v1/Reply.ts';
import { BULK_CHECKS_MAX, PAGE_LIMIT_MAX, WRITES_PER_CALL_MAX } from '../../rpc/protocol.ts';
import type { GrantRequest, GrantResult, ListedKey, Page, PageQuery } from '../../shard/shard.ts';
import type { RequestContext, TenantSession } from '../front.ts';
import type { CallBody } from '../links/outbox.ts';
import { createUsageTally, type UsageLedger, type UsageSource } from '../links/usage-ledger.ts';
import type { FlightControl } from './flights.ts';
import { HandleKeeper } from './handle-keeper.ts';
import { answered, grantFrom, grantResultFrom, keyFrom, pageFrom } from './reply-decoders.ts';
import { CallFlight, CheckFlight, CONFIRM, type FlightSession } from './session-flights.ts';

export interface SessionDependencies {
  readonly control: FlightControl;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdFactory;
  readonly ledger: UsageLedger;
}

export interface SessionIdentity {
  readonly tenantId: TenantId;
  /** The key's id, or the operator as the trail names him. */
  readonly keyId: string;
  /** How the handle is asked for. */
  readonly claim: CallBody;
  readonly operator: boolean;
  /** The owner has given a handle: what it says about the key holds from now on. */
  readonly onGranted: () => void;
  /** The owner refuses this key now: whoever keeps the session lets it go. */
  readonly onRefused: (error: GrantdError) => void;
  /** Everyone who waited for the first handle has given up. */
  readonly onAbandoned: () => void;
}

/** A relation's number of the core is its number on the wire. */
const wireRelationOf = (relation: Relation): WireRelation => wireNumberOf(relation) as WireRelation;

function wirePage(query: PageQuery, limitMax = PAGE_LIMIT_MAX) {
  assert(query.limit >= 1 && query.limit <= PAGE_LIMIT_MAX, 'a page has 1 to 1,000 items');
  return { limit: Math.min(query.limit, limitMax), cursor: query.cursor ?? '' };
}

export class FrontSession implements TenantSession, FlightSession, UsageSource {
  readonly tenantId: TenantId;
  readonly keyId: string;
  readonly handles: HandleKeeper;
  readonly usage = createUsageTally();
  readonly #dependencies: SessionDependencies;
  readonly #control: FlightControl;
  readonly #operator: boolean;
  #scopes: ScopeMask = 0;
  #plan = '';
  #suspended = false;
  /** Wall clock, ms; 0: never. */
  #expiresAtMs = 0;

  constructor(dependencies: SessionDependencies, identity: SessionIdentity) {
    this.tenantId = identity.tenantId;
    this.keyId = identity.keyId;
    this.#dependencies = dependencies;
    this.#control = dependencies.control;
    this.#operator = identity.operator;
    this.handles = new HandleKeeper(dependencies.control, identity.tenantId, identity.claim, {
      onGranted: (grant) => {
        this.#update(grant);
        identity.onGranted();
      },
      onRefused: identity.onRefused,
      onAbandoned: identity.onAbandoned,
    });
  }

  get slot(): number {
    return this.handles.slot;
  }

  get scopes(): ScopeMask {
    return this.#scopes;
  }

  get plan(): string {
    return this.#plan;
  }

  get suspended(): boolean {
    return this.#suspended;
  }

  /** A handle ends at the key's expiry, by the wall clock of this process. */
  get expired(): boolean {
    return this.#expiresAtMs !== 0 && this.#dependencies.clock.wallMs() >= this.#expiresAtMs;
  }

  get refused(): boolean {
    return this.#suspended && !this.#operator;
  }

  countRequest(refused: boolean): void {
    const { usage } = this;
    usage.requests += 1;
    if (refused) usage.refused += 1;
    if (!usage.listed) this.#dependencies.ledger.list(this);
  }

  async confirm(context: RequestContext): Promise<void> {
    answered((await this.#call(context, CONFIRM)).done);
  }

  check(context: RequestContext, tuple: Tuple): Promise<{ authorized: boolean; checkedAtMs: number }> {
    this.usage.checks += 1;
    const check = { subject: tuple.subject, relation: wireRelationOf(tuple.relation), object: tuple.object };
    return new Promise((resolve, reject) => {
      const flight = new CheckFlight(this.#control, context, this, check, resolve, reject);
      this.#control.flights.start(flight);
    });
  }

  async checkBulk(
    context: RequestContext,
    checks: readonly Tuple[],
  ): Promise<{ authorized: readonly boolean[]; checkedAtMs: number }> {
    assert(checks.length <= BULK_CHECKS_MAX, 'a bulk call has at most 100 checks');
    this.usage.checks += checks.length;
    const { subjects, relations, objects } = columnsOf(checks);
    const body = { checkBulk: { subjects, relations: relations as WireRelation[], objects } };
    const reply = await this.#fly(context, { body, write: false, checks: checks.length });
    const { authorized, checkedAtMs } = answered(reply.bulkResults);
    this.#demandCount(authorized, checks);
    return { authorized, checkedAtMs };
  }

  async writeGrants(context: RequestContext, writes: readonly GrantRequest[]): Promise<readonly GrantResult[]> {
    assert(writes.length >= 1 && writes.length <= WRITES_PER_CALL_MAX, 'a call has 1 to 1,000 writes');
    const wireWrites = writes.map(({ revoke, subject, relation, object }) => ({
      revoke,
      subject,
      relation: wireRelationOf(relation),
      object,
    }));
    const reply = await this.#write(context, { writeGrants: { writes: wireWrites } });
    const { results } = answered(reply.grantResults);
    this.#demandCount(results, writes);
    return results.map(grantResultFrom);
  }

  async listObjects(
    context: RequestContext,
    query: PageQuery & { subject: string; relation: Relation; namespace: string | undefined },
  ): Promise<Page<string>> {
    const { subject, namespace = '' } = query;
    const relation = wireRelationOf(query.relation);
    const reply = await this.#call(context, { listObjects: { ...wirePage(query), subject, relation, namespace } });
    const { objects, nextCursor } = answered(reply.objects);
    return pageFrom(objects, nextCursor);
  }

  async listNamespaces(context: RequestContext): Promise<readonly Namespace[]> {
    return answered((await this.#call(context, { listNamespaces: {} })).namespaces).namespaces;
  }

  async createNamespace(context: RequestContext, name: string): Promise<{ created: boolean; namespace: Namespace }> {
    const reply = await this.#write(context, { createNamespace: { name } });
    const { created, namespace } = answered(reply.namespaceResult);
    return { created, namespace: answered(namespace) };
  }

  async createKey(
    context: RequestContext,
    key: { name: string; scopes: ScopeMask; expiresAtMs: number | undefined },
  ): Promise<{ record: ListedKey; text: string }> {
    const keyId = this.#dependencies.ids.create('key');
    const text = createApiKey({ tenantId: this.tenantId, keyId }, this.#dependencies.random);
    const { name, scopes, expiresAtMs = 0 } = key;
    const reply = await this.#write(context, {
      createKey: { keyId, name, scopes, expiresAtMs, hash: hashApiKey(text) },
    });
    return { record: keyFrom(answered(reply.key)), text };
  }

  async listKeys(context: RequestContext, query: PageQuery): Promise<Page<ListedKey>> {
    const { keys, nextCursor } = answered((await this.#call(context, { listKeys: wirePage(query) })).keys);
    return pageFrom(keys.map(keyFrom), nextCursor);
  }

  async revokeKey(context: RequestContext, keyId: KeyId): Promise<void> {
    answered((await this.#write(context, { revokeKey: { keyId } })).done);
  }

  async listSubjects(context: RequestContext, query: PageQuery): Promise<Page<string>> {
    const reply = await this.#call(context, { listSubjects: wirePage(query) });
    const { subjects, nextCursor } = answered(reply.subjects);
    return pageFrom(subjects, nextCursor);
  }

  async listSubjectGrants(context: RequestContext, query: PageQuery & { subject: string }): Promise<Page<Grant>> {
    const { subject } = query;
    const reply = await this.#call(context, { listSubjectGrants: { ...wirePage(query), subject } });
    const { grants, nextCursor } = answered(reply.grants);
    return pageFrom(grants.map(grantFrom), nextCursor);
  }

  async exportGrants(context: RequestContext, query: PageQuery): Promise<Page<Grant>> {
    const { grants, nextCursor } = answered((await this.#call(context, { exportGrants: wirePage(query) })).grants);
    return pageFrom(grants.map(grantFrom), nextCursor);
  }

  #update(grant: Handle__Output): void {
    this.#scopes = grant.scopes;
    this.#plan = grant.plan;
    this.#suspended = grant.suspended;
    this.#expiresAtMs = grant.expiresAtMs;
  }

  /** An answer of another length must never be taken for an answer to these. */
  #demandCount(answers: readonly unknown[], questions: readonly unknown[]): void {
    if (answers.length === questions.length) return;
    throw new GrantdError('internal', 'The shard gave an answer that cannot be read.', {
      cause: new Error(`${questions.length} questions have ${answers.length} answers`),
    });
  }

  #call(context: RequestContext, body: CallBody): Promise<Reply__Output> {
    return this.#fly(context, { body, write: false });
  }

  /** One write per request: the shard knows an operation by the request id and the item's index. */
  #write(context: RequestContext, body: CallBody): Promise<Reply__Output> {
    return this.#fly(context, { body, write: true });
  }

  #fly(context: RequestContext, call: { body: CallBody; write: boolean; checks?: number }): Promise<Reply__Output> {
    return new Promise((resolve, reject) => {
      this.#control.flights.start(new CallFlight(this.#control, context, this, call, resolve, reject));
    });
  }
}
