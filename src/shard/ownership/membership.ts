// Who else is there: what one member knows of the others from the rows of the store, and how it declares the silent
// ones dead. It keeps: a member is declared dead only after its heartbeat was seen unchanged for longer than any lease
// that the heartbeat can have given, by this process's own clock, while this process itself could read and heartbeat
// all the time. Any gap of its own starts the count again, so that after an outage of the store nobody declares
// everybody. The declaration tests the heartbeat, so that it fails where a newer one was first. `dead` is final.

import type { Clock } from '../../core/async/clock.ts';
import type { MemberRow, MemberStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { MemberAddress } from '../shard.ts';
import { storeDeadline } from '../store-calls.ts';
import { HEARTBEAT_INTERVAL_MS, STEADY_GAP_MS_MAX } from './membership-lease.ts';

/** Added to the lease: clocks of two processes may run a tenth apart. */
const LEASE_MARGIN_MS = 300;
/** Two heartbeats and a look at the members after the last one. */
const SUSPECT_MS = 3 * HEARTBEAT_INTERVAL_MS;
export const SCAN_MS = 500;
const SUSPECT_SCAN_MS = 200;
/** Declarers take their turns, so that one conditional write does it. */
const RANK_STAGGER_MS = 150;
const RANK_MAX = 10;
/** Rows of the dead are kept this long, so that nobody mistakes a former member for one that never was. */
const DEAD_ROW_KEPT_MS = 3_600_000;

export interface MembershipPorts {
  readonly store: MemberStore;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Observer {
  readonly incarnation: string;
  /** Since when the observer's own heartbeats have stood without a gap. */
  readonly steadySinceMs: number;
}

interface Sighting {
  readonly heartbeat: number;
  /** When this heartbeat was first seen, or when the count last started again. */
  sinceMs: number;
}

/** Declares every member dead that the store knows. Only for a process that holds the store alone. */
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
   * By living member: the last heartbeat that told of its health, and when that was first seen; undefined: at first
   * sight.
   */
  readonly #healthSightings = new Map<
    string,
    { readonly healthyHeartbeat: number; readonly atMs: number | undefined }
  >();
  #scannedAtMs = Number.NEGATIVE_INFINITY;
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

  /** The other members that live, or may. */
  neighboursOf(incarnation: string): readonly MemberAddress[] {
    return this.rows()
      .filter((row) => row.state !== 'dead' && row.incarnation !== incarnation)
      .map(({ shardName, address }) => ({ shardName, address }));
  }

  /** What a conditional write or a serial read has shown. */
  learn(row: MemberRow): void {
    const known = this.#rows.get(row.incarnation);
    // Death is final: an older answer that arrives later does not undo it.
    if (known?.state === 'dead') return;
    this.#rows.set(row.incarnation, row);
  }

  /** Whether the member is dead for good, asked of the store where the rows at hand do not say so. */
  async confirmDead(incarnation: string): Promise<boolean> {
    if (this.#rows.get(incarnation)?.state === 'dead') return true;
    const row = await this.#ports.store.readMember(incarnation, storeDeadline(this.#ports.clock));
    if (row !== undefined) this.learn(row);
    return row === undefined || row.state === 'dead';
  }

  /** Reads every row. Throws where the store cannot answer; the count then starts again. */
  async scan(): Promise<void> {
    const { store, clock } = this.#ports;
    const rows = await store.listMembers(storeDeadline(clock));
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#scannedAtMs > STEADY_GAP_MS_MAX) this.#steadySinceMs = nowMs;
    this.#scannedAtMs = nowMs;
    const before = this.#rows;
    this.#rows = new Map();
    for (const row of rows) {
      const known = before.get(row.incarnation);
      this.#rows.set(row.incarnation, known?.state === 'dead' ? known : row);
    }
    for (const row of this.#rows.values()) this.#sight(row, nowMs);
    for (const incarnation of [...this.#sightings.keys(), ...this.#deadSinceMs.keys()]) {
      if (this.#rows.has(incarnation)) continue;
      this.#sightings.delete(incarnation);
      this.#healthSightings.delete(incarnation);
      this.#deadSinceMs.delete(incarnation);
    }
  }

  /**
   * How long after a scan the next one is due: soon while another member is silent, so that its death is noticed in
   * time.
   */
  scanMs(incarnation: string): number {
    const nowMs = this.#ports.clock.monotonicMs();
    for (const [other, { sinceMs }] of this.#sightings) {
      if (other !== incarnation && nowMs - sinceMs > SUSPECT_MS) return SUSPECT_SCAN_MS;
    }
    return SCAN_MS;
  }

  /** When another member that takes slots was last seen to tell that it does its work. */
  othersProvenAtMs(incarnation: string): number {
    let latestMs = Number.NEGATIVE_INFINITY;
    for (const [other, { atMs }] of this.#healthSightings) {
      if (other !== incarnation && this.#rows.get(other)?.state === 'alive')
        latestMs = Math.max(latestMs, atMs ?? latestMs);
    }
    return latestMs;
  }

  /** Declares dead whoever is due. Resolves to whether one was. */
  async declareSilent(observer: Observer): Promise<boolean> {
    const { clock, store, log } = this.#ports;
    const turnMs = this.#rankOf(observer.incarnation) * RANK_STAGGER_MS;
    let declared = false;
    for (const [incarnation, { heartbeat, sinceMs }] of [...this.#sightings]) {
      if (incarnation === observer.incarnation) continue;
      const countedFromMs = Math.max(sinceMs, this.#steadySinceMs, observer.steadySinceMs);
      const silentMs = clock.monotonicMs() - countedFromMs;
      if (silentMs < this.#leaseMs + LEASE_MARGIN_MS + turnMs) continue;
      const { applied, row } = await store.declareDead({ incarnation, heartbeat }, storeDeadline(clock));
      if (row !== undefined) {
        this.learn(row);
        this.#sight(row, clock.monotonicMs());
      }
      if (!applied) continue;
      declared = true;
      log.warn({ incarnation, shardName: row?.shardName, silentMs }, 'a member was silent and is declared dead');
    }
    return declared;
  }

  /** Removes rows of members that have been dead for long. One member does it. */
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
    if (sighting?.heartbeat !== heartbeat) this.#sightings.set(incarnation, { heartbeat, sinceMs: nowMs });
    // What was told before this process looked for the first time may be old; scans may show older rows again.
    const told = this.#healthSightings.get(incarnation);
    if (told === undefined) this.#healthSightings.set(incarnation, { healthyHeartbeat, atMs: undefined });
    else if (healthyHeartbeat > told.healthyHeartbeat)
      this.#healthSightings.set(incarnation, { healthyHeartbeat, atMs: nowMs });
  }

  /** 0 for the first of the living, by incarnation. */
  #rankOf(incarnation: string): number {
    let rank = 0;
    for (const row of this.#rows.values()) {
      if (row.state !== 'dead' && row.incarnation < incarnation) rank += 1;
    }
    return Math.min(rank, RANK_MAX);
  }
}
