// The slots of one shard: it claims, opens, hands over and releases them in rounds, according to the plan. Invariant:
// the shard serves a slot only in an epoch that this incarnation claimed by a conditional write. Once it has sent a
// release of that epoch, it never serves the slot in that epoch again, whatever the store replies.
//
//            claim (epoch + 1)        recovered                  hand over              release sent
//   (none) ────────────────▶ opening ──────────▶ serving ──────────────────▶ releasing ─────────────▶ (none)
//      ▲                        │ failed            │ another epoch in the log
//      └────── retried ◀────────┴───────────────────┘ or the session ended
//
// If a reply was lost, this shard may be the owner without knowing it. The plan then finds the row, and opens the slot
// in a new epoch or releases it. Few slots move at a time (handover-pace.ts); the next ones move once those have been
// claimed.

import { isDeepStrictEqual } from 'node:util';
import { type Clock, delay } from '../../core/async/clock.ts';
import type { SlotRow, Store } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import { PagesAhead } from '../log/pages-ahead.ts';
import { claimSlot, readSlotState, type SlotState } from '../log/recovery.ts';
import type { Tenure } from '../log/tenure.ts';
import type { MemoryBudget } from '../memory/memory-budget.ts';
import { ShardFailure } from '../shard.ts';
import { storeDeadline } from '../store-calls.ts';
import { HANDOVERS_MAX, HandoverPace } from './handover-pace.ts';
import type { Membership } from './membership.ts';
import type { MembershipLease } from './membership-lease.ts';
import { type SlotPlan, SlotPlanner } from './slot-plan.ts';
import { type SlotTask, SlotTasks } from './slot-tasks.ts';
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
/** While slots move, those that move next are read more often. */
const MOVING_SCAN_MS = 400;
/** Of each owner: more than usually move at once. */
const NEXT_READ = 4;
/** From the first sight of a new member to its first slot. */
const LEAD_MS = 1000;
/** In a cold start all members arrive within moments. Waiting lets each slot be claimed only once. */
const SETTLE_MS = 1000;
const SETTLE_MS_MAX = 2000;

export interface OwnershipPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly membership: Membership;
  readonly budget: MemoryBudget;
  readonly createTenure: (row: SlotRow, session: MembershipLease) => Tenure;
  /** The set of slots that this shard serves has changed. */
  readonly onRoutesChanged: () => void;
  readonly onMoved: (kind: 'claimed' | 'released' | 'failed') => void;
}

export interface OwnershipOptions {
  readonly slots: number;
  readonly shardName: string;
  /** No other shard can come: slots are claimed at once. */
  readonly alone: boolean;
}

interface Move {
  readonly epoch: number;
  readonly sinceMs: number;
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
  /** By successor: since when this shard has had slots for it. */
  readonly #seenAtMs = new Map<string, number>();
  /** Slots that this shard released and has not yet seen claimed by the next owner. */
  readonly #moves = new Map<number, Move>();
  /**
   * During a cold start: the living members, since when they have been the same, and since when the shard has waited.
   */
  #settling: { readonly members: readonly string[]; readonly sinceMs: number; readonly startedMs: number } | undefined;
  #settled = false;
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
      movingMax: () => this.pace.limitAt(ports.clock.monotonicMs()) - this.#moves.size,
      onFailed: ({ slot, error, retryInMs }) => {
        ports.onMoved('failed');
        ports.log.error({ slot, err: error, retryInMs }, 'cannot open or release the slot; retrying');
      },
    });
  }

  get tenures(): ReadonlyMap<number, Tenure> {
    return this.#tenures;
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

  /** Why this shard, as `incarnation`, does not answer for a slot. Names the owner if this shard knows it. */
  notServing(slot: number, incarnation: string): ShardFailure {
    const row = this.#rows.get(slot);
    const owner = row?.owner === undefined ? undefined : this.#ports.membership.row(row.owner);
    if (row === undefined || owner === undefined || owner.state === 'dead' || owner.incarnation === incarnation) {
      return new ShardFailure('not-serving', `Slot ${slot} has no owner known to this shard.`);
    }
    const { epoch } = row;
    const { address } = owner;
    const belongsTo = { slot, epoch, incarnation: owner.incarnation, address };
    return new ShardFailure('wrong-owner', `Slot ${slot} belongs to another shard.`, belongsTo);
  }

  /** Number of openings and releases that have failed so far. */
  get failures(): number {
    return this.#tasks.failures;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Whether slots are moving to or from this shard, or soon may: the rows should then be read often. */
  get moving(): boolean {
    if (!this.#settled) return true;
    const nowMs = this.#ports.clock.monotonicMs();
    const waits = (this.#plan?.expected.length ?? 0) > 0 || this.#moves.size > 0 || this.#tasks.moving > 0;
    return waits && nowMs - this.#changedAtMs < MOVE_MS_MAX;
  }

  /** Reads the rows if they may have changed, plans, and starts what is due. Throws if the store does not respond. */
  async round(session: MembershipLease): Promise<void> {
    await this.#refreshRows();
    if (session.ended || !session.leaseValid) return;
    if (session.state === 'draining' && !this.pace.leaves) {
      this.#tasks.clear();
      return;
    }
    const nowMs = this.#ports.clock.monotonicMs();
    this.#forgetMoves(nowMs);
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

  /** Releases every slot without naming a successor. */
  async releaseAll(session: MembershipLease): Promise<void> {
    this.#tasks.clear();
    await this.idle();
    await Promise.all([...this.#tenures.keys()].map((slot) => this.#handOver(slot, session, undefined)));
  }

  /** The session ended, and with it the ownership of all its slots. */
  endAll(reason: string): void {
    for (const tenure of this.#tenures.values()) tenure.end(reason);
    this.#tenures.clear();
    this.#tasks.reset();
    this.#moves.clear();
    this.#seenAtMs.clear();
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
    if (this.complete && !this.moving && isSame && sinceMs < SCAN_MS) return;
    if (this.#settled && this.moving && isSame && sinceMs < MOVING_SCAN_MS) {
      const next = [...this.#moves.keys(), ...this.#nextExpected(NEXT_READ)];
      if (next.length > 0) this.#takeRows(await store.listSomeSlots(next, storeDeadline(clock)));
      return;
    }
    this.#scannedAtMs = clock.monotonicMs();
    this.#takeRows(await store.listSlots(storeDeadline(clock)));
    this.#scannedMembers = members;
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
      takes: session.state === 'alive',
      members: this.#ports.membership.rows(),
      rows: this.#rows,
      served: new Set(this.#tenures.keys()),
      busy: this.#tasks.busySlots(),
    });
  }

  #tasksOf(plan: SlotPlan, session: MembershipLease): readonly SlotTask[] {
    const tasks: SlotTask[] = [];
    for (const { row, successor } of plan.releases) {
      tasks.push({ slot: row.slot, kind: 'opening', run: () => this.#releaseRow(row, successor) });
    }
    for (const { slot, successor } of plan.handovers) {
      if (!this.pace.leaves && successor !== undefined && !this.#isExpecting(successor)) continue;
      const kind = successor === undefined ? 'opening' : 'moving';
      tasks.push({ slot, kind, run: () => this.#handOver(slot, session, successor) });
    }
    if (this.#settled) {
      this.#states.plan(plan.claims, this.#nextExpected(HANDOVERS_MAX));
      for (const slot of plan.claims) tasks.push({ slot, kind: 'opening', run: () => this.#open(slot, session) });
    }
    return tasks;
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

  #forgetMoves(nowMs: number): void {
    for (const [slot, { epoch, sinceMs }] of this.#moves) {
      const claimed = (this.#rows.get(slot)?.epoch ?? 0) > epoch;
      if (!claimed && nowMs - sinceMs < MOVE_MS_MAX) continue;
      this.#moves.delete(slot);
      this.pace.took(nowMs - sinceMs);
    }
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
    const state = await readSlotState(this.#ports, slot);
    return withPages ? { ...state, ahead: new PagesAhead(this.#ports, slot) } : state;
  }

  async #open(slot: number, session: MembershipLease): Promise<void> {
    if (session.state !== 'alive' || !session.leaseValid || this.#tenures.has(slot)) return;
    const reading = this.#states.take(slot);
    try {
      await this.#openWith(slot, session, reading);
    } finally {
      disposeState(reading);
    }
  }

  async #openWith(slot: number, session: MembershipLease, reading: Promise<SlotState>): Promise<void> {
    const { store, clock, membership } = this.#ports;
    const claim = { slot, owner: session.incarnation, known: this.#rows.get(slot) };
    const { applied, row } = await claimSlot({ store, clock }, claim, (owner) => membership.confirmDead(owner));
    if (row !== undefined) this.#takeRow(row);
    // If the session ended after its claim, the next round of any shard finds the row.
    if (!applied || row === undefined || session.ended) return;
    const tenure = this.#ports.createTenure(row, session);
    this.#tenures.set(slot, tenure);
    try {
      await tenure.open(reading);
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

  async #handOver(slot: number, session: MembershipLease, successor: string | undefined): Promise<void> {
    const { clock } = this.#ports;
    const tenure = this.#tenures.get(slot);
    if (tenure === undefined) return;
    // Most of the work happens while the slot is still served, so that the pause is short.
    if (successor !== undefined) {
      await Promise.race([tenure.checkpointed().catch(() => {}), delay(clock, FLUSH_MS_MAX)]);
    }
    if (session.ended || this.#tenures.get(slot) !== tenure) return;
    // The successor may be draining or dead by now; the next plan finds another one.
    if (successor !== undefined && this.#ports.membership.row(successor)?.state !== 'alive') return;
    // The successor reads the last entries from the log; applying them here would only lengthen the pause.
    await tenure.release({ limitMs: FLUSH_MS_MAX, flush: successor === undefined });
    if (this.#tenures.get(slot) === tenure) this.#tenures.delete(slot);
    this.#ports.onRoutesChanged();
    const { owner, epoch } = tenure;
    const sinceMs = clock.monotonicMs();
    await this.#releaseRow({ slot, owner, epoch }, successor);
    if (successor !== undefined) this.#moves.set(slot, { epoch, sinceMs });
  }

  /** Retries until the store reports the outcome. If it never does, the plan finds the row again. */
  async #releaseRow(
    { slot, owner, epoch }: Pick<SlotRow, 'slot' | 'owner' | 'epoch'>,
    successor: string | undefined,
  ): Promise<void> {
    const { store, clock } = this.#ports;
    if (owner === undefined) return;
    for (let tries = 1; ; tries += 1) {
      try {
        const { row } = await store.releaseSlot({ slot, owner, epoch, successor }, storeDeadline(clock));
        if (row !== undefined) this.#takeRow(row);
        this.#ports.onMoved('released');
        return;
      } catch (error) {
        if (tries >= RELEASE_TRIES) throw error;
      }
    }
  }
}

/**
 * Whether one row of a slot shows a later state than another: epochs only grow, and within an epoch an owner can only
 * leave.
 */
function isLater(row: SlotRow, known: SlotRow): boolean {
  if (row.epoch !== known.epoch) return row.epoch > known.epoch;
  if (row.owner !== known.owner) return row.owner === undefined;
  return (row.opened ?? 0) >= (known.opened ?? 0) && row.first >= known.first;
}
