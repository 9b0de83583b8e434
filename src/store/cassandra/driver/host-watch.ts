// Watches which nodes respond. A node that is paused or silently cut off keeps its connections open, so only a timeout
// reveals it. Therefore every node is probed a few times a second with a trivial request that it can answer alone. A
// late node becomes the last choice, and calls that are safe to repeat move to another node. If it stays silent, its
// conditional writes end with unknown outcomes. This is only a hint: it affects the choice of nodes and the waits for
// them, nothing else.

import type { Clock, Timer } from '../../../core/async/clock.ts';

const PROBE_INTERVAL_MS = 250;
/** A node that takes longer than this to answer a probe is late: well above a pause of its garbage collector. */
const LATE_MS = 500;
/**
 * After this time, the node is given up. A longer time causes fewer unknown outcomes of conditional writes, but they
 * wait for it.
 */
const SILENT_MS = 1500;
/** For how long a node is the last choice after a call to it timed out. */
const PENALTY_MS = 2000;

export interface HostWatchPorts {
  readonly clock: Clock;
  /** The addresses of the nodes that the driver holds connections to. */
  readonly hosts: () => readonly string[];
  /** Settles when the node has responded in any way; rejects when it has not. */
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
      // The driver itself has noticed that the node is down, or the node has left the cluster.
      for (const address of this.#late) if (!hosts.includes(address)) this.#late.delete(address);
      if (!this.#stopped) this.start();
    }, PROBE_INTERVAL_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Whether any node is late now. */
  get isAnyLate(): boolean {
    return this.#late.size > 0;
  }

  /** Whether to prefer other nodes. */
  isDoubtful(address: string): boolean {
    if (this.#late.has(address)) return true;
    const untilMs = this.#penalties.get(address);
    if (untilMs === undefined) return false;
    if (untilMs > this.#ports.clock.monotonicMs()) return true;
    this.#penalties.delete(address);
    return false;
  }

  /** A call to this node has timed out, whatever the cause. */
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
      // The node stays late until it responds; the driver itself notices a lost connection.
    } finally {
      this.#probing.delete(address);
      for (const timer of timers) timer.cancel();
    }
  }

  /** A response that has already arrived is handled first, even if this process was too busy to read it. */
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
