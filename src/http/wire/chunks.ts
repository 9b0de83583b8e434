// A body that is sent as it is read. If reading fails midway, the connection breaks, so that the response cannot look
// complete.

import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Resolves once the client has read what was written, or has disconnected. */
async function drained(response: ServerResponse): Promise<void> {
  const ended = new AbortController();
  try {
    await Promise.race([
      once(response, 'drain', { signal: ended.signal }),
      once(response, 'close', { signal: ended.signal }),
    ]);
  } finally {
    ended.abort();
  }
}

/**
 * By a reset: the body of a response to HTTP/1.0, which some proxies speak, ends with the connection, and an orderly
 * end would look like the end of the body.
 */
function breakConnection(response: ServerResponse): void {
  const { socket } = response;
  if (socket instanceof Socket && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
  response.destroy();
}

/**
 * Answers with a 200. Rejects before the header is sent if there is no first chunk, and breaks the connection if a
 * later one fails. `bodyless`: the response to a HEAD request.
 */
export async function sendChunks(
  response: ServerResponse,
  headers: OutgoingHttpHeaders | string[],
  chunks: AsyncIterable<string>,
  bodyless: boolean,
): Promise<void> {
  const iterator = chunks[Symbol.asyncIterator]();
  // Waits for the first chunk before it sends the header: until then, a failure is still a problem document.
  let next = await iterator.next();
  response.writeHead(200, headers);
  if (bodyless) {
    await iterator.return?.();
    response.end();
    return;
  }
  try {
    while (!next.done && !response.destroyed) {
      if (next.value !== '' && !response.write(next.value)) await drained(response);
      if (response.destroyed) break;
      next = await iterator.next();
    }
    response.end();
  } catch (error) {
    breakConnection(response);
    throw error;
  } finally {
    if (!next.done) await iterator.return?.();
  }
}
