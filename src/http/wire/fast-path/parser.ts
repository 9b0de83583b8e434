// The common form of a request, read at once: all of its bytes in one piece, HTTP/1.1, a length and nothing that asks
// for more than an answer. Whatever differs in any way is not for here: Node's parser reads it, and says what is wrong
// with it. What is taken here, Node's parser reads as the same request (RFC 9112 with nothing left to interpretation).

import type { RequestHeaders } from '../incoming.ts';

/** Of request line and header together. */
const HEAD_BYTES_MAX = 8 * 1024;
/** Node drops headers beyond 2,000. */
const HEADERS_MAX = 100;
/** Digits of a length: more than any body may have. */
const LENGTH_DIGITS_MAX = 8;

const [TAB, LF, CR, SPACE, HASH, SLASH, COLON, TILDE] = [0x09, 0x0a, 0x0d, 0x20, 0x23, 0x2f, 0x3a, 0x7e];
const END_OF_REQUEST_LINE = ' HTTP/1.1\r\n';
const METHODS = ['POST', 'GET', 'DELETE'];

/** By character code, whether it may stand in a name (RFC 9110 section 5.6.2). */
const IN_NAME = new Uint8Array(256);
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  IN_NAME[character.charCodeAt(0)] = 1;
}

export interface PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: RequestHeaders;
  /** Where the body begins, which takes the rest of the bytes. */
  readonly bodyStart: number;
}

/** Of the headers whose values count, each with its place among them. */
const COUNTING = [
  'host',
  'content-length',
  'connection',
  'authorization',
  'content-type',
  'content-encoding',
  'x-forwarded-for',
  'traceparent',
  'tracestate',
] as const;
/** Those that ask for more than an answer, or say otherwise where the request ends. */
const NOT_PLAIN = ['expect', 'proxy-connection', 'trailer', 'transfer-encoding', 'upgrade'];
const [INDIFFERENT, REFUSED] = [-1, -2];
/** The key of a session, and the address that failures are counted of, outlive the request. */
const KEPT = [COUNTING.indexOf('authorization'), COUNTING.indexOf('x-forwarded-for')];

const placesByLength: (readonly { readonly name: Uint8Array; readonly place: number }[])[] = [];
for (const [place, name] of [...COUNTING.entries(), ...NOT_PLAIN.map((name) => [REFUSED, name] as const)]) {
  placesByLength[name.length] = [...(placesByLength[name.length] ?? []), { name: Buffer.from(name), place }];
}

/** Whether `name`, of small letters and hyphens, stands there in any case. */
function standsAt(bytes: Buffer, start: number, name: Uint8Array): boolean {
  for (let index = 0; index < name.length; index += 1) {
    // Of what may stand in a name, nothing but the two cases of a letter are equal but for this bit, and a hyphen has
    // it.
    if (((bytes[start + index] ?? 0) | 0x20) !== name[index]) return false;
  }
  return true;
}

/** The place among COUNTING of the header whose name stands there, or INDIFFERENT, or REFUSED. */
function placeOf(bytes: Buffer, start: number, length: number): number {
  const candidates = placesByLength[length];
  if (candidates === undefined) return INDIFFERENT;
  for (const { name, place } of candidates) if (standsAt(bytes, start, name)) return place;
  return INDIFFERENT;
}

const isBlank = (code: number | undefined): boolean => code === SPACE || code === TAB;

/** The end of the line from `start` on, that consists of visible characters, spaces and tabs; −1: it does not. */
function endOfLine(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const code = bytes[at] ?? 0;
    if (code === CR) return bytes[at + 1] === LF ? at : -1;
    if (!((code >= SPACE && code <= TILDE) || code === TAB)) return -1;
    at += 1;
  }
}

/** The end of the target that begins at `start`, of visible characters, before a space; −1: it is not plain. */
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

/** The values of COUNTING that stand between `start` and the empty line, and where that line begins. */
function readHeaders(
  bytes: Buffer,
  text: string,
  start: number,
): { values: readonly (string | undefined)[]; end: number } | undefined {
  const values: (string | undefined)[] = COUNTING.map(() => undefined);
  let at = start;
  for (let count = 0; bytes[at] !== CR; count += 1) {
    const nameStart = at;
    while (IN_NAME[bytes[at] ?? 0] === 1) at += 1;
    if (at === nameStart || bytes[at] !== COLON || count === HEADERS_MAX) return undefined;
    const place = placeOf(bytes, nameStart, at - nameStart);
    // What becomes of a header that stands twice, Node knows.
    if (place === REFUSED || (place >= 0 && values[place] !== undefined)) return undefined;
    at += 1;
    while (isBlank(bytes[at])) at += 1;
    const valueStart = at;
    at = endOfLine(bytes, at);
    if (at === -1) return undefined;
    if (place >= 0) {
      let valueEnd = at;
      while (valueEnd > valueStart && isBlank(bytes[valueEnd - 1])) valueEnd -= 1;
      // What is kept must not keep the whole head in memory, whose part a slice of it is.
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
  const [host, length, connection, authorization, contentType, contentEncoding, forwardedFor, traceparent, tracestate] =
    headers.values;
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
      'x-forwarded-for': forwardedFor,
      traceparent,
      tracestate,
    },
    bodyStart,
  };
}
