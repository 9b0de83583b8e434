// Writes the bytes of a protobuf message field by field (https://protobuf.dev/programming-guides/encoding/). One writer
// serves message after message, and returns copies. Tags have one byte (fields 1 to 15), but for a field that is
// opened. The caller bounds the size of a message.

const BYTES_AT_FIRST = 64 * 1024;
/** Bytes of a length or a number up to 2⁵³. */
const VARINT_BYTES_MAX = 8;
/** Bytes left free for a length until it is known. */
const LENGTH_BYTES = 5;
/** Up to this many UTF-16 units, of 3 bytes at most each, the length of a string takes one byte. */
const SHORT_UNITS_MAX = 42;
const UINT32_COUNT = 2 ** 32;

export class WireWriter {
  #bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
  #length = 0;

  /** A copy of what was written since the last call. */
  take(): Buffer {
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    // One large message must not keep its memory for good.
    if (this.#bytes.length > BYTES_AT_FIRST) this.#bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
    return bytes;
  }

  /** Fields that are already encoded. */
  raw(encoded: Uint8Array): void {
    this.#reserve(encoded.length);
    this.#bytes.set(encoded, this.#length);
    this.#length += encoded.length;
  }

  /** A whole number from 0 to 2⁵³ − 1. Like every default of proto3, 0 is left out. */
  number(tag: number, value: number): void {
    if (value === 0) return;
    this.#reserve(1 + VARINT_BYTES_MAX);
    this.#bytes[this.#length] = tag;
    this.#length += 1;
    this.#varint(value);
  }

  /** Whole numbers from 0 to 2⁵³ − 1, or booleans, packed. */
  packed(tag: number, values: readonly number[] | readonly boolean[]): void {
    if (values.length === 0) return;
    const mark = this.open(tag);
    this.#reserve(VARINT_BYTES_MAX * values.length);
    for (const value of values) this.#varint(Number(value));
    this.close(mark);
  }

  string(tag: number, text: string): void {
    this.#reserve(1 + LENGTH_BYTES + 3 * text.length);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at] = tag;
    at += 1;
    if (text.length <= SHORT_UNITS_MAX) {
      const written = bytes.write(text, at + 1);
      bytes[at] = written;
      this.#length = at + 1 + written;
      return;
    }
    this.#length = at;
    this.#varint(Buffer.byteLength(text));
    this.#length += bytes.write(text, this.#length);
  }

  strings(tag: number, texts: readonly string[]): void {
    for (const text of texts) this.string(tag, text);
  }

  /** Begins a field that has a length. Returns the argument of `close`. */
  open(tag: number): number {
    this.#reserve(VARINT_BYTES_MAX + LENGTH_BYTES);
    this.#varint(tag);
    this.#length += LENGTH_BYTES;
    return this.#length;
  }

  close(mark: number): void {
    const end = this.#length;
    this.#length = mark - LENGTH_BYTES;
    this.#varint(end - mark);
    this.#bytes.copyWithin(this.#length, mark, end);
    this.#length += end - mark;
  }

  #varint(value: number): void {
    const bytes = this.#bytes;
    let at = this.#length;
    let rest = value;
    while (rest >= UINT32_COUNT) {
      bytes[at] = (rest % 128) | 128;
      at += 1;
      rest = Math.floor(rest / 128);
    }
    while (rest > 127) {
      bytes[at] = (rest & 127) | 128;
      at += 1;
      rest >>>= 7;
    }
    bytes[at] = rest;
    this.#length = at + 1;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/**
 * The tags of fields (https://protobuf.dev/programming-guides/encoding/#structure): the number of the field in the
 * schema, and how its content is encoded. The tags of fields 1 to 15 take one byte.
 */
export const fieldWithNumber = (field: number): number => field << 3;
/** A string, a message, or packed numbers. */
export const fieldWithLength = (field: number): number => (field << 3) | 2;
