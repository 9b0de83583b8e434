// The bytes of messages from shards. The results of checks, single and in bulk, positions for readers and listings of
// objects are encoded by hand, since every check and every object pays for it. The library encodes everything else, and
// decodes each message that contains anything else. Both write the same format, that of the schema.

import type {
  CheckResults,
  ReceivedBulkResults,
  ReceivedCheckResults,
  ReceivedObjects,
  ReceivedReply,
  ReceivedShardMessage,
  Reply,
  ShardMessage,
} from '../messages.ts';
import { readPosition, writePosition } from './position.ts';
import { readMessage, type WireReader } from './wire-reader.ts';
import { fieldWithLength, fieldWithNumber, WireWriter } from './wire-writer.ts';

const CHECK_RESULTS = fieldWithLength(3);
const RESULTS_AUTHORIZED = fieldWithLength(1);
const RESULTS_DENIED = fieldWithLength(2);
const RESULTS_CHECKED_AT = fieldWithNumber(4);
const RESULTS_TIMED = fieldWithLength(5);
const RESULTS_TIMED_AT = fieldWithLength(6);

const REPLIES = fieldWithLength(4);
const REPLY_ID = fieldWithNumber(1);
const REPLY_BULK_RESULTS = fieldWithLength(5);
const REPLY_OBJECTS = fieldWithLength(7);
const REPLY_POSITION = fieldWithLength(51);
const OBJECTS_OBJECTS = fieldWithLength(1);
const OBJECTS_NEXT_CURSOR = fieldWithLength(2);
const OBJECTS_EXCLUDED = fieldWithLength(3);
const BULK_AUTHORIZED = fieldWithLength(1);
const BULK_CHECKED_AT = fieldWithNumber(2);

const writer = new WireWriter();

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
/** Whether no check has failed, and none has a hint. */
const isPlain = ({ failed = [], hinted = [], checkedAtMs, timedAtMs = [] }: CheckResults): boolean =>
  failed.length === 0 && hinted.length === 0 && isTime(checkedAtMs) && timedAtMs.every(isTime);
const isByHand = ({ bulkResults, objects, position, unknownNamespaces = [] }: Reply): boolean =>
  unknownNamespaces.length === 0 && (!!objects || !!position || isTime(bulkResults?.checkedAtMs));

function writeResults({ authorized = [], denied = [], checkedAtMs, timed = [], timedAtMs = [] }: CheckResults): void {
  const mark = writer.open(CHECK_RESULTS);
  writer.packed(RESULTS_AUTHORIZED, authorized);
  writer.packed(RESULTS_DENIED, denied);
  writer.number(RESULTS_CHECKED_AT, Number(checkedAtMs));
  writer.packed(RESULTS_TIMED, timed);
  writer.packed(RESULTS_TIMED_AT, timedAtMs.map(Number));
  writer.close(mark);
}

function writeReply({ id = 0, bulkResults, objects, position }: Reply): void {
  const mark = writer.open(REPLIES);
  writer.number(REPLY_ID, id);
  if (objects) {
    const objectsMark = writer.open(REPLY_OBJECTS);
    writer.strings(OBJECTS_OBJECTS, objects.objects ?? []);
    if (objects.nextCursor) writer.string(OBJECTS_NEXT_CURSOR, objects.nextCursor);
    writer.strings(OBJECTS_EXCLUDED, objects.excluded ?? []);
    writer.close(objectsMark);
  } else if (position) {
    writePosition(writer, REPLY_POSITION, position);
  } else {
    const { authorized = [], checkedAtMs } = bulkResults ?? {};
    const bulkMark = writer.open(REPLY_BULK_RESULTS);
    writer.packed(BULK_AUTHORIZED, authorized);
    writer.number(BULK_CHECKED_AT, Number(checkedAtMs));
    writer.close(bulkMark);
  }
  writer.close(mark);
}

/** `encodeRest` is the library's. Replies encoded by hand come after the others of their message. */
export function encodeShardMessage(message: ShardMessage, encodeRest: (rest: ShardMessage) => Buffer): Buffer {
  const { checkResults, replies = [], welcome, routes, pong, settings = [] } = message;
  const plain = checkResults && isPlain(checkResults) ? checkResults : undefined;
  const otherReplies = replies.filter((reply) => !isByHand(reply));
  if (
    welcome ||
    routes ||
    pong ||
    settings.length > 0 ||
    otherReplies.length > 0 ||
    (checkResults && plain === undefined)
  ) {
    const rest = plain === undefined ? (checkResults ?? null) : null;
    writer.raw(encodeRest({ ...message, checkResults: rest, replies: otherReplies }));
  }
  if (plain !== undefined) writeResults(plain);
  for (const reply of replies) if (isByHand(reply)) writeReply(reply);
  return writer.take();
}

function readResults(reader: WireReader, end: number): ReceivedCheckResults | undefined {
  const results: ReceivedCheckResults = {
    authorized: [],
    denied: [],
    failed: [],
    checkedAtMs: 0,
    timed: [],
    timedAtMs: [],
    hinted: [],
  };
  const read = reader.fields(end, (tag) => {
    if (tag === RESULTS_AUTHORIZED) results.authorized = reader.packed(end);
    else if (tag === RESULTS_DENIED) results.denied = reader.packed(end);
    else if (tag === RESULTS_CHECKED_AT) results.checkedAtMs = reader.number(end);
    else if (tag === RESULTS_TIMED) results.timed = reader.packed(end);
    else if (tag === RESULTS_TIMED_AT) results.timedAtMs = reader.packed(end, Number.MAX_SAFE_INTEGER);
    else return false;
    return true;
  });
  return read ? results : undefined;
}

function readReply(reader: WireReader, end: number): ReceivedReply | undefined {
  const reply: ReceivedReply = { id: 0, unknownNamespaces: [] };
  const read = reader.fields(end, (tag) => {
    if (tag === REPLY_ID) reply.id = reader.uint32(end);
    // The last of two results counts: a case for the library.
    else if (reply.result !== undefined) return false;
    else if (tag === REPLY_BULK_RESULTS) {
      reply.bulkResults = readBulkResults(reader, reader.lengthEnd(end)) ?? null;
      reply.result = 'bulkResults';
    } else if (tag === REPLY_OBJECTS) {
      reply.objects = readObjects(reader, reader.lengthEnd(end)) ?? null;
      reply.result = 'objects';
    } else if (tag === REPLY_POSITION) {
      reply.position = readPosition(reader, reader.lengthEnd(end)) ?? null;
      reply.result = 'position';
    } else return false;
    return true;
  });
  return read && (reply.bulkResults || reply.objects || reply.position) ? reply : undefined;
}

function readObjects(reader: WireReader, end: number): ReceivedObjects | undefined {
  const objects: ReceivedObjects = { objects: [], nextCursor: '', excluded: [] };
  const read = reader.fields(end, (tag) => {
    if (tag === OBJECTS_OBJECTS) objects.objects = reader.strings(tag, end);
    else if (tag === OBJECTS_NEXT_CURSOR) objects.nextCursor = reader.strings(tag, end).at(-1) ?? '';
    else if (tag === OBJECTS_EXCLUDED) objects.excluded = reader.strings(tag, end);
    else return false;
    return true;
  });
  return read ? objects : undefined;
}

function readBulkResults(reader: WireReader, end: number): ReceivedBulkResults | undefined {
  const results: ReceivedBulkResults = { authorized: [], checkedAtMs: 0 };
  const read = reader.fields(end, (tag) => {
    if (tag === BULK_AUTHORIZED) results.authorized = reader.packed(end, 1).map((bit) => bit === 1);
    else if (tag === BULK_CHECKED_AT) results.checkedAtMs = reader.number(end);
    else return false;
    return true;
  });
  return read ? results : undefined;
}

/** `decodeWhole` is the library's. Throws what it throws, for bytes that are not a message. */
export function decodeShardMessage(
  bytes: Buffer,
  decodeWhole: (bytes: Buffer) => ReceivedShardMessage,
): ReceivedShardMessage {
  let checkResults: ReceivedCheckResults | undefined;
  const replies: ReceivedReply[] = [];
  const read = readMessage(bytes, (reader, tag, end) => {
    if (tag === CHECK_RESULTS && checkResults === undefined) {
      checkResults = readResults(reader, end);
      return checkResults !== undefined;
    }
    const reply = tag === REPLIES ? readReply(reader, end) : undefined;
    if (reply !== undefined) replies.push(reply);
    return reply !== undefined;
  });
  if (!read) return decodeWhole(bytes);
  return { welcome: null, routes: null, checkResults: checkResults ?? null, replies, pong: null, settings: [] };
}
