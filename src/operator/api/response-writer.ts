// Sends responses: the only place of the console's API that writes one. Every response carries the request id and is
// never cached. If a stream fails midway, the connection is broken, so that the response cannot look complete.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { assertNever } from '../../core/assert.ts';
import type { Problem } from '../../core/problem.ts';
import type { ApiResponse } from './operation.ts';

function sendText(response: ServerResponse, status: number, contentType: string, text: string): void {
  const bytes = Buffer.from(text, 'utf8');
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': bytes.length });
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

async function sendStream(
  response: ServerResponse,
  answer: Extract<ApiResponse, { kind: 'stream' }>,
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
      for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
      sendText(response, answer.status, 'application/json', JSON.stringify(answer.body));
      return;
    case 'text':
      for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
      sendText(response, 200, answer.contentType, answer.text);
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
  const bytes = Buffer.from(JSON.stringify(problem.body), 'utf8');
  response.writeHead(problem.status, { ...problem.headers, 'Content-Length': bytes.length });
  response.end(bytes);
}
