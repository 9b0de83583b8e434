// The session of one incarnation: its row among the members, and the heartbeats that renew its lease. It keeps: the
// lease is valid only while nobody can have declared this incarnation dead. A beat is a conditional write on the row
// with a new number; the attempt whose number stands renews the lease, from its *start* on (lease.ts). A declaration of
// death is conditional on the same row: either a newer beat was first, and it fails, or it was first, and no beat
// stands any more.
//
//   joining ──inserted, first beat──▶ alive ──drain──▶ draining ──leave──▶ ended
//      └── stopped, refused ──▶ ended    └── declared dead ──┴──────────▶ ended
//
// An attempt that timed out may stand or not: the next one finds out, since it is conditional on the number before.

import { type Clock, delay } from '../../core/async/clock.ts';
import type { MemberRow, MemberStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { AttemptStart, Lease } from './lease.ts';
import { declareEnded } from './predecessors.ts';

export const BEAT_INTERVAL_MS = 500;
/** A beat that takes longer is given up for another coordinator's; five fit into a lease. */
const BEAT_TIMEOUT_MS = 700;
/** Beats further apart than this break the steadiness that declaring another member dead demands. */
export const STEADY_GAP_MS_MAX = 1000;
const JOIN_RETRY_MS = 200;

export interface SessionPorts {
  readonly store: MemberStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Renewed by this session alone. */
  readonly lease: Lease;
  /** Asked before each beat. */
  readonly health: SessionHealth;
  readonly observe: (beat: { readonly outcome: 'stood' | 'unknown' | 'withheld'; readonly seconds: number }) => void;
  /** Once: this incarnation is dead for good, without having left. */
  readonly onEnded: (reason: string) => void;
}

export interface SessionHealth {
  /** Without beats the slots go to other shards. */
  readonly healthy: boolean;
  /** When this process was last seen to do its work, on the monotonic clock. The next beat tells of it. */
  readonly provenAtMs: number;
}

export interface SessionOptions {
  readonly incarnation: string;
  readonly shardName: string;
  readonly address: string;
  readonly place: string | undefined;
}

interface BeatAttempt extends AttemptStart {
  /** What it tells of the health of this process. */
  readonly provenAtMs: number;
}

export class Session {
  readonly incarnation: string;
  readonly #ports: SessionPorts;
  readonly #options: SessionOptions;
  readonly #lease: Lease;
  #state: 'joining' | 'alive' | 'draining' | 'ended' = 'joining';
  /** Attempts by number, those that may stand: the one that does and later ones. */
  readonly #attempts = new Map<number, BeatAttempt>();
  #standing = 0;
  #healthyBeat = 0;
  #toldProvenAtMs = Number.NEGATIVE_INFINITY;
  #lastNumber = 0;
  #stoodAtMs = Number.NEGATIVE_INFINITY;
  #steadySinceMs = Number.POSITIVE_INFINITY;
  #wakeBeat: (() => void) | undefined;
  /** No beat since `drain` has said so. */
  #drainUntold = false;

  constructor(ports: SessionPorts, options: SessionOptions) {
    this.incarnation = options.incarnation;
    this.#ports = ports;
    this.#options = options;
    this.#lease = ports.lease;
  }

  get state(): 'joining' | 'alive' | 'draining' | 'ended' {
    return this.#state;
  }

  get ended(): boolean {
    return this.#state === 'ended';
  }

  /** Whether answers may be given now. Read per message, and again after the last await of an answer. */
  get leaseValid(): boolean {
    return this.#lease.valid;
  }

  /** 0: no answer may be given. Infinite where the lease does not run out. */
  get leaseLeftMs(): number {
    return this.#lease.leftMs;
  }

  /**
   * Since when beats have stood without a gap of more than a second, on the monotonic clock; in the future where the
   * last one is too long ago.
   */
  get steadySinceMs(): number {
    const nowMs = this.#ports.clock.monotonicMs();
    return nowMs - this.#stoodAtMs > STEADY_GAP_MS_MAX ? Number.POSITIVE_INFINITY : this.#steadySinceMs;
  }

  /** Inserts the row and beats once. Resolves when the lease is valid, or the session has ended. Tries until then. */
  async join(): Promise<void> {
    const { clock, log } = this.#ports;
    for (let refused = false; !this.ended && !(await this.#insert()); ) {
      if (!refused) log.warn({ incarnation: this.incarnation }, 'the store does not take the member yet; trying again');
      refused = true;
      await delay(clock, JOIN_RETRY_MS);
    }
    while (!this.ended && !this.leaseValid) {
      await this.#beat();
      if (!this.leaseValid && !this.ended) await delay(clock, JOIN_RETRY_MS);
    }
    if (this.ended) return;
    if (this.#state === 'joining') this.#state = 'alive';
    if (this.#lease.runsOut) void this.#keepBeating();
  }

  /** From the next beat on, which is now, the other members know that this one hands its slots over. */
  drain(): void {
    if (this.ended) return;
    this.#state = 'draining';
    this.#drainUntold = true;
    this.#wakeBeat?.();
  }

  /** Ends the session of its own accord, so that nobody has to wait for its lease. After every slot was released. */
  async leave(): Promise<void> {
    if (this.ended) return;
    this.#end();
    await declareEnded(this.#ports, { incarnation: this.incarnation, beat: this.#standing });
  }

  #end(): void {
    this.#state = 'ended';
    this.#lease.end();
    this.#wakeBeat?.();
  }

  #lose(reason: string): void {
    if (this.ended) return;
    this.#end();
    this.#ports.onEnded(reason);
  }

  #startAttempt(): BeatAttempt {
    const startMs = this.#ports.clock.monotonicMs();
    const { provenAtMs } = this.#ports.health;
    return { startMs, wallOffsetMs: this.#ports.clock.wallMs() - startMs, provenAtMs };
  }

  /** Whether the row is known to stand. An incarnation is inserted once and never again after it was seen. */
  async #insert(): Promise<boolean> {
    const { store, clock } = this.#ports;
    const { incarnation, shardName, address, place } = this.#options;
    const attempt = this.#attempts.get(0) ?? this.#startAttempt();
    this.#attempts.set(0, attempt);
    const startedAtMs = Math.round(attempt.startMs + attempt.wallOffsetMs);
    const beats = { beat: 0, healthyBeat: 0 };
    const member: MemberRow = { incarnation, shardName, address, state: 'alive', ...beats, startedAtMs, place };
    try {
      const outcome = await store.insertMember(member, clock.monotonicMs() + BEAT_TIMEOUT_MS);
      if (outcome.row?.state === 'dead') this.#lose('The member was declared dead before it could join.');
      return true;
    } catch {
      return false;
    }
  }

  async #keepBeating(): Promise<void> {
    const { clock, log } = this.#ports;
    let withheld = false;
    // The first beat has just stood.
    await this.#pause(BEAT_INTERVAL_MS);
    while (!this.ended) {
      const startMs = clock.monotonicMs();
      if (this.#ports.health.healthy) {
        withheld = false;
        await this.#beat();
      } else {
        if (!withheld) log.error('this shard is unhealthy: no heartbeats, so that its slots go to other shards');
        withheld = true;
        this.#ports.observe({ outcome: 'withheld', seconds: 0 });
      }
      if (this.ended) return;
      await this.#pause(startMs + BEAT_INTERVAL_MS - clock.monotonicMs());
    }
  }

  /** Until the next beat is due, or `drain` wants one now. */
  async #pause(delayMs: number): Promise<void> {
    if (delayMs <= 0 || this.#drainUntold) return;
    await new Promise<void>((resolve) => {
      const timer = this.#ports.clock.setTimer(resolve, delayMs);
      this.#wakeBeat = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wakeBeat = undefined;
  }

  async #beat(): Promise<void> {
    const { store } = this.#ports;
    const { incarnation } = this;
    const attempt = this.#startAttempt();
    this.#lastNumber += 1;
    const beat = this.#lastNumber;
    this.#attempts.set(beat, attempt);
    const state = this.#state === 'draining' ? 'draining' : 'alive';
    this.#drainUntold = false;
    // Told again until a beat stands that has told it.
    const healthyBeat = attempt.provenAtMs > this.#toldProvenAtMs ? beat : this.#healthyBeat;
    try {
      const { applied, row } = await store.beatMember(
        { incarnation, expectedBeat: this.#standing, beat, healthyBeat, state },
        attempt.startMs + BEAT_TIMEOUT_MS,
      );
      this.#observe('stood', attempt);
      if (row !== undefined) this.#healthyBeat = row.healthyBeat;
      if (applied) this.#stand(beat);
      else if (row === undefined) this.#lose('The row of the member is gone.');
      else if (row.state === 'dead') this.#lose('Another member has declared this one dead.');
      else if (row.beat >= this.#standing && this.#attempts.has(row.beat)) this.#stand(row.beat);
      else this.#lose(`The row of the member holds beat ${row.beat}, which this process did not make.`);
    } catch {
      // Whether it stands the next one finds out.
      this.#observe('unknown', attempt);
    }
  }

  #observe(outcome: 'stood' | 'unknown', { startMs }: BeatAttempt): void {
    this.#ports.observe({ outcome, seconds: (this.#ports.clock.monotonicMs() - startMs) / 1000 });
  }

  #stand(beat: number): void {
    if (this.ended) return;
    const attempt = this.#attempts.get(beat);
    if (attempt === undefined) return;
    const nowMs = this.#ports.clock.monotonicMs();
    if (nowMs - this.#stoodAtMs > STEADY_GAP_MS_MAX) this.#steadySinceMs = nowMs;
    this.#stoodAtMs = nowMs;
    this.#standing = beat;
    this.#toldProvenAtMs = Math.max(this.#toldProvenAtMs, attempt.provenAtMs);
    for (const number of this.#attempts.keys()) if (number < beat) this.#attempts.delete(number);
    this.#lease.renew(attempt);
  }
}
