// Reads the bytes of a protobuf message field by field (https://protobuf.dev/programming-guides/encoding/). Invariant:
// it reports what it does not support (numbers above 2⁵³, a field that ends beyond its container), and the library
// reads that message instead.

import { isAscii } from 'node:buffer';

const VARINT_BYTES_MAX = 8;
const UINT32_MAX = 0xffff_ffff;

export class WireReader {
  readonly #bytes: Buffer;
  /** Index of the next byte. */
  position = 0;
  /** Stays true: what was read since it was last false is worthless. */
  failed = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** A whole number from 0 to 2⁵³ − 1 that ends before `end`; otherwise 0, and `failed`. */
  number(end: number): number {
    const bytes = this.#bytes;
    const first = bytes[this.position] ?? 128;
    if (first < 128 && this.position < end) {
      this.position += 1;
      return first;
    }
    let value = 0;
    let factor = 1;
    for (let count = 0; count < VARINT_BYTES_MAX && this.position < end; count += 1) {
      const byte = bytes[this.position] ?? 0;
      this.position += 1;
      value += (byte & 127) * factor;
      if (byte < 128) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      factor *= 128;
    }
    this.failed = true;
    return 0;
  }

  /** Reads a length. Returns the end of that field if it is not beyond `end`; otherwise `end`, and `failed`. */
  lengthEnd(end: number): number {
    const fieldEnd = this.number(end) + this.position;
    if (!this.failed && fieldEnd <= end) return fieldEnd;
    this.failed = true;
    return end;
  }

  /** A number from 0 to 2³² − 1. */
  uint32(end: number): number {
    const value = this.number(end);
    if (value > UINT32_MAX) this.failed = true;
    return value;
  }

  /** Whole numbers from 0 to `max`, packed. */
  packed(end: number, max = UINT32_MAX): number[] {
    const values: number[] = [];
    const fieldEnd = this.lengthEnd(end);
    while (this.position < fieldEnd && !this.failed) {
      const value = this.number(fieldEnd);
      if (value > max) this.failed = true;
      values.push(value);
    }
    return values;
  }

  /**
   * The strings of all consecutive fields with this tag (of one byte), whose first tag has already been read. They may
   * share the memory of the whole message: a caller that keeps one copies it.
   */
  strings(tag: number, end: number): string[] {
    const bytes = this.#bytes;
    const starts: number[] = [];
    const ends: number[] = [];
    const runStart = this.position;
    for (;;) {
      const fieldEnd = this.lengthEnd(end);
      if (this.failed) return [];
      starts.push(this.position);
      ends.push(fieldEnd);
      this.position = fieldEnd;
      if (fieldEnd >= end || bytes[fieldEnd] !== tag) break;
      this.position += 1;
    }
    // One call for all of them costs less than one call for each. Tags and most lengths are ASCII too.
    if (isAscii(bytes.subarray(runStart, this.position))) {
      const text = bytes.toString('latin1', runStart, this.position);
      return starts.map((start, index) => text.slice(start - runStart, (ends[index] ?? start) - runStart));
    }
    return starts.map((start, index) => bytes.toString('utf8', start, ends[index]));
  }

  /**
   * Reads the fields up to `end`, each once and ascending by tag, as every encoder writes them. `read` takes one, or
   * returns false if it does not know it. False: the library has to read the message.
   */
  fields(end: number, read: (tag: number) => boolean): boolean {
    let lastTag = 0;
    while (this.position < end && !this.failed) {
      const tag = this.number(end);
      if (tag <= lastTag || !read(tag)) return false;
      lastTag = tag;
    }
    return !this.failed;
  }
}

/**
 * Reads a message field by field. `read` takes the content of a field with a length, up to `end`, or returns false.
 * False: some field is unknown, and the library has to read the whole message. A part would not do: if a field claims
 * more than its container holds, the library reads on into what follows.
 */
export function readMessage(bytes: Buffer, read: (reader: WireReader, tag: number, end: number) => boolean): boolean {
  const reader = new WireReader(bytes);
  const end = bytes.length;
  while (reader.position < end) {
    const tag = reader.number(end);
    if ((tag & 7) !== 2 || !read(reader, tag, reader.lengthEnd(end)) || reader.failed) return false;
  }
  return true;
}
