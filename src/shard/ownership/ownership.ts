// The slots of one shard: it claims, opens, hands over and releases them, round by round, after the plan. It keeps: a slot
// is served only in an epoch that this incarnation claimed by a conditional write, and once a release of that epoch was
// sent it is never served in it again, whatever comes back.
//
//            claim (epoch + 1)        recovered                  hand over              release sent
//   (none) ────────────────▶ opening ──────────▶ serving ──────────────────▶ releasing ─────────────▶ (none)
//      ▲                        │ failed            │ another epoch in the log
//      └──── tried again ◀──────┴───────────────────┘ or the session is over
//
// A lost reply may have made this shard an owner without its knowing: the plan finds the row, and it is opened in a new
// epoch or released. Few slots move at a time (handover-pace.ts), and the next only when the former have been claimed.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { MemberRow, SlotRow, Store } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import { claimSlot } from '../log/recovery.ts';
import type { Tenure } from '../log/tenure.ts';
import { ShardFailure } from '../shard.ts';
import { storeDeadline } from '../store-calls.ts';
import { HandoverPace } from './handover-pace.ts';
import type { Membership } from './membership.ts';
import type { Session } from './membership-lease.ts';
import { type SlotPlan, SlotPlanner } from './slot-plan.ts';

/** Slots that are opened at once. */
const OPENINGS_MAX = 16;
/** A handover that the successor does not finish in this time no longer holds up the next. */
const MOVE_MS_MAX = 2000;
/** What the pause of a handover may wait for the last writes and the checkpoint; the log holds them anyway. */
const FLUSH_MS_MAX = 1000;
const RELEASE_TRIES = 3;
const BACKOFF_MS_FIRST = 500;
const BACKOFF_MS_MAX = 30_000;
/** While no member comes or goes and this shard has its share, the rows are looked at this seldom. */
const SCAN_MS = 3000;
/** At a cold start the members come within a moment of each other, and each slot should be claimed once. */
const SETTLE_MS = 1000;
const SETTLE_MS_MAX = 2000;

export interface OwnershipPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly membership: Membership;
  readonly createTenure: (row: SlotRow, session: Session) => Tenure;
  /** What this shard serves has changed. */
  readonly onRoutesChanged: () => void;
  readonly onMoved: (kind: 'claimed' | 'released' | 'failed') => void;
}

export interface OwnershipOptions {
  readonly slots: number;
  readonly shardName: string;
  /** The process holds the store alone: nobody else comes or waits. */
  readonly exclusive: boolean;
}

/** What the plan wants done. `moving` is bounded by what moves, anything else by what is opened. */
interface Task {
  readonly slot: number;
  readonly kind: 'opening' | 'moving';
  readonly run: () => Promise<void>;
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
  /** Slots on which something is under way. */
  readonly #working = new Map<number, Promise<void>>();
  readonly #waitingUntilMs = new Map<number, { readonly untilMs: number; readonly delayMs: number }>();
  /** Released, and not yet seen claimed by the next owner. */
  readonly #moves = new Map<number, Move>();
  #tasks: readonly Task[] = [];
  #openings = 0;
  #handovers = 0;
  #settle: { readonly key: string; readonly keySinceMs: number; readonly startedMs: number } | undefined;
  #settled = false;
  #changedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #scannedAtMs = Number.NEGATIVE_INFINITY;
  #scannedMembers = '';
  #plan: SlotPlan | undefined;

  constructor(ports: OwnershipPorts, options: OwnershipOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#planner = new SlotPlanner(options.slots);
    this.#settled = options.exclusive;
  }

  get tenures(): ReadonlyMap<number, Tenure> {
    return this.#tenures;
  }

  /** Rows as last seen. */
  rows(): readonly SlotRow[] {
    return [...this.#rows.values()].sort((left, right) => left.slot - right.slot);
  }

  /** Whether the members have settled, and every slot that is this shard's among them is served by it. */
  get complete(): boolean {
    if (!this.#settled || this.#plan === undefined) return false;
    for (const slot of this.#plan.wanted) if (this.#tenures.get(slot)?.serving !== true) return false;
    return true;
  }

  /** Why this shard, as `incarnation`, does not answer for a slot: who owns it, as far as is known here. */
  notServing(slot: number, incarnation: string): ShardFailure {
    const row = this.#rows.get(slot);
    const owner = row?.owner === undefined ? undefined : this.#ports.membership.row(row.owner);
    if (row === undefined || owner === undefined || owner.state === 'dead' || owner.incarnation === incarnation) {
      return new ShardFailure('not-serving', `Slot ${slot} has no owner that is known here.`);
    }
    const { epoch } = row;
    const { address } = owner;
    const belongsTo = { slot, epoch, incarnation: owner.incarnation, address };
    return new ShardFailure('wrong-owner', `Slot ${slot} belongs to another shard.`, belongsTo);
  }

  /** Openings and releases that failed so far. */
  get failures(): number {
    return this.#failures;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Whether slots are moving to or from this shard, or may soon: the rows should be looked at often. */
  get moving(): boolean {
    if (!this.#settled) return true;
    const nowMs = this.#ports.clock.monotonicMs();
    const waits = this.#plan?.expecting === true || this.#moves.size > 0 || this.#handovers > 0;
    return waits && nowMs - this.#changedAtMs < MOVE_MS_MAX;
  }

  /** Looks at the rows where they may have changed, plans, and begins what is due. Throws where the store cannot answer. */
  async round(session: Session): Promise<void> {
    const { store, clock, membership } = this.#ports;
    const members = statesOf(membership.rows());
    const isDue = clock.monotonicMs() - this.#scannedAtMs >= SCAN_MS;
    if (isDue || this.moving || members !== this.#scannedMembers || !this.complete) {
      this.#scannedAtMs = clock.monotonicMs();
      this.#takeRows(await store.listSlots(storeDeadline(clock)));
      this.#scannedMembers = members;
    }
    if (session.ended || !session.leaseValid) return;
    if (session.state === 'draining' && !this.pace.leaves) {
      this.#tasks = [];
      return;
    }
    const nowMs = clock.monotonicMs();
    this.#forgetMoves(nowMs);
    const plan = this.#planner.plan({
      nowMs,
      incarnation: session.incarnation,
      shardName: this.#options.shardName,
      takes: session.state === 'alive',
      members: membership.rows(),
      rows: this.#rows,
      served: new Set(this.#tenures.keys()),
      busy: this.#busy(nowMs),
    });
    // A slot that is to come or go is worth looking out for at once.
    if (plan.expecting && this.#plan?.expecting !== true) this.#changedAtMs = nowMs;
    this.#plan = plan;
    if (!this.#settled) this.#lookWhetherSettled(nowMs);
    const tasks: Task[] = [];
    for (const { row, successor } of plan.releases) {
      tasks.push({ slot: row.slot, kind: 'opening', run: () => this.#releaseRow(row, successor) });
    }
    for (const { slot, successor } of plan.handovers) {
      const kind = successor === undefined ? 'opening' : 'moving';
      tasks.push({ slot, kind, run: () => this.#handOver(slot, session, successor) });
    }
    if (this.#settled) {
      for (const slot of plan.claims) tasks.push({ slot, kind: 'opening', run: () => this.#open(slot, session) });
    }
    this.#tasks = tasks;
    this.#beginTasks();
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working.values());
  }

  /** Releases every slot to nobody in particular. */
  async releaseAll(session: Session): Promise<void> {
    this.#tasks = [];
    await this.idle();
    await Promise.all([...this.#tenures.keys()].map((slot) => this.#handOver(slot, session, undefined)));
  }

  /** The session is over: whatever was owned through it is not any more. */
  endAll(reason: string): void {
    for (const tenure of this.#tenures.values()) tenure.end(reason);
    this.#tenures.clear();
    this.#tasks = [];
    this.#moves.clear();
    this.#waitingUntilMs.clear();
    this.#ports.onRoutesChanged();
  }

  /** A tenure has ended without being asked to. */
  lose(tenure: Tenure): void {
    if (this.#tenures.get(tenure.slot) !== tenure) return;
    this.#tenures.delete(tenure.slot);
    this.#ports.onMoved('failed');
    this.#ports.onRoutesChanged();
  }

  #busy(nowMs: number): ReadonlySet<number> {
    const busy = new Set(this.#working.keys());
    for (const [slot, { untilMs }] of this.#waitingUntilMs) if (nowMs < untilMs) busy.add(slot);
    return busy;
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

  #lookWhetherSettled(nowMs: number): void {
    const living = this.#ports.membership.rows().filter(({ state }) => state !== 'dead');
    const key = living
      .map(({ incarnation }) => incarnation)
      .sort()
      .join();
    if (this.#settle === undefined) this.#settle = { key, keySinceMs: nowMs, startedMs: nowMs };
    else if (this.#settle.key !== key) this.#settle = { ...this.#settle, key, keySinceMs: nowMs };
    const { keySinceMs, startedMs } = this.#settle;
    const owners = new Set(living.map(({ incarnation }) => incarnation));
    // Where slots are owned, this is no cold start: they are handed over one by one.
    const running = [...this.#rows.values()].some(({ owner }) => owner !== undefined && owners.has(owner));
    this.#settled = running || nowMs - keySinceMs >= SETTLE_MS || nowMs - startedMs >= SETTLE_MS_MAX;
  }

  /** As many as the bounds allow; the next ones as these end, or as the next round plans anew. */
  #beginTasks(): void {
    const deferred: Task[] = [];
    for (const task of this.#tasks) {
      const moving = task.kind === 'moving';
      if (this.#working.has(task.slot)) continue;
      if (moving ? this.#handovers + this.#moves.size >= this.pace.limit : this.#openings >= OPENINGS_MAX) {
        deferred.push(task);
        continue;
      }
      if (moving) this.#handovers += 1;
      else this.#openings += 1;
      const work = this.#run(task).finally(() => {
        this.#working.delete(task.slot);
        if (moving) this.#handovers -= 1;
        else this.#openings -= 1;
        this.#beginTasks();
      });
      this.#working.set(task.slot, work);
    }
    this.#tasks = deferred;
  }

  /** Never rejects: what fails waits a while, longer each time. */
  async #run({ slot, run }: Task): Promise<void> {
    const { clock, log } = this.#ports;
    try {
      await run();
      this.#waitingUntilMs.delete(slot);
    } catch (error) {
      const lastMs = this.#waitingUntilMs.get(slot)?.delayMs;
      const delayMs = lastMs === undefined ? BACKOFF_MS_FIRST : Math.min(lastMs * 2, BACKOFF_MS_MAX);
      this.#waitingUntilMs.set(slot, { untilMs: clock.monotonicMs() + delayMs, delayMs });
      this.#failures += 1;
      this.#ports.onMoved('failed');
      log.error({ slot, err: error, againInMs: delayMs }, 'the slot could not be opened or released; trying again');
    }
  }

  async #open(slot: number, session: Session): Promise<void> {
    const { store, clock, membership } = this.#ports;
    if (session.state !== 'alive' || !session.leaseValid || this.#tenures.has(slot)) return;
    const claim = { slot, owner: session.incarnation, known: this.#rows.get(slot) };
    const { applied, row } = await claimSlot({ store, clock }, claim, (owner) => membership.confirmDead(owner));
    if (row !== undefined) this.#takeRow(row);
    // What was claimed by a session that is over meanwhile is found by whoever looks at the rows next.
    if (!applied || row === undefined || session.ended) return;
    const tenure = this.#ports.createTenure(row, session);
    this.#tenures.set(slot, tenure);
    try {
      await tenure.open();
    } catch (error) {
      if (this.#tenures.get(slot) === tenure) this.#tenures.delete(slot);
      throw error;
    }
    if (session.ended) {
      tenure.end('The session is over.');
      return;
    }
    this.#ports.onMoved('claimed');
    this.#ports.onRoutesChanged();
  }

  async #handOver(slot: number, session: Session, successor: string | undefined): Promise<void> {
    const { clock } = this.#ports;
    const tenure = this.#tenures.get(slot);
    if (tenure === undefined) return;
    // Most of the work is done while the slot is still served, so that the pause is short.
    if (successor !== undefined) {
      await Promise.race([tenure.checkpointed().catch(() => {}), delay(clock, FLUSH_MS_MAX)]);
    }
    if (session.ended || this.#tenures.get(slot) !== tenure) return;
    // It may drain or have died since the plan, which finds another one.
    if (successor !== undefined && this.#ports.membership.row(successor)?.state !== 'alive') return;
    // The successor reads the last entries from the log: applying them would only lengthen the pause.
    await tenure.release({ limitMs: FLUSH_MS_MAX, flush: successor === undefined });
    if (this.#tenures.get(slot) === tenure) this.#tenures.delete(slot);
    this.#ports.onRoutesChanged();
    const { owner, epoch } = tenure;
    const sinceMs = clock.monotonicMs();
    await this.#releaseRow({ slot, owner, epoch }, successor);
    if (successor !== undefined) this.#moves.set(slot, { epoch, sinceMs });
  }

  /** Tries until the store says what stands; the plan finds the row again where it never does. */
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

function statesOf(members: readonly MemberRow[]): string {
  return members.map(({ incarnation, state }) => `${incarnation} ${state}`).join();
}

/** Of two answers about one slot, which shows the later state: epochs only grow, and within one an owner only goes. */
function isLater(row: SlotRow, known: SlotRow): boolean {
  if (row.epoch !== known.epoch) return row.epoch > known.epoch;
  if (row.owner !== known.owner) return row.owner === undefined;
  return (row.opened ?? 0) >= (known.opened ?? 0) && row.first >= known.first;
}
