// A tenant as seen with one API key, or as the operator. All requests of that key share it. What the owner says about
// the key (scopes, plan, suspension) is updated in place whenever the handle is acquired again.

import { assert } from '../../core/assert.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { type CallContext, changesGrants, contextOf, hasContext } from '../../core/call-context.ts';
import type { FeedFilter } from '../../core/change-feed.ts';
import type { GrantdError } from '../../core/errors.ts';
import type { IdFactory, KeyId, TenantId } from '../../core/ids.ts';
import { BULK_CHECKS_MAX } from '../../core/limits.ts';
import type { ScopeMask } from '../../core/scopes.ts';
import { type BuiltInTuple, columnsOf, isRelation, relationNumber } from '../../core/tuples.ts';
import { NAMED } from '../../rpc/calls/checks.ts';
import type { CallBody, Write } from '../../rpc/calls/define-call.ts';
import { PROBLEM_TEXT_MAX } from '../../rpc/protocol.ts';
import type { NamedTuple } from '../../rules/questions.ts';
import type {
  AnswerOf,
  BulkAnswer,
  CallsBy,
  IssuedHandle,
  ListedKey,
  NamedAnswer,
  NamedChecks,
  RequestOf,
  RotatedKey,
  ShardCalls,
  TenantSettings,
  TimedAnswer,
  UnderHandle,
} from '../../shard/shard.ts';
import { namesAskedOf, readAtOf } from '../../shard/shard.ts';
import type { ChangesPage, ChangesQuery, FeedFollower, FeedStart, FeedSubscription } from '../changes.ts';
import { changesPageOf, type Feeds, type FollowedSession, feedQueryOf } from '../feeds/feeds.ts';
import type {
  ContextualCheck,
  ExplainedAnswer,
  LenientAnswer,
  NotedProblem,
  OperatorTenantCallName,
  OperatorTenantSession,
  RequestContext,
} from '../front.ts';
import { createUsageTally, PROBLEMS_PER_SESSION_MAX, type UsageLedger, type UsageSource } from '../links/reporter.ts';
import { type CreatedKey, createKeyFor, naming } from './creations.ts';
import { SessionPath } from './flight-paths.ts';
import { CheckRequest, makeCall } from './flight-requests.ts';
import { Flight, type FlightControl } from './flights.ts';
import { HandleKeeper } from './handle-keeper.ts';
import { ReaderHandles } from './reader-handles.ts';

export interface SessionDependencies {
  readonly control: FlightControl;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdFactory;
  readonly ledger: UsageLedger;
  readonly feeds: Feeds;
  /** The names of plans that sessions have: they share the texts. */
  readonly planNames: Map<string, string>;
}

export interface SessionIdentity {
  readonly tenantId: TenantId;
  /** The id of the key, or the operator as the audit log names it. */
  readonly keyId: string;
  /** The call that requests the handle. */
  readonly authentication: CallBody;
  /** The same at a reader; undefined: the session reads only at the owner. */
  readonly authenticationAtReader: CallBody | undefined;
  readonly operator: boolean;
  /** The owner has issued a handle: what it says about the key applies from now on. */
  readonly onGranted: () => void;
  /** The owner refuses this key now. */
  readonly onRefused: (error: GrantdError) => void;
  /** Every flight that waited for the first handle has given up. */
  readonly onAbandoned: () => void;
}

/** Others are not shared. */
const PLAN_NAMES_MAX = 1000;

/** The first text that is equal to this one, so that a thousand tenants of a plan lead to one place in memory. */
function sharedText(texts: Map<string, string>, text: string): string {
  const known = texts.get(text);
  if (known === undefined && texts.size < PLAN_NAMES_MAX) texts.set(text, text);
  return known ?? text;
}

/** Names that no rule defines refuse the call. */
const STRICT = { explain: false, denyUndefined: false };
/** For one call of a follower: its wait, and a failover. */
const FEED_CALL_MS = 10_000;

/** Others are asked about by name, an own relation, too. */
const isBuiltIn = (check: NamedTuple): check is BuiltInTuple => isRelation(check.relation);

/** The contexts of checks that may each have one; undefined: no check has one. */
function contextsOf(checks: readonly ContextualCheck[]): Pick<NamedChecks, 'context' | 'contexts'> | undefined {
  const [first] = checks;
  if (!checks.every(({ context }) => context === first?.context)) {
    return { contexts: checks.map(({ context = '{}' }) => context) };
  }
  return first?.context === undefined ? undefined : { context: first.context };
}

function onlyAnswer({ authorized: [authorized], checkedAtMs }: BulkAnswer): TimedAnswer {
  assert(authorized !== undefined, 'a single check has one answer');
  return { authorized, checkedAtMs };
}

export class FrontSession extends SessionPath implements OperatorTenantSession, UsageSource {
  readonly tenantId: TenantId;
  readonly keyId: string;
  readonly handles: HandleKeeper;
  readonly readers: ReaderHandles;
  readonly usage = createUsageTally();
  readonly #dependencies: SessionDependencies;
  readonly #control: FlightControl;
  readonly #operator: boolean;
  readonly #followed: FollowedSession;
  #scopes: ScopeMask = 0;
  #plan = '';
  #suspended = false;
  /** The expiry of its key, on the monotonic clock of this process; undefined: the key has none. */
  #expiresAtMs: number | undefined;
  rateWindow: object | undefined;

  constructor(dependencies: SessionDependencies, identity: SessionIdentity) {
    super(dependencies.control);
    this.tenantId = identity.tenantId;
    this.keyId = identity.keyId;
    this.#dependencies = dependencies;
    this.#control = dependencies.control;
    this.#operator = identity.operator;
    this.#followed = {
      tenantId: identity.tenantId,
      readPage: (query) => {
        const { clock, ids } = dependencies;
        const context = { requestId: ids.create('req'), deadlineMs: clock.monotonicMs() + FEED_CALL_MS };
        return this.#makeCall('readChanges', context, query);
      },
    };
    this.readers = new ReaderHandles(dependencies.control, identity.tenantId, identity.authenticationAtReader);
    this.handles = new HandleKeeper(dependencies.control, identity.tenantId, identity.authentication, {
      onGranted: (grant, binding) => {
        this.bind(binding, grant.readers);
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

  /** By the owner's time when it issued the handle, and the monotonic clock of this process since then. */
  get expired(): boolean {
    const endsAtMs = this.#expiresAtMs;
    return endsAtMs !== undefined && this.#dependencies.clock.monotonicMs() >= endsAtMs;
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

  noteProblem({ code, requestId, detail }: NotedProblem): void {
    const { usage } = this;
    usage.problems ??= new Map();
    const count = (usage.problems.get(code)?.count ?? 0) + 1;
    if (count === 1 && usage.problems.size >= PROBLEMS_PER_SESSION_MAX) return;
    usage.problems.set(code, { count, requestId, detail: detail.slice(0, PROBLEM_TEXT_MAX).toWellFormed() });
    if (!usage.listed) this.#dependencies.ledger.list(this);
  }

  call<Name extends OperatorTenantCallName>(
    name: Name,
    context: RequestContext,
    request: RequestOf<Name>,
  ): Promise<AnswerOf<Name>> {
    return this.#makeCall(name, context, request);
  }

  confirm(context: RequestContext): Promise<void> {
    return this.#makeCall('confirm', context, undefined);
  }

  check(context: RequestContext, question: NamedTuple & CallContext): Promise<TimedAnswer> {
    const { subject, relation: name, object } = question;
    if (changesGrants(question)) {
      const checks = [{ subject, relation: name, object }];
      return this.#checkNamed(context, { ...STRICT, checks, list: '', ...contextOf(question) }).then(onlyAnswer);
    }
    const relation = question.context === undefined ? (relationNumber(name) ?? NAMED) : NAMED;
    const check = { subject, relation, object, name: relation === NAMED ? name : '', context: question.context ?? '' };
    this.usage.checks += 1;
    if (relation === NAMED) this.#noteAsked(name);
    return new Promise((resolve, reject) => {
      const request = new CheckRequest(check, resolve, reject);
      this.#control.flights.start(new Flight(this.#control, context, this, request));
    });
  }

  checkBulk(context: RequestContext, checks: readonly NamedTuple[], call: CallContext = {}): Promise<BulkAnswer> {
    assert(checks.length <= BULK_CHECKS_MAX, 'a bulk call has at most 100 checks');
    if (!checks.every(isBuiltIn) || hasContext(call)) {
      return this.#checkNamed(context, { ...STRICT, checks, list: 'checks', ...contextOf(call) });
    }
    this.usage.checks += checks.length;
    return this.#makeCall('checkBulk', context, columnsOf(checks), { checks: checks.length });
  }

  checkOrDeny(
    context: RequestContext,
    checks: readonly ContextualCheck[],
    call: CallContext = {},
  ): Promise<LenientAnswer> {
    const contexts = contextsOf(checks);
    if (checks.every(isBuiltIn) && contexts === undefined && !hasContext(call)) {
      return this.checkBulk(context, checks).then((answer) => ({ ...answer, undefinedAt: [], hints: [] }));
    }
    assert(checks.length <= BULK_CHECKS_MAX, 'a bulk call has at most 100 checks');
    const lenient = { checks, list: '', explain: false, denyUndefined: true };
    return this.#checkNamed(context, { ...lenient, ...contexts, ...contextOf(call) });
  }

  explain(context: RequestContext, check: NamedTuple & CallContext, counts = true): Promise<ExplainedAnswer> {
    const checks = { ...STRICT, checks: [check], explain: true, list: '', ...contextOf(check) };
    return this.#checkNamed(context, checks, counts).then((answer) => ({
      ...onlyAnswer(answer),
      because: answer.because[0] ?? [],
      proof: answer.proofs[0] ?? '',
      reason: answer.reasons[0] ?? '',
    }));
  }

  #checkNamed(context: RequestContext, request: NamedChecks, counts = true): Promise<NamedAnswer> {
    const { length } = request.checks;
    if (counts) this.usage.checks += length;
    return this.#makeCall('checkNamed', context, request, { checks: length });
  }

  async createKey(
    context: RequestContext,
    key: { name: string; scopes: ScopeMask; expiresAtMs: number | undefined },
    idempotencyKey?: string,
  ): Promise<{ record: ListedKey; text: string }> {
    const { keyId, text, hash, write } = this.#newKey(idempotencyKey);
    const { name, scopes, expiresAtMs } = key;
    const request = { keyId, name, scopes, expiresAtMs, hash };
    const record = await this.#makeCall('createKey', context, request, { write }).catch((error: unknown) => {
      throw naming(keyId, error);
    });
    return { record, text };
  }

  async rotateKey(
    context: RequestContext,
    rotation: { keyId: KeyId; graceMs: number },
    idempotencyKey?: string,
  ): Promise<RotatedKey & { text: string }> {
    const { keyId: newKeyId, text, hash, write } = this.#newKey(idempotencyKey);
    const request = { ...rotation, newKeyId, hash };
    const rotated = await this.#makeCall('rotateKey', context, request, { write }).catch((error: unknown) => {
      throw naming(newKeyId, error);
    });
    return { ...rotated, text };
  }

  #newKey(idempotencyKey: string | undefined): CreatedKey {
    return createKeyFor(this.#dependencies, this.tenantId, this.#operator ? this.keyId : '', idempotencyKey);
  }

  async readChanges(context: RequestContext, query: ChangesQuery): Promise<ChangesPage> {
    return changesPageOf(await this.#makeCall('readChanges', context, feedQueryOf(query)));
  }

  followChanges(start: FeedStart, filter: FeedFilter, follower: FeedFollower): Promise<FeedSubscription> {
    return this.#dependencies.feeds.follow(this.#followed, start, filter, follower);
  }

  /** The owner says so after it has issued the handle. */
  updateSettings({ plan, readers }: Pick<TenantSettings, 'plan' | 'readers'>): void {
    this.#plan = sharedText(this.#dependencies.planNames, plan);
    this.followReaders(readers);
  }

  #update(grant: IssuedHandle): void {
    this.#scopes = grant.scopes;
    this.#plan = sharedText(this.#dependencies.planNames, grant.plan);
    this.#suspended = grant.suspended;
    const { expiresAtMs, nowMs } = grant;
    // Late by the way of the grant, never early.
    this.#expiresAtMs =
      expiresAtMs === undefined ? undefined : this.#dependencies.clock.monotonicMs() + expiresAtMs - nowMs;
  }

  /** An application asks about a name that may be one of the tenant's rules. */
  #noteAsked(name: string): void {
    const { usage } = this;
    if (name === usage.lastName || this.#operator) return;
    usage.lastName = name;
    this.#dependencies.ledger.asked.note(this, name);
  }

  /** One write per request: the shard identifies an operation by the request id and the item's index. */
  #makeCall<Name extends CallsBy<ShardCalls, UnderHandle>>(
    name: Name,
    context: RequestContext,
    request: RequestOf<Name>,
    options?: { readonly write?: Write; readonly checks?: number },
  ): Promise<AnswerOf<Name>> {
    for (const asked of namesAskedOf(name)?.(request) ?? []) this.#noteAsked(asked);
    return makeCall(this.#control, this, context, name, request, {
      ...options,
      readAt: readAtOf(name)?.(request),
    });
  }
}
