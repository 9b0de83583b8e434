// Whether a shard is healthy: whether it should keep sending heartbeats, or let other shards take its slots. A state
// machine over what the shard has seen of itself and of the others, without I/O or a clock of its own. Invariant: a
// shard gives up only what another shard can do better. So it judges itself only while its heartbeats are applied. It
// gives up only if another living shard has since proved that it can work on the same store. In an outage of the store
// no shard proves that, so all shards keep their slots. So does the last living shard.
//
//   healthy ── a part failed for too long, another shard has worked since ──▶ unhealthy
//      ▲                                                                          │
//      └── the part works again and the back-off has passed · no other shard left ┘

import { backoffMs } from '../../core/async/clock.ts';

/** The abilities that health needs: to append to the log, to write state, and to answer over its own gRPC listener. */
export const HEALTH_PARTS = ['append', 'apply', 'loop-back'] as const;
export type HealthPart = (typeof HEALTH_PARTS)[number];

/**
 * A part without proof for this long has failed. State writes follow the log, so they may take longer. The loop-back
 * call has already waited 10 s when it reports a failure.
 */
const SILENCE_MS_MAX: Readonly<Record<HealthPart, number>> = { append: 10_000, apply: 30_000, 'loop-back': 1000 };
/** A shard that serves no slot yet has no append to show, and recovering a slot can take long. */
const OPENING_MS_MAX = 60_000;
/** Proof of another shard is at most this old when it is seen: its heartbeat and a scan of the members delay it. */
const EVIDENCE_LAG_MS = 8000;
/**
 * Others must prove health for at least this long. After an outage of the store one shard is the first to write again;
 * this gives the rest time to follow.
 */
const EVIDENCE_MS_MIN = 5000;
/** If no other shard has reported its health for this long, a shard that gave up is needed again. */
const OTHERS_SILENT_MS = 30_000;
/** If the process was paused for this long, that time does not count against any part. */
const STALL_MS = 3000;
/** How long a shard that gave up stays unhealthy at least; doubles each time that it relapses soon. */
const BACKOFF = { firstMs: 30_000, maxMs: 600_000 };
/** After being healthy for this long, a shard starts over with the first back-off. */
const RELAPSE_MS = 900_000;

export interface HealthReport {
  /** When each part was last proved to work, on the monotonic clock. */
  readonly provenAtMs: Readonly<Record<HealthPart, number>>;
  /** The shard has slots to recover and serves none. */
  readonly openingOnly: boolean;
  /** Since when the shard's heartbeats have been applied without a gap; infinite: they are not applied. */
  readonly steadySinceMs: number;
  /** When another living shard was last seen to report that it is healthy. */
  readonly othersProvenAtMs: number;
}

export type Health =
  | { readonly state: 'healthy' }
  /** The shard fails, and no other shard has proved that it could do better. */
  | { readonly state: 'suspect'; readonly part: HealthPart; readonly silentMs: number }
  /** The shard sends no heartbeats, so its slots go to other shards. */
  | { readonly state: 'unhealthy'; readonly part: HealthPart; readonly silentMs: number };

const HEALTHY: Health = { state: 'healthy' };

export class HealthJudge {
  #health: Health = HEALTHY;
  /** Time before this moment does not count as silence. */
  #graceFromMs = Number.NEGATIVE_INFINITY;
  /** By silent part: since when it is silent, and when another shard was first seen to have worked since. */
  readonly #evidence = new Map<HealthPart, { readonly sinceMs: number; readonly firstMs: number }>();
  #judgedAtMs: number | undefined;
  #gaveUpAtMs = Number.NEGATIVE_INFINITY;
  #resumedAtMs = Number.NEGATIVE_INFINITY;
  /** How often in a row the shard gave up soon after it had resumed. */
  #relapses = 0;

  get health(): Health {
    return this.#health;
  }

  /** Call this about once a second. */
  judge(nowMs: number, report: HealthReport): Health {
    if (nowMs - (this.#judgedAtMs ?? nowMs) > STALL_MS) this.#graceFromMs = nowMs;
    this.#judgedAtMs = nowMs;
    if (this.#health.state === 'unhealthy') this.#resumeIfRecovered(nowMs, report, this.#health.part);
    else this.#health = this.#look(nowMs, report);
    return this.#health;
  }

  #look(nowMs: number, report: HealthReport): Health {
    let suspect: Health = HEALTHY;
    for (const part of HEALTH_PARTS) {
      // Without heartbeats the store does not respond to this shard at all, and the lease limits what it may do.
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

  #resumeIfRecovered(nowMs: number, { provenAtMs, othersProvenAtMs }: HealthReport, part: HealthPart): void {
    const works = provenAtMs[part] > this.#gaveUpAtMs && nowMs - provenAtMs[part] < SILENCE_MS_MAX[part];
    const recovered = works && nowMs - this.#gaveUpAtMs >= backoffMs(BACKOFF, this.#relapses);
    const alone = nowMs - Math.max(othersProvenAtMs, this.#graceFromMs) >= OTHERS_SILENT_MS;
    if (!recovered && !alone) return;
    this.#health = HEALTHY;
    this.#resumedAtMs = nowMs;
    this.#graceFromMs = nowMs;
  }
}
