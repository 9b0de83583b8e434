// Observes the processes under attack through the kernel and their metrics, until they end: memory, the time in which
// other processes had the processor, and leases.

import { readMetric } from '../server/metrics-text.ts';
import {
  type ProcessorTime,
  readPeakResidentBytes,
  readProcessorTime,
  readResidentBytes,
} from '../server/resource-use.ts';
import { callOnce } from './http-call.ts';
import type { Part } from './service.ts';

const SAMPLE_MS = 50;
const METRICS_MS_MAX = 10_000;
/** How often a shard was declared dead, or a slot's owner had to stop. */
const LOST_LEASES = ['grantd_sessions_lost_total', 'grantd_slot_moves_total{kind="failed"}'];

export interface PartUse {
  readonly name: string;
  readonly residentBeforeBytes: number;
  readonly peakBytes: number;
  readonly memoryBytesMax: number;
  /**
   * By what factor the event loop's work was slowed down because other processes had the processors: 1 on a machine
   * with free processors.
   */
  readonly strain: number;
  readonly hasEnded: boolean;
}

export async function readLostLeases(parts: readonly Part[]): Promise<number> {
  let lost = 0;
  for (const { opsUrl } of parts) {
    const { body } = await callOnce({ url: `${opsUrl}/metrics`, timeoutMs: METRICS_MS_MAX });
    for (const name of LOST_LEASES) lost += readMetric(body, name);
  }
  return lost;
}

class ObservedPart {
  readonly #part: Part;
  readonly #residentBeforeBytes: number;
  readonly #before: ProcessorTime;
  #last: ProcessorTime;
  #peakBytes = 0;

  constructor(part: Part) {
    this.#part = part;
    this.#residentBeforeBytes = readResidentBytes(part.pid);
    this.#before = readProcessorTime(part.pid);
    this.#last = this.#before;
  }

  sample(): void {
    try {
      const peakBytes = readPeakResidentBytes(this.#part.pid);
      // A process that has ended and is not yet reaped has no memory.
      if (peakBytes > 0) this.#peakBytes = peakBytes;
      this.#last = readProcessorTime(this.#part.pid);
    } catch {
      // It has ended; `hasEnded` reports that.
    }
  }

  use(): PartUse {
    const { name, container, hasEnded } = this.#part;
    const ranMs = this.#last.ranMs - this.#before.ranMs;
    const waitedMs = this.#last.waitedMs - this.#before.waitedMs;
    return {
      name,
      residentBeforeBytes: this.#residentBeforeBytes,
      peakBytes: this.#peakBytes,
      memoryBytesMax: container.memoryMib * 1024 ** 2,
      strain: ranMs > 0 ? 1 + waitedMs / ranMs : 1,
      hasEnded: hasEnded(),
    };
  }
}

/** Samples them until it is stopped or disposed. */
export class PartsObservation {
  readonly #observed: readonly ObservedPart[];
  readonly #timer: NodeJS.Timeout;

  constructor(parts: readonly Part[]) {
    this.#observed = parts.map((part) => new ObservedPart(part));
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  #sample(): void {
    for (const part of this.#observed) part.sample();
  }

  /** Everything observed since the start. */
  stop(): readonly PartUse[] {
    clearInterval(this.#timer);
    this.#sample();
    return this.#observed.map((part) => part.use());
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
