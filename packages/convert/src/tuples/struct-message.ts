// A context of SpiceDB in a backup: the bytes of a `google.protobuf.Struct`, as JSON.

import type { JsonObject } from '../../../../src/core/json-members.ts';

/** Objects and lists inside of each other; a grant may have fewer. */
const NESTING_MAX = 32;

/** The bytes are not a `Struct`. */
export class StructError extends Error {
  override readonly name = 'StructError';
}

interface Field {
  readonly number: number;
  /** The content of a length-delimited field or of eight bytes; empty: it is a number alone. */
  readonly bytes: Buffer;
  readonly value: bigint;
}

function varintAt(bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } {
  let value = 0n;
  for (let at = start; at < start + 10; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) break;
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start));
    if (byte < 0x80) return { value, end: at + 1 };
  }
  throw new StructError('A number in it ends early.');
}

function* fieldsIn(bytes: Buffer): Generator<Field> {
  for (let at = 0; at < bytes.length; ) {
    const { value: tag, end } = varintAt(bytes, at);
    const wireType = Number(tag & 7n);
    const number = Number(tag >> 3n);
    if (wireType !== 0 && wireType !== 1 && wireType !== 2) throw new StructError('A field in it has an unknown form.');
    const head = wireType === 1 ? { value: 8n, end } : varintAt(bytes, end);
    const length = wireType === 0 ? 0 : Number(head.value);
    at = head.end + length;
    if (at > bytes.length) throw new StructError('A field in it ends early.');
    yield { number, bytes: bytes.subarray(head.end, at), value: wireType === 0 ? head.value : 0n };
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textIn(bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new StructError('A text in it is not valid UTF-8.', { cause });
  }
}

/** The last field of the message counts, as protobuf has it. */
function valueIn(bytes: Buffer, depth: number): unknown {
  if (depth > NESTING_MAX) throw new StructError('It is nested too deeply.');
  let value: unknown = null;
  for (const field of fieldsIn(bytes)) {
    if (field.number === 1) value = null;
    if (field.number === 2 && field.bytes.length === 8) value = field.bytes.readDoubleLE();
    if (field.number === 3) value = textIn(field.bytes);
    if (field.number === 4) value = field.value !== 0n;
    if (field.number === 5) value = objectIn(field.bytes, depth + 1);
    if (field.number === 6) {
      const items = [...fieldsIn(field.bytes)].filter(({ number }) => number === 1);
      value = items.map((item) => valueIn(item.bytes, depth + 1));
    }
  }
  return value;
}

function objectIn(bytes: Buffer, depth: number): JsonObject {
  const members = [...fieldsIn(bytes)].flatMap((entry): (readonly [string, unknown])[] => {
    if (entry.number !== 1) return [];
    const parts = new Map(Array.from(fieldsIn(entry.bytes), (part) => [part.number, part.bytes]));
    const [name, value] = [parts.get(1) ?? Buffer.alloc(0), parts.get(2) ?? Buffer.alloc(0)];
    return [[textIn(name), valueIn(value, depth)]];
  });
  return Object.fromEntries(members);
}

/** Throws a StructError if the bytes are not a `Struct`. */
export const parseStruct = (bytes: Buffer): JsonObject => objectIn(bytes, 0);
