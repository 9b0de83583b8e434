// A tenant as a reader has it: what its owner has in one epoch, up to a position of the log that grows. Its memory is
// that of an owner (pages that come and go, an overlay of commits that the state tables may lack). But the commits come
// from the owner and not from an appender.
//
// Linearizability: before a call is answered, the reader asks the owner how far its log is. The question leaves after
// the call arrived, and the owner answers it only under its lease, so what was acknowledged before the call is at most
// at that position. The reader answers once it has applied that position. No clock is involved, but for grants and
// keys that expire, and theirs is the owner's. In the process of its owner, a reader need not ask while nothing was
// committed since its last question (commit-counts.ts).
//
// Invariant: whatever goes wrong (a lost connection, another epoch, a commit that is missing) ends the reader and
// everything of it: handles, pages, waiting calls. Nothing is mended, and nothing of it is used by the next reader.

import { type Clock, delay } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { StateReads } from '../../store/store.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { CommitCounts } from '../log/commit-counts.ts';
import { type Commit, decodeCommit } from '../log/entries.ts';
import { type LogTime, SlotTime } from '../log/slot-time.ts';
import type { ServedTenure } from '../log/tenure.ts';
import type { PageLimits, ReaderLimits } from '../memory/limits.ts';
import type { MemoryBudget } from '../memory/memory-budget.ts';
import { TenantMemory } from '../memory/tenant-memory.ts';
import {
  type CallName,
  type FollowAnswer,
  type LogPosition,
  type LogPositions,
  ShardFailure,
  USED_KEYS_MAX,
  type UsedKey,
} from '../shard.ts';
import { yieldTurn } from '../store-calls.ts';
import { decodeBeginning, type OwnerPort } from './follow-tenant.ts';

/** How often a call that needs the state tables up to date asks whether they are. */
const APPLIED_POLL_MS = 50;

/** After this long without an answer, calls are better off at the owner itself. */
const ANSWER_MS_MAX = 2000;
/** A reader in the process of its owner asks this often at least: the owner keeps commits only for readers that ask. */
const ASKED_MS_MAX = 5000;
/** The owner hears of the uses of keys this often: before a reader that is not used any more ends. */
const USES_TOLD_MS = 10_000;

export interface ReaderDependencies {
  readonly owners: OwnerPort;
  readonly store: StateReads;
  readonly clock: Clock;
  readonly budget: MemoryBudget;
  readonly pageLimits: PageLimits;
  readonly readerLimits: ReaderLimits;
  /** Whether this shard can read the store, as far as it knows. Undefined: it shares that with the owners. */
  readonly mayRead?: (() => boolean) | undefined;
  /** The counts that the owners of this process raise, and their clock is this one. Undefined: owners are elsewhere. */
  readonly commitCounts?: CommitCounts | undefined;
}

/** Waits for the position that a question brings. */
interface PendingRead {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** An owner that responds to pings may still not answer. */
function inTime<Answer>(clock: Clock, answer: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const tooLate = new ShardFailure('not-serving', 'The owner did not answer in time.');
    const timer = clock.setTimer(() => reject(tooLate), ANSWER_MS_MAX);
    answer.finally(() => timer.cancel()).then(resolve, reject);
  });
}

const notHere = (): Promise<never> => Promise.reject(new ShardFailure('wrong-owner', 'A reader only answers reads.'));

/**
 * A reader as the calls of one message see it, by the position of the log that the message brought. A front says how
 * late it is there, so that this counts for its own calls alone: the reader's time moves only by the owner's answers.
 */
class ReaderAtPosition implements ServedTenure {
  readonly slot: number;
  readonly epoch: number;
  readonly budget: MemoryBudget;
  readonly hotPages: TenantReader['hotPages'];
  readonly slotTime: SlotTime;
  readonly time = undefined;
  readonly behindMs = 0;
  readonly position: LogPosition;
  readonly #reader: TenantReader;

  constructor(reader: TenantReader, position: LogPosition) {
    this.slot = reader.slot;
    this.epoch = reader.epoch;
    this.budget = reader.budget;
    this.hotPages = reader.hotPages;
    this.position = position;
    this.#reader = reader;
    this.slotTime = new SlotTime({ wallMs: () => Math.max(reader.slotTime.nowMs, position.nowMs) }, this);
  }

  get begunSeq(): number {
    return this.#reader.begunSeq;
  }

  get lastSeq(): number {
    return this.#reader.lastSeq;
  }

  get nextBase(): number {
    return Math.max(this.#reader.nextBase, this.position.nextBase);
  }

  assertServing(): void {
    this.#reader.assertServing();
  }

  advance(): Promise<void> {
    return this.#reader.advance();
  }

  applied(): Promise<void> {
    return this.#reader.applied();
  }

  readonly submit = notHere;
  readonly checkpointed = notHere;
}

export class TenantReader implements ServedTenure {
  readonly tenantId: TenantId;
  readonly slot: number;
  readonly epoch: number;
  readonly memory: TenantMemory;
  readonly slotTime: SlotTime;
  readonly begunSeq: number;
  readonly budget: MemoryBudget;
  /** What the owner says of its next base serves as time alone. */
  readonly behindMs = 0;
  readonly hotPages = { note: (): void => {}, sample: (): void => {} };
  readonly tally: ReaderTally;
  /** Time of the last call, on the monotonic clock. */
  usedAtMs: number;
  readonly #address: string;
  readonly #dependencies: ReaderDependencies;
  readonly #onEnded: () => void;
  #seq: number;
  #nextBase: number;
  #ownerNowMs: number;
  #appliedSeq: number;
  #waiting: PendingRead[] = [];
  #isAsking = false;
  #ended = false;
  /** The count of commits before the last question that was answered, and the time of that question. */
  #notedCount: number | undefined;
  #askedAtMs = 0;
  #toldAtMs: number;
  /** For the calls of the last message with a position. */
  #atPosition: ReaderAtPosition | undefined;

  /** `beginning`: the owner's answer to the first question. Throws if it is not one. */
  constructor(
    of: Pick<TenantReader, 'tenantId' | 'slot' | 'tally'> & { readonly address: string },
    beginning: FollowAnswer,
    dependencies: ReaderDependencies,
    onEnded: () => void,
  ) {
    const { clock, store, budget } = dependencies;
    const { tenant, count, nextExpiryMs } = decodeBeginning(beginning.commits);
    this.tenantId = of.tenantId;
    this.slot = of.slot;
    this.epoch = beginning.epoch;
    this.budget = budget;
    this.tally = of.tally;
    this.usedAtMs = clock.monotonicMs();
    this.#toldAtMs = this.usedAtMs;
    this.#address = of.address;
    this.#dependencies = dependencies;
    this.#onEnded = onEnded;
    this.#seq = beginning.seq;
    this.begunSeq = beginning.seq;
    this.#nextBase = beginning.nextBase;
    this.#ownerNowMs = beginning.nowMs;
    this.#appliedSeq = beginning.appliedSeq;
    const wallMs = dependencies.commitCounts === undefined ? () => 0 : () => clock.wallMs();
    this.slotTime = new SlotTime({ wallMs: () => Math.max(this.#ownerNowMs, wallMs()) }, this);
    const reads = currentReads(store, () => this.#caughtUp());
    this.memory = new TenantMemory(tenant, false, { ...dependencies, store: reads, applied: () => this.applied() });
    this.memory.grantCount.load({ tenantId: of.tenantId, ...count });
    this.memory.nextExpiryMs = nextExpiryMs;
  }

  /** Whether this process has the clock of the owner. */
  get hasOwnersClock(): boolean {
    return this.#dependencies.commitCounts !== undefined;
  }

  get #mayRead(): boolean {
    return this.#dependencies.mayRead?.() !== false;
  }

  /** Whether the reader knows without a question that it has applied everything that was acknowledged before now. */
  get current(): boolean {
    if (this.#notedCount === undefined) return false;
    const { clock, commitCounts } = this.#dependencies;
    if (commitCounts?.read(this.slot) !== this.#notedCount) return false;
    this.usedAtMs = clock.monotonicMs();
    return this.usedAtMs - this.#askedAtMs < ASKED_MS_MAX;
  }

  /**
   * What answers the calls of a message with these positions: the reader is current, or has applied the tenant's
   * position among them, and then goes by the time of that position. Undefined: the reader has to ask the owner first.
   * A shard that has lost the store answers none, although the pages in its memory are right: the others would wait.
   */
  at(positions: LogPositions): ServedTenure | undefined {
    if (!this.#mayRead) return undefined;
    if (this.current) return this;
    const position = positions.get(this.tenantId);
    if (position === undefined || position.epoch !== this.epoch || position.seq > this.#seq || this.#ended)
      return undefined;
    this.usedAtMs = this.#dependencies.clock.monotonicMs();
    // One message has many calls.
    if (this.#atPosition?.position !== position) this.#atPosition = new ReaderAtPosition(this, position);
    return this.#atPosition;
  }

  /** Resolves once the reader has applied everything that was acknowledged before this call. */
  confirmed(): Promise<void> {
    if (!this.#mayRead) return Promise.reject(new ShardFailure('not-serving', 'The shard has lost the store.'));
    return this.current ? Promise.resolve() : this.#asked();
  }

  /**
   * Asks the owner beside calls, so that a reader in use never lacks more commits than the owner keeps, however much is
   * written while no call comes; and tells it which keys were used.
   */
  keepUp(): void {
    if (this.#isAsking || this.#ended || !this.#mayRead) return;
    const { commitCounts } = this.#dependencies;
    const count = commitCounts?.read(this.slot);
    if (count !== undefined && count === this.#notedCount && !this.#tellsUses) return;
    this.#isAsking = true;
    void this.#askOnce();
  }

  get #tellsUses(): boolean {
    return this.#dependencies.clock.monotonicMs() - this.#toldAtMs >= USES_TOLD_MS;
  }

  /** Those that the owner has not been told, in a question now and then. More than one question takes follow next. */
  #usesToTell(): readonly UsedKey[] {
    if (!this.#tellsUses) return [];
    const uses: UsedKey[] = [];
    for (const [keyId, use] of this.memory.keyUses) {
      if (use.usedAtMs <= use.writtenAtMs) continue;
      if (uses.length === USED_KEYS_MAX) return uses;
      use.writtenAtMs = use.usedAtMs;
      uses.push({ keyId, usedAtMs: use.usedAtMs });
    }
    this.#toldAtMs = this.#dependencies.clock.monotonicMs();
    return uses;
  }

  /** The same, by a question to the owner. */
  #asked(): Promise<void> {
    this.usedAtMs = this.#dependencies.clock.monotonicMs();
    if (this.#ended) return Promise.reject(this.#hasEnded());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.#isAsking) return;
      this.#isAsking = true;
      // Once for everything that this step has brought.
      queueMicrotask(() => void this.#askOnce());
    });
  }

  async #askOnce(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      await this.#ask(false);
    } catch (error) {
      // Whatever the owner says: the calls are better off there.
      this.end(endedBy(error), waiting.length);
      for (const { reject } of waiting) reject(this.#hasEnded());
      return;
    }
    if (waiting.length > 0) this.tally.confirms(waiting.length);
    for (const { resolve } of waiting) resolve();
    if (this.#waiting.length > 0) void this.#askOnce();
    else this.#isAsking = false;
  }

  /** What arrives later than the question is not covered by its answer. A long answer comes in parts. */
  async #ask(advance: boolean): Promise<void> {
    for (let more = await this.#askForPart(advance); more; more = await this.#askForPart(false));
  }

  /** Whether there is more. */
  async #askForPart(advance: boolean): Promise<boolean> {
    this.assertServing();
    const { tenantId, epoch, slot } = this;
    const { owners, clock, commitCounts } = this.#dependencies;
    const count = commitCounts?.read(slot);
    const askedAtMs = clock.monotonicMs();
    const uses = this.#usesToTell();
    const question = { tenantId, epoch, seq: this.#seq, advance, ...(uses.length === 0 ? {} : { uses }) };
    const following = owners.follow(this.#address, question);
    const answer = await inTime(clock, following);
    const commits = await this.#decode(answer.commits);
    this.assertServing();
    if (answer.epoch !== epoch) throw new ShardFailure('handle-unknown', 'The owner is in another epoch.');
    this.tally.catchesUp(Math.max(0, answer.seq - this.#seq));
    this.#take(answer, commits);
    if (answer.more) return true;
    this.#notedCount = count;
    this.#askedAtMs = askedAtMs;
    return false;
  }

  async #decode(lines: string): Promise<readonly Commit[]> {
    if (lines === '') return [];
    const commits: Commit[] = [];
    let characters = 0;
    for (const line of lines.split('\n')) {
      commits.push(decodeCommit(line));
      characters += line.length;
      if (characters < this.#dependencies.readerLimits.charactersPerStep) continue;
      characters = 0;
      await yieldTurn(this.#dependencies.clock);
    }
    return commits;
  }

  /** One step, so that no call sees a part. Answers overlap: each has everything since its question. */
  #take({ seq, nextBase, nowMs, more, uncollectedMs, ...answer }: FollowAnswer, commits: readonly Commit[]): void {
    const { memory } = this;
    for (const commit of commits) {
      if (commit.seq <= this.#seq) continue;
      for (const change of commit.changes) memory.commit(change, commit.seq);
    }
    // That of the end of the log: a part lacks what was collected since, and what a later answer brought it lacks.
    if (!more && uncollectedMs !== undefined && seq >= this.#seq) memory.nextExpiryMs = uncollectedMs;
    this.#seq = Math.max(this.#seq, seq);
    // By the time of the end of the log, a grant would have expired that a commit of the next part prolongs.
    if (!more) {
      this.#nextBase = Math.max(this.#nextBase, nextBase);
      this.#ownerNowMs = Math.max(this.#ownerNowMs, nowMs);
    }
    const appliedSeq = Math.min(answer.appliedSeq, this.#seq);
    if (appliedSeq <= this.#appliedSeq) return;
    this.#appliedSeq = appliedSeq;
    memory.confirm(appliedSeq);
  }

  async #caughtUp(): Promise<void> {
    try {
      await this.confirmed();
    } catch {
      // Counts as a failure of the store: the call waits or is handed to the owner.
      throw new GrantdError('unavailable', 'The reader has ended.');
    }
  }

  /** Drops everything. `asked`: calls that wait for the present question. */
  end(reason: ReaderEnd, asked = 0): void {
    if (this.#ended) return;
    this.#ended = true;
    this.tally.ends(reason, asked + this.#waiting.length);
    this.#notedCount = undefined;
    this.memory.drop();
    this.#onEnded();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(this.#hasEnded());
  }

  #hasEnded(): ShardFailure {
    return new ShardFailure('handle-unknown', `The reader of slot ${this.slot} has ended.`);
  }

  // ---- as a tenure ----

  get lastSeq(): number {
    return this.#seq;
  }

  get nextBase(): number {
    return this.#nextBase;
  }

  /** Only writes need it. */
  get time(): LogTime | undefined {
    return undefined;
  }

  assertServing(): void {
    if (this.#ended) throw this.#hasEnded();
  }

  /** The owner's log reaches the time of this call. */
  async advance(): Promise<void> {
    try {
      await this.#ask(true);
    } catch (error) {
      this.end(endedBy(error));
      throw this.#hasEnded();
    }
  }

  /** Resolves once the state tables have every commit that the reader has applied so far. */
  async applied(): Promise<void> {
    const seq = this.#seq;
    while (this.#appliedSeq < seq) {
      await this.#asked();
      if (this.#appliedSeq < seq) await delay(this.#dependencies.clock, APPLIED_POLL_MS);
    }
    this.assertServing();
  }

  readonly submit = notHere;
  readonly checkpointed = notHere;
}

// ---- reads of the state tables ----
//
// Reads of the state tables by a reader of a tenant. The tables may be ahead of what the reader has applied: it would
// mix two moments. So rows are used only once the reader has applied everything that they can contain, which is what
// the owner had committed when they had arrived. What was committed after the read began is put over them as at the
// owner: the reader's memory keeps every commit until it is told that the tables have it.

/** `caughtUp`: resolves once the reader has applied what the owner had committed when it was called. */
export function currentReads(store: StateReads, caughtUp: () => Promise<void>): StateReads {
  const current =
    <Parameters extends unknown[], Rows>(read: (...parameters: Parameters) => Promise<Rows>) =>
    async (...parameters: Parameters): Promise<Rows> => {
      const rows = await read.apply(store, parameters);
      await caughtUp();
      return rows;
    };
  return {
    readGrant: current(store.readGrant),
    listGrants: current(store.listGrants),
    listObjectGrants: current(store.listObjectGrants),
    listGrantsOfEach: current(store.listGrantsOfEach),
    listObjectGrantsOfEach: current(store.listObjectGrantsOfEach),
    listSubjects: current(store.listSubjects),
    listNamespaces: current(store.listNamespaces),
    readKey: current(store.readKey),
    listKeys: current(store.listKeys),
    readRules: current(store.readRules),
  };
}

// ---- counts ----
//
// What the readers of a shard have done, for the metrics, and for the operator by tenant. The counts outlive the
// readers themselves.

/** `check`: a single one. `bulk`: several checks, or checks by name. */
export type ReaderCallKind = 'check' | 'bulk' | 'listing';

export const kindOf = (name: CallName): ReaderCallKind =>
  name === 'checkBulk' || name === 'checkNamed' ? 'bulk' : 'listing';

export type ReaderEnd =
  | 'idle'
  /** The shard reads for as many tenants as it may, and another one came. */
  | 'displaced'
  | 'stopping'
  /** The owner did not answer in time, or may not answer under its lease. */
  | 'owner-unreachable'
  /** Another shard owns the slot now. */
  | 'owner-moved'
  /** The owner is the same shard in another epoch. */
  | 'epoch'
  /** The owner no longer keeps what the reader lacks. */
  | 'commits-missing'
  | 'failed';

/** Why the owner's answer, or its absence, ends a reader. */
export function endedBy(error: unknown): ReaderEnd {
  if (error instanceof GrantdError) return error.code === 'cursor-too-old' ? 'commits-missing' : 'failed';
  if (!(error instanceof ShardFailure)) return 'failed';
  if (error.kind === 'not-serving') return 'owner-unreachable';
  if (error.kind === 'wrong-owner') return 'owner-moved';
  return error.kind === 'handle-unknown' ? 'epoch' : 'failed';
}

/** Counts of one tenant at this shard, since the shard started to read for it. */
export class ReaderTally {
  /** Calls that were answered. */
  calls = 0;
  /** Questions to the owner for entries that it lacked. */
  readIndexes = 0;
  /** How often a reader of the tenant began. */
  begun = 0;
  /** Calls that waited when a reader ended: fronts make them at the owner. */
  handedOver = 0;
  readonly #all: ReaderTallies;

  constructor(all: ReaderTallies) {
    this.#all = all;
  }

  answers(kind: ReaderCallKind): void {
    this.calls += 1;
    this.#all.calls[kind] += 1;
  }

  /** `waiting`: calls, and reads of the store, that it covers. */
  confirms(waiting: number): void {
    this.readIndexes += 1;
    this.#all.metrics.readIndexCalls.observe(waiting);
  }

  /** `entries`: of the log, between what the reader had and what the owner answered. */
  catchesUp(entries: number): void {
    this.#all.metrics.readIndexLagEntries.observe(entries);
  }

  ends(reason: ReaderEnd, waiting: number): void {
    this.handedOver += waiting;
    this.#all.metrics.readersEnded.inc({ reason });
  }
}

export class ReaderTallies {
  readonly metrics: Metrics;
  /** Since the metrics were last read. */
  readonly calls: Record<ReaderCallKind, number> = { check: 0, bulk: 0, listing: 0 };
  readonly #max: number;
  /** The tenant that began last is at the end. */
  readonly #tallies = new Map<TenantId, ReaderTally>();

  /** `max`: tenants whose counts are kept. */
  constructor(metrics: Metrics, max: number) {
    this.metrics = metrics;
    this.#max = max;
  }

  /** For a reader that begins. */
  begin(tenantId: TenantId): ReaderTally {
    const tally = this.#tallies.get(tenantId) ?? new ReaderTally(this);
    this.#tallies.delete(tenantId);
    this.#tallies.set(tenantId, tally);
    tally.begun += 1;
    const [oldest] = this.#tallies.keys();
    if (this.#tallies.size > this.#max && oldest !== undefined) this.#tallies.delete(oldest);
    return tally;
  }

  report(): void {
    for (const kind of ['check', 'bulk', 'listing'] as const) {
      this.metrics.readerCalls.inc({ kind }, this.calls[kind]);
      this.calls[kind] = 0;
    }
  }
}
