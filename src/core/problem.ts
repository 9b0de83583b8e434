// Problem documents (RFC 9457): the single mapping from an error to the response of both HTTP interfaces. It is pure,
// so that the public API and the operator's API respond alike; `cause` never enters a response.

import { ERROR_CATALOGUE, type ErrorCode, GrantdError } from './errors.ts';

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** In seconds, for a client that is refused because of load, if no better value is known. */
export const RETRY_AFTER_SECONDS_DEFAULT = 1;

export interface ProblemDocument {
  /** `{errors_base}/<code>` */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** The request id, `req_…`. */
  readonly instance: string;
  /** The names of the rate limits that are used up; as in the header `RateLimit`. */
  readonly 'violated-policies'?: readonly string[];
  /** For `already-created`: the API key that an earlier request created. */
  readonly key_id?: string;
  /** For `cursor-too-old`: where the change feed begins now. */
  readonly earliest?: string;
}

export interface Problem {
  readonly status: number;
  readonly code: ErrorCode;
  /** `Content-Type`, `X-Service-Request-Id`, `Cache-Control`, and the headers that the status requires. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ProblemDocument;
}

/**
 * Any thrown value as a problem. A value that is not a GrantdError becomes `internal`, whose detail reveals nothing
 * about the cause. Of the details, `retryAfterSeconds` (number) becomes `Retry-After`, `allow` (string) becomes
 * `Allow`, and `violatedPolicy`, `keyId` and `earliest` (strings) become members of the document. Every 429 and 503
 * has a `Retry-After`, every 401 a `WWW-Authenticate`.
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
  const { earliest } = error.details;
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
      ...(typeof error.details.violatedPolicy === 'string'
        ? { 'violated-policies': [error.details.violatedPolicy] }
        : {}),
      ...(typeof error.details.keyId === 'string' ? { key_id: error.details.keyId } : {}),
      ...(typeof earliest === 'string' ? { earliest } : {}),
    },
  };
}
