// The bytes of a position in a tenant's log, which the owner gives to a front, and the front to a reader.

import type { Position, ReceivedPosition } from '../messages.ts';
import type { WireReader } from './wire-reader.ts';
import { fieldWithLength, fieldWithNumber, type WireWriter } from './wire-writer.ts';

const TENANT = fieldWithLength(1);
const EPOCH = fieldWithNumber(2);
const SEQ = fieldWithNumber(3);
const NEXT_BASE = fieldWithNumber(4);
const NOW = fieldWithNumber(5);
const TOLD_READERS = fieldWithNumber(6);
const QUIET = fieldWithNumber(7);

/** Whole numbers, as the schema says: the types also allow the library's own for 64 bits. */
export function writePosition(writer: WireWriter, tag: number, position: Position): void {
  const { tenantId = '', epoch = 0, seq = 0, nextBase = 0, nowMs = 0, toldReaders = 0, quietMs = 0 } = position;
  const mark = writer.open(tag);
  if (tenantId !== '') writer.string(TENANT, tenantId);
  writer.number(EPOCH, epoch);
  writer.number(SEQ, Number(seq));
  writer.number(NEXT_BASE, Number(nextBase));
  writer.number(NOW, Number(nowMs));
  if (toldReaders !== 0) writer.number(TOLD_READERS, toldReaders);
  if (quietMs !== 0) writer.number(QUIET, quietMs);
  writer.close(mark);
}

export function readPosition(reader: WireReader, end: number): ReceivedPosition | undefined {
  const none = { tenantId: '', epoch: 0, seq: 0, nextBase: 0, nowMs: 0, toldReaders: 0, quietMs: 0 };
  const position: ReceivedPosition = none;
  const read = reader.fields(end, (tag) => {
    if (tag === TENANT) position.tenantId = reader.strings(tag, end).at(-1) ?? '';
    else if (tag === EPOCH) position.epoch = reader.uint32(end);
    else if (tag === SEQ) position.seq = reader.number(end);
    else if (tag === NEXT_BASE) position.nextBase = reader.number(end);
    else if (tag === NOW) position.nowMs = reader.number(end);
    else if (tag === TOLD_READERS) position.toldReaders = reader.uint32(end);
    else if (tag === QUIET) position.quietMs = reader.uint32(end);
    else return false;
    return true;
  });
  return read ? position : undefined;
}
