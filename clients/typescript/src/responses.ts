// From an HTTP response to its JSON or its error. Invariant: only a status that the operation expects, with the media
// type of JSON, is a success.

import { GrantdError } from './error.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where there is no body. */
  readonly body: unknown;
  readonly requestId: string | undefined;
  /** As in a GrantdError. */
  readonly request: string;
}

const TYPE_SEGMENT = /^[a-z0-9][a-z0-9-]{0,63}$/;
const RETRY_AFTER = /^\d{1,9}$/;
const SYSTEM_CODE = /^[A-Za-z][A-Za-z0-9_]{1,63}$/;
const CAUSES_MAX = 5;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 304]);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export const requestIdOf = (headers: Headers): string | undefined => headers.get('x-service-request-id') ?? undefined;

export const mediaTypeOf = (headers: Headers): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  return RETRY_AFTER.test(text) ? Number(text) : undefined;
}

export function invalidResponse(status: number, detail: string, requestId?: string, retryable?: boolean): GrantdError {
  return new GrantdError('invalid-response', status, detail, { requestId, retryable });
}

/** Of the operating system, such as `ECONNREFUSED`: runtimes put it into a cause of the error that they throw. */
function systemCode(cause: unknown): string | undefined {
  let error = cause;
  for (let depth = 0; depth < CAUSES_MAX && isRecord(error); depth += 1) {
    if (typeof error.code === 'string' && SYSTEM_CODE.test(error.code)) return error.code;
    error = error.cause ?? (Array.isArray(error.errors) ? error.errors[0] : undefined);
  }
  return undefined;
}

export function connectionLost(what: string, cause: unknown): GrantdError {
  const code = systemCode(cause);
  return new GrantdError('connection-lost', 0, `${what}${code === undefined ? '.' : `: ${code}.`}`, { cause });
}

async function bodyText(response: Response): Promise<string> {
  try {
    return await response.text();
  } catch (cause) {
    if (cause instanceof GrantdError) throw cause;
    throw connectionLost('The connection ended within the response', cause);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error that a response of another status is. */
export async function errorOf(response: Response): Promise<GrantdError> {
  const { status, headers } = response;
  const isJson = /^application\/(?:problem\+)?json$/.test(mediaTypeOf(headers));
  const problem = parsed(await bodyText(response));
  const requestId = requestIdOf(headers);
  const retryAfterS = retryAfterOf(headers);
  const type = isJson && isRecord(problem) ? textOf(problem.type)?.split('/').at(-1) : undefined;
  if (status < 400 || !isRecord(problem) || type === undefined || !TYPE_SEGMENT.test(type)) {
    const detail = `The status is ${status}, and there is no problem document.`;
    return new GrantdError('invalid-response', status, detail, { requestId, retryAfterS });
  }
  return new GrantdError(type, status, textOf(problem.detail) ?? textOf(problem.title) ?? '', {
    requestId: requestId ?? textOf(problem.instance),
    keyId: textOf(problem.key_id),
    earliest: textOf(problem.earliest),
    retryAfterS,
  });
}

/** Throws if the response is no success. */
export async function replyOf(response: Response, expected: readonly number[], request: string): Promise<Reply> {
  const { status, headers } = response;
  if (!expected.includes(status)) throw await errorOf(response);
  const requestId = requestIdOf(headers);
  const text = await bodyText(response);
  if (WITHOUT_BODY.has(status)) return { status, headers, body: undefined, requestId, request };
  const mediaType = mediaTypeOf(headers);
  if (mediaType !== 'application/json') {
    throw invalidResponse(status, `The media type is "${mediaType}".`, requestId);
  }
  const body = parsed(text);
  if (body === undefined) throw invalidResponse(status, 'The body is not JSON.', requestId, true);
  return { status, headers, body, requestId, request };
}
