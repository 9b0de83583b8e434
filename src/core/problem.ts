// Problem documents (RFC 9457): the one mapping from an error to what a client of either HTTP interface gets. Pure, so
// that the public API and the operator's API answer alike; `cause` never gets in here.

import { ERROR_CATALOGUE, type ErrorCode, GrantdError } from './errors.ts';

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** Told to a client that is refused for want of capacity and given no better number. Whole seconds. */
export const RETRY_AFTER_SECONDS_DEFAULT = 1;

export interface ProblemDocument {
  /** `{errors_base}/<code>` */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The request id, `req_…`. */
  readonly instance: string;
}

export interface Problem {
  readonly status: number;
  readonly code: ErrorCode;
  /** `Content-Type`, `X-Service-Request-Id`, `Cache-Control`, and what the status asks for. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemDocument;
}

/**
 * Any thrown value as a problem. What is not a GrantdError becomes `internal`, whose detail says nothing of the cause.
 * Of the details, `retryAfterSeconds` (number) becomes `Retry-After` and `allow` (text) becomes `Allow`; every 429 and
 * 503 carries a `Retry-After`, every 401 a `WWW-Authenticate`.
 */
export function problemOf(
  thrown: unknown,
  options: { readonly errorsBase: string; readonly requestId: string },
): Problem {
  const error = GrantdError.from(thrown);
  const { httpStatus, title } = ERROR_CATALOGUE[error.code];
  const headers: Record<string, string> = {
    'Content-Type': PROBLEM_CONTENT_TYPE,
    'Cache-Control': 'no-store',
    'X-Service-Request-Id': options.requestId,
  };
  if (httpStatus === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (httpStatus === 429 || httpStatus === 503) {
    const { retryAfterSeconds } = error.details;
    const seconds = typeof retryAfterSeconds === 'number' ? retryAfterSeconds : RETRY_AFTER_SECONDS_DEFAULT;
    headers['Retry-After'] = String(Math.max(1, Math.ceil(seconds)));
  }
  if (httpStatus === 405 && typeof error.details.allow === 'string') headers.Allow = error.details.allow;
  return {
    status: httpStatus,
    code: error.code,
    headers,
    body: {
      type: `${options.errorsBase}/${error.code}`,
      title,
      status: httpStatus,
      detail: error.message,
      instance: options.requestId,
    },
  };
}
