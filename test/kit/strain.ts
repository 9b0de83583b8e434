// How busy the machine is: by what factor a piece of plain work takes longer than the processor time that it needs. 1:
// the processors are free at once; 4: every piece of work waits three times as long as it runs. Bounds of time are for
// a machine that has time for the service, and are never stretched: missed on a busier one, they are inconclusive.

const SAMPLE_MS = 200;
/** Long enough to be interrupted in, short enough to cost nothing. */
const WORK_MS = 3;
/** Up to here, a bound that is missed is the fault of the service. */
export const STRAIN_MAX = 2;

export class Strain {
  #wallMs = 0;
  #processorMs = 0;
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
    this.#timer.unref();
  }

  #sample(): void {
    const startMs = performance.now();
    const start = process.threadCpuUsage();
    let usedMs = 0;
    while (usedMs < WORK_MS) {
      const { user, system } = process.threadCpuUsage(start);
      usedMs = (user + system) / 1000;
    }
    this.#wallMs += performance.now() - startMs;
    this.#processorMs += usedMs;
  }

  /** The mean factor since the last call, at least 1. Without a sample, one is taken now. */
  take(): number {
    if (this.#processorMs === 0) this.#sample();
    const factor = this.#wallMs / this.#processorMs;
    this.#wallMs = 0;
    this.#processorMs = 0;
    return Math.max(1, factor);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/**
 * Judges times, rates, and what only a deadline has refused, of a stretch with this strain. Kept bounds pass at any
 * strain, because a busy machine only makes a service slower. A missed one throws `inconclusive: strain N` and what was
 * seen if the machine was busier than `STRAIN_MAX`; the runner of tests tries such a test once more when nothing else
 * runs, and counts it as failed if it does not pass then. Whatever else holds, such as order and counts, is not judged
 * in here.
 */
export function judgeTimes(strain: number, judge: () => void): void {
  try {
    judge();
  } catch (error) {
    if (strain <= STRAIN_MAX) throw error;
    const seen = error instanceof Error ? error.message : String(error);
    throw new Error(`inconclusive: strain ${strain.toFixed(1)}: ${seen}`, { cause: error });
  }
}
