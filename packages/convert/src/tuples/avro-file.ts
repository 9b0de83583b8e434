// An Avro object container file, read block by block in bounded memory: its schema, then the values. A block is checked
// whole before a value of it is passed on, so a damaged file never yields a value that was not written.

import { crc32 } from 'node:zlib';
import { AvroError, AvroReader, type AvroSchema, type AvroValue, parseAvroSchema } from './avro-schema.ts';
import { decompressSnappy, SnappyError } from './snappy.ts';

const MAGIC = Buffer.from('Obj\u0001', 'latin1');
const SYNC_BYTES = 16;
const CHECKSUM_BYTES = 4;
/** The schema and other texts at the start. */
const HEAD_BYTES_MAX = 256 * 1024;
const HEAD_ENTRIES_MAX = 100;
/** Compressed or not; writers begin another block after some 64 KiB, and a schema of SpiceDB may be larger. */
const BLOCK_BYTES_MAX = 16 * 1024 * 1024;
/** The head of a block: two numbers. */
const BLOCK_HEAD_BYTES_MAX = 20;

/** The bytes of the chunks, taken in pieces. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held = Buffer.alloc(0);
  #ended = false;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next `bytes` bytes, without consuming them; fewer only at the end. */
  async peek(bytes: number): Promise<Buffer> {
    if (this.#held.length < bytes && !this.#ended) {
      const parts = [this.#held];
      let length = this.#held.length;
      while (length < bytes && !this.#ended) {
        const { value, done } = await this.#chunks.next();
        if (done === true) this.#ended = true;
        else {
          parts.push(Buffer.from(value));
          length += value.length;
        }
      }
      this.#held = Buffer.concat(parts);
    }
    return this.#held.subarray(0, bytes);
  }

  skip(bytes: number): void {
    this.#held = this.#held.subarray(bytes);
  }

  async take(bytes: number): Promise<Buffer> {
    const taken = await this.peek(bytes);
    if (taken.length < bytes) throw new AvroError('The file ends early.');
    this.skip(bytes);
    return taken;
  }
}

interface Head {
  readonly schema: AvroSchema;
  readonly codec: string;
  readonly sync: Buffer;
}

/** Pairs of names and values, in groups; the last one is empty. */
function readMetadata(reader: AvroReader): Map<string, Buffer> {
  const metadata = new Map<string, Buffer>();
  for (;;) {
    const count = reader.long();
    if (count === 0n) return metadata;
    // A negative count is followed by the bytes of the group.
    if (count < 0n) reader.length(HEAD_BYTES_MAX);
    const entries = Number(count < 0n ? -count : count);
    if (metadata.size + entries > HEAD_ENTRIES_MAX) throw new AvroError('The head has too many entries.');
    for (let index = 0; index < entries; index += 1) {
      const name = reader.take(reader.length(HEAD_BYTES_MAX)).toString('utf8');
      metadata.set(name, reader.take(reader.length(HEAD_BYTES_MAX)));
    }
  }
}

async function readHead(source: ByteSource): Promise<Head> {
  const bytes = await source.peek(HEAD_BYTES_MAX);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw new AvroError('The file is not in the format of Avro.');
  const reader = new AvroReader(bytes.subarray(MAGIC.length));
  const metadata = readMetadata(reader);
  // A copy, so that the peeked chunk can be freed.
  const sync = Buffer.from(reader.take(SYNC_BYTES));
  const codec = metadata.get('avro.codec')?.toString('utf8') ?? 'null';
  if (codec !== 'null' && codec !== 'snappy') {
    throw new AvroError(`The file is compressed with ${JSON.stringify(codec.slice(0, 20))}; Snappy can be read.`);
  }
  const schema = parseAvroSchema(metadata.get('avro.schema')?.toString('utf8') ?? '');
  source.skip(MAGIC.length + reader.position);
  return { schema, codec, sync };
}

function decompress(block: Buffer, codec: string): Buffer {
  if (codec === 'null') return block;
  if (block.length < CHECKSUM_BYTES) throw new AvroError('A block is too short.');
  const end = block.length - CHECKSUM_BYTES;
  let data: Buffer;
  try {
    data = decompressSnappy(block.subarray(0, end), BLOCK_BYTES_MAX);
  } catch (error) {
    if (!(error instanceof SnappyError)) throw error;
    throw new AvroError(error.message, { cause: error });
  }
  if (crc32(data) !== block.readUInt32BE(end)) throw new AvroError('A block is damaged: its checksum differs.');
  return data;
}

/** Undefined at the end of the file. */
async function readBlock(source: ByteSource, { schema, codec, sync }: Head): Promise<readonly AvroValue[] | undefined> {
  const start = await source.peek(BLOCK_HEAD_BYTES_MAX);
  if (start.length === 0) return undefined;
  const head = new AvroReader(start);
  const count = head.length(BLOCK_BYTES_MAX);
  const length = head.length(BLOCK_BYTES_MAX);
  source.skip(head.position);
  // A copy: the values keep parts of it.
  const block = Buffer.from(await source.take(length));
  if (!(await source.take(SYNC_BYTES)).equals(sync)) throw new AvroError('A block does not end where it should.');
  const data = decompress(block, codec);
  // Each value takes a byte at least: the branch of its union.
  if (count > data.length) throw new AvroError('A block has fewer values than it says.');
  const reader = new AvroReader(data);
  const values = Array.from({ length: count }, () => reader.value(schema));
  if (!reader.isAtEnd) throw new AvroError('A block has more values than it says.');
  return values;
}

export interface AvroFile {
  readonly schema: AvroSchema;
  /** Block by block. */
  readonly blocks: AsyncGenerator<readonly AvroValue[]>;
}

/** Throws an AvroError, here or from `blocks`, if the file is damaged or of another form. */
export async function openAvroFile(chunks: AsyncIterable<Uint8Array>): Promise<AvroFile> {
  const source = new ByteSource(chunks);
  const head = await readHead(source);
  async function* blocks(): AsyncGenerator<readonly AvroValue[]> {
    for (;;) {
      const values = await readBlock(source, head);
      if (values === undefined) return;
      yield values;
    }
  }
  return { schema: head.schema, blocks: blocks() };
}
