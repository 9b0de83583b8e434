// The changes of all tenants of a slot, from its log.

import type { LoggedPage, LogQuery } from '../../shard/shard.ts';
import type { ReadLog__Output } from '../gen/grantd/v1/ReadLog.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

function queryFrom({ slot, afterSeq, sinceMs }: ReadLog__Output): LogQuery {
  demand(isCount(afterSeq) && isCount(sinceMs), 'A place in a log is out of bounds.');
  return { slot, afterSeq, sinceMs };
}

export const readLog = defineCall({
  request: 'readLog',
  reply: 'loggedChanges',
  access: 'console',
  write: 'no',
  requestToWire: ({ slot, afterSeq, sinceMs }: LogQuery) => ({ readLog: { slot, afterSeq, sinceMs } }),
  requestFromWire: queryFrom,
  serve: ({ connection }, query) => connection.readLog(query),
  replyToWire: ({ items, nextSeq, atEnd }) => ({
    loggedChanges: { changes: items.map((item) => ({ ...item })), nextSeq, atEnd },
  }),
  replyFromWire: ({ changes, nextSeq, atEnd }): LoggedPage => ({ items: changes, nextSeq, atEnd }),
});
