// The simulated network between fronts and shards: connections by address, each direction a pipe of encoded bytes with
// a latency. A path between two processes can be cut in one direction or both: what is sent is held, and arrives when
// the path heals unless the connection was given up first. It keeps: the bytes of one direction arrive in order, each
// once or not at all; nothing crosses but bytes.

import type { AcceptStream, OpenStream } from '../../src/rpc/transport/transport.ts';
import type { Scheduler } from './scheduler.ts';
import type { SeededRandom } from './seeded-random.ts';
import { SimulatedConnection } from './simulated-connection.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export interface NetworkOptions {
  /** Of one message, besides the ordinary fraction of a millisecond. */
  readonly slowChance: number;
  /** How long the shard's keepalive lets a peer be silent. */
  readonly keepaliveMs: number;
}

interface Listener {
  readonly process: SimulatedProcess;
  readonly accept: AcceptStream;
}

export class SimulatedNetwork {
  readonly scheduler: Scheduler;
  readonly random: SeededRandom;
  readonly options: NetworkOptions;
  readonly #listeners = new Map<string, Listener>();
  readonly #connections = new Set<SimulatedConnection>();
  /** How often a direction (the names of the processes) is cut. */
  readonly #cuts = new Map<string, number>();

  constructor(scheduler: Scheduler, random: SeededRandom, options: NetworkOptions) {
    this.scheduler = scheduler;
    this.random = random;
    this.options = options;
  }

  /** From now on streams to the address reach this process. */
  listen(process: SimulatedProcess, address: string, accept: AcceptStream): void {
    this.#listeners.set(address, { process, accept });
  }

  /** What a front opens its streams by. */
  openStreamOf(process: SimulatedProcess): OpenStream {
    return (address, handlers) => {
      const listener = this.#listeners.get(address);
      const server = listener?.process.alive === true ? listener : undefined;
      const connection = new SimulatedConnection(this, process, server?.process, handlers);
      this.#connections.add(connection);
      connection.open(server?.accept);
      return connection.clientStream;
    };
  }

  forget(connection: SimulatedConnection): void {
    this.#connections.delete(connection);
  }

  isCut(from: SimulatedProcess, to: SimulatedProcess): boolean {
    return (this.#cuts.get(`${from.name}>${to.name}`) ?? 0) > 0;
  }

  /** Cuts one direction, until the returned function is called. */
  cut(from: SimulatedProcess, to: SimulatedProcess): () => void {
    const direction = `${from.name}>${to.name}`;
    this.#cuts.set(direction, (this.#cuts.get(direction) ?? 0) + 1);
    let healed = false;
    return () => {
      if (healed) return;
      healed = true;
      this.#cuts.set(direction, (this.#cuts.get(direction) ?? 1) - 1);
      for (const connection of this.#connections) connection.flush();
    };
  }

  /** Breaks a connection of the two, as a reset does. */
  reset(left: SimulatedProcess, right: SimulatedProcess): void {
    for (const connection of [...this.#connections]) if (connection.joins(left, right)) connection.break();
  }

  /** Nothing crosses the connections of the two any more, and neither hears of that. */
  silence(left: SimulatedProcess, right: SimulatedProcess): void {
    for (const connection of [...this.#connections]) if (connection.joins(left, right)) connection.silence();
  }

  /**
   * What the first now sends the second on a connection that stands stays on its way, until the returned function is
   * called.
   */
  stall(from: SimulatedProcess, to: SimulatedProcess): () => void {
    const stalled = [...this.#connections].filter((connection) => connection.joins(from, to));
    for (const connection of stalled) connection.stallRequests(true);
    return () => {
      for (const connection of stalled) connection.stallRequests(false);
    };
  }

  /** A process has ended. Its peers hear of it by a reset, or (`silently`) by its silence alone. */
  lose(process: SimulatedProcess, silently: boolean): void {
    for (const connection of [...this.#connections]) {
      if (!connection.involves(process)) continue;
      if (silently) connection.silence();
      else connection.break();
    }
  }

  latencyMs(): number {
    if (this.random.chance(this.options.slowChance)) return this.random.between(5, 300);
    return this.random.between(0.1, 1.5);
  }
}
