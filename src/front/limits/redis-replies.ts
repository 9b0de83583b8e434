// Bounds what Redis sends. The library buffers a reply until it is complete, allocates an array at its announced length
// and takes as many pushes as come. So each connection has a guard before it, which reads the framing
// (https://redis.io/docs/latest/develop/reference/protocol-spec/) of every byte, and ends the connection at a reply
// that no honest Redis sends. Invariant: the library never gets a header that announces more than the bound, nor more
// bytes of one reply.

import { createConnection, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, type RedisOptions, SentinelConnector } from 'ioredis';

/** The longest are `INFO`, with about 10 KB, and what sentinels tell; replies to our scripts have tens of bytes. */
export const REPLY_BYTES_MAX = 64 * 1024;
/** A cluster says which node has which slots: 60 bytes for each node of each range, and 1,000 ranges of three nodes. */
export const CLUSTER_REPLY_BYTES_MAX = 256 * 1024;
/** Arrays in arrays: the description of a cluster has three. */
const DEPTH_MAX = 8;
/** The longest line that announces a length. */
const HEADER_BYTES_MAX = 24;
/** The shortest element: its type and the end of its line. */
const ELEMENT_BYTES_MIN = 3;

const CR = 13;
const LF = 10;
/** Types whose value is the rest of the line; a long one counts as any other byte of the reply. */
const LINES = new Set([...'+-:_#,('].map((type) => type.charCodeAt(0)));
/** Types whose line announces so many bytes. */
const BLOBS = new Set([...'$!='].map((type) => type.charCodeAt(0)));
/** Types whose line announces so many elements, each of so many values. */
const AGGREGATES = new Map([...'*~%'].map((type) => [type.charCodeAt(0), type === '%' ? 2 : 1]));

export class ReplyViolation extends Error {}

export class ReplyGuard {
  readonly #bytesMax: number;
  /** Bytes of the reply that is arriving. */
  #bytes = 0;
  /** Values that are still missing in each aggregate that is open. */
  readonly #missing: number[] = [];
  /** Bytes of a blob that are to come, with the end of its line. */
  #blobBytes = 0;
  /** The line that is being read: its type; 0: the next byte is one. */
  #type = 0;
  #header = '';

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Throws ReplyViolation at a byte that no honest Redis sends. */
  take(chunk: Uint8Array): void {
    let index = 0;
    while (index < chunk.length) {
      if (this.#blobBytes > 0) {
        const taken = Math.min(this.#blobBytes, chunk.length - index);
        this.#count(taken);
        this.#blobBytes -= taken;
        index += taken;
        if (this.#blobBytes === 0) this.#endValue();
      } else {
        this.#takeByte(chunk[index] ?? 0);
        index += 1;
      }
    }
  }

  #takeByte(byte: number): void {
    this.#count(1);
    if (this.#type === 0) {
      if (!LINES.has(byte) && !BLOBS.has(byte) && !AGGREGATES.has(byte)) {
        throw new ReplyViolation('Redis sent an unsolicited or malformed reply.');
      }
      this.#type = byte;
      this.#header = '';
    } else if (byte === LF) {
      this.#endLine();
    } else if (byte !== CR && !LINES.has(this.#type)) {
      if (this.#header.length >= HEADER_BYTES_MAX) throw new ReplyViolation('Redis announced an invalid length.');
      this.#header += String.fromCharCode(byte);
    }
  }

  #endLine(): void {
    const type = this.#type;
    this.#type = 0;
    if (LINES.has(type)) {
      this.#endValue();
      return;
    }
    if (!/^(?:-1|[0-9]+)$/.test(this.#header)) throw new ReplyViolation('Redis announced an invalid length.');
    const announced = Number(this.#header);
    const values = AGGREGATES.get(type);
    const bytes = values === undefined ? announced : announced * values * ELEMENT_BYTES_MIN;
    if (this.#bytes + bytes > this.#bytesMax) throw this.#tooLong();
    if (values === undefined && announced >= 0) {
      this.#blobBytes = announced + 2;
    } else if (values !== undefined && announced > 0) {
      if (this.#missing.length >= DEPTH_MAX) throw new ReplyViolation('Redis sent a reply that is nested too deeply.');
      this.#missing.push(announced * values);
    } else {
      this.#endValue();
    }
  }

  /** The last value of an aggregate ends that, too. */
  #endValue(): void {
    while (this.#missing.length > 0) {
      const missing = (this.#missing.pop() ?? 1) - 1;
      if (missing === 0) continue;
      this.#missing.push(missing);
      return;
    }
    this.#bytes = 0;
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) throw this.#tooLong();
  }

  #tooLong(): ReplyViolation {
    return new ReplyViolation(`Redis sent a reply of more than ${this.#bytesMax} bytes.`);
  }
}

/** Ends the connection at the first violation, before its bytes are read. */
function guarded<Stream extends Socket>(socket: Stream, bytesMax: number): Stream {
  const guard = new ReplyGuard(bytesMax);
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...values: unknown[]) => boolean;
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    const [chunk] = values;
    if (event === 'data' && chunk instanceof Uint8Array) {
      if (socket.destroyed) return false;
      try {
        guard.take(chunk);
      } catch (violation) {
        socket.destroy(violation as ReplyViolation);
        return false;
      }
    }
    return emit(event, ...values);
  };
  return socket;
}

type Options = Pick<RedisOptions, 'host' | 'port' | 'family' | 'tls' | 'disconnectTimeout'>;
type Connector = NonNullable<RedisOptions['Connector']>;

/** For a server, or a node of a cluster. */
export const connectorOf = (bytesMax: number): Connector =>
  class extends AbstractConnector {
    readonly #options: Options;

    constructor(options: unknown) {
      const of = options as Options;
      super(of.disconnectTimeout ?? 0);
      this.#options = of;
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      const { host = 'localhost', port = 6379, family, tls } = this.#options;
      const to = { host, port, ...(family === undefined ? {} : { family }) };
      const socket = tls === undefined ? createConnection(to) : connectTls({ ...to, ...tls });
      this.stream = guarded(socket, bytesMax);
      socket.once('error', (error) => {
        this.firstError = error;
      });
      return socket;
    }
  };

type ConnectToSentinel = (endpoint: unknown, options?: object) => unknown;

/** For a master that sentinels name. */
export class GuardedSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as ConstructorParameters<typeof SentinelConnector>[0]);
    // The library makes its clients of sentinels by a method that its types call private.
    const parts = this as unknown as { connectToSentinel: ConnectToSentinel };
    const connectToSentinel = parts.connectToSentinel.bind(this);
    parts.connectToSentinel = (endpoint, more) =>
      connectToSentinel(endpoint, { ...more, Connector: connectorOf(REPLY_BYTES_MAX) });
  }

  override async connect(onEvent: Parameters<SentinelConnector['connect']>[0]): Promise<Socket> {
    return guarded((await super.connect(onEvent)) as Socket, REPLY_BYTES_MAX);
  }
}
