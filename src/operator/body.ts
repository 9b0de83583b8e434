// Request bodies: read completely, up to a bound, and checked against their declared type before they are parsed.

import type { IncomingMessage } from 'node:http';
import { GrantdError } from '../core/errors.ts';
import { BODY_BYTES_MAX } from '../core/limits.ts';
import { parseJson } from '../core/text/json.ts';

const JSON_MEDIA_TYPES: readonly string[] = ['application/json'];
export const NDJSON_MEDIA_TYPES: readonly string[] = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
];

/** Whether the client asks for lines of JSON. */
export const acceptsLines = (request: IncomingMessage): boolean =>
  (request.headers.accept ?? '')
    .split(',')
    .some((range) => NDJSON_MEDIA_TYPES.includes((range.split(';')[0] ?? '').trim().toLowerCase()));

interface BodyRules {
  readonly bytesMax: number;
  /** Messages name the first one. */
  readonly mediaTypes: readonly string[];
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function requireMediaType(request: IncomingMessage, mediaTypes: readonly string[]): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new GrantdError('unsupported-media-type', 'The body must be sent without a Content-Encoding.');
  }
  const [mediaType = '', ...parameters] = (request.headers['content-type'] ?? '').split(';');
  if (!mediaTypes.includes(mediaType.trim().toLowerCase())) {
    throw new GrantdError('unsupported-media-type', `The Content-Type must be ${mediaTypes[0]}.`);
  }
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=');
    if (name.trim().toLowerCase() === 'charset' && !/^"?utf-?8"?$/i.test(value.trim())) {
      throw new GrantdError('unsupported-media-type', 'The body must be in UTF-8.');
    }
  }
}

const tooLarge = (bytesMax: number): GrantdError =>
  new GrantdError('payload-too-large', `The body is larger than ${bytesMax.toLocaleString('en')} bytes.`);

/** The whole body. Throws `unsupported-media-type`, `payload-too-large`, or `invalid-request` if it breaks off. */
export async function readBody(request: IncomingMessage, rules: BodyRules): Promise<Buffer> {
  requireMediaType(request, rules.mediaTypes);
  const announced = request.headers['content-length'];
  if (announced !== undefined && Number(announced) > rules.bytesMax) throw tooLarge(rules.bytesMax);
  return new Promise((resolve, reject) => {
    const broken = (): void =>
      reject(new GrantdError('invalid-request', 'The connection closed before the body was complete.'));
    if (request.destroyed) {
      broken();
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > rules.bytesMax) {
        // Reads and drops the rest: otherwise a client that is still sending would lose the response to a reset.
        chunks.length = 0;
        reject(tooLarge(rules.bytesMax));
        return;
      }
      chunks.push(chunk);
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', broken);
    request.once('close', broken);
  });
}

/** Throws `invalid-request` for bytes that are not UTF-8. */
function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new GrantdError('invalid-request', 'The body is not valid UTF-8.');
  }
}

/** A JSON body of any shape; the caller validates it. */
export async function readJson(request: IncomingMessage, bytesMax: number = BODY_BYTES_MAX): Promise<unknown> {
  const bytes = await readBody(request, { bytesMax, mediaTypes: JSON_MEDIA_TYPES });
  return parseJson(decodeUtf8(bytes));
}
