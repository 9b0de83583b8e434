// How a column stores the body of a log record: deflated if that is worth it. Bodies repeat themselves, and a
// conditional write carries each body several times to every replica and into its commit log. A body of 64 grants
// shrinks from 19 KB to 3 KB.

import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { assert } from '../../../core/assert.ts';

const PLAIN = 0;
const DEFLATED = 1;
/** Bytes of UTF-8. Smaller bodies are stored as they are and stay readable. */
const DEFLATED_BYTES_MIN = 1024;
/** Bytes of UTF-8; a body has at most 1 MiB. A body that would inflate to more is damaged. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** The fastest level: 1 µs per grant, and half a percent larger than the default. */
const LEVEL = 1;

/** A byte for the encoding, then the body. */
export function encodeBody(body: string): Buffer {
  const bytes = Buffer.from(body, 'utf8');
  return bytes.length < DEFLATED_BYTES_MIN
    ? Buffer.concat([Buffer.of(PLAIN), bytes])
    : Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(bytes, { level: LEVEL })]);
}

/** Throws for bytes that `encodeBody` cannot have written. */
export function decodeBody(bytes: Buffer): string {
  const [how] = bytes;
  assert(how === PLAIN || how === DEFLATED, 'a body in the log is plain or deflated');
  const rest = bytes.subarray(1);
  return (how === PLAIN ? rest : inflateRawSync(rest, { maxOutputLength: BODY_BYTES_MAX })).toString('utf8');
}
