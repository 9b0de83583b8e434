// How busy the machine is: by what factor a piece of plain work takes longer than the processor time that it needs. 1:
// the processors are free at once; 4: every piece of work waits three times as long as it runs. Bounds of time are
// stretched by it, so that a test says something about the service and not about its neighbours on the machine.

const SAMPLE_MS = 200;
/** Long enough to be interrupted in, short enough to cost nothing. */
const WORK_MS = 3;

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

  /** The mean factor since the last call, at least 1. Without a sample, 1. */
  take(): number {
    const factor = this.#processorMs === 0 ? 1 : this.#wallMs / this.#processorMs;
    this.#wallMs = 0;
    this.#processorMs = 0;
    return Math.max(1, factor);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
