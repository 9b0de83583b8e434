// Reads a body: completely, within its bound, as well-formed UTF-8. Invariants: nothing is read before the request has
// been found fit to be answered, nothing beyond the bound, and nothing of a large body before its bytes have been
// claimed for its tenant.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GrantdError } from '../../core/errors.ts';
import type { ByteBudget, Reservation } from './byte-budget.ts';
import type { Connection } from './connection.ts';
import type { BodyDone, BodyEncoding } from './incoming.ts';
import { BODY_CLAIM_BYTES, BODY_UNCLAIMED_BYTES_MAX } from './limits.ts';

const REPLACEMENT = '\uFFFD';

export const tooLarge = (bytesMax: number): GrantdError =>
  new GrantdError('payload-too-large', `The body is larger than ${bytesMax / 1024} KiB.`, { details: { bytesMax } });

const malformed = (): GrantdError => new GrantdError('invalid-request', 'The body is not well-formed UTF-8.');

/** Takes a body that has arrived completely: the bytes from `start` on; perhaps none. */
export function takeBody(
  bytes: Buffer,
  start: number,
  bytesMax: number,
  done: BodyDone,
  encoding: BodyEncoding = 'utf8',
): void {
  const length = bytes.length - start;
  if (length > bytesMax) {
    done(tooLarge(bytesMax), '');
    return;
  }
  if (encoding === 'latin1') {
    done(undefined, bytes.toString('latin1', start));
    return;
  }
  // Invalid bytes take the decoder twenty times as long, so a long body is validated first; a short one is just
  // decoded.
  const long = length > BODY_UNCLAIMED_BYTES_MAX;
  const text = long && !isUtf8(bytes.subarray(start)) ? undefined : bytes.toString('utf8', start);
  // The replacement character stands for anything malformed, or for itself.
  if (text === undefined || (!long && text.includes(REPLACEMENT) && !isUtf8(bytes.subarray(start)))) {
    done(malformed(), '');
    return;
  }
  done(undefined, text);
}

/** The text of a body that arrives in pieces. Each is decoded as it comes, so no step decodes all. */
export class ArrivingText {
  /** Undefined: each byte is a character. */
  readonly #decoder: TextDecoder | undefined;
  /** Undefined: it is not well-formed UTF-8. */
  #text: string | undefined = '';

  constructor(encoding: BodyEncoding = 'utf8') {
    this.#decoder = encoding === 'utf8' ? new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }) : undefined;
  }

  add(piece: Buffer): void {
    this.#decode(piece, true);
  }

  /** All of it; undefined: it is not well-formed UTF-8. */
  end(): string | undefined {
    this.#decode(undefined, false);
    return this.#text;
  }

  #decode(piece: Buffer | undefined, stream: boolean): void {
    if (this.#text === undefined) return;
    try {
      this.#text +=
        this.#decoder === undefined ? (piece?.toString('latin1') ?? '') : this.#decoder.decode(piece, { stream });
    } catch {
      this.#text = undefined;
    }
  }
}

interface BodySource {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: Connection;
}

/** A body that arrives piece by piece. Calls `done` once, unless the client disconnects first. */
export class ReadBody {
  readonly #incoming: BodySource;
  readonly #budget: ByteBudget;
  readonly #bytesMax: number;
  readonly #tenantId: string;
  readonly #done: BodyDone;
  readonly #reservations: Reservation[] = [];
  readonly #text: ArrivingText;
  /** Bytes that have arrived, and bytes that may arrive without a further reservation. */
  #length = 0;
  #claimedLength = BODY_UNCLAIMED_BYTES_MAX;
  #giveUpWaiting: (() => void) | undefined;
  #finished = false;

  constructor(
    incoming: BodySource,
    budget: ByteBudget,
    {
      bytesMax,
      tenantId,
      encoding,
    }: { readonly bytesMax: number; readonly tenantId: string; readonly encoding: BodyEncoding },
    done: BodyDone,
  ) {
    this.#text = new ArrivingText(encoding);
    this.#incoming = incoming;
    this.#budget = budget;
    this.#bytesMax = bytesMax;
    this.#tenantId = tenantId;
    this.#done = done;
    const { request, response, connection } = incoming;
    if (connection.failure !== undefined && !request.complete) {
      done(connection.failure, '');
      return;
    }
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > bytesMax) {
      done(tooLarge(bytesMax), '');
      return;
    }
    // An error after the end of the body does not affect it.
    connection.failBody = (error) => {
      if (request.complete) return false;
      this.#finish(error);
      return true;
    };
    response.once('close', this.#onClose);
    this.#claimUpTo(announced, () => this.#read());
  }

  /** Gives back what was claimed. Idempotent. */
  release(): void {
    this.#giveUpWaiting?.();
    this.#giveUpWaiting = undefined;
    for (const reservation of this.#reservations.splice(0)) reservation.release();
    this.#incoming.response.removeListener('close', this.#onClose);
  }

  readonly #onClose = (): void => this.release();

  /** Calls `go` once this many bytes of the body may be in memory. */
  #claimUpTo(length: number, go: () => void): void {
    if (length <= this.#claimedLength) {
      go();
      return;
    }
    const grant = (reservation: Reservation): void => {
      this.#giveUpWaiting = undefined;
      this.#claimedLength = length;
      this.#reservations.push(reservation);
      reservation.drop = () => {
        this.#finish(
          new GrantdError('overloaded', 'Bodies that arrived faster needed the memory. Nothing was changed.'),
        );
        this.release();
      };
      go();
    };
    this.#giveUpWaiting = this.#budget.reserve(this.#tenantId, length - this.#claimedLength, grant, (error) =>
      this.#finish(error),
    );
  }

  #read(): void {
    const { request, response, connection } = this.#incoming;
    // Only clients of HTTP/1.1 understand the interim response (RFC 9110 section 10.1.1).
    if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();
    request.on('data', this.#onData);
    request.on('end', this.#onEnd);
    connection.gate?.readBody();
  }

  readonly #onData = (chunk: Buffer): void => {
    const length = this.#length + chunk.length;
    this.#length = length;
    if (length > this.#bytesMax) {
      this.#finish(tooLarge(this.#bytesMax));
      return;
    }
    this.#text.add(chunk);
    if (length > this.#claimedLength) {
      const { request } = this.#incoming;
      request.pause();
      this.#claimUpTo(Math.min(length + BODY_CLAIM_BYTES, this.#bytesMax), () => request.resume());
    }
  };

  readonly #onEnd = (): void => this.#finish(undefined);

  #finish(error: GrantdError | undefined): void {
    const { request, response, connection } = this.#incoming;
    if (this.#finished) return;
    this.#finished = true;
    connection.failBody = undefined;
    request.removeListener('data', this.#onData);
    request.removeListener('end', this.#onEnd);
    for (const reservation of this.#reservations) reservation.drop = undefined;
    if (error !== undefined) {
      request.pause();
      // The rest of the body is discarded after the response.
      response.once('close', () => request.resume());
      this.#done(error, '');
    } else {
      const text = this.#text.end();
      this.#done(text === undefined ? malformed() : undefined, text ?? '');
    }
  }
}
