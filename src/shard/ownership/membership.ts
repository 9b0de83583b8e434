// The view of one member of the others, from their rows in the store; it declares silent members dead. Invariant: a
// member is declared dead only if this process saw its heartbeat unchanged, by its own clock, for longer than any
// lease that the heartbeat can have given. During all that time this process itself must have been able to read and to
// send heartbeats. Any gap of its own restarts the count, so that members do not declare each other dead after an
// outage of the store. The declaration is conditional on the heartbeat, so it fails if a newer one came first. `dead`
// is final.

import type { Clock } from '../../core/async/clock.ts';
import type { MemberRow, MemberStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MemberAddress } from '../shard.ts';
import { storeDeadline } from '../store-calls.ts';
import { HEARTBEAT_INTERVAL_MS, HEARTBEAT_TIMEOUT_MS, STEADY_GAP_MS_MAX } from './membership-lease.ts';
import { DECLARATION_MS_MAX } from './predecessors.ts';

/** Added to the lease: the clocks of two processes may differ in rate by a tenth. */
const LEASE_MARGIN_MS = 300;
export const SCAN_MS = 500;
/** The members whose turn to declare comes first scan more often: the wait begins when a heartbeat is seen. */
const DECLARERS = 2;
const DECLARER_SCAN_MS = 250;
/** Two heartbeats, and one scan of the members after the last one. */
const SUSPECT_MS = 2 * HEARTBEAT_INTERVAL_MS + SCAN_MS;
const SUSPECT_SCAN_MS = 100;
/** While a declaration is due. */
const DUE_SCAN_MS = 20;
/** A heartbeat that may have been sent at any time of a longer span says too little of the clock of its member. */
const CLOCK_SPAN_MS_MAX = 4000;
/** Declarers are staggered, so that usually a single conditional write does it. */
const RANK_STAGGER_MS = 150;
const RANK_MAX = 10;
/** Rows of dead members are kept this long, so that a past member is not mistaken for one that never existed. */
const DEAD_ROW_KEPT_MS = 3_600_000;

export interface MembershipPorts {
  readonly store: MemberStore;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Observer {
  readonly incarnation: string;
  /** Since when the observer's own heartbeats have been applied without a gap. */
  readonly steadySinceMs: number;
}

interface Sighting {
  readonly heartbeat: number;
  /**
   * When the scan that first showed this heartbeat had its response. Not when it was sent: the heartbeat may have begun
   * in between, and its lease with it.
   */
  readonly sinceMs: number;
  /** A scan before has shown another one. */
  readonly came: boolean;
}

/** Declares dead every member that the store lists. Only for a process that has the store to itself. */
export async function retireMembers(store: MemberStore, clock: Clock): Promise<void> {
  for (const { incarnation, heartbeat, state } of await store.listMembers(storeDeadline(clock))) {
    if (state !== 'dead') await store.declareDead({ incarnation, heartbeat }, storeDeadline(clock));
    await store.removeMember(incarnation, storeDeadline(clock));
  }
}

export class Membership {
  readonly #ports: MembershipPorts;
  readonly #leaseMs: number;
  #rows = new Map<string, MemberRow>();
  readonly #sightings = new Map<string, Sighting>();
  readonly #deadSinceMs = new Map<string, number>();
  /**
   * By living member: the last heartbeat that reported health, and when it was first seen; undefined: it was there in
   * the first scan.
   */
  readonly #healthSightings = new Map<
    string,
    { readonly healthyHeartbeat: number; readonly atMs: number | undefined }
  >();
  /**
   * By member: its wall clock minus the monotonic one of this process, by the last heartbeat that came between two
   * scans.
   */
  readonly #clocks = new Map<string, number>();
  #scannedAtMs = Number.NEGATIVE_INFINITY;
  /** When the last scan was sent. */
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Since when scans have succeeded without a gap. */
  #steadySinceMs = Number.POSITIVE_INFINITY;

  constructor(ports: MembershipPorts, options: { readonly leaseMs: number }) {
    this.#ports = ports;
    this.#leaseMs = options.leaseMs;
  }

  rows(): readonly MemberRow[] {
    return [...this.#rows.values()];
  }

  row(incarnation: string): MemberRow | undefined {
    return this.#rows.get(incarnation);
  }

  /** The other members that are, or may be, alive. */
  neighboursOf(incarnation: string): readonly MemberAddress[] {
    return this.rows()
      .filter((row) => row.state !== 'dead' && row.incarnation !== incarnation)
      .map(({ shardName, address }) => ({ shardName, address }));
  }

  /** Records a row from a conditional write or a serial read. */
  learn(row: MemberRow): void {
    const known = this.#rows.get(row.incarnation);
    // Death is final: an older row that arrives later does not undo it.
    if (known?.state === 'dead') return;
    this.#rows.set(row.incarnation, row);
  }

  /** The clocks of the other members that send heartbeats. `offsetMs` undefined: not known yet. */
  clocksOf(incarnation: string): readonly { readonly of: string; readonly offsetMs: number | undefined }[] {
    return this.rows()
      .filter((row) => row.state !== 'dead' && row.incarnation !== incarnation && row.heartbeat > 0)
      .filter((row) => !this.#isSilent(row.incarnation))
      .map((row) => ({ of: row.shardName, offsetMs: this.#clocks.get(row.incarnation) }));
  }

  /** Whether the member is dead for good. Reads the store if the known rows do not say so. */
  async confirmDead(incarnation: string): Promise<boolean> {
    if (this.#rows.get(incarnation)?.state === 'dead') return true;
    const row = await this.#ports.store.readMember(incarnation, storeDeadline(this.#ports.clock));
    if (row !== undefined) this.learn(row);
    return row === undefined || row.state === 'dead';
  }

  /** Reads every row. Throws if the store does not respond; the count then restarts. */
  async scan(): Promise<void> {
    const { store, clock } = this.#ports;
    const askedAtMs = clock.monotonicMs();
    const rows = await store.listMembers(storeDeadline(clock));
    const nowMs = clock.monotonicMs();
    const beatenFromMs = this.#askedAtMs - HEARTBEAT_TIMEOUT_MS;
    this.#askedAtMs = askedAtMs;
    if (nowMs - this.#scannedAtMs > STEADY_GAP_MS_MAX) this.#steadySinceMs = nowMs;
    this.#scannedAtMs = nowMs;
    const before = this.#rows;
    this.#rows = new Map();
    for (const row of rows) {
      const known = before.get(row.incarnation);
      this.#rows.set(row.incarnation, known?.state === 'dead' ? known : row);
    }
    for (const row of this.#rows.values()) {
      if (before.get(row.incarnation)?.heartbeat !== row.heartbeat) this.#readClock(row, beatenFromMs, nowMs);
      this.#sight(row, nowMs);
    }
    for (const incarnation of [...this.#sightings.keys(), ...this.#deadSinceMs.keys()]) {
      if (this.#rows.has(incarnation)) continue;
      this.#sightings.delete(incarnation);
      this.#healthSightings.delete(incarnation);
      this.#clocks.delete(incarnation);
      this.#deadSinceMs.delete(incarnation);
    }
  }

  /**
   * The heartbeat was sent between these times, unless it was long on its way, as one from before an outage of the
   * store, perhaps of a process that has died. Of those there is one at most: only a heartbeat that soon follows one
   * that was seen to come says something of the clock.
   */
  #readClock({ incarnation, wallMs, heartbeat }: MemberRow, fromMs: number, toMs: number): void {
    if (heartbeat === 0 || toMs - fromMs > CLOCK_SPAN_MS_MAX) return;
    if (this.#sightings.get(incarnation)?.came !== true || this.#isSilent(incarnation)) return;
    this.#clocks.set(incarnation, wallMs - (fromMs + toMs) / 2);
  }

  /**
   * Time between two scans of this member. Short while another one is silent, so that its death is noticed in time; the
   * next scan comes at the moment at which this member may declare it dead.
   */
  scanMs(incarnation: string): number {
    const suspects = this.suspects(incarnation);
    if (suspects.size === 0) return this.#rankOf(incarnation) < DECLARERS ? DECLARER_SCAN_MS : SCAN_MS;
    const sinceMs = Math.min(...Array.from(suspects, (other) => this.#sightings.get(other)?.sinceMs ?? 0));
    const dueAtMs = Math.max(sinceMs, this.#steadySinceMs) + this.#declarationMs(incarnation);
    return Math.min(SUSPECT_SCAN_MS, Math.max(DUE_SCAN_MS, dueAtMs - this.#ports.clock.monotonicMs()));
  }

  /** For how long another member has to be silent until this one declares it dead. */
  #declarationMs(incarnation: string): number {
    return this.#leaseMs + LEASE_MARGIN_MS + this.#rankOf(incarnation) * RANK_STAGGER_MS;
  }

  /** The other members that have been silent for so long that they may be dead. */
  suspects(incarnation: string): ReadonlySet<string> {
    const others = [...this.#sightings.keys()].filter((other) => other !== incarnation);
    return new Set(others.filter((other) => this.#isSilent(other)));
  }

  /** When another member that accepts slots was last seen to report that it is healthy. */
  othersProvenAtMs(incarnation: string): number {
    let latestMs = Number.NEGATIVE_INFINITY;
    for (const [other, { atMs }] of this.#healthSightings) {
      if (other !== incarnation && this.#rows.get(other)?.state === 'alive')
        latestMs = Math.max(latestMs, atMs ?? latestMs);
    }
    return latestMs;
  }

  /** Declares dead every member that is due. Resolves to whether there was one. */
  async declareSilent(observer: Observer): Promise<boolean> {
    const { clock, store, log } = this.#ports;
    const declarationMs = this.#declarationMs(observer.incarnation);
    let declared = false;
    for (const [incarnation, { heartbeat, sinceMs }] of [...this.#sightings]) {
      if (incarnation === observer.incarnation) continue;
      const countedFromMs = Math.max(sinceMs, this.#steadySinceMs, observer.steadySinceMs);
      const silentMs = clock.monotonicMs() - countedFromMs;
      if (silentMs < declarationMs) continue;
      const deadlineMs = clock.monotonicMs() + DECLARATION_MS_MAX;
      const { applied, row } = await store.declareDead({ incarnation, heartbeat }, deadlineMs);
      if (row !== undefined) {
        this.learn(row);
        this.#sight(row, clock.monotonicMs());
      }
      if (!applied) continue;
      declared = true;
      log.warn({ incarnation, shardName: row?.shardName, silentMs }, 'declared a silent member dead');
    }
    return declared;
  }

  /** Removes the rows of members that have been dead for long. Only the first living member does this. */
  async removeDead(observer: Observer): Promise<void> {
    if (this.#rankOf(observer.incarnation) > 0) return;
    const { clock, store } = this.#ports;
    for (const [incarnation, sinceMs] of this.#deadSinceMs) {
      if (clock.monotonicMs() - sinceMs < DEAD_ROW_KEPT_MS) continue;
      await store.removeMember(incarnation, storeDeadline(clock));
    }
  }

  #sight(row: MemberRow, nowMs: number): void {
    const { incarnation, heartbeat, healthyHeartbeat } = row;
    if (row.state === 'dead') {
      this.#sightings.delete(incarnation);
      this.#healthSightings.delete(incarnation);
      if (!this.#deadSinceMs.has(incarnation)) this.#deadSinceMs.set(incarnation, nowMs);
      return;
    }
    const sighting = this.#sightings.get(incarnation);
    if (sighting?.heartbeat !== heartbeat)
      this.#sightings.set(incarnation, { heartbeat, sinceMs: nowMs, came: sighting !== undefined });
    // A report from before the first scan may be old, and scans may return older rows again.
    const known = this.#healthSightings.get(incarnation);
    if (known === undefined) this.#healthSightings.set(incarnation, { healthyHeartbeat, atMs: undefined });
    else if (healthyHeartbeat > known.healthyHeartbeat)
      this.#healthSightings.set(incarnation, { healthyHeartbeat, atMs: nowMs });
  }

  /** Whether its heartbeat has not changed for so long that it may be dead. */
  #isSilent(incarnation: string): boolean {
    const { sinceMs = Number.POSITIVE_INFINITY } = this.#sightings.get(incarnation) ?? {};
    return this.#ports.clock.monotonicMs() - sinceMs > SUSPECT_MS;
  }

  /** 0 for the first of the living members that are not silent, ordered by incarnation: the dead declare nobody. */
  #rankOf(incarnation: string): number {
    let rank = 0;
    for (const row of this.#rows.values()) {
      if (row.state !== 'dead' && row.incarnation < incarnation && !this.#isSilent(row.incarnation)) rank += 1;
    }
    return Math.min(rank, RANK_MAX);
  }
}
