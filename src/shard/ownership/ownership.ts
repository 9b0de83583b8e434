// The slots of one shard: it claims, opens, hands over and releases them in rounds, according to the plan. Invariant:
// the shard serves a slot only in an epoch that a conditional write has given to this incarnation: its own claim, or a
// handover of the previous owner. It opens each epoch once at most, and never after it has sent a handover or release
// of that epoch, whatever the store replies.
//
//        claimed, or handed over      recovered               hand over           handover sent
//   (none) ────────────────▶ opening ──────────▶ serving ──────────────────▶ releasing ─────────────▶ (none)
//      ▲                        │ failed            │ another epoch in the log
//      └────── retried ◀────────┴───────────────────┘ or the session ended
//
// A handover: the successor is told to expect the slot, and reads ahead; the owner stops and drains; a conditional
// write makes the successor the owner; the owner tells it that, and where the log ends, and the successor serves. If it
// is not told, it finds the row in its next round, or when a front asks it. Few slots move at a time
// (handover-pace.ts); the next ones move once the successor has opened those. Fronts hear of it from the successor, and
// from the previous owner. After a crash, they name the slots that requests wait for, which are opened first.
//
// If a reply was lost, this shard may be the owner without knowing it. The plan then finds the row, and opens the slot
// or hands it over.
//
// What an owner says of the end of its log can mislead nobody: it stops before the write, and serves that epoch never
// again; the successor takes it only for an epoch that it has not opened or given up, which the row gives to its
// present session; and until that is dead or has given the slot up, nobody else can write the row or the log.

import { isDeepStrictEqual } from 'node:util';
import { type Clock, delay } from '../../core/async/clock.ts';
import type { SlotRow, Store } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import { PagesAhead } from '../log/hot-pages.ts';
import type { QuietPromises } from '../log/quiet-promises.ts';
import { claimSlot, readSlotState, type SlotState } from '../log/recovery.ts';
import type { Tenure } from '../log/tenure.ts';
import type { MemoryBudget } from '../memory/memory-budget.ts';
import { type Expectation, type ExpectedSlot, type HandedOverSlot, type SettledLog, ShardFailure } from '../shard.ts';
import { storeDeadline } from '../store-calls.ts';
import { HANDOVERS_MAX, HandoverPace } from './handover-pace.ts';
import type { Membership } from './membership.ts';
import type { MembershipLease } from './membership-lease.ts';
import { type SlotPlan, SlotPlanner } from './slot-plan.ts';
import { OPENINGS_MAX, type SlotTask, SlotTasks } from './slot-tasks.ts';
import { disposeState, StateReadsAhead } from './state-reads-ahead.ts';

/** After this, a handover that the successor has not finished no longer holds up the next one. */
const MOVE_MS_MAX = 2000;
/** A handover waits at most this long for the last writes and the checkpoint; the log contains them anyway. */
const FLUSH_MS_MAX = 1000;
/**
 * The second attempt finds out the outcome of a first one whose reply was lost; a third may reach another coordinator.
 */
const RELEASE_TRIES = 3;
/** How often the rows are read while no member comes or goes and this shard has its share. */
const SCAN_MS = 3000;
/** The same while slots move or have no owner: this shard is told of its own, and others claim theirs. */
const MOVING_SCAN_MS = 400;
/** Fronts name the slots that requests wait for every second, while they wait. */
const AWAITED_MS = 3000;
/**
 * From the last opening of such a slot on, no other slot is opened, and then one at a time: meanwhile the store reads
 * pages for its tenants, and each opening would take as much of the processors as hundreds of their checks.
 */
const QUIET_MS = 1000;
const GENTLE_MS = 2000;
/** However often further slots are waited for: so long without any other opening, in each of these spans at most. */
const QUIET_MS_MAX = 5000;
const QUIET_SPAN_MS = 15_000;
/** Slots of owners that may be dead, read ahead while it is not certain yet. */
const IMPENDING_MAX = 128;
/**
 * A successor gets no slot before all fronts of this shard are connected to it, but after so long it does: requests
 * would otherwise wait for those connections, and one whose first packet is lost takes a second.
 */
const FRONTS_AWAITED_MS = 5000;
const FRONTS_POLL_MS = 50;
/** From the first sight of a new member to its first slot. */
const LEAD_MS = 1000;
/** In a cold start all members arrive within moments. Waiting lets each slot be claimed only once. */
const SETTLE_MS = 1000;
const SETTLE_MS_MAX = 2000;

/** The way to the shards that get the slots of this one. Rejects as `OwnerPort` does. */
export interface SuccessorPort {
  /** Resolves when the shard at `address` (host:port) has read ahead what it needs to open the slot. */
  expect(address: string, slot: ExpectedSlot): Promise<Expectation>;
  /** Resolves when it serves the slot. */
  take(address: string, slot: HandedOverSlot): Promise<undefined>;
}

export interface OwnershipPorts {
  readonly store: Store;
  readonly successors: SuccessorPort;
  /** The present one. */
  readonly session: () => MembershipLease;
  /** The names of the fronts that are connected to this shard. */
  readonly fronts: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly membership: Membership;
  readonly budget: MemoryBudget;
  readonly promises: QuietPromises;
  readonly createTenure: (row: SlotRow, session: MembershipLease) => Tenure;
  /** Whether this shard may serve: otherwise it claims nothing. */
  readonly takes: () => boolean;
  /** What fronts should know about the slots of this shard has changed. */
  readonly onRoutesChanged: () => void;
  readonly onMoved: (kind: 'claimed' | 'released' | 'failed') => void;
}

export interface OwnershipOptions {
  readonly slots: number;
  readonly shardName: string;
  /** No other shard can come: slots are claimed at once. */
  readonly alone: boolean;
}

interface TakenSlot extends PromiseWithResolvers<undefined> {
  readonly epoch: number;
  readonly settled: SettledLog | undefined;
}

export class Ownership {
  readonly pace = new HandoverPace();
  readonly #ports: OwnershipPorts;
  readonly #options: OwnershipOptions;
  readonly #planner: SlotPlanner;
  readonly #tenures = new Map<number, Tenure>();
  readonly #rows = new Map<number, SlotRow>();
  readonly #tasks: SlotTasks;
  readonly #states: StateReadsAhead;
  /** By successor: until when this shard waits for fronts that are not connected to it. */
  readonly #awaitedUntilMs = new Map<string, number>();
  /** By successor: since when this shard has had slots for it. */
  readonly #seenAtMs = new Map<string, number>();
  /**
   * Slots that this shard hands over, and in which epoch it served them. Until the successor has opened them, fronts
   * wait here: the successor would only tell them to wait.
   */
  readonly #moves = new Map<number, number>();
  /** Slots that their owners are about to hand over to this shard, and since when. */
  readonly #expected = new Map<number, number>();
  /** Slots that this shard was given: by whom they are awaited, and what the previous owner said of the log. */
  readonly #taken = new Map<number, TakenSlot>();
  /** Slots that were asked for, and that this shard may own by now; and whether their rows are being read. */
  readonly #asked = new Set<number>();
  #looking = false;
  /** Slots that requests wait for at fronts, in the order in which they were named, and when they were last. */
  readonly #awaited = new Map<number, number>();
  /** When the opening of such a slot was last planned: those that no request waits for are opened later. */
  #awaitedOpenedAtMs = Number.NEGATIVE_INFINITY;
  /** When the others began to wait for such. */
  #quietFromMs = Number.NEGATIVE_INFINITY;
  /** By slot: the last epoch that this shard has opened or given up. It opens only later ones. */
  readonly #spentEpochs = new Map<number, number>();
  /**
   * During a cold start: the living members, since when they have been the same, and since when the shard has waited.
   */
  #settling: { readonly members: readonly string[]; readonly sinceMs: number; readonly startedMs: number } | undefined;
  #settled = false;
  /** It gives up every slot, for good. */
  #leaving = false;
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #scannedAtMs = Number.NEGATIVE_INFINITY;
  /** Incarnation and state of each. */
  #scannedMembers: readonly string[] = [];
  #plan: SlotPlan | undefined;

  constructor(ports: OwnershipPorts, options: OwnershipOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#planner = new SlotPlanner(options.slots);
    this.#settled = options.alone;
    this.#states = new StateReadsAhead(
      (slot, withPages) => this.#readState(slot, withPages),
      () => ports.clock.monotonicMs(),
    );
    this.#tasks = new SlotTasks({
      clock: ports.clock,
      movingMax: () => this.pace.limitAt(ports.clock.monotonicMs()),
      unawaitedMax: () => this.#unawaitedMax(),
      onFailed: ({ slot, error, retryInMs }) => {
        ports.onMoved('failed');
        ports.log.error({ slot, err: error, retryInMs }, 'cannot open or release the slot; retrying');
      },
    });
  }

  get tenures(): ReadonlyMap<number, Tenure> {
    return this.#tenures;
  }

  /** By slot, the epoch of those that fronts may ask for here: this shard serves them, or knows the successor. */
  routes(): ReadonlyMap<number, number> {
    const epochs = new Map(this.#moves);
    for (const { slot, epoch, state } of this.#tenures.values()) if (state !== 'opening') epochs.set(slot, epoch);
    return epochs;
  }

  /** Rows as last seen. */
  rows(): readonly SlotRow[] {
    return [...this.#rows.values()].sort((left, right) => left.slot - right.slot);
  }

  /** Whether the members have settled, and this shard serves every slot that it should own. */
  get complete(): boolean {
    if (!this.#settled || this.#plan === undefined) return false;
    for (const slot of this.#plan.wanted) if (this.#tenures.get(slot)?.serving !== true) return false;
    return true;
  }

  /** Why this shard does not answer for a slot in this session. Names the owner if this shard knows it. */
  notServing(slot: number, session: MembershipLease): ShardFailure {
    const row = this.#moves.has(slot) ? undefined : this.#rows.get(slot);
    if (this.#plan?.expected.includes(slot) === true) {
      this.#asked.add(slot);
      void this.#lookForAsked(session);
    }
    const owner = row?.owner === undefined ? undefined : this.#ports.membership.row(row.owner);
    if (
      row === undefined ||
      owner === undefined ||
      owner.state === 'dead' ||
      owner.incarnation === session.incarnation
    ) {
      return new ShardFailure('not-serving', `Slot ${slot} has no owner known to this shard.`);
    }
    const { epoch } = row;
    const { address } = owner;
    const belongsTo = { slot, epoch, incarnation: owner.incarnation, address };
    return new ShardFailure('wrong-owner', `Slot ${slot} belongs to another shard.`, belongsTo);
  }

  /** Reads ahead a slot that its owner will hand over. Resolves when it is read, as far as that can be. */
  async expect({ slot, successor }: ExpectedSlot): Promise<undefined> {
    const session = this.#ports.session();
    if (successor !== session.incarnation || slot >= this.#options.slots) throw notSuccessor(slot);
    this.#expected.set(slot, this.#ports.clock.monotonicMs());
    this.#replan(session);
    await this.#states.ready(slot);
    return undefined;
  }

  /** Opens a slot that its owner has handed over. Resolves when this shard serves it. */
  async take({ slot, successor, epoch, first, opened, settled }: HandedOverSlot): Promise<undefined> {
    const session = this.#ports.session();
    const tenure = this.#tenures.get(slot);
    // It may have found the row by itself.
    const isOpened = tenure?.epoch === epoch;
    const isSpent = epoch <= (this.#spentEpochs.get(slot) ?? 0) && !isOpened;
    const isOther = successor !== session.incarnation || slot >= this.#options.slots;
    if (isOther || isSpent || this.#leaving) throw notSuccessor(slot);
    if (isOpened && tenure.serving) return undefined;
    const taken = { epoch, settled, ...Promise.withResolvers<undefined>() };
    this.#taken.get(slot)?.reject(notSuccessor(slot));
    this.#taken.set(slot, taken);
    this.#takeRow({ slot, owner: session.incarnation, epoch, opened, first });
    this.#replan(session);
    return taken.promise;
  }

  /**
   * Requests wait for these slots at a front. Among the slots that this shard opens, or would open if their owner were
   * dead, they come first; that is all a front can bring about.
   */
  openFirst(slots: readonly number[]): void {
    const nowMs = this.#ports.clock.monotonicMs();
    const { claims = [], impending = [] } = this.#plan ?? {};
    const due = new Set([...claims, ...impending]);
    const isNews = slots.some((slot) => due.has(slot) && !this.#awaited.has(slot));
    for (const slot of slots) if (slot < this.#options.slots) this.#awaited.set(slot, nowMs);
    if (isNews) this.#replan(this.#ports.session());
  }

  /** Number of openings and releases that have failed so far. */
  get failures(): number {
    return this.#tasks.failures;
  }

  /** The error of the first of them. */
  get firstFailure(): unknown {
    return this.#tasks.firstFailure;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Whether slots are moving to or from this shard, or soon may: the rows should then be read often. */
  get moving(): boolean {
    if (!this.#settled) return true;
    const nowMs = this.#ports.clock.monotonicMs();
    const waits = (this.#plan?.expected.length ?? 0) > 0 || this.#tasks.moving > 0;
    return waits && nowMs - this.#changedAtMs < MOVE_MS_MAX;
  }

  /** Reads the rows if they may have changed, plans, and starts what is due. Throws if the store does not respond. */
  async round(session: MembershipLease): Promise<void> {
    await this.#refreshRows();
    this.#replan(session);
  }

  #replan(session: MembershipLease): void {
    if (this.#leaving || session.ended || !session.leaseValid) return;
    if (session.state === 'draining' && !this.pace.leaves) {
      this.#tasks.clear();
      return;
    }
    const nowMs = this.#ports.clock.monotonicMs();
    const plan = this.#planFor(session, nowMs);
    // A slot that is expected to come or go is worth frequent reads.
    if (plan.expected.length > 0 && (this.#plan?.expected.length ?? 0) === 0) this.#changedAtMs = nowMs;
    this.#plan = plan;
    if (!this.#settled) this.#settle(nowMs);
    this.#tasks.plan(this.#tasksOf(plan, session));
  }

  /** Resolves when no task is in flight. */
  idle(): Promise<void> {
    return this.#tasks.idle();
  }

  /** Releases every slot without a successor, and takes none any more. */
  async releaseAll(session: MembershipLease): Promise<void> {
    this.#leaving = true;
    this.#tasks.clear();
    await this.idle();
    await Promise.all([...this.#tenures.keys()].map((slot) => this.#handOver(slot, session, undefined)));
  }

  /** The session ended, and with it the ownership of all its slots. */
  endAll(reason: string): void {
    for (const tenure of this.#tenures.values()) tenure.end(reason);
    this.#tenures.clear();
    this.#tasks.reset();
    this.#seenAtMs.clear();
    this.#awaitedUntilMs.clear();
    this.#expected.clear();
    for (const [slot, { reject }] of this.#taken) reject(notSuccessor(slot));
    this.#taken.clear();
    this.#states.plan([], []);
    this.#ports.onRoutesChanged();
  }

  /** A tenure ended unexpectedly. */
  lose(tenure: Tenure): void {
    if (this.#tenures.get(tenure.slot) !== tenure) return;
    this.#tenures.delete(tenure.slot);
    this.#ports.onMoved('failed');
    this.#ports.onRoutesChanged();
  }

  /** Reads the rows if they may have changed since the last read. */
  async #refreshRows(): Promise<void> {
    const { store, clock, membership } = this.#ports;
    const members = membership.rows().map(({ incarnation, state }) => `${incarnation} ${state}`);
    const sinceMs = clock.monotonicMs() - this.#scannedAtMs;
    const isSame = isDeepStrictEqual(members, this.#scannedMembers);
    // Otherwise this shard would claim, once the others have had their time, what they have claimed long ago.
    const isCalm = this.complete && !this.moving && this.#plan?.leavesClaims === false;
    if (this.#settled && isSame && sinceMs < (isCalm ? SCAN_MS : MOVING_SCAN_MS)) return;
    this.#scannedAtMs = clock.monotonicMs();
    this.#takeRows(await store.listSlots(storeDeadline(clock)));
    this.#scannedMembers = members;
  }

  /** Between the rounds, since somebody waits. */
  async #lookForAsked(session: MembershipLease): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const { store, clock } = this.#ports;
    try {
      while (this.#asked.size > 0) {
        const asked = [...this.#asked];
        this.#asked.clear();
        this.#takeRows(await store.listSomeSlots(asked, storeDeadline(clock)));
        this.#replan(session);
      }
    } catch {
      // The rounds find them.
    }
    this.#looking = false;
  }

  /** The slots of the plan that their owners are about to hand over. */
  #toldOf({ expected }: SlotPlan): readonly number[] {
    const fromMs = this.#ports.clock.monotonicMs() - MOVE_MS_MAX;
    for (const [slot, sinceMs] of this.#expected) if (sinceMs < fromMs) this.#expected.delete(slot);
    return expected.filter((slot) => this.#expected.has(slot));
  }

  /** Those that requests wait for come first. */
  #inOrder(slots: readonly number[]): readonly number[] {
    const due = new Set(slots);
    return [...new Set([...[...this.#awaited.keys()].filter((slot) => due.has(slot)), ...slots])];
  }

  #forgetAwaited(): void {
    const fromMs = this.#ports.clock.monotonicMs() - AWAITED_MS;
    for (const [slot, atMs] of this.#awaited) if (atMs < fromMs || this.#tenures.has(slot)) this.#awaited.delete(slot);
  }

  /** What each owner releases next: it begins with the first slot, and few move at once. */
  #nextExpected(countMax: number): readonly number[] {
    const counts = new Map<string | undefined, number>();
    return (this.#plan?.expected ?? []).filter((slot) => {
      const owner = this.#rows.get(slot)?.owner;
      const count = counts.get(owner) ?? 0;
      counts.set(owner, count + 1);
      return count < countMax;
    });
  }

  #planFor(session: MembershipLease, nowMs: number): SlotPlan {
    return this.#planner.plan({
      nowMs,
      incarnation: session.incarnation,
      shardName: this.#options.shardName,
      takes: session.state === 'alive' && this.#ports.takes(),
      members: this.#ports.membership.rows(),
      suspects: this.#ports.membership.suspects(session.incarnation),
      rows: this.#rows,
      served: new Set(this.#tenures.keys()),
      busy: this.#tasks.busySlots(),
    });
  }

  #tasksOf(plan: SlotPlan, session: MembershipLease): readonly SlotTask[] {
    const tasks: SlotTask[] = [];
    for (const { row, successor } of plan.releases) {
      tasks.push({ slot: row.slot, kind: 'opening', run: async () => void (await this.#giveUp(row, successor)) });
    }
    for (const { slot, successor } of plan.handovers) {
      if (!this.pace.leaves && successor !== undefined && !this.#isExpecting(successor)) continue;
      const kind = successor === undefined ? 'opening' : 'moving';
      tasks.push({ slot, kind, run: () => this.#handOver(slot, session, successor) });
    }
    if (this.#settled) {
      const { preloads } = this.#ports.budget;
      this.#forgetAwaited();
      const claims = this.#inOrder(plan.claims);
      const ahead = [
        ...this.#toldOf(plan),
        ...this.#nextExpected(HANDOVERS_MAX),
        ...this.#inOrder(plan.impending).slice(0, IMPENDING_MAX),
      ];
      this.#states.plan(claims, ahead);
      for (const slot of claims) {
        const open = () => this.#open(slot, session);
        const isAwaited = this.#awaited.has(slot);
        if (isAwaited) this.#keepQuiet(this.#ports.clock.monotonicMs());
        if (this.#handedOver(slot, session) !== undefined) {
          tasks.push({ slot, kind: 'opening', run: () => preloads.holdDuring(open) });
        } else tasks.push({ slot, kind: isAwaited ? 'opening' : 'unawaited', run: open });
      }
    }
    return tasks;
  }

  #keepQuiet(nowMs: number): void {
    if (nowMs - this.#quietFromMs >= QUIET_SPAN_MS) this.#quietFromMs = nowMs;
    this.#awaitedOpenedAtMs = nowMs;
  }

  #unawaitedMax(): number {
    const nowMs = this.#ports.clock.monotonicMs();
    const sinceMs = nowMs - this.#awaitedOpenedAtMs;
    if (sinceMs < QUIET_MS && nowMs - this.#quietFromMs < QUIET_MS_MAX) return 0;
    return sinceMs < GENTLE_MS ? 1 : OPENINGS_MAX;
  }

  /** Whether a member has had the time to read ahead what it takes over. */
  #isExpecting(successor: string): boolean {
    const nowMs = this.#ports.clock.monotonicMs();
    const sinceMs = this.#seenAtMs.get(successor);
    if (sinceMs === undefined) this.#seenAtMs.set(successor, nowMs);
    return sinceMs !== undefined && nowMs - sinceMs >= LEAD_MS;
  }

  #takeRows(rows: readonly SlotRow[]): void {
    for (const row of rows) this.#takeRow(row);
  }

  #takeRow(row: SlotRow): void {
    const known = this.#rows.get(row.slot);
    if (known !== undefined && !isLater(row, known)) return;
    if (known === undefined || known.epoch !== row.epoch || known.owner !== row.owner) {
      this.#changedAtMs = this.#ports.clock.monotonicMs();
    }
    this.#rows.set(row.slot, row);
  }

  /** Settles once the members have stayed the same for a while, or some slot already has a living owner. */
  #settle(nowMs: number): void {
    const living = this.#ports.membership.rows().filter(({ state }) => state !== 'dead');
    const members = living.map(({ incarnation }) => incarnation).sort();
    if (this.#settling === undefined) this.#settling = { members, sinceMs: nowMs, startedMs: nowMs };
    else if (!isDeepStrictEqual(this.#settling.members, members)) {
      this.#settling = { ...this.#settling, members, sinceMs: nowMs };
    }
    const { sinceMs, startedMs } = this.#settling;
    const owners = new Set(members);
    // If slots have owners, this is no cold start: the owners hand them over one by one.
    const running = [...this.#rows.values()].some(({ owner }) => owner !== undefined && owners.has(owner));
    this.#settled = running || nowMs - sinceMs >= SETTLE_MS || nowMs - startedMs >= SETTLE_MS_MAX;
  }

  async #readState(slot: number, withPages: boolean): Promise<SlotState> {
    // An owner that hands its slot over says where the log ends.
    const isHandedOver = this.#plan?.expected.includes(slot) === true;
    const state = await readSlotState(this.#ports, slot, isHandedOver ? undefined : this.#ports.budget);
    // One read of many pages costs the store a tenth of what the requests that wait would cost, each reading its own.
    if (!withPages && !this.#awaited.has(slot)) return state;
    return { ...state, ahead: new PagesAhead(this.#ports, slot) };
  }

  async #open(slot: number, session: MembershipLease): Promise<void> {
    if (session.state !== 'alive' || !session.leaseValid || this.#tenures.has(slot) || !this.#ports.takes()) return;
    const reading = this.#states.take(slot);
    this.#expected.delete(slot);
    try {
      await this.#openWith(slot, session, reading);
    } finally {
      disposeState(reading);
      this.#answer(slot);
    }
  }

  /** Tells the previous owner whether this shard serves the slot. */
  #answer(slot: number): void {
    const taken = this.#taken.get(slot);
    this.#taken.delete(slot);
    if (this.#tenures.get(slot)?.serving === true) taken?.resolve(undefined);
    else taken?.reject(notSuccessor(slot));
  }

  async #openWith(slot: number, session: MembershipLease, reading: Promise<SlotState>): Promise<void> {
    const row = this.#handedOver(slot, session) ?? (await this.#claim(slot, session));
    // If the session ended after its claim, the next round of any shard finds the row.
    if (row === undefined || session.ended) return;
    this.#spentEpochs.set(slot, row.epoch);
    const tenure = this.#ports.createTenure(row, session);
    this.#tenures.set(slot, tenure);
    try {
      const taken = this.#taken.get(slot);
      await tenure.open(reading, taken?.epoch === row.epoch ? taken.settled : undefined);
    } catch (error) {
      if (this.#tenures.get(slot) === tenure) this.#tenures.delete(slot);
      throw error;
    }
    if (session.ended) {
      tenure.end('The membership session ended.');
      return;
    }
    this.#ports.onMoved('claimed');
    this.#ports.onRoutesChanged();
  }

  /** The row, if it gives the slot to this session in an epoch that this shard has not opened or given up. */
  #handedOver(slot: number, { incarnation }: MembershipLease): SlotRow | undefined {
    const row = this.#rows.get(slot);
    return row?.owner === incarnation && row.epoch > (this.#spentEpochs.get(slot) ?? 0) ? row : undefined;
  }

  /** Undefined: another one was first. */
  async #claim(slot: number, session: MembershipLease): Promise<SlotRow | undefined> {
    const { store, clock, membership } = this.#ports;
    const claim = { slot, owner: session.incarnation, known: this.#rows.get(slot) };
    const { applied, row } = await claimSlot({ store, clock }, claim, (owner) => membership.confirmDead(owner));
    if (row !== undefined) this.#takeRow(row);
    return applied ? row : undefined;
  }

  async #handOver(slot: number, session: MembershipLease, successor: string | undefined): Promise<void> {
    const { clock } = this.#ports;
    const tenure = this.#tenures.get(slot);
    if (tenure === undefined) return;
    tenure.mayPromise = false;
    // Most of the work happens while the slot is still served, so that the pause is short.
    if (successor !== undefined) {
      await this.#prepare(tenure, successor);
    }
    if (session.ended || this.#tenures.get(slot) !== tenure) return;
    // The successor may be draining or dead by now; the next plan finds another one.
    if (successor !== undefined && this.#ports.membership.row(successor)?.state !== 'alive') {
      tenure.mayPromise = true;
      return;
    }
    const sinceMs = clock.monotonicMs();
    // The successor reads the last entries from the log; applying them here would only lengthen the pause.
    const settled = await tenure.release({ limitMs: FLUSH_MS_MAX, flush: successor === undefined });
    const { owner, epoch } = tenure;
    if (this.#tenures.get(slot) === tenure) this.#tenures.delete(slot);
    this.#moves.set(slot, epoch);
    let left: Promise<void> | undefined;
    try {
      const row = await this.#giveUp({ slot, owner, epoch }, successor).finally(() => {
        left = tenure.leave(FLUSH_MS_MAX);
      });
      if (successor === undefined) return;
      const isServed = row?.owner === successor && (await this.#pass(row, successor, settled));
      const nowMs = clock.monotonicMs();
      this.pace.took(isServed ? nowMs - sinceMs : Number.POSITIVE_INFINITY, nowMs);
    } finally {
      this.#moves.delete(slot);
      // Fronts that wait ask again, and hear who the successor is, unless it has told them.
      this.#ports.onRoutesChanged();
      await left;
    }
  }

  /** What the successor reads ahead is stored, and it has read it, as far as that takes no longer than a second. */
  async #prepare(tenure: Tenure, successor: string): Promise<void> {
    const { clock, membership } = this.#ports;
    const { slot } = tenure;
    const address = membership.row(successor)?.address;
    const store = async () => {
      await Promise.all([tenure.checkpointed(), tenure.hotPages.storeNow()]);
      if (address !== undefined) await this.#expectAt(address, { slot, successor });
    };
    await Promise.race([store().catch(() => {}), delay(clock, FLUSH_MS_MAX)]);
    while (
      address !== undefined &&
      tenure.serving &&
      clock.monotonicMs() < (this.#awaitedUntilMs.get(successor) ?? 0)
    ) {
      await delay(clock, FRONTS_POLL_MS);
      await this.#expectAt(address, { slot, successor }).catch(() => {});
    }
  }

  /** Notes whether some front has yet to connect to the successor. */
  async #expectAt(address: string, { slot, successor }: ExpectedSlot): Promise<void> {
    const { clock, fronts, successors } = this.#ports;
    const untilMs = this.#awaitedUntilMs.get(successor) ?? clock.monotonicMs() + FRONTS_AWAITED_MS;
    this.#awaitedUntilMs.set(successor, untilMs);
    const connected = new Set((await successors.expect(address, { slot, successor })).fronts);
    // That it was so once is enough.
    if (fronts().every((front) => connected.has(front))) this.#awaitedUntilMs.set(successor, 0);
  }

  /**
   * Tells the successor of its slot. Resolves when it serves the slot, or is waited for no longer: to whether it does.
   */
  async #pass(row: SlotRow, successor: string, settled: SettledLog | undefined): Promise<boolean> {
    const { clock, membership, successors } = this.#ports;
    const address = membership.row(successor)?.address;
    if (address === undefined) return false;
    const { slot, epoch, first, opened } = row;
    const taken = successors.take(address, { slot, successor, epoch, first, opened, settled }).then(() => true);
    return Promise.race([taken.catch(() => false), delay(clock, MOVE_MS_MAX).then(() => false)]);
  }

  /**
   * Makes the successor the owner, in the next epoch; without one, leaves the slot without an owner. Retries until the
   * store reports the outcome, and resolves to the row then. If it never does, the plan finds the row again.
   */
  async #giveUp(
    { slot, owner, epoch }: Pick<SlotRow, 'slot' | 'owner' | 'epoch'>,
    successor: string | undefined,
  ): Promise<SlotRow | undefined> {
    const { store, clock, promises } = this.#ports;
    if (owner === undefined) return undefined;
    this.#spentEpochs.set(slot, epoch);
    // It was given a slot that belongs elsewhere by now.
    this.#answer(slot);
    // The next owner waits for no lease of this one.
    await promises.of(slot).over();
    for (let tries = 1; ; tries += 1) {
      try {
        const { row } = await store.releaseSlot({ slot, owner, epoch, successor }, storeDeadline(clock));
        if (row !== undefined) this.#takeRow(row);
        this.#ports.onMoved('released');
        return row;
      } catch (error) {
        if (tries >= RELEASE_TRIES) throw error;
      }
    }
  }
}

const notSuccessor = (slot: number): ShardFailure =>
  new ShardFailure('not-serving', `This shard does not take slot ${slot}.`);

/**
 * Whether one row of a slot shows a later state than another: epochs only grow, and within an epoch an owner can only
 * leave.
 */
function isLater(row: SlotRow, known: SlotRow): boolean {
  if (row.epoch !== known.epoch) return row.epoch > known.epoch;
  if (row.owner !== known.owner) return row.owner === undefined;
  return (row.opened ?? 0) >= (known.opened ?? 0) && row.first >= known.first;
}
