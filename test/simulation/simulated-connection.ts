// One connection of a front to a shard on the simulated network, with the stream on it, as both ends see it. Flow
// control is that of gRPC: a reader that has paused holds what arrives, and beyond some messages its writer is told to
// wait.

import {
  decodeFrontMessage,
  decodeShardMessage,
  encodeFrontMessage,
  encodeShardMessage,
} from '../../src/rpc/protocol.ts';
import type {
  AcceptStream,
  ClientStream,
  ClientStreamHandlers,
  ServerStream,
  StreamError,
} from '../../src/rpc/transport/transport.ts';
import type { SimulatedNetwork } from './network.ts';
import type { SimulatedProcess } from './simulated-process.ts';

type Frame =
  | { readonly kind: 'open'; readonly accept: AcceptStream }
  | { readonly kind: 'data'; readonly bytes: Buffer }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly message: string };

/** Messages in flight or held before the writer is told to wait. */
const WINDOW_MESSAGES = 16;

/** One direction: frames in order, through a path that may be cut, to a process that may be paused or gone. */
class Pipe {
  readonly #network: SimulatedNetwork;
  readonly #from: SimulatedProcess;
  readonly #to: SimulatedProcess;
  readonly #receive: (frame: Frame) => void;
  readonly #onCapacity: () => void;
  #held: Frame[] = [];
  #lastArrivalMs = 0;
  #inFlight = 0;
  #full = false;
  #closed = false;
  readerPaused = false;
  stalled = false;

  constructor(
    network: SimulatedNetwork,
    ends: { readonly from: SimulatedProcess; readonly to: SimulatedProcess },
    receive: (frame: Frame) => void,
    onCapacity: () => void,
  ) {
    this.#network = network;
    this.#from = ends.from;
    this.#to = ends.to;
    this.#receive = receive;
    this.#onCapacity = onCapacity;
  }

  /** False: wait for capacity. */
  send(frame: Frame): boolean {
    if (this.#closed) return false;
    const { scheduler } = this.#network;
    this.#inFlight += 1;
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs + 0.001, scheduler.nowMs + this.#network.latencyMs());
    scheduler.after(this.#lastArrivalMs - scheduler.nowMs, () => {
      this.#held.push(frame);
      this.flush();
    });
    // Until its writer is told otherwise, also where it writes nevertheless.
    if (this.#inFlight >= WINDOW_MESSAGES) this.#full = true;
    return !this.#full;
  }

  /**
   * Hands over what has arrived, as far as the path is open: one thing after the other, each in a moment of its own.
   */
  flush(): void {
    if (this.#closed || this.stalled || this.#flushing || this.#network.isCut(this.#from, this.#to)) return;
    const frame = this.#held.shift();
    if (frame === undefined) return;
    this.#to.deliver(() => this.#take(frame));
    if (this.#held.length === 0) return;
    this.#flushing = true;
    this.#network.scheduler.after(this.#network.random.between(0.001, 0.5), () => {
      this.#flushing = false;
      this.flush();
    });
  }

  #flushing = false;
  #waiting: Frame[] = [];

  #take(frame: Frame): void {
    this.#waiting.push(frame);
    this.read();
  }

  /** Gives the reader what waits, unless it has paused. A broken stream is told at once. */
  read(): void {
    while (this.#waiting.length > 0 && (!this.readerPaused || this.#waiting[0]?.kind === 'error')) {
      const frame = this.#waiting.shift();
      if (frame === undefined) return;
      this.#inFlight -= 1;
      if (this.#full && this.#inFlight < WINDOW_MESSAGES / 2) {
        this.#full = false;
        this.#network.scheduler.after(this.#network.latencyMs(), () => this.#from.deliver(this.#onCapacity));
      }
      this.#receive(frame);
    }
  }

  close(): void {
    this.#closed = true;
  }
}

type ServerEvent = 'data' | 'end' | 'cancelled' | 'error' | 'close';
type Listener = (argument?: unknown) => void;

export class SimulatedConnection {
  readonly clientStream: ClientStream;
  readonly #network: SimulatedNetwork;
  readonly #client: SimulatedProcess;
  readonly #server: SimulatedProcess | undefined;
  readonly #handlers: ClientStreamHandlers;
  readonly #toServer: Pipe | undefined;
  readonly #toClient: Pipe | undefined;
  readonly #listeners = new Map<ServerEvent, Listener[]>();
  /** Told of messages that were written while there was no capacity. */
  readonly #unsent: (() => void)[] = [];
  #clientOver = false;
  #serverOver = false;

  constructor(
    network: SimulatedNetwork,
    client: SimulatedProcess,
    server: SimulatedProcess | undefined,
    handlers: ClientStreamHandlers,
  ) {
    this.#network = network;
    this.#client = client;
    this.#server = server;
    this.#handlers = handlers;
    if (server !== undefined) {
      const onServerCapacity = () => {
        for (const onSent of this.#unsent.splice(0)) onSent();
      };
      this.#toServer = new Pipe(
        network,
        { from: client, to: server },
        (frame) => this.#receiveAtServer(frame),
        () => {
          if (!this.#clientOver) handlers.onDrain();
        },
      );
      this.#toClient = new Pipe(
        network,
        { from: server, to: client },
        (frame) => this.#receiveAtClient(frame),
        onServerCapacity,
      );
    }
    this.clientStream = {
      write: (message) => this.#toServer?.send({ kind: 'data', bytes: encodeFrontMessage(message) }) ?? true,
      cancel: () => {
        if (this.#clientOver) return;
        this.#clientOver = true;
        // A reset follows the bytes that were sent before it: they are still read.
        this.#toServer?.send({ kind: 'error', message: 'cancelled' });
      },
    };
  }

  open(accept: AcceptStream | undefined): void {
    const server = this.#server;
    if (server === undefined || accept === undefined) {
      const { scheduler } = this.#network;
      scheduler.after(this.#network.latencyMs(), () => this.#client.deliver(() => this.#failClient('refused')));
      this.#network.forget(this);
      return;
    }
    this.#toServer?.send({ kind: 'open', accept });
    this.#watchPeer(server);
  }

  /** Holds back what goes to the shard on this very connection. */
  stallRequests(stalled: boolean): void {
    if (this.#toServer === undefined) return;
    this.#toServer.stalled = stalled;
    this.#toServer.flush();
  }

  involves(process: SimulatedProcess): boolean {
    return this.#client === process || this.#server === process;
  }

  joins(left: SimulatedProcess, right: SimulatedProcess): boolean {
    return this.involves(left) && this.involves(right);
  }

  flush(): void {
    this.#toServer?.flush();
    this.#toClient?.flush();
  }

  /** Both ends see the connection broken; bytes in flight that have not arrived are lost. */
  break(): void {
    this.silence();
    const { scheduler } = this.#network;
    scheduler.after(this.#network.latencyMs(), () => this.#client.deliver(() => this.#failClient('reset')));
    scheduler.after(this.#network.latencyMs(), () => this.#server?.deliver(() => this.#failServer()));
  }

  /** Nothing crosses any more, and nobody is told. */
  silence(): void {
    this.#toServer?.close();
    this.#toClient?.close();
    this.#network.forget(this);
  }

  /** The shard's keepalive: a front that is silent for too long has gone. */
  #watchPeer(server: SimulatedProcess): void {
    const { scheduler, options } = this.#network;
    let silentSinceMs: number | undefined;
    const look = (): void => {
      if (this.#serverOver || !server.alive) return;
      const heard =
        this.#client.alive &&
        !this.#client.paused &&
        !this.#network.isCut(this.#client, server) &&
        !this.#network.isCut(server, this.#client);
      silentSinceMs = heard ? undefined : (silentSinceMs ?? scheduler.nowMs);
      if (silentSinceMs !== undefined && scheduler.nowMs - silentSinceMs >= options.keepaliveMs) this.break();
      else scheduler.after(options.keepaliveMs / 2, look);
    };
    scheduler.after(options.keepaliveMs / 2, look);
  }

  // ---- the front's end ----

  #receiveAtClient(frame: Frame): void {
    if (this.#clientOver) return;
    if (frame.kind === 'data') {
      this.#handlers.onMessage(decodeShardMessage(frame.bytes));
    } else if (frame.kind === 'end') {
      this.#clientOver = true;
      this.#handlers.onEnd();
    } else if (frame.kind === 'error') {
      this.#failClient(frame.message);
    }
  }

  #failClient(message: string): void {
    if (this.#clientOver) return;
    this.#clientOver = true;
    this.#handlers.onError(message);
  }

  // ---- the shard's end ----

  #createServerStream(): ServerStream {
    return {
      on: (event: ServerEvent, listener: (argument: never) => void) => {
        const listeners = this.#listeners.get(event) ?? [];
        // Each event has the argument that the port says.
        listeners.push(listener as Listener);
        this.#listeners.set(event, listeners);
      },
      write: (message, onSent) => {
        const hasCapacity = this.#toClient?.send({ kind: 'data', bytes: encodeShardMessage(message) }) ?? true;
        if (hasCapacity) this.#network.scheduler.after(0, () => this.#server?.deliver(onSent));
        else this.#unsent.push(onSent);
      },
      end: () => {
        if (this.#serverOver) return;
        this.#serverOver = true;
        this.#toClient?.send({ kind: 'end' });
      },
      pause: () => this.#holdServer(true),
      resume: () => this.#holdServer(false),
      emit: (_event: 'error', error: StreamError) => {
        if (this.#serverOver) return;
        this.#serverOver = true;
        this.#toClient?.send({ kind: 'error', message: error.details });
      },
      getPeer: () => this.#client.name,
    };
  }

  #holdServer(held: boolean): void {
    const pipe = this.#toServer;
    if (pipe === undefined) return;
    pipe.readerPaused = held;
    if (!held) this.#network.scheduler.after(0, () => this.#server?.deliver(() => pipe.read()));
  }

  #receiveAtServer(frame: Frame): void {
    if (this.#serverOver) return;
    if (frame.kind === 'data') this.#emit('data', decodeFrontMessage(frame.bytes));
    else if (frame.kind === 'open') this.#accept(frame.accept);
    else this.#failServer();
  }

  #accept(accept: AcceptStream): void {
    if (accept(this.#createServerStream())) return;
    this.#serverOver = true;
    this.#toClient?.send({ kind: 'error', message: 'The shard is not up.' });
  }

  #failServer(): void {
    if (this.#serverOver) return;
    this.#serverOver = true;
    this.#emit('cancelled');
    this.#emit('close');
  }

  #emit(event: ServerEvent, argument?: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(argument);
  }
}
