// Responses of HTTP/1.1 as text: status line and header lines, each with its CRLF, and problem documents. This is the
// only place of the public interface that turns an error into a problem document: as headers and text of a response, or
// as the bytes of a whole response if there is no request to answer. The only part of a client in a head is the id of
// its request, which has been checked.

import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../../core/errors.ts';
import { problemOf } from '../../core/problem.ts';
import { clientRequestIdOf } from '../../core/text/header-fields.ts';

export const statusLine = (status: number): string => `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;

/** Names and values, alternating. */
export const headersOf = (lines: string): string[] =>
  lines
    .split('\r\n')
    .slice(0, -1)
    .flatMap((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    });

export interface ProblemText {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  /** Header lines, each with its CRLF. */
  readonly head: string;
  readonly body: string;
}

export interface ProblemOptions {
  readonly errorsBase: string;
  readonly requestId: string;
}

/** The header line that repeats the client's own id for its request; empty without one that may be repeated. */
export function clientRequestIdLine(given: string | readonly string[] | undefined): string {
  const id = given === undefined ? undefined : clientRequestIdOf(given);
  return id === undefined ? '' : `X-Request-ID: ${id}\r\n`;
}

export function describeProblem(thrown: unknown, options: ProblemOptions): ProblemText {
  const problem = problemOf(thrown, options);
  const body = JSON.stringify(problem.body);
  const lines = Object.entries(problem.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return { status: problem.status, code: problem.code, detail: problem.body.detail, head, body };
}

/**
 * A whole HTTP/1.1 response that announces the end of the connection. `lines`: further header lines, each with its
 * CRLF.
 */
export function rawProblem(thrown: unknown, options: ProblemOptions, lines = ''): string {
  const { status, head, body } = describeProblem(thrown, options);
  return `${statusLine(status)}Date: ${new Date().toUTCString()}\r\n${head}${lines}Connection: close\r\n\r\n${body}`;
}
