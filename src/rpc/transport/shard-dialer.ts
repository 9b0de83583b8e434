// The connection of a front to one shard: one stream, dialled again for as long as it is wanted. Invariants: at most
// one stream at a time; no event of a stream is reported after it was given up.

import { backoffMs, type Clock, jitteredMs, type Random, type Timer } from '../../core/async/clock.ts';
import type { FrontMessage } from '../gen/grantd/v1/FrontMessage.ts';
import type { ShardMessage__Output } from '../gen/grantd/v1/ShardMessage.ts';
import type { Welcome__Output } from '../gen/grantd/v1/Welcome.ts';
import type { ClientStream, OpenStream } from './transport.ts';

/**
 * Clients wait for a shard that starts again after a crash. Together with the time for a welcome, less than 2 s: that
 * soon after a cut has healed the connection is back, whenever the last try was.
 */
const REDIAL = { firstMs: 100, maxMs: 250 };
/** From the dial to the shard's welcome. A host that swallows everything must not delay the next try for long. */
const WELCOME_MS_MAX = 1500;

export interface ShardDialHandlers {
  /** The shard has replied to the hello: the stream may be used. `onMessage` follows with the same message. */
  onReady(welcome: Welcome__Output): void;
  onMessage(message: ShardMessage__Output): void;
  /** `send` returned false before, and may be called again. */
  onDrain(): void;
  /** The stream, ready or not, has ended; the next one is dialled automatically. */
  onClosed(reason: string): void;
}

export interface ShardDialOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The first message of every stream: the hello. */
  readonly firstMessage: () => FrontMessage;
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
  ready: boolean;
}

class RedialingShardDial implements ShardDial {
  readonly #address: string;
  readonly #handlers: ShardDialHandlers;
  readonly #options: ShardDialOptions;
  #current: Dial | undefined;
  #timer: Timer | undefined;
  /** Dials in a row that led to no ready stream. */
  #failures = 0;

  constructor(address: string, handlers: ShardDialHandlers, options: ShardDialOptions) {
    this.#address = address;
    this.#handlers = handlers;
    this.#options = options;
    this.#dial();
  }

  send(message: FrontMessage): boolean {
    const dial = this.#current;
    return dial?.ready === true && dial.stream?.write(message) === true;
  }

  reset(reason: string): void {
    const dial = this.#current;
    if (dial !== undefined) this.#lose(dial, reason);
  }

  close(): void {
    this.#timer?.cancel();
    const dial = this.#current;
    this.#current = undefined;
    dial?.stream?.cancel();
  }

  #dial(): void {
    const dial: Dial = { stream: undefined, ready: false };
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
    stream.write(this.#options.firstMessage());
    this.#timer = this.#options.clock.setTimer(
      () => this.#lose(dial, 'The shard did not send its welcome in time.'),
      WELCOME_MS_MAX,
    );
  }

  #receive(dial: Dial, message: ShardMessage__Output): void {
    if (this.#current !== dial) return;
    if (!dial.ready) {
      if (message.welcome === null) {
        this.#lose(dial, 'The shard did not begin with its welcome.');
        return;
      }
      dial.ready = true;
      this.#failures = 0;
      this.#timer?.cancel();
      this.#handlers.onReady(message.welcome);
      // The handler may have given up the stream.
      if (this.#current !== dial) return;
    }
    this.#handlers.onMessage(message);
  }

  #lose(dial: Dial, reason: string): void {
    if (this.#current !== dial) return;
    this.#current = undefined;
    this.#timer?.cancel();
    dial.stream?.cancel();
    const { clock, random } = this.#options;
    this.#timer = clock.setTimer(() => this.#dial(), jitteredMs(random, backoffMs(REDIAL, this.#failures)));
    this.#failures += 1;
    this.#handlers.onClosed(reason);
  }
}

/** Dials `address` (host:port) now and keeps a stream to it until closed. Handlers are not called before it returns. */
export function dialShard(address: string, handlers: ShardDialHandlers, options: ShardDialOptions): ShardDial {
  return new RedialingShardDial(address, handlers, options);
}
