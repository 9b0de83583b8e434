// The bytes of messages from fronts. Checks, single and in bulk, and the questions and positions of readers are encoded
// by hand, since every check pays for it. The library encodes everything else, and decodes each message that contains
// anything else. Both write the same format, that of the schema.

import type {
  Call,
  Checks,
  FrontMessage,
  ReceivedCall,
  ReceivedCheckBulk,
  ReceivedChecks,
  ReceivedFrontMessage,
  ReceivedPosition,
  ReceivedReadPosition,
} from '../messages.ts';
import { readPosition, writePosition } from './position.ts';
import { readMessage, type WireReader } from './wire-reader.ts';
import { fieldWithLength, fieldWithNumber, WireWriter } from './wire-writer.ts';

const CHECKS = fieldWithLength(2);
const CHECKS_IDS = fieldWithLength(1);
const CHECKS_HANDLES = fieldWithLength(2);
const CHECKS_SUBJECTS = fieldWithLength(3);
const CHECKS_RELATIONS = fieldWithLength(4);
const CHECKS_OBJECTS = fieldWithLength(5);
const CHECKS_NAMES = fieldWithLength(7);
const CHECKS_CONTEXTS = fieldWithLength(8);

const POSITIONS = fieldWithLength(6);

const CALLS = fieldWithLength(3);
const CALL_ID = fieldWithNumber(1);
const CALL_HANDLE = fieldWithNumber(2);
const CALL_CHECK_BULK = fieldWithLength(13);
const BULK_SUBJECTS = fieldWithLength(1);
const BULK_RELATIONS = fieldWithLength(2);
const BULK_OBJECTS = fieldWithLength(3);
const CALL_READ_POSITION = fieldWithLength(82);
const READ_POSITION_TENANT = fieldWithLength(1);
const READ_POSITION_SLOT = fieldWithNumber(2);

/** Numbers of relations that no schema knows yet are kept, as the library keeps them. */
const ENUM_MAX = 0x7fff_ffff;

const writer = new WireWriter();

/** Relations are numbers, here and below, although the types allow names. */
const isByHand = ({ checkBulk, readPosition, attempt, traceparent }: Call): boolean =>
  (!!checkBulk || !!readPosition) && !attempt && !traceparent;

function writeChecks(checks: Checks): void {
  const { ids = [], handles = [], subjects = [], relations = [], objects = [], names = [], contexts = [] } = checks;
  const mark = writer.open(CHECKS);
  writer.packed(CHECKS_IDS, ids);
  writer.packed(CHECKS_HANDLES, handles);
  writer.strings(CHECKS_SUBJECTS, subjects);
  writer.packed(CHECKS_RELATIONS, relations as number[]);
  writer.strings(CHECKS_OBJECTS, objects);
  writer.strings(CHECKS_NAMES, names);
  writer.strings(CHECKS_CONTEXTS, contexts);
  writer.close(mark);
}

function writeCall({ id = 0, handle = 0, checkBulk, readPosition }: Call): void {
  const mark = writer.open(CALLS);
  writer.number(CALL_ID, id);
  writer.number(CALL_HANDLE, handle);
  const requestMark = writer.open(checkBulk ? CALL_CHECK_BULK : CALL_READ_POSITION);
  if (checkBulk) {
    const { subjects = [], relations = [], objects = [] } = checkBulk;
    writer.strings(BULK_SUBJECTS, subjects);
    writer.packed(BULK_RELATIONS, relations as number[]);
    writer.strings(BULK_OBJECTS, objects);
  } else {
    const { tenantId = '', slot = 0 } = readPosition ?? {};
    if (tenantId !== '') writer.string(READ_POSITION_TENANT, tenantId);
    writer.number(READ_POSITION_SLOT, slot);
  }
  writer.close(requestMark);
  writer.close(mark);
}

/** `encodeRest` is the library's. Calls encoded by hand come after the others of their message. */
export function encodeFrontMessage(message: FrontMessage, encodeRest: (rest: FrontMessage) => Buffer): Buffer {
  const { checks, calls = [], positions = [], hello, ping, report } = message;
  const plain = checks && !checks.traced?.length ? checks : undefined;
  const otherCalls = calls.filter((call) => !isByHand(call));
  if (hello || ping || report || otherCalls.length > 0 || (checks && plain === undefined)) {
    writer.raw(
      encodeRest({
        ...message,
        checks: plain === undefined ? (checks ?? null) : null,
        calls: otherCalls,
        positions: [],
      }),
    );
  }
  for (const position of positions) writePosition(writer, POSITIONS, position);
  if (plain !== undefined) writeChecks(plain);
  for (const call of calls) if (isByHand(call)) writeCall(call);
  return writer.take();
}

function readChecks(reader: WireReader, end: number): ReceivedChecks | undefined {
  const checks: ReceivedChecks = {
    ids: [],
    handles: [],
    subjects: [],
    relations: [],
    objects: [],
    traced: [],
    names: [],
    contexts: [],
  };
  const read = reader.fields(end, (tag) => {
    if (tag === CHECKS_IDS) checks.ids = reader.packed(end);
    else if (tag === CHECKS_HANDLES) checks.handles = reader.packed(end);
    else if (tag === CHECKS_SUBJECTS) checks.subjects = reader.strings(tag, end);
    else if (tag === CHECKS_RELATIONS) checks.relations = reader.packed(end, ENUM_MAX) as ReceivedChecks['relations'];
    else if (tag === CHECKS_OBJECTS) checks.objects = reader.strings(tag, end);
    else if (tag === CHECKS_NAMES) checks.names = reader.strings(tag, end);
    else if (tag === CHECKS_CONTEXTS) checks.contexts = reader.strings(tag, end);
    else return false;
    return true;
  });
  return read ? checks : undefined;
}

function readCall(reader: WireReader, end: number): ReceivedCall | undefined {
  const call: ReceivedCall = { id: 0, handle: 0, attempt: null, traceparent: '' };
  const read = reader.fields(end, (tag) => {
    if (tag === CALL_ID) call.id = reader.uint32(end);
    else if (tag === CALL_HANDLE) call.handle = reader.uint32(end);
    // The last of two requests counts: a case for the library.
    else if (call.request !== undefined) return false;
    else if (tag === CALL_CHECK_BULK) {
      call.checkBulk = readCheckBulk(reader, reader.lengthEnd(end)) ?? null;
      call.request = 'checkBulk';
    } else if (tag === CALL_READ_POSITION) {
      call.readPosition = readQuestion(reader, reader.lengthEnd(end)) ?? null;
      call.request = 'readPosition';
    } else return false;
    return true;
  });
  return read && (call.checkBulk || call.readPosition) ? call : undefined;
}

function readQuestion(reader: WireReader, end: number): ReceivedReadPosition | undefined {
  const question: ReceivedReadPosition = { tenantId: '', slot: 0 };
  const read = reader.fields(end, (tag) => {
    if (tag === READ_POSITION_TENANT) question.tenantId = reader.strings(tag, end).at(-1) ?? '';
    else if (tag === READ_POSITION_SLOT) question.slot = reader.uint32(end);
    else return false;
    return true;
  });
  return read ? question : undefined;
}

function readCheckBulk(reader: WireReader, end: number): ReceivedCheckBulk | undefined {
  const bulk: ReceivedCheckBulk = { subjects: [], relations: [], objects: [] };
  const read = reader.fields(end, (tag) => {
    if (tag === BULK_SUBJECTS) bulk.subjects = reader.strings(tag, end);
    else if (tag === BULK_RELATIONS) bulk.relations = reader.packed(end, ENUM_MAX) as ReceivedCheckBulk['relations'];
    else if (tag === BULK_OBJECTS) bulk.objects = reader.strings(tag, end);
    else return false;
    return true;
  });
  return read ? bulk : undefined;
}

/** `decodeWhole` is the library's. Throws what it throws, for bytes that are not a message. */
export function decodeFrontMessage(
  bytes: Buffer,
  decodeWhole: (bytes: Buffer) => ReceivedFrontMessage,
): ReceivedFrontMessage {
  let checks: ReceivedChecks | undefined;
  const calls: ReceivedCall[] = [];
  const positions: ReceivedPosition[] = [];
  const read = readMessage(bytes, (reader, tag, end) => {
    if (tag === CHECKS && checks === undefined) {
      checks = readChecks(reader, end);
      return checks !== undefined;
    }
    if (tag === POSITIONS) {
      const position = readPosition(reader, end);
      if (position !== undefined) positions.push(position);
      return position !== undefined;
    }
    const call = tag === CALLS ? readCall(reader, end) : undefined;
    if (call !== undefined) calls.push(call);
    return call !== undefined;
  });
  if (!read) return decodeWhole(bytes);
  return { hello: null, checks: checks ?? null, calls, ping: null, report: null, positions };
}
