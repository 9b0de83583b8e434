// The clients of a run: several per front, over a few tenants with few subjects and objects, so that they get into each
// other's way. Each call is recorded with its moments and its answer. An answer that leaves the outcome open stays open.

import type { KeyId, TenantId } from '../../src/core/ids.ts';
import type { Relation, Tuple } from '../../src/core/tuples.ts';
import type { RequestContext, TenantSession } from '../../src/front/front.ts';
import type { GrantResult } from '../../src/shard/shard.ts';
import type { History, Invocation, Outcome } from '../support/history/history.ts';
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
  readonly key: { readonly keyId: string; readonly text: string };
  /** May be suspended or deleted: an answer 401 or 403 is judged by the states of tenants, not by those of keys. */
  readonly changing: boolean;
}

export interface WorkloadPorts {
  readonly cluster: SimulatedCluster;
  readonly profile: Profile;
  readonly history: History;
  readonly trace: Trace;
  readonly states: TenantStates;
  readonly namespaces: NamespaceRules;
  readonly tenants: readonly WorkloadTenant[];
  readonly report: (failure: string) => void;
}

const RELATIONS_USED: readonly Relation[] = ['viewer', 'editor'];
const NOTHING_DONE = new Set(['unavailable', 'overloaded', 'tenant-suspended', 'unauthorized', 'key-not-found']);

interface Key {
  readonly keyId: string;
  readonly text: string;
}

type Call<Value> = (session: TenantSession, context: RequestContext) => Promise<Value>;

export class Client {
  readonly name: string;
  readonly #ports: WorkloadPorts;
  readonly #random: SeededRandom;
  readonly #frontName: string;
  /** Made and not revoked by this client, by tenant. */
  readonly #keys = new Map<WorkloadTenant, Key>();
  readonly #revokedKeys = new Map<WorkloadTenant, Key>();

  constructor(name: string, frontName: string, ports: WorkloadPorts, random: SeededRandom) {
    this.name = name;
    this.#frontName = frontName;
    this.#ports = ports;
    this.#random = random;
  }

  async run(endMs: number): Promise<void> {
    const { scheduler } = this.#ports.cluster;
    while (true) {
      await scheduler.sleep(this.#random.between(1, this.#ports.profile.thinkMsMax));
      if (scheduler.nowMs >= endMs) return;
      await this.#step();
    }
  }

  get #front(): RunningFront | undefined {
    return this.#ports.cluster.fronts.get(this.#frontName);
  }

  async #step(): Promise<void> {
    const tenant = this.#random.pick(this.#ports.tenants);
    if (this.#ports.profile.uniqueGrants) return this.grant(tenant, this.#uniqueTuple(tenant));
    const action = this.#random.weighted({
      grant: this.#ports.profile.readsMostly ? 8 : 22,
      revoke: this.#ports.profile.readsMostly ? 8 : 18,
      check: this.#ports.profile.readsMostly ? 60 : 22,
      bulk: 8,
      list: 10,
      several: 3,
      key: 4,
      namespace: 3,
    });
    switch (action) {
      case 'grant':
        return this.grant(tenant, this.#tuple(tenant));
      case 'revoke':
        return this.#revoke(tenant, this.#tuple(tenant));
      case 'check':
        return this.check(tenant, this.#tuple(tenant), this.#someKey(tenant));
      case 'bulk':
        return this.#bulk(tenant);
      case 'list':
        return this.list(tenant, this.#subject(tenant), this.#random.pick(RELATIONS_USED), this.#random.whole(1, 3));
      case 'several':
        return this.#writeSeveral(tenant);
      case 'key':
        return this.#useKeys(tenant);
      case 'namespace':
        return this.#useNamespaces(tenant);
    }
  }

  // ---- what it asks about ----

  #subject({ index }: WorkloadTenant): string {
    return `user${index}:s${this.#random.whole(1, this.#ports.profile.subjects)}`;
  }

  #tuple(tenant: WorkloadTenant): Tuple {
    return {
      subject: this.#subject(tenant),
      relation: this.#random.chance(0.85) ? 'viewer' : 'editor',
      object: `doc${tenant.index}:o${this.#random.whole(1, this.#ports.profile.objects)}`,
    };
  }

  #granted = 0;

  /** One that nobody else names. */
  #uniqueTuple(tenant: WorkloadTenant): Tuple {
    this.#granted += 1;
    const tuple = { ...this.#tuple(tenant), object: `doc${tenant.index}:${this.name}-${this.#granted}` };
    this.#made.push({ tenant, tuple });
    return tuple;
  }

  /** Of the unique grants. */
  readonly #made: { readonly tenant: WorkloadTenant; readonly tuple: Tuple }[] = [];

  get made(): readonly { readonly tenant: WorkloadTenant; readonly tuple: Tuple }[] {
    return this.#made;
  }

  /** A revoked key now and then: it must not open anything any more. */
  #someKey(tenant: WorkloadTenant): Key {
    if (tenant.changing) return tenant.key;
    const own = this.#keys.get(tenant);
    const revoked = this.#revokedKeys.get(tenant);
    if (revoked !== undefined && this.#random.chance(0.2)) return revoked;
    return own !== undefined && this.#random.chance(0.3) ? own : tenant.key;
  }

  // ---- calls ----

  grant(tenant: WorkloadTenant, tuple: Tuple): Promise<void> {
    return this.#call(tenant, tenant.key, { kind: 'grant', input: tuple }, async (session, context) =>
      this.#outcomeOf(tenant, tuple, (await session.writeGrants(context, [{ ...tuple, revoke: false }]))[0]),
    );
  }

  #revoke(tenant: WorkloadTenant, tuple: Tuple): Promise<void> {
    return this.#call(tenant, tenant.key, { kind: 'revoke', input: tuple }, async (session, context) =>
      this.#outcomeOf(tenant, tuple, (await session.writeGrants(context, [{ ...tuple, revoke: true }]))[0]),
    );
  }

  check(tenant: WorkloadTenant, tuple: Tuple, key: Key = tenant.key): Promise<void> {
    return this.#call(tenant, key, { kind: 'check', input: tuple }, async (session, context) => {
      const { authorized } = await session.check(context, tuple);
      return { kind: 'answer', authorized };
    });
  }

  #bulk(tenant: WorkloadTenant): Promise<void> {
    const tuples = Array.from({ length: this.#random.whole(2, 4) }, () => this.#tuple(tenant));
    return this.#call(tenant, tenant.key, { kind: 'bulk', input: tuples }, async (session, context) => {
      const { authorized } = await session.checkBulk(context, tuples);
      return { kind: 'answer', authorized };
    });
  }

  /** All pages of a listing. */
  async list(tenant: WorkloadTenant, subject: string, relation: Relation, limit: number): Promise<void> {
    const namespace = this.#random.chance(0.3) ? `doc${tenant.index}` : undefined;
    let cursor: string | undefined;
    let after: string | undefined;
    for (let page = 0; page < 50; page += 1) {
      let next: string | undefined;
      const input = { subject, relation, namespace, after };
      const sent = cursor;
      await this.#call(tenant, tenant.key, { kind: 'list', input }, async (session, context) => {
        const { items, nextCursor } = await session.listObjects(context, {
          subject,
          relation,
          namespace,
          limit,
          cursor: sent,
        });
        for (const object of items) {
          if (object.startsWith(`doc${tenant.index}:`)) continue;
          this.#ports.report(`${object} is listed to tenant ${tenant.index}, to which it does not belong`);
        }
        next = nextCursor;
        after = items.at(-1) ?? after;
        return { kind: 'answer', objects: items, more: nextCursor !== undefined };
      });
      if (next === undefined) return;
      cursor = next;
    }
  }

  /** Several writes in one call, each an operation of its own. */
  async #writeSeveral(tenant: WorkloadTenant): Promise<void> {
    const writes = Array.from({ length: this.#random.whole(2, 3) }, () => ({
      ...this.#tuple(tenant),
      revoke: this.#random.chance(0.4),
    }));
    const distinct = [
      ...new Map(writes.map((write) => [`${write.subject} ${write.relation} ${write.object}`, write])).values(),
    ];
    const finishes = distinct.map(({ revoke, ...input }) =>
      this.#begin(tenant, tenant.key, { kind: revoke ? 'revoke' : 'grant', input }),
    );
    const answer = await this.#ask(tenant.key, (session, context) => session.writeGrants(context, distinct));
    for (const [index, finish] of finishes.entries()) {
      const write = distinct[index];
      finish(
        answer.kind === 'value' && write !== undefined
          ? { kind: 'value', value: this.#outcomeOf(tenant, write, answer.value[index]) }
          : (answer as Answer<never>),
      );
    }
  }

  async #useKeys(tenant: WorkloadTenant): Promise<void> {
    if (tenant.changing) return;
    const own = this.#keys.get(tenant);
    if (own === undefined) {
      const startMs = this.#ports.cluster.scheduler.nowMs;
      const made = await this.#ask(tenant.key, (session, context) =>
        session.createKey(context, { name: this.name, scopes: 7, expiresAtMs: undefined }),
      );
      this.#judge(tenant, made, 'create-key', startMs);
      if (made.kind === 'value') {
        this.#keys.set(tenant, { keyId: made.value.record.keyId, text: made.value.text });
      }
      return;
    }
    this.#keys.delete(tenant);
    this.#revokedKeys.set(tenant, own);
    const keyId = own.keyId as KeyId;
    await this.#call(tenant, tenant.key, { kind: 'revoke-key', input: { keyId } }, async (session, context) => {
      await session.revokeKey(context, keyId);
      return { kind: 'revoked' };
    });
    await this.check(tenant, this.#tuple(tenant), own);
  }

  async #useNamespaces(tenant: WorkloadTenant): Promise<void> {
    const { namespaces, cluster } = this.#ports;
    const startMs = cluster.scheduler.nowMs;
    if (this.#random.chance(0.5)) {
      const name = `extra${tenant.index}-${this.#random.whole(1, 3)}`;
      const answer = await this.#ask(tenant.key, (session, context) => session.createNamespace(context, name));
      this.#judge(tenant, answer, 'namespace', startMs);
      namespaces.created(tenant.tenantId, name, startMs, cluster.scheduler.nowMs, answer);
      return;
    }
    const answer = await this.#ask(tenant.key, (session, context) => session.listNamespaces(context));
    this.#judge(tenant, answer, 'namespaces', startMs);
    if (answer.kind === 'value') namespaces.listed(tenant.tenantId, startMs, cluster.scheduler.nowMs, answer.value);
  }

  // ---- recording ----

  #outcomeOf(tenant: WorkloadTenant, tuple: Tuple, result: GrantResult | undefined): Outcome {
    if (result === undefined || result.kind === 'refused') throw new Error(`A write is refused: ${result?.message}`);
    if (result.kind === 'revoked' || result.kind === 'not-found') return { kind: result.kind };
    this.#ports.namespaces.implied(tenant.tenantId, tuple, this.#ports.cluster.scheduler.nowMs);
    return { kind: result.kind, grantId: result.grantId, createdAt: String(result.createdAtMs) };
  }

  async #ask<Value>(key: Key, call: Call<Value>): Promise<Answer<Value>> {
    const front = this.#front;
    if (front === undefined) return { kind: 'none' };
    return request(this.#ports.cluster, front, async (at, context) =>
      call(await at.authenticate(context, key.text), context),
    );
  }

  async #call(
    tenant: WorkloadTenant,
    key: Key,
    what: { readonly kind: Invocation['kind']; readonly input: unknown },
    call: Call<Outcome>,
  ): Promise<void> {
    if (this.#front === undefined) return;
    const finish = this.#begin(tenant, key, what);
    finish(await this.#ask(key, call));
  }

  #begin(
    tenant: WorkloadTenant,
    key: Key,
    what: { readonly kind: Invocation['kind']; readonly input: unknown },
  ): (answer: Answer<Outcome>) => void {
    const { history, trace } = this.#ports;
    const keyId = tenant.changing ? undefined : key.keyId;
    const invocation = { client: this.name, tenant: tenant.tenantId, keyId, ...what } as Invocation;
    const finish = history.begin(invocation);
    const startMs = this.#ports.cluster.scheduler.nowMs;
    const text = trace.on ? `${what.kind} ${JSON.stringify(what.input)} of tenant ${tenant.index}` : what.kind;
    trace.note(this.name, text);
    return (answer) => {
      const outcome = this.#judge(tenant, answer, what.kind, startMs);
      finish(outcome);
      trace.note(this.name, `${text}: ${outcome === undefined ? 'open' : JSON.stringify(outcome)}`);
    };
  }

  /** What the history is told of an answer. */
  #judge(tenant: WorkloadTenant, answer: Answer<unknown>, what: string, startMs: number): Outcome | undefined {
    const { states, cluster, report } = this.#ports;
    const { nowMs } = cluster.scheduler;
    if (answer.kind === 'none') return undefined;
    if (answer.kind === 'value') {
      if (tenant.changing) states.answered('value', startMs, nowMs);
      return answer.value as Outcome;
    }
    const { code, message, cause } = answer.error;
    if (!NOTHING_DONE.has(code)) {
      report(`${this.name}: ${what} of tenant ${tenant.index} fails with ${code}: ${message} ${String(cause ?? '')}`);
      return undefined;
    }
    if (code === 'key-not-found' && what === 'revoke-key') return { kind: 'not-found' };
    if (tenant.changing) states.answered(code, startMs, nowMs);
    else if (code === 'tenant-suspended') report(`${this.name}: tenant ${tenant.index} was never suspended`);
    return code === 'unauthorized' ? { kind: 'unauthorized' } : undefined;
  }
}
