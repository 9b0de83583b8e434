// The clients of a run: several per front, over a few tenants with few subjects and objects, so that they get into each
// other's way.

import type { KeyId } from '../../src/core/ids.ts';
import type { Relation, Tuple } from '../../src/core/tuples.ts';
import type { BulkWrite, GrantFilter } from '../../src/shard/shard.ts';
import { Caller, type Key, RELATIONS_USED, type WorkloadTenant } from './caller.ts';
import type { RunningFront } from './simulated-cluster.ts';

/** From one pause of reads to the next. */
const READ_PAUSES_MS = 3000;
/** Of the steps of clients that only write beside others that only read: between two writes readers come to rest. */
const WRITES_APART = 0.04;
/** More than the flights by which a front takes a tenant for busy. */
const BURST_CHECKS = 20;

export class Client extends Caller {
  /** Made and not revoked by this client, by tenant. */
  readonly #keys = new Map<WorkloadTenant, Key>();
  readonly #revokedKeys = new Map<WorkloadTenant, Key>();
  #keysMade = 0;

  run(endMs: number): Promise<void> {
    return this.repeat(endMs, [1, this.ports.profile.thinkMsMax]);
  }

  protected override async step(): Promise<void> {
    const { profile, tenants } = this.ports;
    const tenant = this.random.pick(tenants);
    const { writersApart } = profile;
    const isWriter = writersApart ? this.front?.name !== 'front-0' : this.#isPaused();
    if (isWriter) return !writersApart || this.random.chance(WRITES_APART) ? this.#writeOne(tenant) : undefined;
    if (writersApart) return this.random.chance(0.5) ? this.#burst(tenant) : this.check(tenant, this.tuple(tenant));
    if (profile.uniqueGrants) return this.grant(tenant, this.#uniqueTuple(tenant));
    switch (this.random.weighted(profile.actions)) {
      case 'grant':
        return this.grant(tenant, this.tuple(tenant));
      case 'revoke':
        return this.#revoke(tenant, this.tuple(tenant));
      case 'check':
        return this.check(tenant, this.tuple(tenant), this.#someKey(tenant));
      case 'bulk':
        return this.#bulk(tenant);
      case 'list':
        return this.#list(tenant);
      case 'holders':
        return this.#listByObject(tenant);
      case 'several':
        return this.#writeSeveral(tenant);
      case 'sweep':
        return this.#sweep(tenant);
      case 'key':
        return this.#useKeys(tenant);
      case 'key-race':
        return this.#raceKey(tenant);
      case 'key-list':
        return this.listKeys(tenant, tenant.key, this.random.whole(1, 3));
      case 'namespace':
        return this.#useNamespaces(tenant);
      case 'write-bulk':
        return this.writeBulk(tenant, this.#someKey(tenant), this.#bulkWrite(tenant));
      case 'clear':
        return this.revokeMatching(tenant, this.#someKey(tenant), this.#filter(tenant));
      case 'move':
        return this.writeBulk(tenant, tenant.key, this.#move(tenant));
      case 'moved':
        return this.#bulk(tenant, this.#holdersOf(tenant, this.object(tenant)));
      case 'burst':
        return this.#burst(tenant);
    }
  }

  /** Nobody reads for a while. */
  #isPaused(): boolean {
    const { profile, cluster } = this.ports;
    return cluster.scheduler.nowMs % READ_PAUSES_MS < profile.readPauseMs;
  }

  #writeOne(tenant: WorkloadTenant): Promise<void> {
    const tuple = this.tuple(tenant);
    return this.random.chance(0.5) ? this.grant(tenant, tuple) : this.#revoke(tenant, tuple);
  }

  // ---- what it asks about ----

  /** A few changes of tuples that differ; its preconditions are about any, and about what it changes. */
  #bulkWrite(tenant: WorkloadTenant): BulkWrite {
    const distinct = new Map<string, Tuple>();
    for (let count = this.random.whole(1, 4); count > 0; count -= 1) {
      const { subject, relation, object } = this.tuple(tenant);
      distinct.set(`${subject} ${relation} ${object}`, { subject, relation, object });
    }
    const tuples = [...distinct.values()];
    const split = this.random.whole(0, tuples.length);
    const asked = this.random.chance(0.5) ? [] : [this.random.pick(tuples), this.tuple(tenant)];
    return {
      grants: tuples.slice(0, split),
      revocations: tuples.slice(split),
      preconditions: asked
        .slice(0, this.random.whole(1, 2))
        .map((each) => ({ ...each, exists: this.random.chance(0.5) })),
    };
  }

  /** From all other subjects to one of them. */
  #move(tenant: WorkloadTenant): BulkWrite {
    const to = this.subject(tenant);
    const tuples = this.#holdersOf(tenant, this.object(tenant));
    return {
      grants: tuples.filter(({ subject }) => subject === to),
      revocations: tuples.filter(({ subject }) => subject !== to),
      preconditions: [],
    };
  }

  /** What all subjects may hold of an object. */
  #holdersOf({ index }: WorkloadTenant, object: string): Tuple[] {
    return Array.from({ length: this.ports.profile.subjects }, (_, subject) => ({
      subject: `user${index}:s${subject + 1}`,
      relation: 'viewer',
      object,
    }));
  }

  #filter(tenant: WorkloadTenant): GrantFilter {
    const { subject, object } = this.tuple(tenant);
    const bySubject = this.random.chance(0.6);
    return {
      of: bySubject ? { subject } : { object },
      relation: this.random.chance(0.5) ? undefined : this.random.pick(RELATIONS_USED),
    };
  }

  #granted = 0;

  /** One that nobody else names. */
  #uniqueTuple(tenant: WorkloadTenant): Tuple {
    this.#granted += 1;
    const tuple = { ...this.tuple(tenant), object: `doc${tenant.index}:${this.name}-${this.#granted}` };
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
    if (tenant.states !== undefined) return tenant.key;
    const own = this.#keys.get(tenant);
    const revoked = this.#revokedKeys.get(tenant);
    if (revoked !== undefined && this.random.chance(0.2)) return revoked;
    return own !== undefined && this.random.chance(0.3) ? own : tenant.key;
  }

  #someFront(): RunningFront | undefined {
    const fronts = [...this.ports.cluster.fronts.values()].filter(({ name }) => name !== 'console');
    return fronts.length === 0 ? undefined : this.random.pick(fronts);
  }

  // ---- calls ----

  grant(tenant: WorkloadTenant, tuple: Tuple, key: Key = tenant.key): Promise<void> {
    return this.call(tenant, key, { kind: 'grant', input: tuple }, async (session, context) =>
      this.outcomeOf(tenant, tuple, (await session.call('writeGrants', context, [{ ...tuple, revoke: false }]))[0]),
    );
  }

  #revoke(tenant: WorkloadTenant, tuple: Tuple, key: Key = tenant.key): Promise<void> {
    return this.call(tenant, key, { kind: 'revoke', input: tuple }, async (session, context) =>
      this.outcomeOf(tenant, tuple, (await session.call('writeGrants', context, [{ ...tuple, revoke: true }]))[0]),
    );
  }

  check(tenant: WorkloadTenant, tuple: Tuple, key: Key = tenant.key): Promise<void> {
    return this.call(tenant, key, { kind: 'check', input: tuple }, async (session, context) => {
      const { authorized } = await session.check(context, tuple);
      return { kind: 'answer', authorized };
    });
  }

  /** Checks that come to the front in the same moments. */
  async #burst(tenant: WorkloadTenant): Promise<void> {
    const key = this.#someKey(tenant);
    await Promise.all(Array.from({ length: BURST_CHECKS }, () => this.check(tenant, this.tuple(tenant), key)));
  }

  #someTuples(tenant: WorkloadTenant): Tuple[] {
    return Array.from({ length: this.random.whole(2, 4) }, () => this.tuple(tenant));
  }

  /** Of several subjects, mostly: their pages are looked at in one moment. */
  #bulk(tenant: WorkloadTenant, tuples: Tuple[] = this.#someTuples(tenant), key: Key = tenant.key): Promise<void> {
    return this.call(tenant, key, { kind: 'bulk', input: tuples }, async (session, context) => {
      const { authorized } = await session.checkBulk(context, tuples);
      return { kind: 'answer', authorized };
    });
  }

  #list(tenant: WorkloadTenant): Promise<void> {
    return this.list(tenant, this.subject(tenant), this.random.pick(RELATIONS_USED), this.random.whole(1, 3));
  }

  /** All pages of a listing. */
  list(tenant: WorkloadTenant, subject: string, relation: Relation, limit: number): Promise<void> {
    const namespace = this.random.chance(0.3) ? { namespace: `doc${tenant.index}` } : {};
    return this.listObjects(tenant, tenant.key, { subject, relation, limit, ...namespace });
  }

  /** Who holds a relation on an object, or all grants on it. */
  #listByObject(tenant: WorkloadTenant): Promise<void> {
    const object = this.object(tenant);
    const limit = this.random.whole(1, 3);
    if (this.random.chance(0.3)) return this.export(tenant, tenant.key, limit, { object });
    return this.listHolders(tenant, tenant.key, { object, relation: this.random.pick(RELATIONS_USED), limit });
  }

  async #writeSeveral(tenant: WorkloadTenant, key: Key = tenant.key): Promise<void> {
    const writes = Array.from({ length: this.random.whole(2, 3) }, () => ({
      ...this.tuple(tenant),
      revoke: this.random.chance(0.4),
    }));
    await this.writeMany(tenant, key, writes);
  }

  /**
   * Takes most of a subject's objects up to one of them away and gives most of the others, or the other way round, and
   * lists.
   */
  async #sweep(tenant: WorkloadTenant): Promise<void> {
    const subject = this.subject(tenant);
    const { objects } = this.ports.profile;
    const last = this.random.whole(1, objects);
    const revokesFirst = this.random.chance(0.7);
    const writes = Array.from({ length: objects }, (_, index) => ({
      subject,
      relation: 'viewer' as const,
      object: `doc${tenant.index}:o${index + 1}`,
      revoke: index < last === revokesFirst,
    }));
    const some = writes.filter(() => this.random.chance(0.8));
    if (some.length > 0) await this.writeMany(tenant, tenant.key, some);
    await this.list(tenant, subject, 'viewer', this.random.whole(1, objects));
  }

  // ---- keys ----

  async #makeKey(tenant: WorkloadTenant): Promise<Key | undefined> {
    this.#keysMade += 1;
    const name = `${this.name}-${this.#keysMade}`;
    let made: Key | undefined;
    await this.call(tenant, tenant.key, { kind: 'create-key', input: { name } }, async (session, context) => {
      const { record, text } = await session.createKey(context, { name, scopes: 7, expiresAtMs: undefined });
      made = { keyId: record.keyId, text };
      return { kind: 'key', keyId: record.keyId };
    });
    return made;
  }

  async #useKeys(tenant: WorkloadTenant): Promise<void> {
    if (tenant.states !== undefined) return;
    const own = this.#keys.get(tenant);
    if (own !== undefined) {
      await this.#revokeKey(tenant, own, this.front);
      await this.check(tenant, this.tuple(tenant), own);
      return;
    }
    const made = await this.#makeKey(tenant);
    if (made !== undefined) this.#keys.set(tenant, made);
  }

  #revokeKey(tenant: WorkloadTenant, key: Key, front: RunningFront | undefined): Promise<void> {
    if (this.#keys.get(tenant) === key) this.#keys.delete(tenant);
    this.#revokedKeys.set(tenant, key);
    const keyId = key.keyId as KeyId;
    return this.call(
      tenant,
      tenant.key,
      { kind: 'revoke-key', input: { keyId } },
      async (session, context) => {
        await session.call('revokeKey', context, keyId);
        return { kind: 'revoked' };
      },
      front,
    );
  }

  /** A key is revoked, perhaps over another front, while calls of it are on their way. */
  async #raceKey(tenant: WorkloadTenant): Promise<void> {
    if (tenant.states !== undefined) return;
    const key = this.#keys.get(tenant) ?? (await this.#makeKey(tenant));
    if (key === undefined) return;
    this.#keys.delete(tenant);
    const { scheduler } = this.ports.cluster;
    const withinMs = this.random.pick([3, 30, 1500, 4000]);
    const calls = Array.from({ length: this.random.whole(2, 5) }, async () => {
      await scheduler.sleep(this.random.between(0, withinMs));
      await this.#someCall(tenant, key);
    });
    await scheduler.sleep(this.random.between(0, withinMs));
    await this.#revokeKey(tenant, key, this.#someFront());
    await this.check(tenant, this.tuple(tenant));
    await Promise.all(calls);
    await this.check(tenant, this.tuple(tenant), key);
  }

  #someCall(tenant: WorkloadTenant, key: Key): Promise<void> {
    switch (this.random.pick(['grant', 'grant', 'revoke', 'several', 'check', 'bulk'])) {
      case 'grant':
        return this.grant(tenant, this.tuple(tenant), key);
      case 'revoke':
        return this.#revoke(tenant, this.tuple(tenant), key);
      case 'several':
        return this.#writeSeveral(tenant, key);
      case 'check':
        return this.check(tenant, this.tuple(tenant), key);
      default:
        return this.#bulk(tenant, this.#someTuples(tenant), key);
    }
  }

  // ---- namespaces ----

  async #useNamespaces(tenant: WorkloadTenant): Promise<void> {
    const { namespaces, cluster, now } = this.ports;
    const startMs = cluster.scheduler.nowMs;
    const startedAt = now();
    if (this.random.chance(0.5)) {
      const name = `extra${tenant.index}-${this.random.whole(1, 3)}`;
      const answer = await this.ask(tenant, tenant.key, (session, context) =>
        session.call('createNamespace', context, name),
      );
      this.judge(tenant, tenant.key, answer, 'namespace', startedAt);
      namespaces.created(tenant.tenantId, name, startMs, cluster.scheduler.nowMs, answer);
      return;
    }
    const answer = await this.ask(tenant, tenant.key, (session, context) =>
      session.call('listNamespaces', context, undefined),
    );
    this.judge(tenant, tenant.key, answer, 'namespaces', startedAt);
    if (answer.kind === 'value') namespaces.listed(tenant.tenantId, startMs, cluster.scheduler.nowMs, answer.value);
  }
}
