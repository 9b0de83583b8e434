// Whether a shard is healthy: whether it should keep sending heartbeats, or let other shards take its slots. A state
// machine over what the shard has seen of itself and of the others, without I/O or a clock of its own. Invariant: a
// shard gives up only what another shard can do better. So it judges itself only while its heartbeats are applied. It
// gives up only if another living shard has since proved that it can work on the same store. In an outage of the store
// no shard proves that, so all shards keep their slots. So does the last living shard.
//
//   healthy ── a part failed for too long, another shard has worked since ──▶ unhealthy
//      ▲                                                                          │
//      └── the part works again and the back-off has passed · no other shard left ┘

import { assert } from '../../core/assert.ts';
import { backoffMs, type Clock } from '../../core/async/clock.ts';
import { encodeUuid, parseTenantId, type TenantId } from '../../core/ids.ts';
import type { StateWrite, Store } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tenure } from '../log/tenure.ts';
import type { LeaseHealth } from './membership-lease.ts';

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

// ---- the watch ----
//
// Watches whether a shard is healthy and reports it to the membership lease. Successful appends, successful state
// writes and the process's gRPC call to itself prove health. Probes replace the first two if there is nothing to write,
// or if writes are stuck. A probe changes nothing, no matter who sends it or how late it arrives: it appends the last
// entry of a slot's log again at its own seq, and writes a fixed row that belongs to no tenant to the state tables.
// Probes use the code path of real writes and go through the slots in turn. Invariant:
//   - One slot with failing writes does not make the shard unhealthy while writes of another slot succeed: a new owner
//     of the failing slot could do no better.
//   - If a slot's append is stuck although its log accepts probes, this shard opens the slot again, in a new epoch.

const ROUND_MS = 1000;
/** Without a write for this long, a probe tests whether writes would succeed. */
const PROBE_AFTER_MS = 5000;
/** Pause before the next probe after a failed one. */
const PROBE_RETRY_MS = 1000;
const PROBE_TIMEOUT_MS = 2000;
/** Slots probed at once after a failure, and how many of these may be stuck ones. */
const PROBE_SLOTS_MAX = 8;
const PROBE_STUCK_MAX = 4;
/** Older proof is not sent to the others: heartbeats carry no timestamp for it. */
const FRESH_MS = 2000;
const STUCK_MS = 10_000;
/** The shard opens a slot again when its log accepts probes but its append has waited for this long. */
const REOPEN_AFTER_MS = 30_000;
/** Pause before opening the same slot again. */
const REOPEN = { firstMs: 60_000, maxMs: 600_000 };
/** An attempt to open a slot takes less than this. */
const OPENING_SEEN_MS = 35_000;

/** Values of the metric. */
const VALUES = { suspect: 0.5, unhealthy: 1 } as const;

export interface HealthWatchPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tenures: () => Iterable<Tenure>;
  /** Since when the heartbeats of this shard have been applied without a gap. */
  readonly steadySinceMs: () => number;
  readonly othersProvenAtMs: () => number;
  /** Whether the process answers its own call. */
  readonly loopBackHealthy: () => boolean;
  /** The tenure has ended, and the slot must be opened again. */
  readonly reopen: (tenure: Tenure, reason: string) => void;
  readonly stopped: () => boolean;
}

interface Probe {
  readonly tenure: Tenure;
  readonly append: boolean;
  readonly apply: boolean;
}

export class HealthWatch implements LeaseHealth {
  readonly #ports: HealthWatchPorts;
  readonly #judge = new HealthJudge();
  readonly #provenAtMs: Record<HealthPart, number>;
  readonly #reopenings = new Map<number, { readonly fromMs: number; readonly times: number }>();
  /** Index of the slot at which the next probe starts. */
  #cursor = 0;
  #probing = false;
  #probedAtMs = Number.NEGATIVE_INFINITY;
  #probeFailed = false;
  #openingSeenAtMs = Number.NEGATIVE_INFINITY;
  #serves = false;

  constructor(ports: HealthWatchPorts) {
    this.#ports = ports;
    const nowMs = ports.clock.monotonicMs();
    this.#provenAtMs = { append: nowMs, apply: nowMs, 'loop-back': nowMs };
  }

  /** True while the shard stops, so that heartbeats continue while it hands over its slots. */
  get healthy(): boolean {
    return this.#judge.health.state !== 'unhealthy' || this.#ports.stopped();
  }

  /** The failing part, because of which the slots go to other shards; undefined: they stay. */
  get unhealthyPart(): HealthPart | undefined {
    const { health } = this.#judge;
    return health.state === 'unhealthy' ? health.part : undefined;
  }

  get provenAtMs(): number {
    const provenAtMs = Math.min(...HEALTH_PARTS.map((part) => this.#provenAtMs[part]));
    const isFresh = this.#serves && this.#ports.clock.monotonicMs() - provenAtMs <= FRESH_MS;
    return isFresh ? provenAtMs : Number.NEGATIVE_INFINITY;
  }

  /** An append or a state write succeeded. */
  wrote(part: 'append' | 'apply'): void {
    this.#provenAtMs[part] = this.#ports.clock.monotonicMs();
  }

  /** Runs until the shard has stopped. */
  async run(): Promise<void> {
    const { clock, stopped } = this.#ports;
    while (!stopped()) {
      this.#round();
      await new Promise<void>((resolve) => void clock.setTimer(resolve, ROUND_MS));
    }
  }

  report(): void {
    const { metrics, tenures } = this.#ports;
    const { health } = this.#judge;
    for (const part of HEALTH_PARTS) {
      const failing = health.state !== 'healthy' && health.part === part ? VALUES[health.state] : 0;
      metrics.shardUnhealthy.inc({ part }, failing);
    }
    const nowMs = this.#ports.clock.monotonicMs();
    for (const { waits } of tenures()) {
      if (nowMs - (waits.appendSinceMs ?? nowMs) >= STUCK_MS) metrics.stuckSlots.inc({ work: 'append' });
      if (nowMs - (waits.applySinceMs ?? nowMs) >= STUCK_MS) metrics.stuckSlots.inc({ work: 'apply' });
    }
  }

  #round(): void {
    const { clock, steadySinceMs, othersProvenAtMs, loopBackHealthy } = this.#ports;
    const nowMs = clock.monotonicMs();
    const tenures = [...this.#ports.tenures()];
    const serving = tenures.filter((tenure) => tenure.serving);
    this.#serves = serving.length > 0;
    if (tenures.some(({ state }) => state === 'opening')) this.#openingSeenAtMs = nowMs;
    const opens = nowMs - this.#openingSeenAtMs < OPENING_SEEN_MS;
    if (loopBackHealthy()) this.#provenAtMs['loop-back'] = nowMs;
    // Without slots there is nothing to write, and nothing to probe.
    if (!this.#serves && !opens) this.#provenAtMs.append = nowMs;
    if (!this.#serves) this.#provenAtMs.apply = nowMs;
    const before = this.#judge.health;
    const health = this.#judge.judge(nowMs, {
      provenAtMs: this.#provenAtMs,
      openingOnly: !this.#serves,
      steadySinceMs: steadySinceMs(),
      othersProvenAtMs: othersProvenAtMs(),
    });
    this.#logChange(before, health);
    // Without applied heartbeats there is nothing to judge. While the shard is unhealthy, a probe shows when it
    // recovers.
    if (steadySinceMs() > nowMs && health.state !== 'unhealthy') return;
    void this.#probe(serving, nowMs);
  }

  #logChange(before: Health, health: Health): void {
    const { log } = this.#ports;
    if (before.state === health.state) return;
    if (health.state === 'unhealthy') {
      const { part, silentMs } = health;
      log.error({ part, silentMs }, 'this shard is unhealthy and another shard is healthy; heartbeats suspended');
    } else if (health.state === 'suspect') {
      const { part, silentMs } = health;
      log.warn({ part, silentMs }, 'this shard fails its health checks, but no other shard has proved healthy');
    } else {
      log.info('this shard is healthy again');
    }
  }

  async #probe(serving: readonly Tenure[], nowMs: number): Promise<void> {
    const isQuiet = nowMs - Math.min(this.#provenAtMs.append, this.#provenAtMs.apply) >= PROBE_AFTER_MS;
    const afterMs = this.#probeFailed && this.healthy ? PROBE_RETRY_MS : PROBE_AFTER_MS;
    const stuck = serving
      .filter(({ waits }) => nowMs - (waits.appendSinceMs ?? nowMs) >= STUCK_MS)
      .toSorted((left, right) => (left.waits.appendSinceMs ?? nowMs) - (right.waits.appendSinceMs ?? nowMs))
      .slice(0, PROBE_STUCK_MAX);
    if (this.#probing || nowMs - this.#probedAtMs < afterMs || !(isQuiet || stuck.length > 0)) return;
    this.#probing = true;
    this.#probedAtMs = nowMs;
    // A slot with an append in flight proves by itself whether appends succeed; a probe would only delay it.
    const idle = serving.filter(({ waits }) => waits.appendSinceMs === undefined);
    const count = Math.min(idle.length, isQuiet && this.#probeFailed ? PROBE_SLOTS_MAX : Number(isQuiet));
    const taken = Array.from({ length: count }, (_, index) => idle[(this.#cursor + index) % idle.length]);
    this.#cursor = idle.length === 0 ? 0 : (this.#cursor + count) % idle.length;
    const targets = [...stuck, ...taken].filter((tenure) => tenure !== undefined);
    const probes = await Promise.all(targets.map((tenure) => this.#probeSlot(tenure)));
    this.#probing = false;
    this.#probeFailed =
      targets.length > 0 && !(probes.some(({ append }) => append) && probes.some(({ apply }) => apply));
    for (const { tenure, append } of probes) if (append && stuck.includes(tenure)) this.#reopen(tenure);
  }

  async #probeSlot(tenure: Tenure): Promise<Probe> {
    const [append, apply] = await Promise.all([
      this.#try('append', () => this.#probeLog(tenure)),
      this.#try('apply', () => this.#probeState(tenure.slot)),
    ]);
    return { tenure, append, apply };
  }

  async #try(part: 'append' | 'apply', probe: () => Promise<boolean>): Promise<boolean> {
    const ok = await probe().catch(() => false);
    if (ok) this.wrote(part);
    this.#ports.metrics.healthProbes.inc({ part, outcome: ok ? 'ok' : 'failed' });
    return ok;
  }

  /** A conditional write that finds its own entry at its seq. Also false if the entry was trimmed in the meantime. */
  async #probeLog({ slot, lastSeq }: Tenure): Promise<boolean> {
    const { store, clock } = this.#ports;
    const deadlineMs = clock.monotonicMs() + PROBE_TIMEOUT_MS;
    const record = await store.readRecord(slot, lastSeq, deadlineMs);
    if (record === undefined) return false;
    await store.append(record, deadlineMs);
    return true;
  }

  async #probeState(slot: number): Promise<boolean> {
    await this.#ports.store.writeState([probeWrite(slot)], this.#ports.clock.monotonicMs() + PROBE_TIMEOUT_MS);
    return true;
  }

  #reopen(tenure: Tenure): void {
    const { clock, reopen, steadySinceMs } = this.#ports;
    const nowMs = clock.monotonicMs();
    const sinceMs = Math.max(tenure.waits.appendSinceMs ?? nowMs, steadySinceMs());
    const known = this.#reopenings.get(tenure.slot);
    if (!tenure.serving || nowMs - sinceMs < REOPEN_AFTER_MS || nowMs < (known?.fromMs ?? 0)) return;
    const times = known?.times ?? 0;
    this.#reopenings.set(tenure.slot, { fromMs: nowMs + backoffMs(REOPEN, times), times: times + 1 });
    reopen(
      tenure,
      `An append has been stuck for ${Math.round(nowMs - sinceMs)} ms, although the log accepts other writes.`,
    );
  }
}

/** A tenant that does not exist: its id is from the year 1970, and `tenants` has no row for it. */
function probeTenant(slot: number): TenantId {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, slot);
  const tenantId = parseTenantId(`ten_${encodeUuid(bytes)}`);
  assert(tenantId !== undefined, 'an encoded UUID is a valid id');
  return tenantId;
}

const probeWrite = (slot: number): StateWrite => ({
  kind: 'namespace',
  tenantId: probeTenant(slot),
  name: 'probe',
  createdAtMs: 0,
  stamp: 1,
});
