// One run: a cluster, its clients and its faults, all from one seed; then everything is healed, and the history is
// judged. It reports: an answer that no order of events explains, an acknowledged write that is gone, a rule that is
// broken, a rejection that nobody handles, a request that does not succeed in time after everything is whole again.

import { subscribe } from 'node:diagnostics_channel';
import { GrantdError } from '../../src/core/errors.ts';
import type { TenantId } from '../../src/core/ids.ts';
import { slotOfTenant } from '../../src/core/slots.ts';
import type { Grant, Tuple } from '../../src/core/tuples.ts';
import type { RequestContext } from '../../src/front/front.ts';
import type { AuditRecord, TenantStatus } from '../../src/shard/shard.ts';
import { checkHistory } from '../kit/history/check-history.ts';
import { History, strictlyIncreasing } from '../kit/history/history.ts';
import type { WorkloadPorts, WorkloadTenant } from './caller.ts';
import { ExpiringGrants, ExpiryClient } from './expiring-grants.ts';
import { keepLulling } from './expiry-lulls.ts';
import { FeedReaders } from './feed-readers.ts';
import { ASSERTIONS_CHANNEL } from './mutate.ts';
import { NamespaceRules } from './namespace-rules.ts';
import { NemesisRun } from './nemesis.ts';
import { Operator } from './operators.ts';
import { drawProfile, type Focus, type Profile, READERS_DRAWN_MAX } from './profile.ts';
import { ReaderChoices } from './reader-choices.ts';
import { request } from './requests.ts';
import { KeyRotations } from './rotated-keys.ts';
import { RuledClients } from './ruled-clients.ts';
import { Scheduler } from './scheduler.ts';
import { SeededRandom } from './seeded-random.ts';
import { planWith, type RunningFront, SimulatedCluster } from './simulated-cluster.ts';
import { NO_STORE_FAULTS } from './store-view.ts';
import { TenantStates } from './tenant-states.ts';
import { Trace } from './trace.ts';
import { Client } from './workload.ts';

export interface RunOptions {
  readonly seed: number;
  readonly focus?: Focus;
  /** Called with each line of the trace. */
  readonly write?: (line: string) => void;
  /** Ends the run at the first failure that it reports, and judges nothing after it. */
  readonly stopAtFailure?: boolean;
}

export interface RunResult {
  readonly seed: number;
  readonly focus: Focus;
  /** Empty: nothing is wrong. */
  readonly failures: readonly string[];
  readonly hash: number;
  readonly events: number;
  readonly virtualMs: number;
  readonly operations: number;
  readonly answered: number;
  readonly undecided: number;
  /** Entries of former epochs that landed behind a newer one. */
  readonly displaced: number;
}

const START_MS_MAX = 120_000;
/** After everything is whole again requests have to succeed within this time. */
const RECOVERY_MS_MAX = 30_000;
const FINAL_MS_MAX = 200_000;
/** The deadline of clusters outside of simulations. */
const OPERATE_MS_MAX = 10_000;
/** One read of the store for each of them, where that reads least. */
const EXPORT_PAGE = 20;
/** The number of the tenant whose grants expire. */
const EXPIRING_TENANT = 99;
/** The number of the tenant with rules, and how often each of its clients asks after everything is whole again. */
const RULED_TENANT = 98;
const RULED_FINAL_QUESTIONS = 12;
/** The number of the tenant whose changes are followed. */
const FEED_TENANT = 97;
/** The number of the tenant whose keys are rotated, and more keys than it ever has. */
const ROTATED_TENANT = 96;
const ROTATED_KEYS_MAX = 1000;
const FAILURES_MAX = 5;
/** Of memory: no read waits for another. */
const ENOUGH_BYTES = 1_000_000;
/**
 * Configurations looked at per group of tuples: most runs need some thousands. A history that needs more fails its run.
 */
const CHECKER_BUDGET = 5_000_000;

/** The run that is going on in this thread: unhandled rejections and failed assertions are its. */
let current: Simulation | undefined;
subscribe(ASSERTIONS_CHANNEL, (message) => current?.report(`an assertion fails: ${String(message)}`));
process.on('unhandledRejection', (reason) => {
  if (current === undefined) throw reason;
  current.report(`a rejection that nobody handles: ${reason instanceof Error ? reason.stack : String(reason)}`);
});

class Simulation {
  readonly #failures: string[] = [];
  readonly #random: SeededRandom;
  readonly #profile: Profile;
  readonly #scheduler: Scheduler;
  readonly #trace: Trace;
  readonly #cluster: SimulatedCluster;
  readonly #history: History;
  /** Of the history. */
  readonly #now: () => number;
  readonly #namespaces: NamespaceRules;
  readonly #options: RunOptions;
  readonly #tenants: WorkloadTenant[] = [];
  readonly #expiring: ExpiringGrants;
  /** Of grants that expire: the history knows nothing about it. */
  #expiringTenant: WorkloadTenant | undefined;
  /** Of a tenant with rules: the history knows nothing about it. */
  #ruled: RuledClients | undefined;
  #feed: FeedReaders | undefined;
  /** Of a tenant whose keys are rotated: the history knows nothing about it. */
  #rotations: KeyRotations | undefined;
  #rotatedTenant: TenantId | undefined;
  #feedTenant: TenantId | undefined;
  /** Everything has healed and has answered, and nothing waits for what the store was asked before. */
  #isWhole = false;

  constructor(options: RunOptions) {
    this.#options = options;
    const report = (failure: string) => this.report(failure);
    this.#random = new SeededRandom(`seed ${options.seed}`);
    this.#profile = drawProfile(this.#random.fork('profile'), options.focus);
    this.#scheduler = new Scheduler(this.#random.fork('ties'));
    this.#scheduler.onThrown = (error) =>
      report(`a step throws: ${error instanceof Error ? error.stack : String(error)}`);
    this.#trace = new Trace(this.#scheduler, options.write, report);
    this.#cluster = new SimulatedCluster(this.#scheduler, this.#random.fork('cluster'), this.#profile, this.#trace);
    this.#now = strictlyIncreasing(() => this.#scheduler.nowMs);
    this.#history = new History(this.#now);
    this.#namespaces = new NamespaceRules(report);
    this.#expiring = new ExpiringGrants(report);
  }

  report(failure: string): void {
    if (this.#failures.length < FAILURES_MAX) this.#failures.push(failure);
    this.#trace.note('FAILURE', failure);
  }

  async run(): Promise<RunResult> {
    this.#trace.note('profile', JSON.stringify(this.#profile));
    await this.#cluster.initialize();
    if (await this.#go(this.#start(), 'the cluster does not start', START_MS_MAX)) {
      await this.#live();
    }
    for (const process of this.#cluster.processes()) process.kill();
    const judged = this.#hasStopped() ? [] : this.#history.operations();
    const verdict = checkHistory(judged, { budget: CHECKER_BUDGET });
    for (const { text } of verdict.violations) this.report(text);
    if (verdict.undecided > 0) this.report(`${verdict.undecided} groups of tuples take too long to be judged`);
    this.#scheduler.mixText(JSON.stringify(this.#history.operations()));
    return {
      seed: this.#options.seed,
      focus: this.#profile.focus,
      failures: this.#failures,
      hash: this.#scheduler.hash,
      events: this.#scheduler.events,
      virtualMs: this.#scheduler.nowMs,
      operations:
        verdict.operations +
        (this.#ruled?.answered ?? 0) +
        (this.#feed?.answered ?? 0) +
        (this.#rotations?.answered ?? 0),
      answered:
        verdict.answered +
        (this.#ruled?.answered ?? 0) +
        (this.#feed?.answered ?? 0) +
        (this.#rotations?.answered ?? 0),
      undecided: verdict.undecided,
      displaced: this.#cluster.world.displaced,
    };
  }

  /** Whether what is known is enough. */
  #hasStopped(): boolean {
    return this.#options.stopAtFailure === true && this.#failures.length > 0;
  }

  /** Runs the world until the work is done. False: it is not, in time, or it failed, or the run has stopped. */
  async #go(work: Promise<unknown>, complaint: string, limitMs: number): Promise<boolean> {
    const progress = { over: false, done: false };
    work.then(
      () => {
        progress.over = true;
        progress.done = true;
      },
      (error: unknown) => {
        progress.over = true;
        this.report(`${complaint}: ${error instanceof Error ? error.stack : String(error)}`);
      },
    );
    const isOver = (): boolean => progress.over || this.#hasStopped();
    const over = await this.#scheduler.runUntil(isOver, this.#scheduler.nowMs + limitMs);
    if (!over) this.report(`${complaint} within ${Math.round(limitMs)} ms`);
    return progress.done && !this.#hasStopped();
  }

  // ---- the parts of a run ----

  async #start(): Promise<void> {
    for (let index = 0; index < this.#profile.shards; index += 1) this.#cluster.startShard(`shard-${index}`);
    for (let index = 0; index < this.#profile.fronts; index += 1) this.#cluster.startFront(`front-${index}`);
    this.#cluster.startFront('console', 'console');
    while (![...this.#cluster.fronts.values()].every(({ front }) => front.ready())) await this.#scheduler.sleep(50);
    for (let index = 0; index < this.#profile.tenants; index += 1) this.#tenants.push(await this.#createTenant(index));
    if (this.#profile.expiryClients > 0) this.#expiringTenant = await this.#createTenant(EXPIRING_TENANT);
    if (this.#profile.ruledClients > 0) {
      const tenant = await this.#createTenant(RULED_TENANT);
      this.#ruled = new RuledClients(tenant, this.#workloadPorts(), this.#random.fork('rules'));
    }
    if (this.#profile.feedReaders) {
      const tenant = await this.#createTenant(FEED_TENANT);
      this.#feedTenant = tenant.tenantId;
      this.#feed = new FeedReaders(tenant, this.#workloadPorts(), this.#random.fork('feed'));
    }
    if (this.#profile.rotations) {
      const tenant = await this.#createTenant(ROTATED_TENANT);
      this.#rotatedTenant = tenant.tenantId;
      this.#rotations = new KeyRotations(tenant, this.#workloadPorts(), this.#random.fork('rotations'));
    }
  }

  async #createTenant(index: number): Promise<WorkloadTenant> {
    const drawn = this.#random.fork(`readers of ${index}`).whole(this.#profile.readersMin, READERS_DRAWN_MAX);
    const readers = this.#profile.crowdedMs > 0 ? 'auto' : drawn;
    const { tenantId } = await this.#operate('create a tenant', ({ operator }, context) =>
      operator.createTenant(context, { name: `tenant ${index}`, plan: planWith(readers), operator: 'simulation' }),
    );
    const finish = this.#history.begin({
      client: 'start',
      tenant: tenantId,
      kind: 'create-key',
      input: { name: 'main' },
    });
    const { record, text } = await this.#operate('create a key', async ({ operator }, context) => {
      const session = await operator.tenant(context, tenantId, 'simulation');
      return session.createKey(context, { name: 'main', scopes: 7, expiresAtMs: undefined });
    });
    finish({ kind: 'key', keyId: record.keyId });
    const changing = index > 0 && index === this.#profile.tenants - 1 && this.#profile.operators > 0;
    const states = changing ? new TenantStates(this.#now, (failure) => this.report(failure)) : undefined;
    return { index, tenantId, key: { keyId: record.keyId, text }, states };
  }

  /** A call of the operator that has to succeed, again and again where the cluster's deadline is short. */
  async #operate<Value>(
    what: string,
    run: (front: RunningFront['front'], context: RequestContext) => Promise<Value>,
  ): Promise<Value> {
    const console = this.#cluster.fronts.get('console');
    if (console === undefined) throw new Error('There is no console.');
    // A process whose clock is slow waits for a lost response of the store several times as long.
    const limitMs = this.#profile.slowShard === undefined ? OPERATE_MS_MAX : RECOVERY_MS_MAX;
    const endMs = this.#scheduler.nowMs + limitMs;
    while (true) {
      const answer = await request(this.#cluster, console, run);
      if (answer.kind === 'value') return answer.value;
      const mayFollow = answer.kind === 'error' && answer.error.retryable && this.#scheduler.nowMs < endMs;
      if (mayFollow) continue;
      const cause = answer.kind === 'error' ? answer.error : undefined;
      throw new Error(`Could not ${what}: ${cause?.message ?? 'no answer'}`, { cause });
    }
  }

  async #live(): Promise<void> {
    const endMs = this.#scheduler.nowMs + this.#profile.activeMs;
    this.#cluster.world.faults = this.#profile.store;
    const nemesis = new NemesisRun(this.#cluster, this.#profile, this.#random.fork('nemesis'), this.#trace);
    const clients = this.#createClients();
    const operators = Array.from({ length: this.#profile.operators }, (_, index) => this.#createOperator(index));
    const work = Promise.all([
      ...clients.map((client) => client.run(endMs)),
      ...operators.map((operator) => operator.run(endMs)),
      ...this.#runExpiryClients(nemesis, endMs),
      this.#ruled?.run(endMs),
      this.#feed?.run(endMs),
      this.#rotations?.run(endMs),
      this.#profile.crowdedMs > 0 ? this.#createChoices().run(endMs) : undefined,
      nemesis.run(endMs),
    ]);
    if (!(await this.#go(work, 'the clients do not end', this.#profile.activeMs + 60_000))) return;
    this.#trace.add('world', 'heals');
    nemesis.heal();
    this.#cluster.world.faults = { ...NO_STORE_FAULTS };
    const trusted = this.#profile.focus !== 'lost-records';
    if (!(await this.#go(this.#recover(trusted), 'requests do not succeed again', RECOVERY_MS_MAX))) return;
    if (this.#profile.ownerSpared) await this.#go(this.#useRotatedKeys(), 'rotated keys are not used', FINAL_MS_MAX);
    const readers = [...this.#cluster.fronts.keys()]
      .filter((name) => name !== 'console')
      .map((name) => this.#createClient(name, 9));
    const made = clients.flatMap((client) => client.made);
    await this.#go(this.#settleRuled(), 'the writes of the tenant with rules are not settled', FINAL_MS_MAX);
    await this.#go(this.#readAll(readers, made), 'the final reads do not end', FINAL_MS_MAX);
    if (trusted) await this.#go(this.#compareCounts(), 'grants are not counted', FINAL_MS_MAX);
    // What was sent long ago lands, memory is gone with its processes: the store alone has to know everything.
    await this.#scheduler.runUntil(() => this.#cluster.world.pending === 0, this.#scheduler.nowMs + 61_000);
    // The next owner decides by a clock that may be behind.
    if (this.#profile.ownerSpared) await this.#go(this.#endRotatedKey(), 'a rotated key does not end', FINAL_MS_MAX);
    this.#trace.add('world', 'restarts');
    for (const shard of [...this.#cluster.shards.values()]) this.#cluster.killShard(shard, false);
    nemesis.startMissing();
    if (!(await this.#go(this.#recover(trusted), 'requests do not succeed after a restart', RECOVERY_MS_MAX))) return;
    const { memoryBytesMax, slowShard } = this.#profile;
    this.#isWhole = trusted && slowShard === undefined && memoryBytesMax >= ENOUGH_BYTES;
    await this.#go(this.#readAll(readers, made), 'the final reads do not end', FINAL_MS_MAX);
    await this.#go(this.#judgeRuled(), 'the questions under rules do not end', FINAL_MS_MAX);
    await this.#go(this.#judgeFeed(), 'the readers of the feed do not come to its end', FINAL_MS_MAX);
    await this.#go(this.#judgeRotations(), 'the keys that were rotated are not used to the end', FINAL_MS_MAX);
    await this.#go(this.#checkExpired(), 'expired grants are not told', FINAL_MS_MAX);
    await this.#go(this.#compareExpiring(), 'expired grants are not collected', FINAL_MS_MAX);
    if (!trusted) return;
    await this.#go(this.#compareCounts(), 'grants are not counted', FINAL_MS_MAX);
    const tenants = [...this.#tenants, ...operators.flatMap(({ temporary }) => temporary)];
    await this.#go(this.#awaitRemovals(tenants), 'a deleted tenant is not removed', FINAL_MS_MAX);
  }

  #createClients(): Client[] {
    const clients: Client[] = [];
    for (const frontName of this.#cluster.fronts.keys()) {
      if (frontName === 'console') continue;
      for (let index = 0; index < this.#profile.clientsPerFront; index += 1) {
        clients.push(this.#createClient(frontName, index));
      }
    }
    return clients;
  }

  #runExpiryClients(nemesis: NemesisRun, endMs: number): Promise<void>[] {
    const clients = this.#createExpiryClients();
    const work = clients.map((each) => each.run(endMs));
    const [client] = clients;
    const tenant = this.#expiringTenant;
    if (client !== undefined && this.#random.fork('expiry-rules').chance(0.4)) work.push(client.useRules());
    const { lulls, readerLimits } = this.#profile;
    if (lulls === undefined || client === undefined || tenant === undefined) return work;
    const slot = this.#slotOf(tenant.tenantId);
    const random = this.#random.fork('lulls');
    const kill = nemesis.kill.bind(nemesis);
    const quietMs = readerLimits.quietMs ?? 0;
    const ports = { cluster: this.#cluster, slot, grants: this.#expiring, client, random, kill, quietMs };
    return [...work, keepLulling(lulls, ports, endMs)];
  }

  #createExpiryClients(): ExpiryClient[] {
    const { expiryClients, fronts } = this.#profile;
    const tenant = this.#expiringTenant;
    if (tenant === undefined) return [];
    return Array.from({ length: expiryClients * fronts }, (_, index) => {
      const name = `expiry-client-${index}`;
      const of = { tenant, grants: this.#expiring };
      return new ExpiryClient(name, `front-${index % fronts}`, this.#workloadPorts(), this.#random.fork(name), of);
    });
  }

  async #settleRuled(): Promise<void> {
    await this.#ruled?.settle();
    await this.#ruled?.askMany(RULED_FINAL_QUESTIONS);
  }

  async #judgeRuled(): Promise<void> {
    if (this.#ruled === undefined) return;
    await this.#ruled.askMany(RULED_FINAL_QUESTIONS);
    const rows = await this.#readAuditLog(this.#ruled.tenantId);
    for (const failure of this.#ruled.failures(rows)) this.report(failure);
  }

  async #judgeFeed(): Promise<void> {
    if (this.#feed === undefined || this.#feedTenant === undefined) return;
    await this.#feed.readToEnd();
    this.#feed.judge(await this.#readAuditLog(this.#feedTenant));
  }

  async #useRotatedKeys(isHeir = false): Promise<void> {
    await this.#rotations?.useAll(isHeir);
  }

  async #endRotatedKey(): Promise<void> {
    await this.#rotations?.endOne();
  }

  async #judgeRotations(): Promise<void> {
    const tenantId = this.#rotatedTenant;
    if (this.#rotations === undefined || tenantId === undefined) return;
    await this.#useRotatedKeys(this.#profile.ownerSpared);
    const { items } = await this.#operate('list the keys', async ({ operator }, context) => {
      const session = await operator.tenant(context, tenantId, 'simulation');
      return session.call('listKeys', context, { limit: ROTATED_KEYS_MAX, cursor: undefined });
    });
    this.#rotations.compare(items, await this.#readAuditLog(tenantId, 'key.rotated'));
  }

  /** What has ended stays so, and the audit log tells it. */
  async #checkExpired(): Promise<void> {
    const [client] = this.#createExpiryClients();
    const tenantId = this.#expiringTenant?.tenantId;
    if (client === undefined || tenantId === undefined) return;
    for (const life of this.#expiring.lives) if (!life.over) await client.check(life);
    while (!this.#expiring.told(await this.#toldExpiries(tenantId))) await this.#scheduler.sleep(200);
  }

  /** Once what has expired is collected, the owner has counted exactly the grants that it lists. */
  async #compareExpiring(): Promise<void> {
    const tenant = this.#expiringTenant;
    if (tenant === undefined) return;
    while (true) {
      const { grants } = await this.#operate('read a tenant', ({ operator }, context) =>
        operator.call('readTenant', context, { tenantId: tenant.tenantId }),
      );
      const items = await this.#exportGrants(tenant.tenantId);
      if (grants?.grants === items.length) return this.#compareDirections(tenant.index, tenant.tenantId, items);
      await this.#scheduler.sleep(200);
    }
  }

  /** The objects of the grants whose expiry the audit log tells. */
  async #toldExpiries(tenantId: TenantId): Promise<string[]> {
    const rows = await this.#readAuditLog(tenantId, 'grant.expired');
    return rows.map(({ change }) => String(JSON.parse(change).object));
  }

  async #readAuditLog(tenantId: TenantId, action?: string): Promise<readonly AuditRecord[]> {
    const rows: AuditRecord[] = [];
    let cursor: string | undefined;
    do {
      const query = { limit: 1000, cursor, action };
      const page = await this.#operate('read the audit log', ({ operator }, context) =>
        operator.call('listAuditLog', context, { ...query, tenantId }),
      );
      rows.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return rows;
  }

  #createClient(frontName: string, index: number): Client {
    const name = `client-${frontName.at(-1)}${index}`;
    return new Client(name, frontName, this.#workloadPorts(), this.#random.fork(name));
  }

  #createChoices(): ReaderChoices {
    return new ReaderChoices(this.#workloadPorts(), (what, run) => this.#operate(what, run));
  }

  #createOperator(index: number): Operator {
    const name = `operator-${index}`;
    return new Operator(name, 'console', this.#workloadPorts(), this.#random.fork(name));
  }

  #workloadPorts(): WorkloadPorts {
    return {
      cluster: this.#cluster,
      profile: this.#profile,
      history: this.#history,
      now: this.#now,
      trace: this.#trace,
      namespaces: this.#namespaces,
      tenants: this.#tenants,
      report: (failure) => this.report(failure),
      whole: () => this.#profile.whole || this.#isWhole,
    };
  }

  /** Every front answers for every tenant. A slot that lost a record is rightly refused. */
  async #recover(trusted: boolean): Promise<void> {
    const waits = [...this.#cluster.fronts.values()].flatMap((front) =>
      this.#tenants.map(async (tenant) => {
        if (!trusted) return;
        while (true) {
          const answer = await request(this.#cluster, front, async (at, context) => {
            const session = await at.authenticate(context, tenant.key.text);
            await session.check(context, { subject: 'user:nobody', relation: 'viewer', object: 'doc:none' });
          });
          if (answer.kind === 'value') return;
          if (answer.kind === 'error' && !answer.error.retryable) return;
          await this.#scheduler.sleep(100);
        }
      }),
    );
    await Promise.all(waits);
  }

  /** Every owner has counted exactly the grants that it lists, and lists the same by object. */
  async #compareCounts(): Promise<void> {
    await Promise.all(
      this.#tenants.map(async (tenant) => {
        await this.#compareTenant(tenant).catch((error: unknown) => {
          // A deletion that nobody waits for any more may take effect now.
          if (tenant.states === undefined || !isTenantNotFound(error)) throw error;
        });
      }),
    );
  }

  async #compareTenant({ index, tenantId }: WorkloadTenant): Promise<void> {
    const readTenant = () =>
      this.#operate('read a tenant', ({ operator }, context) => operator.call('readTenant', context, { tenantId }));
    const tenant = await readTenant();
    // Suspended, deleted, or about to be.
    if (tenant.state !== 'active') return;
    const items = await this.#exportGrants(tenantId);
    const bytes = items.reduce(
      (sum, { subject, relation, object }) => sum + Buffer.byteLength(subject + relation + object),
      0,
    );
    const agree = ({ grants }: TenantStatus) => grants?.grants === items.length && grants.bytes === bytes;
    // A write that nobody waits for any more may have happened between the two.
    if (!agree(tenant) && !agree(await readTenant())) {
      const counted = tenant.grants;
      this.report(
        `the owner of tenant ${index} counts ${counted?.grants} grants of ${counted?.bytes} bytes, and lists ${items.length} of ${bytes}`,
      );
    }
    await this.#compareDirections(index, tenantId, items);
  }

  /** What is stored by object is what is stored by subject, and an owner lists it so. */
  async #compareDirections(index: number, tenantId: TenantId, items: readonly Grant[]): Promise<void> {
    const alone = this.#cluster.world.store.grantsOnOneSide(tenantId);
    if (alone.length > 0)
      this.report(`grants of tenant ${index} lie on one side alone: ${alone.slice(0, 3).join(' ')}`);
    for (let bySubject = items; ; ) {
      const byObject: Grant[] = [];
      for (const object of new Set(bySubject.map((grant) => grant.object))) {
        byObject.push(...(await this.#listGrantsOn(tenantId, object)));
      }
      if (textOf(byObject) === textOf(bySubject)) return;
      // A write that nobody waits for any more may have happened in the meantime.
      const again = await this.#exportGrants(tenantId);
      if (textOf(again) === textOf(bySubject)) {
        this.report(`tenant ${index} has ${bySubject.length} grants by subject, and ${byObject.length} by object`);
        return;
      }
      bySubject = again;
    }
  }

  async #listGrantsOn(tenantId: TenantId, object: string): Promise<readonly Grant[]> {
    const grants: Grant[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#operate('list the grants on an object', async ({ operator }, context) => {
        const session = await operator.tenant(context, tenantId, 'simulation');
        return session.call('listGrants', context, {
          of: { object },
          relation: undefined,
          limit: EXPORT_PAGE,
          cursor,
        });
      });
      grants.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return grants;
  }

  async #exportGrants(tenantId: TenantId): Promise<readonly Grant[]> {
    const grants: Grant[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#operate('export the grants', async ({ operator }, context) => {
        const session = await operator.tenant(context, tenantId, 'simulation');
        return session.call('exportGrants', context, { limit: EXPORT_PAGE, cursor });
      });
      grants.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return grants;
  }

  /** Of a tenant whose deletion was acknowledged nothing is left in the store, soon. */
  async #awaitRemovals(tenants: readonly WorkloadTenant[]): Promise<void> {
    for (const { index, tenantId, states } of tenants) {
      if (states?.deleted !== true) continue;
      while (await this.#isKnown(tenantId)) await this.#scheduler.sleep(100);
      for (const [table, count] of this.#cluster.world.store.rowsOf(this.#slotOf(tenantId), tenantId)) {
        if (count > 0) this.report(`${count} rows of the deleted tenant ${index} are left among the ${table}`);
      }
    }
  }

  #slotOf(tenantId: TenantId): number {
    return slotOfTenant(tenantId, this.#profile.slots);
  }

  #isKnown(tenantId: TenantId): Promise<boolean> {
    return this.#operate('read a tenant', ({ operator }, context) =>
      operator.call('readTenant', context, { tenantId }).then(
        () => true,
        (error: unknown) => {
          if (GrantdError.from(error).code === 'tenant-not-found') return false;
          throw error;
        },
      ),
    );
  }

  async #readAll(readers: readonly Client[], made: Client['made']): Promise<void> {
    const { subjects, objects } = this.#profile;
    await Promise.all(
      readers.map(async (reader) => {
        await Promise.all(made.map(({ tenant, tuple }) => reader.check(tenant, tuple)));
        for (const tenant of this.#tenants) {
          for (let subject = 1; subject <= subjects; subject += 1) {
            const name = `user${tenant.index}:s${subject}`;
            const tuples = Array.from(
              { length: objects },
              (_, index): Tuple => ({
                subject: name,
                relation: 'viewer',
                object: `doc${tenant.index}:o${index + 1}`,
              }),
            );
            await Promise.all(tuples.map((tuple) => reader.check(tenant, tuple)));
            await reader.list(tenant, name, 'viewer', 2);
          }
        }
      }),
    );
  }
}

/** The failure of a call of the operator. */
const isTenantNotFound = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof GrantdError && error.cause.code === 'tenant-not-found';

const textOf = (grants: readonly Grant[]): string =>
  grants
    .map((grant) => JSON.stringify(Object.entries(grant).sort()))
    .sort()
    .join('\n');

/** Never two at once in one thread. */
export async function runSeed(options: RunOptions): Promise<RunResult> {
  const simulation = new Simulation(options);
  current = simulation;
  try {
    return await simulation.run();
  } finally {
    current = undefined;
  }
}
