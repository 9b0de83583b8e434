// The one place of the public interface that turns an error into a problem document: as headers and text for an answer
// in the making, and as the bytes of a whole response where there is no request to answer.

import type { ErrorCode } from '../core/errors.ts';
import { problemOf } from '../core/problem.ts';
import { headText } from './response-text.ts';

export interface ProblemText {
  readonly status: number;
  readonly code: ErrorCode;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: string;
}

export interface ProblemOptions {
  readonly errorsBase: string;
  readonly requestId: string;
}

export function describeProblem(thrown: unknown, options: ProblemOptions): ProblemText {
  const problem = problemOf(thrown, options);
  const body = JSON.stringify(problem.body);
  const headers = Object.entries(problem.headers).flat();
  headers.push('Content-Length', String(Buffer.byteLength(body)));
  return { status: problem.status, code: problem.code, headers, body };
}

/** A whole HTTP/1.1 response that announces the end of the connection. */
export function rawProblem(thrown: unknown, options: ProblemOptions): string {
  const { status, headers, body } = describeProblem(thrown, options);
  const head = headText(status, ['Date', new Date().toUTCString(), ...headers, 'Connection', 'close']);
  return `${head}\r\n${body}`;
}
