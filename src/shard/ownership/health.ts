// Whether a shard is healthy: whether it should go on sending heartbeats, or let other shards take its slots. A state
// machine over what the shard has seen of itself and of the others; it has no I/O and no clock of its own. It keeps: a
// shard gives up only what another one can do better. So it judges itself only while its heartbeats stand, and gives up
// only where another living shard has shown, later than it has itself, that it does its work on the same store. In an
// outage of the store nobody shows that, and everybody stays; so does the last one that is alive.
//
//   healthy ── a part has shown nothing for too long, another shard has since ──▶ unhealthy
//      ▲                                                                             │
//      └── the part works again and the back-off is over · no other shard is left ◀──┘

import { backoffMs } from '../../core/async/backoff.ts';

/** What a shard has to be able to do: append to the log, write state, and answer a call over its own gRPC listener. */
export const HEALTH_PARTS = ['append', 'apply', 'loop-back'] as const;
export type HealthPart = (typeof HEALTH_PARTS)[number];

/**
 * A part that has shown nothing for so long has failed. State is written behind the log, so that can wait longer. The
 * loop-back call has waited 10 s by itself before it says that it has failed.
 */
const SILENCE_MS_MAX: Readonly<Record<HealthPart, number>> = { append: 10_000, apply: 30_000, 'loop-back': 1000 };
/** A shard that serves nothing yet has shown no append: to recover a slot can take long. */
const OPENING_MS_MAX = 60_000;
/**
 * What another shard tells is younger than this once it is seen: its heartbeat and the scan of the members lie between.
 */
const EVIDENCE_LAG_MS = 8000;
/**
 * Others have to show it over so long: when an outage of the store ends, one shard is the first to write again, and the
 * others have this time to follow.
 */
const EVIDENCE_MS_MIN = 5000;
/** No other shard has told of its health for so long: whoever gave up is needed. */
const OTHERS_SILENT_MS = 30_000;
/** A process that stood still for so long judges nothing by that time. */
const STALL_MS = 3000;
/** Of giving up: at least so long, and twice as long each time that it happens again soon. */
const BACKOFF = { firstMs: 30_000, maxMs: 600_000 };
/** Healthy for so long, a shard begins with the first back-off again. */
const RELAPSE_MS = 900_000;

export interface HealthReport {
  /** When each part was last shown to work, on the monotonic clock. */
  readonly provenAtMs: Readonly<Record<HealthPart, number>>;
  /** It has slots to recover, and serves none. */
  readonly openingOnly: boolean;
  /** Since when the shard's heartbeats have stood without a gap; infinite: they do not. */
  readonly steadySinceMs: number;
  /** When another living shard was last seen to tell that it does its work. */
  readonly othersProvenAtMs: number;
}

export type Health =
  | { readonly state: 'healthy' }
  /** It does not do its work, and nothing shows that another shard could. */
  | { readonly state: 'suspect'; readonly part: HealthPart; readonly silentMs: number }
  /** No heartbeats, so that its slots go to others. */
  | { readonly state: 'unhealthy'; readonly part: HealthPart; readonly silentMs: number };

const HEALTHY: Health = { state: 'healthy' };

export class HealthJudge {
  #health: Health = HEALTHY;
  /** Nothing before this moment counts as silence. */
  #graceFromMs = Number.NEGATIVE_INFINITY;
  /** By part that is silent: since when, and when another shard was first seen to have done better since. */
  readonly #evidence = new Map<HealthPart, { readonly sinceMs: number; readonly firstMs: number }>();
  #judgedAtMs: number | undefined;
  #gaveUpAtMs = Number.NEGATIVE_INFINITY;
  #resumedAtMs = Number.NEGATIVE_INFINITY;
  /** How often it gave up soon after it had resumed, one time after another. */
  #relapses = 0;

  get health(): Health {
    return this.#health;
  }

  /** To be called about once a second. */
  judge(nowMs: number, report: HealthReport): Health {
    if (nowMs - (this.#judgedAtMs ?? nowMs) > STALL_MS) this.#graceFromMs = nowMs;
    this.#judgedAtMs = nowMs;
    if (this.#health.state === 'unhealthy') this.#lookWhetherOver(nowMs, report, this.#health.part);
    else this.#health = this.#look(nowMs, report);
    return this.#health;
  }

  #look(nowMs: number, report: HealthReport): Health {
    let suspect: Health = HEALTHY;
    for (const part of HEALTH_PARTS) {
      // Without heartbeats the store does not answer this shard at all, and its lease says what it may do.
      const sinceMs = Math.max(report.provenAtMs[part], report.steadySinceMs, this.#graceFromMs);
      const silentMs = nowMs - sinceMs;
      const silenceMsMax = report.openingOnly && part !== 'loop-back' ? OPENING_MS_MAX : SILENCE_MS_MAX[part];
      const isEvident = this.#isEvident(part, sinceMs, report.othersProvenAtMs);
      if (silentMs < silenceMsMax) continue;
      if (isEvident) return this.#giveUp(nowMs, part, silentMs);
      if (suspect.state === 'healthy') suspect = { state: 'suspect', part, silentMs };
    }
    return suspect;
  }

  #isEvident(part: HealthPart, sinceMs: number, othersProvenAtMs: number): boolean {
    const known = this.#evidence.get(part);
    if (othersProvenAtMs < sinceMs + EVIDENCE_LAG_MS) {
      this.#evidence.delete(part);
      return false;
    }
    if (known?.sinceMs === sinceMs) return othersProvenAtMs >= known.firstMs + EVIDENCE_MS_MIN;
    this.#evidence.set(part, { sinceMs, firstMs: othersProvenAtMs });
    return false;
  }

  #giveUp(nowMs: number, part: HealthPart, silentMs: number): Health {
    const relapsed = nowMs - this.#resumedAtMs < RELAPSE_MS;
    this.#relapses = relapsed ? this.#relapses + 1 : 0;
    this.#gaveUpAtMs = nowMs;
    return { state: 'unhealthy', part, silentMs };
  }

  #lookWhetherOver(nowMs: number, { provenAtMs, othersProvenAtMs }: HealthReport, part: HealthPart): void {
    const works = provenAtMs[part] > this.#gaveUpAtMs && nowMs - provenAtMs[part] < SILENCE_MS_MAX[part];
    const isOver = works && nowMs - this.#gaveUpAtMs >= backoffMs(BACKOFF, this.#relapses);
    const alone = nowMs - Math.max(othersProvenAtMs, this.#graceFromMs) >= OTHERS_SILENT_MS;
    if (!isOver && !alone) return;
    this.#health = HEALTHY;
    this.#resumedAtMs = nowMs;
    this.#graceFromMs = nowMs;
  }
}
