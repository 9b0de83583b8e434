// Sends responses: the only place of the operator's API that writes one. If a stream fails midway, it breaks the
// connection, so that the response cannot look complete.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { assertNever } from '../../core/assert.ts';
import type { Problem } from '../../core/problem.ts';
import type { ApiResponse } from './operation.ts';

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
): void {
  const bytes = Buffer.from(text, 'utf8');
  response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
  response.end(bytes);
}

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

/** Rejects before the header is sent if there is no first chunk, and breaks the connection if a later one fails. */
export async function sendStream(
  response: ServerResponse,
  answer: Omit<Extract<ApiResponse, { kind: 'stream' }>, 'kind'>,
  bodyless: boolean,
): Promise<void> {
  const chunks = answer.chunks[Symbol.asyncIterator]();
  // Waits for the first chunk before it sends the header: until then, a failure is still a problem document.
  let next = await chunks.next();
  response.writeHead(200, { ...answer.headers, 'Content-Type': answer.contentType });
  if (bodyless) {
    await chunks.return?.();
    response.end();
    return;
  }
  try {
    while (!next.done && !response.destroyed) {
      if (next.value !== '' && !response.write(next.value)) await drained(response);
      if (response.destroyed) break;
      next = await chunks.next();
    }
    response.end();
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    if (!next.done) await chunks.return?.();
  }
}

/** `bodyless`: the response to a HEAD request. Rejects if a stream broke; the response is then destroyed. */
export async function sendResponse(response: ServerResponse, answer: ApiResponse, bodyless: boolean): Promise<void> {
  switch (answer.kind) {
    case 'json':
      sendText(response, answer.status, JSON.stringify(answer.body), {
        ...answer.headers,
        'Content-Type': 'application/json',
      });
      return;
    case 'text':
      sendText(response, 200, answer.text, { ...answer.headers, 'Content-Type': answer.contentType });
      return;
    case 'empty':
      response.writeHead(204);
      response.end();
      return;
    case 'stream':
      await sendStream(response, answer, bodyless);
      return;
    default:
      assertNever(answer);
  }
}

export function sendProblem(response: ServerResponse, problem: Problem): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  sendText(response, problem.status, JSON.stringify(problem.body), problem.headers);
}
