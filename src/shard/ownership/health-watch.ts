// Watches whether a shard does its work, and tells its session. What shows it: appends and state writes that stand;
// where there is nothing to write, or what there is does not get on, probes; and the call of the process to itself. A
// probe is a write that changes nothing, whoever makes it and however late it arrives: the last entry of a slot's log
// is put again to the very place where it stands, and one row that belongs to no tenant is written to the state tables,
// always the same. It takes the same way as an append and a state write do, over one slot after another. It keeps:
//   - one slot whose writes fail is not the fault of the shard: as long as those of any other slot get through, the
//     shard is healthy, since whoever took that slot over could do no better;
//   - a slot whose append does not get on although its log takes a probe is opened again, in a new epoch, by this
//     shard.

import { assert } from '../../core/assert.ts';
import { backoffMs } from '../../core/async/backoff.ts';
import type { Clock } from '../../core/async/clock.ts';
import { encodeUuid, parseTenantId, type TenantId } from '../../core/ids.ts';
import type { StateWrite, Store } from '../../store/store.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Tenure } from '../log/tenure.ts';
import { HEALTH_PARTS, type Health, HealthJudge, type HealthPart } from './health.ts';
import type { LeaseHealth } from './membership-lease.ts';

const ROUND_MS = 1000;
/** Nothing written for so long: a probe shows whether it could be. */
const PROBE_AFTER_MS = 5000;
/** How soon the next one is made where the last one failed. */
const PROBE_RETRY_MS = 1000;
const PROBE_TIMEOUT_MS = 2000;
/** Slots that are probed at once after a failure, and how many of them may be ones that are stuck. */
const PROBE_SLOTS_MAX = 8;
const PROBE_STUCK_MAX = 4;
/** Older proof is no news for others: how old it is would have to be told as well. */
const FRESH_MS = 2000;
const STUCK_MS = 10_000;
/** A slot whose log takes probes and whose append has waited for so long is opened again. */
const REOPEN_AFTER_MS = 30_000;
/** How soon once more. */
const REOPEN = { firstMs: 60_000, maxMs: 600_000 };
/** An attempt to open a slot ends in less. */
const OPENING_SEEN_MS = 35_000;

/** Of the metric. */
const VALUES = { suspect: 0.5, unhealthy: 1 } as const;

export interface HealthWatchPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tenures: () => Iterable<Tenure>;
  /** Since when the heartbeats of this shard have stood. */
  readonly steadySinceMs: () => number;
  readonly othersProvenAtMs: () => number;
  /** Whether the process answers its own call. */
  readonly loopBackHealthy: () => boolean;
  /** The tenure is over, and its slot is to be opened again. */
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
  /** Where the next probe begins among the slots. */
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

  /** While the shard stops its heartbeats go on: it hands its slots over. */
  get healthy(): boolean {
    return this.#judge.health.state !== 'unhealthy' || this.#ports.stopped();
  }

  /** Why the slots go to others; undefined: they do not. */
  get unhealthyPart(): HealthPart | undefined {
    const { health } = this.#judge;
    return health.state === 'unhealthy' ? health.part : undefined;
  }

  get provenAtMs(): number {
    const provenAtMs = Math.min(...HEALTH_PARTS.map((part) => this.#provenAtMs[part]));
    const isFresh = this.#serves && this.#ports.clock.monotonicMs() - provenAtMs <= FRESH_MS;
    return isFresh ? provenAtMs : Number.NEGATIVE_INFINITY;
  }

  /** An append, or a write of state, stands. */
  wrote(part: 'append' | 'apply'): void {
    this.#provenAtMs[part] = this.#ports.clock.monotonicMs();
  }

  /** Until the shard has stopped. */
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
    // It has nothing to write, nor anything to probe with.
    if (!this.#serves && !opens) this.#provenAtMs.append = nowMs;
    if (!this.#serves) this.#provenAtMs.apply = nowMs;
    const before = this.#judge.health;
    const health = this.#judge.judge(nowMs, {
      provenAtMs: this.#provenAtMs,
      openingOnly: !this.#serves,
      steadySinceMs: steadySinceMs(),
      othersProvenAtMs: othersProvenAtMs(),
    });
    this.#tell(before, health);
    // Without heartbeats that stand there is nothing to judge; after giving up, a probe shows when that is over.
    if (steadySinceMs() > nowMs && health.state !== 'unhealthy') return;
    void this.#probe(serving, nowMs);
  }

  #tell(before: Health, health: Health): void {
    const { log } = this.#ports;
    if (before.state === health.state) return;
    if (health.state === 'unhealthy') {
      const { part, silentMs } = health;
      log.error({ part, silentMs }, 'this shard is unhealthy, and another one is not: it sends no heartbeats');
    } else if (health.state === 'suspect') {
      const { part, silentMs } = health;
      log.warn({ part, silentMs }, 'this shard does not do its work, and no other shard shows that it could');
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
    // A slot that is appending shows by itself whether it can; a probe would be in its way.
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

  /** A conditional write that finds its own entry in its place. False also where the entry was trimmed meanwhile. */
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
    reopen(tenure, `An append has not got on for ${Math.round(nowMs - sinceMs)} ms, although the log takes others.`);
  }
}

/** A tenant that is none: its id is of the year 1970, and no row of `tenants` has it. */
function probeTenant(slot: number): TenantId {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setUint32(12, slot);
  const tenantId = parseTenantId(`ten_${encodeUuid(bytes)}`);
  assert(tenantId !== undefined, 'an encoded UUID makes an id');
  return tenantId;
}

const probeWrite = (slot: number): StateWrite => ({
  kind: 'namespace',
  tenantId: probeTenant(slot),
  name: 'probe',
  createdAtMs: 0,
  stamp: 1,
});
