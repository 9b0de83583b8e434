// Decompresses a block of Snappy in its raw form (https://github.com/google/snappy/blob/main/format_description.txt).
// Every length is compared with the available bytes, so no input reads or writes beyond its bounds.

export class SnappyError extends Error {}

const LITERAL = 0;
const COPY_1_BYTE = 1;
const COPY_2_BYTES = 2;
/** Literals up to this length have it in their tag. */
const SHORT_LITERAL_MAX = 60;

/** The length, and the position after it. */
function readLength(block: Uint8Array): { readonly length: number; readonly at: number } {
  let length = 0;
  for (let at = 0; at < 5; at += 1) {
    const byte = block[at];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return { length, at: at + 1 };
  }
  throw new SnappyError('A block has no length.');
}

function littleEndian(block: Uint8Array, at: number, bytes: number): number {
  if (at + bytes > block.length) throw new SnappyError('A block ends early.');
  let number = 0;
  for (let index = bytes - 1; index >= 0; index -= 1) number = number * 256 + (block[at + index] ?? 0);
  return number;
}

interface Element {
  readonly length: number;
  /** How far back a copy begins; 0: a literal. */
  readonly distance: number;
  /** The position after the tag. */
  readonly at: number;
}

function readElement(block: Uint8Array, at: number): Element {
  const tag = block[at] ?? 0;
  const kind = tag & 3;
  const rest = tag >> 2;
  if (kind === LITERAL) {
    if (rest < SHORT_LITERAL_MAX) return { length: rest + 1, distance: 0, at: at + 1 };
    const bytes = rest - SHORT_LITERAL_MAX + 1;
    return { length: littleEndian(block, at + 1, bytes) + 1, distance: 0, at: at + 1 + bytes };
  }
  const bytes = kind === COPY_1_BYTE ? 1 : kind === COPY_2_BYTES ? 2 : 4;
  const low = littleEndian(block, at + 1, bytes);
  const distance = kind === COPY_1_BYTE ? (tag >> 5) * 256 + low : low;
  if (distance === 0) throw new SnappyError('A block copies from nowhere.');
  return { length: kind === COPY_1_BYTE ? (rest & 7) + 4 : rest + 1, distance, at: at + 1 + bytes };
}

/** Throws a SnappyError if the block is damaged, or would have more than `lengthMax` bytes. */
export function decompressSnappy(block: Uint8Array, lengthMax: number): Buffer {
  const { length, at: start } = readLength(block);
  if (length > lengthMax) throw new SnappyError(`A block has ${length} bytes; at most ${lengthMax} are allowed.`);
  const output = Buffer.alloc(length);
  let written = 0;
  let at = start;
  while (at < block.length) {
    const element = readElement(block, at);
    if (written + element.length > length) throw new SnappyError('A block is longer than it says.');
    if (element.distance === 0) {
      if (element.at + element.length > block.length) throw new SnappyError('A block ends early.');
      output.set(block.subarray(element.at, element.at + element.length), written);
      at = element.at + element.length;
    } else {
      if (element.distance > written) throw new SnappyError('A block copies from before its start.');
      // Byte by byte: a copy may overlap its own output.
      for (let index = 0; index < element.length; index += 1) {
        output[written + index] = output[written + index - element.distance] ?? 0;
      }
      at = element.at;
    }
    written += element.length;
  }
  if (written !== length) throw new SnappyError('A block is shorter than it says.');
  return output;
}
