// Whoever calls the service in a run, a client or an operator. It keeps: each call is in the history with its moments
// and its answer, or with none where its outcome is not known; an answer that says that nothing was done is taken at
// its word.

import type { GrantdError } from '../../src/core/errors.ts';
import type { TenantId } from '../../src/core/ids.ts';
import type { Relation, Tuple } from '../../src/core/tuples.ts';
import type { OperatorTenantSession, RequestContext, TenantSession } from '../../src/front/front.ts';
import type {
  BulkWrite,
  GrantFilter,
  GrantRequest,
  GrantResult,
  GrantsQuery,
  ResultPage,
} from '../../src/shard/shard.ts';
import type { GrantOutcome, History, Invocation, Outcome } from '../kit/history/history.ts';
import type { NamespaceRules } from './namespace-rules.ts';
import type { Profile } from './profile.ts';
import { type Answer, request } from './requests.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RunningFront, SimulatedCluster } from './simulated-cluster.ts';
import type { TenantStates } from './tenant-states.ts';
import type { Trace } from './trace.ts';

export interface WorkloadTenant {
  readonly index: number;
  readonly tenantId: TenantId;
  /** Never revoked. */
  readonly key: Key;
  /** Where it may be suspended or deleted: an answer 401 or 403 is judged by its states, not by those of keys. */
  readonly states: TenantStates | undefined;
}

export interface WorkloadPorts {
  readonly cluster: SimulatedCluster;
  readonly profile: Profile;
  readonly history: History;
  /** Of the history. */
  readonly now: () => number;
  readonly trace: Trace;
  readonly namespaces: NamespaceRules;
  readonly tenants: readonly WorkloadTenant[];
  readonly report: (failure: string) => void;
  /** Whether all that a call needs is there now: then none is refused for want of it, and no check takes long. */
  readonly whole: () => boolean;
}

export interface Key {
  readonly keyId: string;
  readonly text: string;
}

/** How a tenant is reached: with one of its keys, or as the operator of this name. */
export type Access = Key | { readonly operator: string };

/** Of calls that are made as the operator only. */
export const operated = (session: TenantSession): OperatorTenantSession => session as OperatorTenantSession;

export type Call<Value> = (session: TenantSession, context: RequestContext) => Promise<Value>;

interface What {
  readonly kind: Invocation['kind'];
  readonly input: unknown;
}

export const RELATIONS_USED: readonly Relation[] = ['viewer', 'editor'];

const EXPECTED = new Set([
  'unavailable',
  'overloaded',
  'tenant-suspended',
  'unauthorized',
  'key-not-found',
  'tenant-not-found',
]);
/** Of these, what is refused because something is not there. */
const WANTING = new Set(['unavailable', 'overloaded']);
/** Several of the longest ways through the network, far less than the deadlines of the store. */
const CALL_MS_MAX = 2000;
/** Writes that need nothing but the log. */
const PROMPT = new Set(['grant', 'revoke']);
/** Of an answer 503 that leaves open whether anything was done. */
const NOT_KNOWN = /outcome is (?:unknown|not known)/;
/** Listings that go on for longer than that go round in a circle. */
const PAGES_MAX = 300;

export abstract class Caller {
  readonly name: string;
  protected readonly ports: WorkloadPorts;
  protected readonly random: SeededRandom;
  readonly #frontName: string;

  constructor(name: string, frontName: string, ports: WorkloadPorts, random: SeededRandom) {
    this.name = name;
    this.#frontName = frontName;
    this.ports = ports;
    this.random = random;
  }

  protected abstract step(): Promise<void>;

  /** One call after another, each after a pause, until the end. */
  protected async repeat(endMs: number, pauseMs: readonly [number, number]): Promise<void> {
    const { scheduler } = this.ports.cluster;
    while (true) {
      await scheduler.sleep(this.random.between(...pauseMs));
      if (scheduler.nowMs >= endMs) return;
      await this.step();
    }
  }

  // ---- what it asks about ----

  protected subject({ index }: WorkloadTenant): string {
    const { firstSubject, subjects } = this.ports.profile;
    return `user${index}:s${this.random.whole(firstSubject, subjects)}`;
  }

  protected tuple(tenant: WorkloadTenant): Tuple {
    return {
      subject: this.subject(tenant),
      relation: this.random.chance(0.85) ? 'viewer' : 'editor',
      object: this.object(tenant),
    };
  }

  protected object({ index }: WorkloadTenant): string {
    return `doc${index}:o${this.random.whole(1, this.ports.profile.objects)}`;
  }

  // ---- calls ----

  /** Several writes in one call, each an operation of its own. False: the outcome is not known. */
  protected async writeMany(
    tenant: WorkloadTenant,
    access: Access,
    writes: readonly GrantRequest[],
    front?: RunningFront,
  ): Promise<boolean> {
    const distinct = [
      ...new Map(writes.map((write) => [`${write.subject} ${write.relation} ${write.object}`, write])).values(),
    ];
    const finishes = distinct.map(({ revoke, ...input }) =>
      this.#begin(tenant, access, { kind: revoke ? 'revoke' : 'grant', input }),
    );
    const answer = await this.ask(
      tenant,
      access,
      (session, context) => session.call('writeGrants', context, distinct),
      front,
    );
    let known = true;
    for (const [index, finish] of finishes.entries()) {
      const write = distinct[index];
      const outcome = finish(
        answer.kind === 'value' && write !== undefined
          ? { kind: 'value', value: this.outcomeOf(tenant, write, answer.value[index]) }
          : (answer as Answer<never>),
      );
      known &&= outcome !== undefined;
    }
    return known;
  }

  /** Changes at one moment, under preconditions on the state before. */
  protected writeBulk(tenant: WorkloadTenant, access: Access, write: BulkWrite, front?: RunningFront): Promise<void> {
    return this.call(
      tenant,
      access,
      { kind: 'write-bulk', input: write },
      async (session, context) => {
        const result = await session.call('writeBulk', context, write);
        if (result.kind === 'refused') throw new Error(`A write is refused: ${result.message}`);
        if (result.kind === 'precondition-not-met') return { kind: 'unmet', precondition: result.precondition };
        const grants = result.grants.map(({ created, grantId, createdAtMs }, index): GrantOutcome => {
          const tuple = write.grants[index];
          if (tuple !== undefined) this.#namespacesOf(tenant, tuple);
          return { kind: created ? 'created' : 'exists', grantId, createdAt: String(createdAtMs) };
        });
        return { kind: 'written', grants, revoked: result.revoked };
      },
      front,
    );
  }

  /** Revokes what matches, call after call. */
  protected async revokeMatching(tenant: WorkloadTenant, access: Access, filter: GrantFilter): Promise<void> {
    for (let calls = 0; calls < PAGES_MAX; calls += 1) {
      let complete = true;
      await this.call(tenant, access, { kind: 'clear', input: filter }, async (session, context) => {
        const { revoked: count, complete: all } = await session.call('revokeGrants', context, filter);
        complete = all;
        return { kind: 'cleared', count, complete };
      });
      if (complete || this.random.chance(0.2)) return;
    }
    this.ports.report(`${this.name}: a revocation of what matches in tenant ${tenant.index} does not end`);
  }

  /** All pages of an export, of the whole tenant, of a subject or on an object, or as many as can be had. */
  protected export(tenant: WorkloadTenant, access: Access, limit: number, of?: GrantsQuery['of']): Promise<void> {
    let after: Tuple | undefined;
    return this.#pages(
      tenant,
      access,
      (since) => ({ kind: 'export', input: { ...of, after, since } }),
      async (session, context, cursor) => {
        const page =
          of === undefined
            ? await operated(session).call('exportGrants', context, { limit, cursor })
            : await session.call('listGrants', context, { of, relation: undefined, limit, cursor });
        const grants = page.items.map(({ createdAtMs, ...grant }) => ({ ...grant, createdAt: String(createdAtMs) }));
        this.#demandOwn(
          tenant,
          grants.map(({ object }) => object),
        );
        after = grants.at(-1) ?? after;
        return { page, outcome: { kind: 'answer', grants, more: page.nextCursor !== undefined } };
      },
    );
  }

  protected listSubjects(tenant: WorkloadTenant, access: Access, limit: number): Promise<void> {
    let after: string | undefined;
    return this.#pages(
      tenant,
      access,
      (since) => ({ kind: 'subjects', input: { after, since } }),
      async (session, context, cursor) => {
        const page = await operated(session).call('listSubjects', context, { limit, cursor });
        after = page.items.at(-1) ?? after;
        return { page, outcome: { kind: 'answer', subjects: page.items, more: page.nextCursor !== undefined } };
      },
    );
  }

  protected listKeys(tenant: WorkloadTenant, access: Access, limit: number): Promise<void> {
    let after: string | undefined;
    return this.#pages(
      tenant,
      access,
      (since) => ({ kind: 'keys', input: { after, since } }),
      async (session, context, cursor) => {
        const page = await session.call('listKeys', context, { limit, cursor });
        const keys = page.items.map(({ keyId, name }) => ({ keyId, name }));
        after = keys.at(-1)?.keyId ?? after;
        return { page, outcome: { kind: 'answer', keys, more: page.nextCursor !== undefined } };
      },
    );
  }

  protected listObjects(
    tenant: WorkloadTenant,
    access: Access,
    query: {
      readonly subject: string;
      readonly relation: Relation;
      readonly namespace?: string;
      readonly limit: number;
    },
  ): Promise<void> {
    const { subject, relation, namespace, limit } = query;
    let after: string | undefined;
    return this.#pages(
      tenant,
      access,
      (since) => ({ kind: 'list', input: { subject, relation, namespace, after, since } }),
      async (session, context, cursor) => {
        const page = await session.call('listObjects', context, { subject, relation, namespace, limit, cursor });
        this.#demandOwn(tenant, page.items);
        after = page.items.at(-1) ?? after;
        return { page, outcome: { kind: 'answer', objects: page.items, more: page.nextCursor !== undefined } };
      },
    );
  }

  protected listHolders(
    tenant: WorkloadTenant,
    access: Access,
    query: { readonly object: string; readonly relation: Relation; readonly limit: number },
  ): Promise<void> {
    const { object, relation, limit } = query;
    let after: string | undefined;
    return this.#pages(
      tenant,
      access,
      (since) => ({ kind: 'holders', input: { object, relation, after, since } }),
      async (session, context, cursor) => {
        const page = await session.call('listHolders', context, {
          object,
          relation,
          namespace: undefined,
          limit,
          cursor,
        });
        this.#demandOwn(tenant, page.items);
        after = page.items.at(-1) ?? after;
        return { page, outcome: { kind: 'answer', subjects: page.items, more: page.nextCursor !== undefined } };
      },
    );
  }

  #demandOwn({ index }: WorkloadTenant, entities: readonly string[]): void {
    for (const entity of entities) {
      if (entity.startsWith(`doc${index}:`) || entity.startsWith(`user${index}:`)) continue;
      this.ports.report(`${entity} is listed to tenant ${index}, to which it does not belong`);
    }
  }

  /** One page after the other, each a call of its own. */
  async #pages(
    tenant: WorkloadTenant,
    access: Access,
    what: (since: number | undefined) => What,
    read: (
      session: TenantSession,
      context: RequestContext,
      cursor: string | undefined,
    ) => Promise<{ readonly page: ResultPage<unknown>; readonly outcome: Outcome }>,
  ): Promise<void> {
    let cursor: string | undefined;
    /** When the last page that listed anything was asked for, or the first one. */
    let since: number | undefined;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const sent = cursor;
      const askedAt = this.ports.now();
      let next: string | undefined;
      let listed = 0;
      await this.call(tenant, access, what(since), async (session, context) => {
        const { page: got, outcome } = await read(session, context, sent);
        next = got.nextCursor;
        listed = got.items.length;
        return outcome;
      });
      if (next === undefined) return;
      cursor = next;
      if (listed > 0 || since === undefined) since = askedAt;
    }
    this.ports.report(`${this.name}: a listing of tenant ${tenant.index} does not end`);
  }

  // ---- recording ----

  protected outcomeOf(tenant: WorkloadTenant, tuple: Tuple, result: GrantResult | undefined): Outcome {
    if (result === undefined || result.kind === 'refused') throw new Error(`A write is refused: ${result?.message}`);
    if (result.kind === 'revoked' || result.kind === 'not-found') return { kind: result.kind };
    this.#namespacesOf(tenant, tuple);
    const kind = result.kind === 'created' ? 'created' : 'exists';
    return { kind, grantId: result.grantId, createdAt: String(result.createdAtMs) };
  }

  /** A grant of this tuple exists. */
  #namespacesOf(tenant: WorkloadTenant, tuple: Tuple): void {
    this.ports.namespaces.implied(tenant.tenantId, tuple, this.ports.cluster.scheduler.nowMs);
  }

  protected get front(): RunningFront | undefined {
    return this.ports.cluster.fronts.get(this.#frontName);
  }

  /** Without a word in the history. */
  protected async ask<Value>(
    { tenantId }: WorkloadTenant,
    access: Access,
    call: Call<Value>,
    front: RunningFront | undefined = this.front,
  ): Promise<Answer<Value>> {
    if (front === undefined) return { kind: 'none' };
    return request(this.ports.cluster, front, async (at, context) => {
      const session =
        'operator' in access
          ? at.operator.tenant(context, tenantId, access.operator)
          : at.authenticate(context, access.text);
      return call(await session, context);
    });
  }

  protected async call(
    tenant: WorkloadTenant,
    access: Access,
    what: What,
    call: Call<Outcome>,
    front: RunningFront | undefined = this.front,
  ): Promise<void> {
    if (front === undefined) return;
    const finish = this.#begin(tenant, access, what);
    finish(await this.ask(tenant, access, call, front));
  }

  /** Where all that it needs is there, a call takes no longer than the network, and a write than the store as well. */
  #judgeTime(what: string, tookMs: number): void {
    const { whole, report, profile } = this.ports;
    const isJudged = what === 'check' || (profile.whole && PROMPT.has(what));
    if (!whole() || !isJudged || tookMs <= CALL_MS_MAX) return;
    report(`${this.name}: ${what} takes ${Math.round(tookMs)} ms while all that it needs is there`);
  }

  #begin(tenant: WorkloadTenant, access: Access, what: What): (answer: Answer<Outcome>) => Outcome | undefined {
    const { history, trace, now } = this.ports;
    const keyId = tenant.states === undefined && 'keyId' in access ? access.keyId : undefined;
    const invocation = { client: this.name, tenant: tenant.tenantId, keyId, ...what } as Invocation;
    const startMs = now();
    const { scheduler } = this.ports.cluster;
    const sentMs = scheduler.nowMs;
    const finish = history.begin(invocation);
    const text = trace.on ? `${what.kind} ${JSON.stringify(what.input)} of tenant ${tenant.index}` : what.kind;
    trace.note(this.name, text);
    return (answer) => {
      this.#judgeTime(what.kind, scheduler.nowMs - sentMs);
      const { outcome, effectBy } = this.judge(tenant, access, answer, what.kind, startMs);
      finish(outcome, effectBy);
      trace.note(this.name, `${text}: ${outcome === undefined ? 'open' : JSON.stringify(outcome)}`);
      return outcome;
    };
  }

  /** What the history is told of an answer. */
  protected judge(
    tenant: WorkloadTenant,
    access: Access,
    answer: Answer<unknown>,
    what: string,
    startMs: number,
  ): { readonly outcome: Outcome | undefined; readonly effectBy?: number | undefined } {
    const { states, index } = tenant;
    const by = 'operator' in access ? 'operator' : 'tenant';
    if (answer.kind === 'none') return { outcome: undefined };
    if (answer.kind === 'value') {
      return { outcome: answer.value as Outcome, effectBy: states?.answered('value', by, startMs) };
    }
    const { code } = answer.error;
    if (code === 'key-not-found' && what === 'revoke-key') return { outcome: { kind: 'not-found' } };
    const undone = this.undone(answer.error, what, index);
    states?.answered(code, by, startMs);
    if (states === undefined && (code === 'tenant-suspended' || code === 'tenant-not-found')) {
      this.ports.report(`${this.name}: tenant ${index} was never suspended or deleted, and is ${code}`);
    }
    if (code === 'unauthorized') return { outcome: { kind: 'unauthorized' } };
    return { outcome: undone ? { kind: 'refused' } : undefined };
  }

  /** Whether the error says that nothing was done. One that the service has no reason to give is reported. */
  protected undone({ code, message, cause }: GrantdError, what: string, index: number): boolean {
    // A write may wait for what the store was asked before it was whole.
    const isJudged = this.ports.profile.whole || what === 'check';
    const isWanting = isJudged && this.ports.whole() && WANTING.has(code);
    if (EXPECTED.has(code) && !isWanting) return !NOT_KNOWN.test(message);
    this.ports.report(`${this.name}: ${what} of tenant ${index} fails with ${code}: ${message} ${String(cause ?? '')}`);
    return false;
  }
}
