// Avro files: those that another implementation has written are read whole, and damaged or hostile ones are refused
// within bounds, with no value that was not written.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { openAvroFile } from '../../../packages/convert/src/tuples/avro-file.ts';
import { AvroError, type AvroValue } from '../../../packages/convert/src/tuples/avro-schema.ts';
import { decompressSnappy, SnappyError } from '../../../packages/convert/src/tuples/snappy.ts';
import { openZedBackup } from '../../../packages/convert/src/tuples/zed-backup.ts';

/** Written with avsc and snappyjs, by the schema of zed. */
const backup = gunzipSync(readFileSync(join(import.meta.dirname, 'files', 'backup.zedbackup.gz')));

async function* inChunks(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function valuesOf(bytes: Uint8Array, chunk = 64 * 1024): Promise<AvroValue[]> {
  const values: AvroValue[] = [];
  const { blocks } = await openAvroFile(inChunks(bytes, chunk));
  for await (const block of blocks) values.push(...block);
  return values;
}

/** A number as Avro writes it. */
function long(value: number): Buffer {
  let rest = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
  const bytes: number[] = [];
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const text = (value: string): Buffer => Buffer.concat([long(Buffer.byteLength(value)), Buffer.from(value)]);
const SYNC = Buffer.alloc(16, 7);

function head(schema: string, codec = 'null'): Buffer {
  const metadata = [text('avro.schema'), text(schema), text('avro.codec'), text(codec)];
  return Buffer.concat([Buffer.from('Obj\u0001', 'latin1'), long(2), ...metadata, long(0), SYNC]);
}

const block = (count: number, data: Buffer): Buffer => Buffer.concat([long(count), long(data.length), data, SYNC]);

describe('an Avro file', () => {
  it('is read the same whatever the chunks', async () => {
    const values = await valuesOf(backup);
    assert.equal(values.length, 307);
    for (const length of [1, 7, 1000]) assert.deepEqual(await valuesOf(backup, length), values);
  });

  it('may be uncompressed, and its numbers may be negative or large', async () => {
    const numbers = [0, -1, 1, 63, 64, -64, -65, 2 ** 40, -(2 ** 40), Number.MIN_SAFE_INTEGER];
    const file = Buffer.concat([head('"long"'), block(numbers.length, Buffer.concat(numbers.map(long)))]);
    assert.deepEqual(await valuesOf(file), numbers.map(BigInt));
  });

  it('yields nothing that was not written if any byte is lost or changed', async () => {
    const whole = (await valuesOf(backup)).map((value) => JSON.stringify(value, (_, each) => String(each)));
    const known = new Set(whole);
    let refused = 0;
    for (let at = 0; at < backup.length; at += 13) {
      const damaged = Buffer.from(backup);
      damaged[at] = (damaged[at] ?? 0) ^ 0x41;
      for (const bytes of [damaged, backup.subarray(0, at)]) {
        const values: AvroValue[] = [];
        try {
          const { blocks } = await openAvroFile(inChunks(bytes, 4096));
          for await (const each of blocks) values.push(...each);
        } catch (error) {
          assert.ok(error instanceof AvroError, String(error));
          refused += 1;
        }
        // Past the head, which says what the values are.
        if (at > 1000) {
          for (const value of values) assert.ok(known.has(JSON.stringify(value, (_, each) => String(each))));
        }
      }
    }
    assert.ok(refused > (2 * backup.length) / 13 / 2);
  });

  it('is refused if it claims more than it has, without memory for what it claims', async () => {
    const memory = process.memoryUsage().rss;
    for (const bytes of [
      Buffer.from('nonsense'),
      Buffer.alloc(0),
      head('"nonsense"'),
      head('{"type":"array","items":"long"}'),
      head(`${'['.repeat(5000)}"long"${']'.repeat(5000)}`),
      head('"long"', 'deflate'),
      Buffer.concat([Buffer.from('Obj\u0001', 'latin1'), long(2 ** 50)]),
      Buffer.concat([head('"long"'), long(2 ** 40), long(1), Buffer.from([0]), SYNC]),
      Buffer.concat([head('"long"'), long(1), long(2 ** 40)]),
      Buffer.concat([head('"long"'), block(3, long(1))]),
      Buffer.concat([head('"long"'), block(1, Buffer.concat([long(1), long(1)]))]),
      Buffer.concat([head('"null"'), block(1_000_000, Buffer.alloc(0))]),
      Buffer.concat([head('"string"'), block(1, Buffer.concat([long(2 ** 33), Buffer.from('x')]))]),
      Buffer.concat([head('"string"'), block(1, Buffer.concat([long(1), Buffer.from([0xff])]))]),
      Buffer.concat([head('["long","string"]'), block(1, Buffer.concat([long(2), long(1)]))]),
      Buffer.concat([head('"long"'), block(1, Buffer.alloc(11, 0xff))]),
    ]) {
      await assert.rejects(valuesOf(bytes), AvroError, bytes.subarray(0, 80).toString('latin1'));
    }
    assert.ok(process.memoryUsage().rss - memory < 300_000_000);
  });

  it('is a backup only if the schema comes first and nothing but relationships after it', async () => {
    const schema = { type: 'record', name: 'schema_v1', fields: [{ name: 'schema_text', type: 'string' }] };
    const relationship = { type: 'record', name: 'relationship_v1', fields: [{ name: 'relation', type: 'string' }] };
    const union = head(JSON.stringify([relationship, schema]));
    const schemaValue = Buffer.concat([long(1), text('definition user {}')]);
    for (const bytes of [
      union,
      Buffer.concat([union, block(1, Buffer.concat([long(0), text('viewer')]))]),
      Buffer.concat([head(JSON.stringify([schema])), block(1, Buffer.concat([long(0), text('x')]))]),
    ]) {
      await assert.rejects(openZedBackup(inChunks(bytes, 100)), /^CliFailure: This is not a backup of SpiceDB: /);
    }
    for (const rest of [schemaValue, Buffer.concat([long(0), text('viewer')])]) {
      const { entries } = await openZedBackup(
        inChunks(Buffer.concat([union, block(2, Buffer.concat([schemaValue, rest]))]), 100),
      );
      await assert.rejects(Array.fromAsync(entries), /^CliFailure: This is not a backup of SpiceDB: /);
    }
  });
});

describe('a block of Snappy', () => {
  const MAX = 1000;

  it('is decompressed: literals of every kind of length, and copies that overlap', () => {
    const long60 = Buffer.concat([Buffer.from([100, 60 << 2, 99]), Buffer.alloc(100, 0x61)]);
    assert.equal(decompressSnappy(long60, MAX).toString(), 'a'.repeat(100));
    // "ab", then eight bytes from two back, then four with a distance of two bytes.
    const copies = Buffer.from([14, 1 << 2, 0x61, 0x62, 1 | (4 << 2), 2, 2 | (3 << 2), 2, 0]);
    assert.equal(decompressSnappy(copies, MAX).toString(), 'ab'.repeat(7));
    const far = Buffer.from([4, 1 << 2, 0x61, 0x62, 3 | (1 << 2), 2, 0, 0, 0]);
    assert.equal(decompressSnappy(far, MAX).toString(), 'abab');
  });

  it('is refused if it reads or writes beyond its bounds, or says another length', () => {
    for (const bytes of [
      [],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0x01],
      [0xff, 0xff, 0xff, 0xff, 0x0f],
      [2, 1 << 2, 0x61],
      [1, 1 << 2, 0x61, 0x62],
      [3, 1 << 2, 0x61, 0x62],
      [6, 1 << 2, 0x61, 0x62, 1 | (0 << 2), 3],
      [6, 1 << 2, 0x61, 0x62, 1 | (0 << 2), 0],
      [6, 1 << 2, 0x61, 0x62, 2 | (3 << 2), 2],
      [6, 63 << 2, 0xff, 0xff, 0xff, 0xff],
    ]) {
      assert.throws(() => decompressSnappy(Buffer.from(bytes), MAX), SnappyError, bytes.join());
    }
  });
});
