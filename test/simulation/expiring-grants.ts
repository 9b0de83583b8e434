// Grants that expire, in a tenant of their own, and the rules for them. The clocks of owners are hours apart and jump,
// and owners die: whatever the time is, an answer that a grant holds has a time before its expiry, one that it has
// expired a time not before it; once a client has been told that it has expired, nobody is told otherwise; a grant made
// again is a new one, with its own expiry; and each expiry is told once. The same holds for bulk writes, whose
// preconditions ask whether a grant holds, and for revocations by a filter, which pass over what has expired.

import type { Tuple } from '../../src/core/tuples.ts';
import { parseRuleSet } from '../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../src/rules/rules-text.ts';
import type { BulkWrite } from '../../src/shard/shard.ts';
import { type Access, Caller, type WorkloadPorts, type WorkloadTenant } from './caller.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { RunningFront } from './simulated-cluster.ts';
import { WALL_START_MS } from './simulated-process.ts';

const HOUR_MS = 3_600_000;
/** One entity has so many of them that its page is not whole, in some profiles. */
const SUBJECTS = 3;
/** Of one grant: until its owner's clock has reached its expiry. */
const BURSTS = 20;
const BURST_CHECKS = 3;
const NEVER_MS = Number.POSITIVE_INFINITY;
const OPERATOR = { operator: 'expiry' };

/** A grant whose creation was acknowledged. */
export interface Life {
  readonly tuple: Tuple;
  readonly grantId: string;
  readonly expiresAtMs: number;
  /** When a client was first told that it does not hold. */
  endedAt: number | undefined;
  /** The tuple was asked for again: what is answered from then on says nothing about this life. */
  over: boolean;
}

export class ExpiringGrants {
  readonly lives: Life[] = [];
  /** The only one that clients ask about for a while, and then none of them changes anything. */
  lull: Life | undefined;
  readonly #report: (failure: string) => void;
  #made = 0;

  constructor(report: (failure: string) => void) {
    this.#report = report;
  }

  /** Tuples that nobody has named, of a subject that nobody has named. */
  newGroup({ index }: WorkloadTenant, random: SeededRandom): readonly Tuple[] {
    const subject = `user${index}:g${this.#made + 1}`;
    return Array.from({ length: random.whole(2, 5) }, (): Tuple => {
      this.#made += 1;
      return { subject, relation: 'viewer', object: `doc${index}:g${this.#made}` };
    });
  }

  /** One that nobody has named. */
  newTuple({ index }: WorkloadTenant, random: SeededRandom): Tuple {
    this.#made += 1;
    const subject = `user${index}:x${random.whole(1, SUBJECTS)}`;
    return { subject, relation: 'viewer', object: `doc${index}:x${this.#made}` };
  }

  /** By object: how often one with an expiry was asked for, whether the answer came or not. */
  readonly #asked = new Map<string, number>();

  asked({ object }: Tuple): void {
    this.#asked.set(object, (this.#asked.get(object) ?? 0) + 1);
  }

  /** The grant existed, and has another expiry from now on, or its first one. */
  extended({ tuple, grantId, expiresAtMs: before }: Life, expiresAtMs: number): void {
    if (before !== NEVER_MS) this.#asked.set(tuple.object, (this.#asked.get(tuple.object) ?? 0) - 1);
    this.lives.push({ tuple, grantId, expiresAtMs, endedAt: undefined, over: false });
  }

  created(tuple: Tuple, grantId: string, expiresAtMs: number): Life {
    if (this.lives.some((life) => life.grantId === grantId)) this.#report(`grant ${grantId} is made a second time`);
    const life: Life = { tuple, grantId, expiresAtMs, endedAt: undefined, over: false };
    this.lives.push(life);
    return life;
  }

  /** An answer to a question that was asked at `askedAt`. `checkedAtMs`: where it has one. */
  judge(life: Life, held: boolean, askedAt: number, answeredAt: number, checkedAtMs: number | undefined): void {
    if (life.over) return;
    const { tuple, expiresAtMs, endedAt } = life;
    const what = `${tuple.subject} ${tuple.object}, which expires at ${expiresAtMs},`;
    if (held) {
      if (checkedAtMs !== undefined && checkedAtMs >= expiresAtMs) this.#report(`${what} holds at ${checkedAtMs}`);
      if (endedAt !== undefined && endedAt < askedAt) this.#report(`${what} had ended, and holds again`);
      return;
    }
    if (expiresAtMs === NEVER_MS) this.#report(`${what} does not hold`);
    if (checkedAtMs !== undefined && checkedAtMs < expiresAtMs) this.#report(`${what} has ended at ${checkedAtMs}`);
    life.endedAt = Math.min(life.endedAt ?? answeredAt, answeredAt);
  }

  /** Of all grants that ended, each expiry is told, and none twice. Returns whether all are told by now. */
  told(objects: readonly string[]): boolean {
    const counts = new Map<string, number>();
    for (const object of objects) counts.set(object, (counts.get(object) ?? 0) + 1);
    for (const [object, count] of counts) {
      if (count > (this.#asked.get(object) ?? 0)) this.#report(`the expiry of ${object} is told ${count} times`);
    }
    return this.lives.every(({ endedAt, over, tuple }) => over || endedAt === undefined || counts.has(tuple.object));
  }
}

/** A client that makes grants that expire, and asks about those of all such clients. */
export class ExpiryClient extends Caller {
  readonly #tenant: WorkloadTenant;
  readonly #grants: ExpiringGrants;

  constructor(
    name: string,
    frontName: string,
    ports: WorkloadPorts,
    random: SeededRandom,
    of: { readonly tenant: WorkloadTenant; readonly grants: ExpiringGrants },
  ) {
    super(name, frontName, ports, random);
    this.#tenant = of.tenant;
    this.#grants = of.grants;
  }

  run(endMs: number): Promise<void> {
    this.#endMs = endMs;
    return this.repeat(endMs, [1, this.ports.profile.thinkMsMax]);
  }

  #endMs = 0;

  protected override step(): Promise<void> {
    const { lives, lull } = this.#grants;
    if (lull !== undefined) return this.#ask(lull, ['check', 'check', 'bulk', 'list']);
    const recent = lives.slice(-12);
    if (recent.length === 0 || this.random.chance(0.12)) return this.make(this.#someExpiry()).then(() => {});
    if (this.ports.profile.actions.burst > 0 && this.random.chance(0.5)) return this.#burst();
    const life = this.random.pick(recent);
    if (life.endedAt !== undefined && !life.over && this.random.chance(0.15)) return this.#makeAgain(life);
    if (this.random.chance(0.06)) return this.#sweep();
    if (life.endedAt === undefined && !life.over && this.random.chance(0.15)) return this.#extend(life);
    return this.#ask(life, ['check', 'check', 'check', 'bulk', 'list', 'condition']);
  }

  /** Many checks at once, while other grants are made, until the grant has expired. */
  async #burst(): Promise<void> {
    const { scheduler } = this.ports.cluster;
    const life = await this.make(Math.round(WALL_START_MS + scheduler.nowMs + this.random.between(50, 300)));
    if (life === undefined) return;
    const isOver = (): boolean => life.endedAt !== undefined || scheduler.nowMs >= this.#endMs;
    const calls: Promise<unknown>[] = [];
    for (let round = 0; round < BURSTS && !isOver(); round += 1) {
      for (let count = 0; count < BURST_CHECKS; count += 1) calls.push(this.check(life));
      if (this.random.chance(0.3)) calls.push(this.make(this.#someExpiry()));
      await scheduler.sleep(this.random.between(1, 50));
    }
    await Promise.all(calls);
  }

  #ask(life: Life, ways: readonly ('check' | 'bulk' | 'list' | 'condition')[]): Promise<void> {
    const recent = this.#grants.lives.slice(-12);
    switch (this.random.pick(ways)) {
      case 'check':
        return this.check(life);
      case 'bulk':
        return this.#bulk([...new Set([life, this.random.pick(recent), this.random.pick(recent)])]);
      case 'condition':
        return this.#writeIf(life);
      case 'list':
        return this.#list(life.tuple.subject);
    }
  }

  /** Seconds from now, by the clock of some owner. */
  #someExpiry(): number {
    const nowMs = WALL_START_MS + this.ports.cluster.scheduler.nowMs;
    const hours = this.ports.profile.wallSkewMs < HOUR_MS ? 0 : this.random.pick([0, -HOUR_MS, HOUR_MS]);
    const fromMs = this.ports.profile.expiryMsMin;
    return Math.round(nowMs + hours + this.random.between(fromMs, fromMs + 12_000));
  }

  /** A new one. Undefined: nobody knows whether there is one. */
  async make(expiresAtMs: number): Promise<Life | undefined> {
    const tuple = this.#grants.newTuple(this.#tenant, this.random);
    const result = await this.#write(tuple, expiresAtMs);
    return result?.kind === 'created' ? this.#grants.created(tuple, result.grantId, expiresAtMs) : undefined;
  }

  async #makeAgain(life: Life): Promise<void> {
    life.over = true;
    const expiresAtMs = this.random.chance(0.5) ? this.#someExpiry() : undefined;
    const inBulk = this.random.chance(0.4);
    const result = await (inBulk ? this.#writeAbsent(life.tuple, expiresAtMs) : this.#write(life.tuple, expiresAtMs));
    if (result === undefined) return;
    if (result.kind === 'exists') this.ports.report(`${life.tuple.object} had ended, and is said to exist`);
    if (result.kind !== 'created') return;
    if (result.expiresAtMs !== expiresAtMs) {
      this.ports.report(
        `${life.tuple.object} is made to expire at ${expiresAtMs}, and expires at ${result.expiresAtMs}`,
      );
    }
    this.#grants.created(life.tuple, result.grantId, expiresAtMs ?? NEVER_MS);
  }

  /** Two rows tell the expiries of the grant from then on, close to each other or not. */
  async #extend(life: Life): Promise<void> {
    const nearMs = life.expiresAtMs + this.random.between(-200, 500);
    const near = life.expiresAtMs !== NEVER_MS && this.random.chance(0.7);
    const expiresAtMs = near ? Math.round(nearMs) : this.#someExpiry();
    life.over = true;
    const result = await this.#write(life.tuple, expiresAtMs);
    if (result?.kind === 'created') this.#grants.created(life.tuple, result.grantId, expiresAtMs);
    if (result?.kind !== 'exists') return;
    if (result.grantId === life.grantId && result.expiresAtMs === expiresAtMs) {
      this.#grants.extended(life, expiresAtMs);
      return;
    }
    this.ports.report(
      `${life.tuple.object} is to expire at ${expiresAtMs}; grant ${result.grantId} expires at ${result.expiresAtMs}`,
    );
  }

  async #write(tuple: Tuple, expiresAtMs: number | undefined) {
    const write = { ...tuple, revoke: false, ...(expiresAtMs === undefined ? {} : { expiresAtMs }) };
    if (expiresAtMs !== undefined) this.#grants.asked(tuple);
    const answer = await this.ask(this.#tenant, this.#tenant.key, (session, context) =>
      session.call('writeGrants', context, [write]),
    );
    return answer.kind === 'value' ? answer.value[0] : undefined;
  }

  #bulkWrite(write: BulkWrite) {
    for (const { expiresAtMs, ...tuple } of write.grants) if (expiresAtMs !== undefined) this.#grants.asked(tuple);
    return this.ask(this.#tenant, this.#tenant.key, (session, context) => session.call('writeBulk', context, write));
  }

  /** As `#write`, under the condition that there is no such grant. */
  async #writeAbsent(tuple: Tuple, expiresAtMs: number | undefined) {
    const grant = expiresAtMs === undefined ? tuple : { ...tuple, expiresAtMs };
    const preconditions = [{ ...tuple, exists: false }];
    const answer = await this.#bulkWrite({ grants: [grant], revocations: [], preconditions });
    if (answer.kind !== 'value') return undefined;
    if (answer.value.kind === 'precondition-not-met') {
      this.ports.report(`${tuple.object} had ended, and a condition says that it exists`);
    }
    const [result] = answer.value.kind === 'written' ? answer.value.grants : [];
    return result && ({ kind: result.created ? 'created' : 'exists', ...result } as const);
  }

  /** Makes a grant if another one holds. */
  async #writeIf(life: Life): Promise<void> {
    const tuple = this.#grants.newTuple(this.#tenant, this.random);
    const expiresAtMs = this.#someExpiry();
    const askedAt = this.ports.now();
    const preconditions = [{ ...life.tuple, exists: true }];
    const answer = await this.#bulkWrite({ grants: [{ ...tuple, expiresAtMs }], revocations: [], preconditions });
    if (answer.kind !== 'value' || answer.value.kind === 'refused') return;
    const held = answer.value.kind === 'written';
    this.#grants.judge(life, held, askedAt, this.ports.now(), undefined);
    const [made] = answer.value.kind === 'written' ? answer.value.grants : [];
    if (made?.created === true) this.#grants.created(tuple, made.grantId, expiresAtMs);
  }

  /** Makes grants of a subject of its own at once, revokes them by a filter, and makes them again. */
  async #sweep(): Promise<void> {
    const tuples = this.#grants.newGroup(this.#tenant, this.random);
    const grants = tuples.map((tuple) => {
      return this.random.chance(0.4) ? tuple : { ...tuple, expiresAtMs: this.#someExpiry() };
    });
    const made = await this.#bulkWrite({ grants, revocations: [], preconditions: [] });
    if (made.kind !== 'value' || made.value.kind !== 'written') return;
    const lives = made.value.grants.flatMap(({ grantId, expiresAtMs }, index): Life[] => {
      const tuple = tuples[index];
      if (tuple === undefined) return [];
      return [{ tuple, grantId, expiresAtMs: expiresAtMs ?? NEVER_MS, endedAt: undefined, over: false }];
    });
    await this.ports.cluster.scheduler.sleep(this.random.between(0, 9000));
    for (const life of lives) if (this.random.chance(0.5)) await this.check(life);
    while (this.#grants.lull !== undefined) await this.ports.cluster.scheduler.sleep(50);
    if (!(await this.#revokeAll(lives))) return;
    const preconditions = tuples.map((tuple) => ({ ...tuple, exists: false }));
    const again = await this.#bulkWrite({ grants: tuples, revocations: [], preconditions });
    if (again.kind !== 'value' || again.value.kind === 'refused') return;
    const { subject } = tuples[0] ?? { subject: '' };
    if (again.value.kind === 'precondition-not-met') {
      this.ports.report(`all grants of ${subject} were revoked, and one is said to exist`);
      return;
    }
    for (const { created, grantId, expiresAtMs } of again.value.grants) {
      if (!created || expiresAtMs !== undefined) {
        this.ports.report(`grant ${grantId} of ${subject} is made again, and is not new or expires`);
      }
    }
  }

  /** Returns whether all of them are known to have ended. */
  async #revokeAll(lives: readonly Life[]): Promise<boolean> {
    const { subject } = lives[0]?.tuple ?? { subject: '' };
    const askedAt = this.ports.now();
    let revoked = 0;
    for (let complete = false; !complete; ) {
      const answer = await this.ask(this.#tenant, this.#tenant.key, (session, context) =>
        session.call('revokeGrants', context, { of: { subject }, relation: undefined }),
      );
      if (answer.kind !== 'value') return false;
      revoked += answer.value.revoked;
      complete = answer.value.complete;
    }
    const permanent = lives.filter(({ expiresAtMs }) => expiresAtMs === NEVER_MS).length;
    const ended = lives.filter(({ endedAt }) => endedAt !== undefined && endedAt < askedAt).length;
    if (revoked < permanent || revoked > lives.length - ended) {
      this.ports.report(
        `of ${lives.length} grants of ${subject}, ${ended} had ended and ${permanent} never expire; ${revoked} were revoked`,
      );
    }
    return true;
  }

  /** Checks and listings go by rules from now on. They add nothing, since nobody is an editor. */
  async useRules(): Promise<void> {
    const rule = { namespace: `doc${this.#tenant.index}`, name: 'viewer', any_of: ['editor'] };
    const ruleSet = parseRuleSet({ rules: [rule] });
    await this.ask(this.#tenant, this.#tenant.key, (session, context) =>
      session.call('writeRules', context, { rules: RulesText.of(ruleSet), ifMatch: undefined }),
    );
  }

  /** What the owner itself says: the operator is asked nothing at readers. */
  checkAtOwner(life: Life): Promise<void> {
    return this.check(life, OPERATOR, this.ports.cluster.fronts.get('console'));
  }

  async check(life: Life, access: Access = this.#tenant.key, front?: RunningFront): Promise<void> {
    const askedAt = this.ports.now();
    const answer = await this.ask(
      this.#tenant,
      access,
      (session, context) => session.check(context, life.tuple),
      front,
    );
    if (answer.kind !== 'value') return;
    const { authorized, checkedAtMs } = answer.value;
    this.#grants.judge(life, authorized, askedAt, this.ports.now(), checkedAtMs);
  }

  async #bulk(lives: readonly Life[]): Promise<void> {
    const askedAt = this.ports.now();
    const answer = await this.ask(this.#tenant, this.#tenant.key, (session, context) =>
      session.checkBulk(
        context,
        lives.map(({ tuple }) => tuple),
      ),
    );
    if (answer.kind !== 'value') return;
    const { authorized, checkedAtMs } = answer.value;
    const answeredAt = this.ports.now();
    for (const [index, life] of lives.entries()) {
      this.#grants.judge(life, authorized[index] === true, askedAt, answeredAt, checkedAtMs);
    }
  }

  /** In one page: all that a subject holds at one time. */
  async #list(subject: string): Promise<void> {
    const known = this.#grants.lives.filter(({ tuple }) => tuple.subject === subject);
    const askedAt = this.ports.now();
    const query = { subject, relation: 'viewer', namespace: undefined, limit: 1000, cursor: undefined } as const;
    const answer = await this.ask(this.#tenant, this.#tenant.key, (session, context) =>
      session.call('listObjects', context, query),
    );
    if (answer.kind !== 'value' || answer.value.nextCursor !== undefined) return;
    const listed = new Set(answer.value.items);
    const answeredAt = this.ports.now();
    for (const life of known) this.#grants.judge(life, listed.has(life.tuple.object), askedAt, answeredAt, undefined);
  }
}
