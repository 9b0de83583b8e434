// Which nodes answer. A node that is paused, or cut off without a word, keeps its connections: only time tells. So
// every node is asked a trifle that it can answer alone, a few times a second. One that is late is asked last from then
// on and what is safe to repeat goes to another; one that stays silent has its conditional writes given up, as unknown
// outcomes. A hint: nothing is decided by it but whom to ask, and how long to wait.

import type { Clock, Timer } from '../../../core/async/clock.ts';

const PROBE_INTERVAL_MS = 250;
/** A node that takes longer over a trifle is late: well above a pause of its garbage collector. */
const LATE_MS = 500;
/** And is given up. Fewer conditional writes end as unknown outcomes the longer it is; they wait for so long. */
const SILENT_MS = 1500;
/** How long a node at which a call timed out is asked last. */
const PENALTY_MS = 2000;

export interface HostWatchPorts {
  readonly clock: Clock;
  /** The addresses of the nodes that the driver holds connections to. */
  readonly hosts: () => readonly string[];
  /** Settles when the node has answered, whatever it answered; rejects when it has not. */
  readonly probe: (address: string) => Promise<void>;
  readonly onLate: (address: string) => void;
  readonly onSilent: (address: string) => void;
}

export class HostWatch {
  readonly #ports: HostWatchPorts;
  readonly #probing = new Set<string>();
  readonly #late = new Set<string>();
  readonly #penalties = new Map<string, number>();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(ports: HostWatchPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#timer = this.#ports.clock.setTimer(() => {
      const hosts = this.#ports.hosts();
      for (const address of hosts) void this.#probe(address);
      // The driver has noticed by itself that it is away, or it has left the cluster.
      for (const address of this.#late) if (!hosts.includes(address)) this.#late.delete(address);
      if (!this.#stopped) this.start();
    }, PROBE_INTERVAL_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Whether a node is late now. */
  get isAnyLate(): boolean {
    return this.#late.size > 0;
  }

  /** Whether to ask others first. */
  isDoubtful(address: string): boolean {
    if (this.#late.has(address)) return true;
    const untilMs = this.#penalties.get(address);
    if (untilMs === undefined) return false;
    if (untilMs > this.#ports.clock.monotonicMs()) return true;
    this.#penalties.delete(address);
    return false;
  }

  /** A call to it has timed out, whoever was to blame. */
  penalize(address: string): void {
    this.#penalties.set(address, this.#ports.clock.monotonicMs() + PENALTY_MS);
  }

  async #probe(address: string): Promise<void> {
    if (this.#probing.has(address)) return;
    this.#probing.add(address);
    const timers = [
      this.#after(LATE_MS, address, () => {
        this.#late.add(address);
        this.#ports.onLate(address);
      }),
      this.#after(SILENT_MS, address, () => this.#ports.onSilent(address)),
    ];
    try {
      await this.#ports.probe(address);
      this.#late.delete(address);
    } catch {
      // Late it stays until it answers; the driver itself notices a connection that is lost.
    } finally {
      this.#probing.delete(address);
      for (const timer of timers) timer.cancel();
    }
  }

  /** An answer that has arrived, but not been read yet since this very process was busy, comes first. */
  #after(delayMs: number, address: string, run: () => void): Timer {
    let cancelled = false;
    const timer = this.#ports.clock.setTimer(() => {
      this.#ports.clock.setImmediate(() => {
        if (!cancelled && !this.#stopped && this.#probing.has(address)) run();
      });
    }, delayMs);
    return {
      cancel: () => {
        cancelled = true;
        timer.cancel();
      },
    };
  }
}
