// The connection of a peer to one shard: one stream, dialled again for as long as it is wanted. Invariants: at most one
// stream at a time; no event of a stream is reported after it was given up; nothing of a shard is reported unless it
// belongs to the cluster of this process.

import { assertNever } from '../../core/assert.ts';
import { backoffMs, type Clock, jitteredMs, type Random, type Timer } from '../../core/async/clock.ts';
import type { FrontMessage, Hello, ReceivedShardMessage, ReceivedWelcome } from '../messages.ts';
import type { ClusterIdentity } from './cluster-identity.ts';
import type { ClientStream, OpenStream } from './transport.ts';

/**
 * Clients wait for a shard that starts again after a crash. Together with the time for a welcome, less than 2 s: that
 * soon after a cut has healed the connection is back, whenever the last try was.
 */
const REDIAL = { firstMs: 100, maxMs: 250 };
/** From the dial to the shard's welcome. A host that swallows everything must not delay the next try for long. */
const WELCOME_MS_MAX = 1500;
/** A shard of this cluster may come to the address soon: addresses are used again. */
const FOREIGN_REDIAL_MS = 1000;

export interface ShardDialHandlers {
  /** The shard has replied to the hello: the stream may be used. `onMessage` follows with the same message. */
  onReady(welcome: ReceivedWelcome): void;
  onMessage(message: ReceivedShardMessage): void;
  /** `send` returned false before, and may be called again. */
  onDrain(): void;
  /** The stream, ready or not, has ended; the next one is dialled automatically. */
  onClosed(reason: string): void;
}

export interface ShardDialOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The cluster of the process. */
  readonly cluster: ClusterIdentity;
  /** The hello of every stream; the dial adds the cluster. */
  readonly hello: () => Omit<Hello, 'clusterId'>;
  readonly openStream: OpenStream;
}

export interface ShardDial {
  /**
   * False: the write buffer is full; wait for `onDrain`. Without a ready stream, nothing is sent and it returns false.
   */
  send(message: FrontMessage): boolean;
  /** Gives up the stream and dials again. */
  reset(reason: string): void;
  /** Closes for good. No handler is called afterwards. */
  close(): void;
}

interface Dial {
  /** Undefined only while it is being opened. */
  stream: ClientStream | undefined;
  /** The cluster of a shard that has sent its welcome. */
  clusterId: string | undefined;
}

class RedialingShardDial implements ShardDial {
  readonly #address: string;
  readonly #handlers: ShardDialHandlers;
  readonly #options: ShardDialOptions;
  #current: Dial | undefined;
  #timer: Timer | undefined;
  /** Dials in a row that led to no ready stream. */
  #failures = 0;
  /** No stream is wanted before this process knows to which cluster it belongs. */
  #waitsForCluster = false;
  readonly #unwatch: () => void;

  constructor(address: string, handlers: ShardDialHandlers, options: ShardDialOptions) {
    this.#address = address;
    this.#handlers = handlers;
    this.#options = options;
    this.#unwatch = options.cluster.watch(() => this.#onClusterChange());
    this.#dial();
  }

  send(message: FrontMessage): boolean {
    const dial = this.#current;
    return dial?.clusterId !== undefined && dial.stream?.write(message) === true;
  }

  reset(reason: string): void {
    const dial = this.#current;
    if (dial !== undefined) this.#lose(dial, reason);
  }

  close(): void {
    this.#unwatch();
    this.#waitsForCluster = false;
    this.#timer?.cancel();
    const dial = this.#current;
    this.#current = undefined;
    dial?.stream?.cancel();
    this.#options.cluster.forget(this.#address);
  }

  #dial(): void {
    this.#waitsForCluster = false;
    const dial: Dial = { stream: undefined, clusterId: undefined };
    this.#current = dial;
    const stream = this.#options.openStream(this.#address, {
      onMessage: (message) => this.#receive(dial, message),
      onDrain: () => {
        if (this.#current === dial) this.#handlers.onDrain();
      },
      onError: (message) => this.#lose(dial, message),
      onEnd: () => this.#lose(dial, 'The shard ended the stream.'),
    });
    dial.stream = stream;
    const { cluster, clock, hello } = this.#options;
    stream.write({ hello: { ...hello(), clusterId: cluster.id ?? '' }, ping: { id: 0 } });
    this.#timer = clock.setTimer(() => this.#lose(dial, 'The shard did not send its welcome in time.'), WELCOME_MS_MAX);
  }

  #receive(dial: Dial, message: ReceivedShardMessage): void {
    if (this.#current !== dial) return;
    if (dial.clusterId === undefined) {
      if (message.welcome === null) {
        this.#lose(dial, 'The shard did not begin with its welcome.');
        return;
      }
      if (!this.#belongs(dial, message.welcome)) return;
      dial.clusterId = message.welcome.clusterId;
      this.#failures = 0;
      this.#timer?.cancel();
      this.#handlers.onReady(message.welcome);
      // The handler may have given up the stream.
      if (this.#current !== dial) return;
    }
    this.#handlers.onMessage(message);
  }

  /** Gives the stream up unless its shard certainly belongs to the cluster of this process. */
  #belongs(dial: Dial, welcome: ReceivedWelcome): boolean {
    const verdict = this.#options.cluster.meet(this.#address, welcome);
    // What the answer has decided may have closed this dial.
    if (this.#current !== dial) return false;
    switch (verdict) {
      case 'same':
        return true;
      case 'foreign':
        this.#giveUp(dial, FOREIGN_REDIAL_MS);
        this.#handlers.onClosed('The shard is of another cluster.');
        return false;
      case 'undecided':
        this.#giveUp(dial, FOREIGN_REDIAL_MS);
        this.#waitsForCluster = true;
        return false;
      default:
        return assertNever(verdict);
    }
  }

  #onClusterChange(): void {
    const dial = this.#current;
    if (this.#waitsForCluster) {
      this.#timer?.cancel();
      this.#dial();
    } else if (dial?.clusterId !== undefined && this.#options.cluster.verdict(dial.clusterId) !== 'same') {
      this.#lose(dial, 'It is not certain any more that the shard is of this cluster.');
    }
  }

  #lose(dial: Dial, reason: string): void {
    if (this.#current !== dial) return;
    const { random, cluster } = this.#options;
    this.#giveUp(dial, jitteredMs(random, backoffMs(REDIAL, this.#failures)));
    this.#failures += 1;
    if (dial.clusterId === undefined) cluster.miss(this.#address);
    this.#handlers.onClosed(reason);
  }

  #giveUp(dial: Dial, redialMs: number): void {
    this.#current = undefined;
    this.#timer?.cancel();
    dial.stream?.cancel();
    this.#timer = this.#options.clock.setTimer(() => this.#dial(), redialMs);
  }
}

/** Dials `address` (host:port) now and keeps a stream to it until closed. Handlers are not called before it returns. */
export function dialShard(address: string, handlers: ShardDialHandlers, options: ShardDialOptions): ShardDial {
  return new RedialingShardDial(address, handlers, options);
}
