// Reading a body: whole, within its bound, as well-formed UTF-8. Nothing is read before the request has been found fit
// to be answered, and nothing beyond the bound.

import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GrantdError } from '../core/errors.ts';
import type { Connection } from './connections.ts';
import type { BodyDone } from './incoming.ts';

const REPLACEMENT = '\uFFFD';

const tooLarge = (bytesMax: number): GrantdError =>
  new GrantdError('payload-too-large', `The body is larger than ${bytesMax / 1024} KiB.`, { details: { bytesMax } });

/** A body that has arrived whole: what stands from `start` on. */
export function takeBody(bytes: Buffer, start: number, bytesMax: number, done: BodyDone): void {
  const length = bytes.length - start;
  if (length > bytesMax) {
    done(tooLarge(bytesMax), '');
    return;
  }
  if (length === 0) {
    done(new GrantdError('invalid-request', 'The body is empty; a JSON object is expected.'), '');
    return;
  }
  const text = bytes.toString('utf8', start);
  // It stands for whatever is not well-formed, and for itself.
  if (text.includes(REPLACEMENT) && !isUtf8(bytes.subarray(start))) {
    done(new GrantdError('invalid-request', 'The body is not well-formed UTF-8.'), '');
    return;
  }
  done(undefined, text);
}

/** A body that arrives piece by piece. Calls `done` once, unless the client goes away first. */
export function readBody(
  incoming: { readonly request: IncomingMessage; readonly response: ServerResponse; readonly connection: Connection },
  bytesMax: number,
  done: BodyDone,
): void {
  const { request, response, connection } = incoming;
  if (connection.failure !== undefined && !request.complete) {
    done(connection.failure, '');
    return;
  }
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) > bytesMax) {
    done(tooLarge(bytesMax), '');
    return;
  }
  // Only a client of HTTP/1.1 knows the interim answer (RFC 9110 section 10.1.1).
  if (request.headers.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();

  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let length = 0;
  const finish = (error: GrantdError | undefined): void => {
    connection.failBody = undefined;
    request.removeListener('data', onData);
    request.removeListener('end', onEnd);
    if (error !== undefined) {
      request.pause();
      done(error, '');
    } else {
      takeBody(more === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(more, length), 0, bytesMax, done);
    }
  };
  const onData = (chunk: Buffer): void => {
    length += chunk.length;
    if (length > bytesMax) {
      finish(tooLarge(bytesMax));
    } else if (first === undefined) {
      first = chunk;
    } else {
      more ??= [first];
      more.push(chunk);
    }
  };
  const onEnd = (): void => finish(undefined);
  // A body that has arrived whole is not hurt by what comes behind it.
  connection.failBody = (error) => {
    if (request.complete) return false;
    finish(error);
    return true;
  };
  request.on('data', onData);
  request.on('end', onEnd);
}
