// The wall clock of a shard, as far as it may be believed. The judgement (`ClockWatch`) gives a *reference*: what the
// wall clocks of the others show at a moment of the monotonic clock of this process, which carries it from there on. So
// the wall clock is compared with it at every use, and a jump is noticed by the very next one.
//
// Invariant: the time that this clock tells is never further ahead of the reference than the bound, so neither is that
// of any log that goes by it.

import type { Clock, Timer } from '../../core/async/clock.ts';
import type { MemberStore } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import { storeDeadline } from '../store-calls.ts';

export class WallClock implements Clock {
  readonly #clock: Clock;
  readonly #skewMsMax: number;
  /** Wall clock of the others minus the monotonic clock of this process. */
  #referenceMs: number | undefined;
  #judged = false;

  /** `skewMsMax`: infinite if any wall clock will do. */
  constructor(clock: Clock, skewMsMax: number) {
    this.#clock = clock;
    this.#skewMsMax = skewMsMax;
  }

  get skewMsMax(): number {
    return this.#skewMsMax;
  }

  /** Wall clock minus monotonic clock. */
  get offsetMs(): number {
    return this.#clock.wallMs() - this.#clock.monotonicMs();
  }

  /** How far the wall clock is ahead of the reference now. Undefined: there is none yet. */
  get skewMs(): number | undefined {
    return this.#referenceMs === undefined ? undefined : this.offsetMs - this.#referenceMs;
  }

  /** Whether the wall clock agrees with what is known of the others. */
  get agrees(): boolean {
    const { skewMs } = this;
    return skewMs !== undefined && Math.abs(skewMs) <= this.#skewMsMax;
  }

  /** Whether this process may serve by this clock: it was compared with all others, and agrees. */
  get right(): boolean {
    return this.#judged && this.agrees;
  }

  /** `isWhole`: all others that are there were compared. */
  judge(referenceMs: number, isWhole: boolean): void {
    this.#referenceMs = referenceMs;
    this.#judged ||= isWhole;
  }

  /** Whole ms, ahead of the reference by the bound at most. */
  wallMs(): number {
    const wallMs = this.#clock.wallMs();
    if (this.#referenceMs === undefined || this.#skewMsMax === Number.POSITIVE_INFINITY) return wallMs;
    const referenceMs = this.#clock.monotonicMs() + this.#referenceMs;
    return Math.min(wallMs, Math.floor(referenceMs + this.#skewMsMax));
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  idleMs(): number {
    return this.#clock.idleMs();
  }

  setTimer(run: () => void, delayMs: number): Timer {
    return this.#clock.setTimer(run, delayMs);
  }

  setImmediate(run: () => void): void {
    this.#clock.setImmediate(run);
  }
}

// ---- the comparison with other clocks ----
//
// Whether the wall clock of this process is right, by those of all others: of the other members, by their heartbeats,
// and of the nodes of the store. The median of all of them, and of its own, is the reference. So one wrong
// clock harms no other process; if two halves disagree, the one with the store is believed, since all members see that
// one. If most clocks are wrong together, theirs is the time.
//
// Nothing can be compared if the store is on this machine alone. Then the clock is believed at the start, and a jump
// while the process runs, against its monotonic clock, once it has lasted: until then the shard answers nothing, since
// a grant that would expire by the jump neither holds for certain nor has expired.

/** What is known of a clock for longer than that no longer counts. */
const SAMPLE_MS_MAX = 30_000;
/** A slower answer says too little of the time. */
const ROUND_TRIP_MS_MAX = 4000;
/** Others that have not been compared by then are silent. */
const COMPARING_MS_MAX = 2000;
/** A jump that has lasted this long is believed, if there is nothing to compare with. Well below the usual deadline. */
const JUMP_MS = 5000;
/** Two readings of one clock differ by less. */
const SAME_MS = 1000;

/** What another clock showed. */
export interface ClockSample {
  /** For messages: of whom. */
  readonly of: string;
  /** Its wall clock minus the monotonic clock of this process. */
  readonly offsetMs: number;
}

export interface ComparedClocks {
  readonly ownMs: number;
  readonly members: readonly number[];
  readonly nodes: readonly number[];
}

const ascending = (left: number, right: number): number => left - right;

/** The median of all. Of two in the middle, the one that is nearer to the store, or else to the own one. */
export function referenceOf({ ownMs, members, nodes }: ComparedClocks): number {
  const all = [ownMs, ...members, ...nodes].sort(ascending);
  const upper = all[Math.floor(all.length / 2)] ?? ownMs;
  const lower = all[Math.floor((all.length - 1) / 2)] ?? ownMs;
  const sorted = nodes.toSorted(ascending);
  const judgeMs = sorted[Math.floor(sorted.length / 2)] ?? ownMs;
  return Math.abs(lower - judgeMs) <= Math.abs(upper - judgeMs) ? lower : upper;
}

export interface ClockWatchPorts {
  readonly clock: Clock;
  readonly wall: WallClock;
  readonly store: MemberStore;
  readonly log: Log;
  /** The clocks of the other living members; `offsetMs` undefined: not known yet. */
  readonly members: () => readonly { readonly of: string; readonly offsetMs: number | undefined }[];
  /** There is nothing to compare with. */
  readonly alone: boolean;
}

export class ClockWatch {
  readonly #ports: ClockWatchPorts;
  readonly #nodes = new Map<string, ClockSample & { readonly atMs: number }>();
  #members: readonly ClockSample[] = [];
  /** The store has answered once: until then nothing is known of this clock. */
  #measured = false;
  #beganAtMs: number | undefined;
  #jump: { readonly offsetMs: number; readonly sinceMs: number } | undefined;
  #reported = false;

  constructor(ports: ClockWatchPorts) {
    this.#ports = ports;
    if (ports.alone) ports.wall.judge(ports.wall.offsetMs, true);
  }

  /** Why this process serves nothing, for the operator; undefined: its clock is right. */
  get problem(): string | undefined {
    const { wall } = this.#ports;
    const { skewMs } = wall;
    if (wall.right) return undefined;
    if (skewMs === undefined || wall.agrees) return 'its clock has not been compared yet';
    if (this.#ports.alone) return `its clock jumped by ${seconds(skewMs)}, and may jump back`;
    const others = [...this.#members, ...this.#nodes.values()];
    const away = others.filter(({ offsetMs }) => Math.abs(offsetMs - wall.offsetMs) > wall.skewMsMax);
    return `its clock differs by ${seconds(skewMs)} from ${away.map(({ of }) => of).join(', ')}`;
  }

  /** How far the wall clock is ahead of others, by the most: negative if it is behind. */
  get differencesMs(): { readonly median: number; readonly member: number; readonly store: number } {
    const { wall } = this.#ports;
    const most = (samples: Iterable<ClockSample>): number =>
      Array.from(samples, ({ offsetMs }) => wall.offsetMs - offsetMs).reduce(
        (found, each) => (Math.abs(each) > Math.abs(found) ? each : found),
        0,
      );
    return { median: wall.skewMs ?? 0, member: most(this.#members), store: most(this.#nodes.values()) };
  }

  /** Compares the clock with the others that can be read now. The last reference holds until the next one. */
  async look(): Promise<void> {
    const { clock, wall, alone } = this.#ports;
    if (alone) this.#lookAlone();
    else {
      await this.#readNode();
      const nowMs = clock.monotonicMs();
      this.#beganAtMs ??= nowMs;
      const members = this.#ports.members();
      this.#members = members.flatMap(({ of, offsetMs }) => (offsetMs === undefined ? [] : [{ of, offsetMs }]));
      for (const [node, { atMs }] of this.#nodes) if (nowMs - atMs > SAMPLE_MS_MAX) this.#nodes.delete(node);
      const isWhole =
        this.#members.length === members.length || nowMs - this.#beganAtMs > COMPARING_MS_MAX || wall.right;
      this.#judge(isWhole);
    }
    this.#report();
  }

  /** By the store alone, before this process is a member that others expect to serve. */
  async lookAtStore(): Promise<void> {
    if (this.#ports.alone) return;
    await this.#readNode();
    this.#judge(false);
  }

  #judge(isWhole: boolean): void {
    const { wall } = this.#ports;
    if (!this.#measured) return;
    const offsets = (samples: Iterable<ClockSample>): number[] => Array.from(samples, ({ offsetMs }) => offsetMs);
    const compared = { ownMs: wall.offsetMs, members: offsets(this.#members), nodes: offsets(this.#nodes.values()) };
    wall.judge(referenceOf(compared), isWhole);
  }

  /** Between two readings of the monotonic clock; the node read its own in between. */
  async #readNode(): Promise<void> {
    const { clock, store } = this.#ports;
    const startMs = clock.monotonicMs();
    const read = await store.readClock(storeDeadline(clock)).catch(() => 'unknown' as const);
    const endMs = clock.monotonicMs();
    if (read === 'unknown' || endMs - startMs > ROUND_TRIP_MS_MAX) return;
    this.#measured = true;
    if (read === undefined) return;
    const { node, wallMs } = read;
    this.#nodes.set(node, { of: `the store at ${node}`, offsetMs: wallMs - (startMs + endMs) / 2, atMs: endMs });
  }

  #lookAlone(): void {
    const { clock, wall } = this.#ports;
    const { offsetMs } = wall;
    const nowMs = clock.monotonicMs();
    if (wall.agrees) this.#jump = undefined;
    else if (this.#jump === undefined || Math.abs(this.#jump.offsetMs - offsetMs) > SAME_MS) {
      this.#jump = { offsetMs, sinceMs: nowMs };
    } else if (nowMs - this.#jump.sinceMs >= JUMP_MS) {
      const { skewMs } = wall;
      this.#jump = undefined;
      wall.judge(offsetMs, true);
      this.#ports.log.warn({ skewMs }, 'the clock of this machine jumped and stays so: it is believed from now on');
    }
  }

  #report(): void {
    const { log, wall } = this.#ports;
    const { problem } = this;
    const { skewMs } = wall;
    // A clock that has not been compared, as the store does not respond, may be right.
    if (problem !== undefined && skewMs !== undefined && !wall.agrees && !this.#reported) {
      this.#reported = true;
      log.error({ skewMs, reason: problem }, 'this process serves nothing: its wall clock is wrong');
    } else if (problem === undefined && this.#reported) {
      this.#reported = false;
      log.info({ skewMs }, 'the clock of this process is right again');
    }
  }
}

const seconds = (skewMs: number): string => `${skewMs < 0 ? '-' : '+'}${Math.round(Math.abs(skewMs) / 1000)} s`;
