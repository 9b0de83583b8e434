// Reading the bytes of a protobuf message field by field (https://protobuf.dev/programming-guides/encoding/). Whatever
// it does not take (numbers above 2⁵³, a field that ends beyond what holds it) it says so, and the library has to look.

import { isAscii } from 'node:buffer';

const VARINT_BYTES_MAX = 8;
const UINT32_MAX = 0xffff_ffff;

export class WireReader {
  readonly #bytes: Buffer;
  /** Of the next byte. */
  position = 0;
  /** Once true it stays: what was read since it was false last is worth nothing. */
  failed = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** A whole number from 0 to 2⁵³ − 1 that ends before `end`; else 0, and `failed`. */
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

  /** The end of a field whose length comes next and that lies before `end`; else `end`, and `failed`. */
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
   * The strings of all fields with this tag (of one byte) that follow one another, the first tag being read already.
   * They may share the memory of the whole message: whoever keeps one makes a copy.
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
    // One call for all of them costs less than one call for each. Tags and most lengths are ASCII, too.
    if (isAscii(bytes.subarray(runStart, this.position))) {
      const text = bytes.toString('latin1', runStart, this.position);
      return starts.map((start, index) => text.slice(start - runStart, (ends[index] ?? start) - runStart));
    }
    return starts.map((start, index) => bytes.toString('utf8', start, ends[index]));
  }

  /**
   * The fields up to `end`, each once and ascending by their tags, as every encoder writes them. `read` takes one, or
   * returns false where it does not know it. False: the library has to look.
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
 * False: some field is not for it, and the library has to read the whole message. Never a part of it: where a field
 * claims more than holds it, the library reads on into what follows.
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
