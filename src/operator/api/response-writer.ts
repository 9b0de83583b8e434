// Sends the responses of the operator's API, and nothing else does.

import type { ServerResponse } from 'node:http';
import { assertNever } from '../../core/assert.ts';
import type { Problem } from '../../core/problem.ts';
import { sendStream } from '../response-stream.ts';
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
