// The calls that read changes: the change feed of a tenant, its audit log, and the logs of the slots.

import { assert } from '../../core/assert.ts';
import { FEED_ACTIONS, isFeedAction } from '../../core/change-feed.ts';
import { PAGE_LIMIT_MAX } from '../../core/limits.ts';
import type { FeedQuery, TenantAuditLogQuery } from '../../shard/shard.ts';
import type { ListAuditLog__Output } from '../gen/grantd/v1/ListAuditLog.ts';
import type { ReadChanges__Output } from '../gen/grantd/v1/ReadChanges.ts';
import { AUDIT_LOG_LIMIT_MAX, FEED_WAIT_MS_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { nextCursorOf, pageFrom, zeroAsUndefined } from './answer-fields.ts';
import { defineCall, EMPTY_REQUEST } from './define-call.ts';
import {
  IDENTIFIER_UNITS_MAX,
  isCount,
  limitOf,
  orUndefined,
  pageQueryFromWire,
  pageQueryToWire,
  shortText,
  timeBoundToWire,
} from './request-fields.ts';

function feedQueryFrom(query: ReadChanges__Output): FeedQuery {
  const { cursor, sinceMs, fromNow, limit, waitMs, namespace, relation, actions, byAction } = query;
  demand(isCount(sinceMs), 'A time is out of bounds.');
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

function auditLogQueryFrom(query: ListAuditLog__Output): TenantAuditLogQuery {
  const { tenantId, newestFirst, sinceMs, untilMs, action, actor, subject, object, requestId } = query;
  demand(Number.isFinite(sinceMs) && Number.isFinite(untilMs), 'A time bound is not a number.');
  return {
    ...pageQueryFromWire(query),
    tenantId: shortText(tenantId, 'A tenant id'),
    newestFirst,
    sinceMs: zeroAsUndefined(sinceMs),
    untilMs: zeroAsUndefined(untilMs),
    action: shortText(action, 'An action'),
    actor: shortText(actor, 'An actor'),
    subject: shortText(subject, 'A subject', IDENTIFIER_UNITS_MAX),
    object: shortText(object, 'An object', IDENTIFIER_UNITS_MAX),
    requestId: shortText(requestId, 'A request id'),
  };
}

export const changeCalls = {
  /** At the end of the feed, the call waits for a change. */
  readChanges: defineCall('readChanges', {
    access: 'check:read',
    requestToWire: (query) => {
      assert(query.limit >= 1 && query.limit <= PAGE_LIMIT_MAX, 'a page has 1 to 1,000 changes');
      assert(query.waitMs <= FEED_WAIT_MS_MAX, 'a call waits for five seconds at most');
      const { cursor = '', fromNow = false, limit, waitMs, namespace = '', relation = '', actions } = query;
      const sinceMs = timeBoundToWire(query.sinceMs);
      const filter = { namespace, relation, actions: [...(actions ?? [])], byAction: actions !== undefined };
      return { cursor, sinceMs, fromNow, limit, waitMs, ...filter };
    },
    requestFromWire: feedQueryFrom,
    reply: 'changes',
    replyToWire: ({ items, nextCursor, next, atMs, atEnd }) => ({
      entries: items.map((item) => ({ ...item })),
      nextCursor,
      nextSeq: next.seq,
      nextIndex: next.index,
      atMs,
      atEnd,
    }),
    replyFromWire: ({ entries, nextCursor, nextSeq, nextIndex, atMs, atEnd }) => ({
      items: entries,
      nextCursor,
      next: { seq: nextSeq, index: nextIndex },
      atMs,
      atEnd,
    }),
  }),

  listAuditLog: defineCall('listAuditLog', {
    access: 'console',
    enumerates: true,
    requestToWire: (query) => {
      const { tenantId, newestFirst = false } = query;
      const times = { sinceMs: timeBoundToWire(query.sinceMs), untilMs: timeBoundToWire(query.untilMs) };
      const { action = '', actor = '', subject = '', object = '', requestId = '' } = query;
      const page = pageQueryToWire(query, AUDIT_LOG_LIMIT_MAX);
      return { ...page, ...times, tenantId, newestFirst, action, actor, subject, object, requestId };
    },
    requestFromWire: auditLogQueryFrom,
    reply: 'auditLog',
    replyToWire: (page) => ({
      entries: page.items.map((row) => ({ ...row })),
      nextCursor: nextCursorOf(page),
      resumeCursor: page.resumeCursor ?? '',
      scannedToMs: page.scannedToMs ?? 0,
    }),
    replyFromWire: ({ entries, nextCursor, resumeCursor, scannedToMs }) => ({
      ...pageFrom(entries, nextCursor),
      resumeCursor: orUndefined(resumeCursor),
      scannedToMs: zeroAsUndefined(scannedToMs),
    }),
  }),

  /** With the keys with which consoles sign their places in the logs. */
  listLogEnds: defineCall('listLogEnds', {
    access: 'console',
    ...EMPTY_REQUEST,
    reply: 'logEnds',
    replyToWire: ({ ranges, cursorKeys }) => ({
      slots: ranges.map(({ slot }) => slot),
      firsts: ranges.map(({ first }) => first),
      lasts: ranges.map(({ last }) => last),
      cursorKeys: [...cursorKeys],
    }),
    replyFromWire: ({ slots, firsts, lasts, cursorKeys }) => ({
      ranges: slots.map((slot, index) => ({ slot, first: firsts[index] ?? 0, last: lasts[index] ?? 0 })),
      cursorKeys,
    }),
  }),

  /** The changes of all tenants of a slot. */
  readLog: defineCall('readLog', {
    access: 'console',
    enumerates: true,
    requestToWire: (query) => query,
    requestFromWire: ({ slot, afterSeq, sinceMs }) => {
      demand(isCount(afterSeq) && isCount(sinceMs), 'A place in a log is out of bounds.');
      return { slot, afterSeq, sinceMs };
    },
    reply: 'loggedChanges',
    replyToWire: ({ items, nextSeq, atEnd }) => ({ changes: items.map((item) => ({ ...item })), nextSeq, atEnd }),
    replyFromWire: ({ changes, nextSeq, atEnd }) => ({ items: changes, nextSeq, atEnd }),
  }),
};
