// A page of the change feed of the tenant, which waits at the end of the feed for a change.

import { assert } from '../../core/assert.ts';
import { FEED_ACTIONS, isFeedAction } from '../../core/change-feed.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import type { FeedPage, FeedQuery } from '../../shard/shard.ts';
import type { ReadChanges__Output } from '../gen/grantd/v1/ReadChanges.ts';
import { FEED_WAIT_MS_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { zeroAsUndefined } from './parts/answer-fields.ts';
import { limitOf, orUndefined, shortText } from './parts/request-fields.ts';

function queryFrom(query: ReadChanges__Output): FeedQuery {
  const { cursor, sinceMs, fromNow, limit, waitMs, namespace, relation, actions, byAction } = query;
  demand(Number.isSafeInteger(sinceMs) && sinceMs >= 0, 'A time is out of bounds.');
  demand(waitMs <= FEED_WAIT_MS_MAX, 'A call waits for longer than it may.');
  demand(actions.length <= FEED_ACTIONS.length && actions.every(isFeedAction), 'A filter has no such actions.');
  demand(byAction || actions.length === 0, 'A filter has actions and lets all pass.');
  return {
    cursor: orUndefined(cursor),
    sinceMs: zeroAsUndefined(sinceMs),
    fromNow,
    limit: limitOf(limit),
    waitMs,
    namespace: orUndefined(shortText(namespace, 'A namespace')),
    relation: orUndefined(shortText(relation, 'A relation')),
    actions: byAction ? actions : undefined,
  };
}

export const readChanges = defineCall({
  request: 'readChanges',
  reply: 'changes',
  access: 'check:read',
  write: 'no',
  requestToWire: (query: FeedQuery) => {
    assert(query.limit >= 1 && query.limit <= PAGE_LIMIT_MAX, 'a page has 1 to 1,000 changes');
    assert(query.waitMs <= FEED_WAIT_MS_MAX, 'a call waits for five seconds at most');
    const { cursor = '', sinceMs = 0, fromNow = false, limit, waitMs, namespace = '', relation = '', actions } = query;
    const filter = { namespace, relation, actions: [...(actions ?? [])], byAction: actions !== undefined };
    return { readChanges: { cursor, sinceMs, fromNow, limit, waitMs, ...filter } };
  },
  requestFromWire: queryFrom,
  serve: ({ connection, handle }, query) => connection.readChanges(handle, query),
  replyToWire: ({ items, nextCursor, next, atMs, atEnd }) => ({
    changes: {
      entries: items.map((item) => ({ ...item })),
      nextCursor,
      nextSeq: next.seq,
      nextIndex: next.index,
      atMs,
      atEnd,
    },
  }),
  replyFromWire: ({ entries, nextCursor, nextSeq, nextIndex, atMs, atEnd }): FeedPage => ({
    items: entries,
    nextCursor,
    next: { seq: nextSeq, index: nextIndex },
    atMs,
    atEnd,
  }),
});
