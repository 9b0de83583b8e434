// From an HTTP response to its body or its error. Invariant: only a status that the operation expects, with the media
// type that it asks for, is a success.

import { GrantdError, printable } from './error.ts';
import { decodedBytes, parsedBytes } from './json.ts';
import { JSON_TYPE } from './outgoing.ts';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where there is no body. */
  readonly body: unknown;
  readonly requestId: string | undefined;
  /** The member `request` of a GrantdError. */
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

const shownText = (value: unknown): string | undefined => (typeof value === 'string' ? printable(value) : undefined);

export const requestIdOf = (headers: Headers): string | undefined => shownText(headers.get('x-service-request-id'));

export const mediaTypeOf = (headers: Headers): string =>
  (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? '';
  return RETRY_AFTER.test(text) ? Number(text) : undefined;
}

export function invalidResponse(status: number, detail: string, requestId?: string, retryable?: boolean): GrantdError {
  return new GrantdError('invalid-response', status, detail, { requestId, retryable });
}

/** An error code of the operating system, such as `ECONNREFUSED`, which runtimes put into a cause of their error. */
function systemCode(cause: unknown): string | undefined {
  let error = cause;
  for (let depth = 0; depth < CAUSES_MAX && isRecord(error); depth += 1) {
    if (typeof error.code === 'string' && SYSTEM_CODE.test(error.code)) return error.code;
    error = error.cause ?? (Array.isArray(error.errors) ? error.errors[0] : undefined);
  }
  return undefined;
}

/** What `fetch` throws has stacks of the runtime, which Node would print with an uncaught error: only its words. */
function wordsOf(cause: unknown): unknown {
  if (!(cause instanceof TypeError)) return cause;
  const words = new TypeError(
    [cause, cause.cause].flatMap((each) => (each instanceof Error ? each.message : [])).join(': '),
  );
  words.stack = String(words);
  return words;
}

export function connectionLost(what: string, cause: unknown): GrantdError {
  const code = systemCode(cause);
  return new GrantdError('connection-lost', 0, `${what}${code === undefined ? '.' : `: ${code}.`}`, {
    cause: wordsOf(cause),
  });
}

/** Bound for any body, also of an error. A page of 1,000 grants has a tenth of that. */
const BODY_BYTES_MAX = 16 << 20;

/** Browsers choose the coding themselves, and decode it. */
const choosesCoding = ((): boolean => {
  try {
    const headers = { 'accept-encoding': 'identity' };
    return new Request('http://grantd.invalid', { headers }).headers.has('accept-encoding');
  } catch {
    return false;
  }
})();

/** The client asks for none: a decoder would take a body that is cut, and make 100 kB a gigabyte. */
export function refuseCoding({ status, headers }: Response, requestId: string | undefined): void {
  const coding = headers.get('content-encoding') ?? 'identity';
  if (!choosesCoding || /^(?:identity)?$/i.test(coding.trim())) return;
  throw invalidResponse(
    status,
    `The content coding is ${JSON.stringify(coding)}, which the client did not ask for.`,
    requestId,
  );
}

async function bodyOf(response: Response, requestId: string | undefined): Promise<Uint8Array> {
  const { status, body } = response;
  if (body === null) return new Uint8Array(0);
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    refuseCoding(response, requestId);
    for (let each = await reader.read(); !each.done; each = await reader.read()) {
      length += each.value.length;
      if (length > BODY_BYTES_MAX) {
        throw invalidResponse(status, `The body has more than ${BODY_BYTES_MAX >> 20} MiB.`, requestId);
      }
      chunks.push(each.value);
    }
  } catch (cause) {
    if (cause instanceof GrantdError) throw cause;
    throw connectionLost('The connection ended within the response', cause);
  } finally {
    reader.cancel().catch(() => {});
  }
  return joined(chunks, length);
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** The error that a response of another status is. */
export async function errorOf(response: Response): Promise<GrantdError> {
  const { status, headers } = response;
  const isJson = /^application\/(?:problem\+)?json$/.test(mediaTypeOf(headers));
  const requestId = requestIdOf(headers);
  const problem = parsedBytes(await bodyOf(response, requestId));
  const retryAfterS = retryAfterOf(headers);
  const type = isJson && isRecord(problem) ? textOf(problem.type)?.split('/').at(-1) : undefined;
  if (status < 400 || !isRecord(problem) || type === undefined || !TYPE_SEGMENT.test(type)) {
    const detail = `The status is ${status}, and there is no problem document.`;
    return new GrantdError('invalid-response', status, detail, { requestId, retryAfterS });
  }
  return new GrantdError(type, status, textOf(problem.detail) ?? textOf(problem.title) ?? '', {
    requestId: requestId ?? shownText(problem.instance),
    keyId: shownText(problem.key_id),
    earliest: shownText(problem.earliest),
    retryAfterS,
  });
}

/** Throws if the response is no success. */
export async function replyOf(
  response: Response,
  expected: readonly number[],
  request: string,
  accept = JSON_TYPE,
): Promise<Reply> {
  const { status, headers } = response;
  if (!expected.includes(status)) throw await errorOf(response);
  const requestId = requestIdOf(headers);
  const bytes = await bodyOf(response, requestId);
  if (WITHOUT_BODY.has(status)) return { status, headers, body: undefined, requestId, request };
  const mediaType = mediaTypeOf(headers);
  if (mediaType !== accept) throw invalidResponse(status, `The media type is "${mediaType}".`, requestId);
  const isJson = accept === JSON_TYPE;
  const body = isJson ? parsedBytes(bytes) : decodedBytes(bytes);
  if (body === undefined) {
    throw invalidResponse(status, `The body is not ${isJson ? 'JSON' : 'UTF-8'}.`, requestId, true);
  }
  return { status, headers, body, requestId, request };
}
