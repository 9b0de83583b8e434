// Parses a request of the common form in a single read: all of its bytes in one piece, HTTP/1.1, a length, and nothing
// that requests more than a response. Everything else goes to Node's parser, which accepts it or reports what is wrong
// with it. Invariant: Node's parser reads every request accepted here as the same request (RFC 9112, with nothing left
// to interpretation).

import type { RequestHeaders } from '../incoming.ts';

/** Bytes of request line and header together. */
const HEAD_BYTES_MAX = 8 * 1024;
/** Node drops headers beyond 2,000. */
const HEADERS_MAX = 100;
/** Digits of a length: more than any body needs. */
const LENGTH_DIGITS_MAX = 8;

const [TAB, LF, CR, SPACE, HASH, SLASH, COLON, TILDE] = [0x09, 0x0a, 0x0d, 0x20, 0x23, 0x2f, 0x3a, 0x7e];
const END_OF_REQUEST_LINE = ' HTTP/1.1\r\n';
const METHODS = ['POST', 'GET', 'DELETE'];

/** By character code, whether it may occur in a name (RFC 9110 section 5.6.2). */
const IN_NAME = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  IN_NAME[character.charCodeAt(0)] = 1;
}

export interface PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Where the body begins, which takes all remaining bytes. */
  readonly bodyStart: number;
}

/** Headers whose values matter, each with its index. */
const RELEVANT = [
  'host',
  'content-length',
  'connection',
  'authorization',
  'content-type',
  'content-encoding',
  'accept',
  'last-event-id',
  'x-forwarded-for',
  'traceparent',
  'tracestate',
  'x-request-id',
  'idempotency-key',
] as const;
/** Headers that request more than a response, make conditions, or define the end of the request differently. */
const DISQUALIFYING = [
  'expect',
  'if-match',
  'if-none-match',
  'proxy-connection',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const [IGNORED, REFUSED] = [-1, -2];
/** These values outlive the request: the key of a session, and the address whose failures are counted. */
const KEPT = [RELEVANT.indexOf('authorization'), RELEVANT.indexOf('x-forwarded-for')];

const placesByLength: (readonly { readonly name: Uint8Array; readonly place: number }[])[] = [];
for (const [place, name] of [...RELEVANT.entries(), ...DISQUALIFYING.map((name) => [REFUSED, name] as const)]) {
  placesByLength[name.length] = [...(placesByLength[name.length] ?? []), { name: Buffer.from(name), place }];
}

/** Whether `name`, of small letters and hyphens, occurs at `start`, in any case. */
function isNameAt(bytes: Buffer, start: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index += 1) {
    // Among the characters of a name, only the two cases of a letter differ in this bit alone, and a hyphen has it set.
    if (((bytes[start + index] ?? 0) | 0x20) !== name[index]) return false;
  }
  return true;
}

/** The index in RELEVANT of the header whose name is at `start`, or IGNORED, or REFUSED. */
function placeOf(bytes: Buffer, start: number, length: number): number {
  const candidates = placesByLength[length];
  if (candidates === undefined) return IGNORED;
  for (const { name, place } of candidates) if (isNameAt(bytes, start, name)) return place;
  return IGNORED;
}

const isBlank = (code: number | undefined): boolean => code === SPACE || code === TAB;

/** The end of the line from `start` on, if it consists of visible characters, spaces and tabs; otherwise −1. */
function endOfLine(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const code = bytes[at] ?? 0;
    if (code === CR) return bytes[at + 1] === LF ? at : -1;
    if (!((code >= SPACE && code <= TILDE) || code === TAB)) return -1;
    at += 1;
  }
}

/** The end of the target that begins at `start`: visible characters before a space; −1: it is not plain. */
function endOfTarget(bytes: Buffer, start: number): number {
  if (bytes[start] !== SLASH) return -1;
  let at = start;
  for (;;) {
    const code = bytes[at] ?? 0;
    if (code === SPACE) return at;
    if (!(code > SPACE && code <= TILDE) || code === HASH) return -1;
    at += 1;
  }
}

/** The length that the body must have; −1: the request is not plain. */
function bodyLengthOf(method: string, length: string | undefined): number {
  if (method === 'GET') return length === undefined ? 0 : -1;
  return length !== undefined && length.length <= LENGTH_DIGITS_MAX && /^[0-9]+$/.test(length) ? Number(length) : -1;
}

/** The values of RELEVANT between `start` and the empty line, and where that line begins. */
function readHeaders(
  bytes: Buffer,
  text: string,
  start: number,
): { values: readonly (string | undefined)[]; end: number } | undefined {
  const values: (string | undefined)[] = RELEVANT.map(() => undefined);
  let at = start;
  for (let count = 0; bytes[at] !== CR; count += 1) {
    const nameStart = at;
    while (IN_NAME[bytes[at] ?? 0] === 1) at += 1;
    if (at === nameStart || bytes[at] !== COLON || count === HEADERS_MAX) return undefined;
    const place = placeOf(bytes, nameStart, at - nameStart);
    // Node decides what a repeated header means.
    if (place === REFUSED || (place >= 0 && values[place] !== undefined)) return undefined;
    at += 1;
    while (isBlank(bytes[at])) at += 1;
    const valueStart = at;
    at = endOfLine(bytes, at);
    if (at === -1) return undefined;
    if (place >= 0) {
      let valueEnd = at;
      while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1])) valueEnd -= 1;
      // A slice would keep the whole head in memory, so a value that outlives the request is copied.
      values[place] = KEPT.includes(place)
        ? bytes.toString('latin1', valueStart, valueEnd)
        : text.slice(valueStart, valueEnd);
    }
    at += 2;
  }
  return bytes[at + 1] === LF ? { values, end: at } : undefined;
}

/** Undefined: the bytes are not exactly one request of the common form. */
export function readPlainRequest(bytes: Buffer): PlainRequest | undefined {
  const text = bytes.toString('latin1', 0, Math.min(bytes.length, HEAD_BYTES_MAX));
  const method = METHODS.find((each) => text.startsWith(`${each} `));
  if (method === undefined) return undefined;
  const targetStart = method.length + 1;
  const targetEnd = endOfTarget(bytes, targetStart);
  if (targetEnd === -1 || !text.startsWith(END_OF_REQUEST_LINE, targetEnd)) return undefined;
  const headers = readHeaders(bytes, text, targetEnd + END_OF_REQUEST_LINE.length);
  if (headers === undefined) return undefined;
  const [
    host,
    length,
    connection,
    authorization,
    contentType,
    contentEncoding,
    accept,
    lastEventId,
    forwardedFor,
    traceparent,
    tracestate,
    clientRequestId,
    idempotencyKey,
  ] = headers.values;
  if (host === undefined || (connection !== undefined && connection.toLowerCase() !== 'keep-alive')) return undefined;
  const bodyStart = headers.end + 2;
  if (bodyStart > HEAD_BYTES_MAX || bytes.length - bodyStart !== bodyLengthOf(method, length)) return undefined;
  return {
    method,
    url: text.slice(targetStart, targetEnd),
    headers: {
      authorization,
      'content-type': contentType,
      'content-encoding': contentEncoding,
      accept,
      'last-event-id': lastEventId,
      'x-forwarded-for': forwardedFor,
      traceparent,
      tracestate,
      'x-request-id': clientRequestId,
      'idempotency-key': idempotencyKey,
    },
    bodyStart,
  };
}
