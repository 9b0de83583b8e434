// The calls that read changes: the change feed of a tenant, its audit log, and the logs of the slots.

import { FEED_ACTIONS } from '../../core/change-feed.ts';
import type {
  AuditLogPage,
  AuditRecord,
  FeedPage,
  FeedQuery,
  FeedRecord,
  LogEnds,
  LoggedChange,
  LoggedPage,
  LogQuery,
  TenantAuditLogQuery,
} from '../../shard/shard.ts';
import { AUDIT_LOG_LIMIT_MAX, FEED_WAIT_MS_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { identifierText, limit, pageFields, shortText } from './fields.ts';
import {
  as,
  converted,
  count,
  flag,
  int64,
  list,
  message,
  nothing,
  orDefault,
  orUndefined,
  sint32,
  text,
  uint32,
  uint32In,
  word,
} from './schema.ts';

/**
 * A bound of time that a client has set: 0 on the wire means none. Nothing is older than the clock's first millisecond,
 * so an earlier bound means the same.
 */
const timeBound = converted(
  orUndefined(count),
  (ms: number | undefined) => (ms === undefined ? ms : Math.max(1, ms)),
  (ms) => ms,
);

const recordFields = { seq: int64, index: uint32, atMs: int64, actor: text, requestId: text, change: text };

type WireFeedQuery = Omit<FeedQuery, 'actions'> & {
  readonly actions: NonNullable<FeedQuery['actions']>;
  readonly byAction: boolean;
};

const feedQuery = converted<WireFeedQuery, FeedQuery>(
  message<WireFeedQuery>({
    cursor: orUndefined(text),
    sinceMs: timeBound,
    fromNow: orDefault(flag),
    limit,
    waitMs: uint32In(0, FEED_WAIT_MS_MAX),
    namespace: orUndefined(shortText),
    relation: orUndefined(shortText),
    actions: list(word(...FEED_ACTIONS), { max: FEED_ACTIONS.length }),
    byAction: flag,
  }),
  ({ actions, ...query }) => ({ ...query, actions: actions ?? [], byAction: actions !== undefined }),
  ({ actions, byAction, ...query }) => {
    demand(byAction || actions.length === 0, 'A filter has actions and lets all pass.');
    return { ...query, actions: byAction ? actions : undefined };
  },
);

interface LogColumns {
  readonly slots: readonly number[];
  readonly firsts: readonly number[];
  readonly lasts: readonly number[];
  readonly cursorKeys: readonly string[];
}

export const changeCalls = {
  /** At the end of the feed, the call waits for a change. */
  readChanges: defineCall('readChanges', {
    access: 'check:read',
    request: feedQuery,
    reply: 'changes',
    answer: converted(
      message<Omit<FeedPage, 'next'> & { readonly nextSeq: number; readonly nextIndex: number }>({
        items: as('entries', list(message<FeedRecord>({ ...recordFields, cursor: text }))),
        nextCursor: text,
        nextSeq: int64,
        nextIndex: sint32,
        atMs: int64,
        atEnd: flag,
      }),
      ({ next, ...page }: FeedPage) => ({ ...page, nextSeq: next.seq, nextIndex: next.index }),
      ({ nextSeq, nextIndex, ...page }) => ({ ...page, next: { seq: nextSeq, index: nextIndex } }),
    ),
  }),

  listAuditLog: defineCall('listAuditLog', {
    access: 'console',
    enumerates: true,
    request: message<TenantAuditLogQuery>({
      ...pageFields,
      limit: converted(
        uint32In(1, AUDIT_LOG_LIMIT_MAX),
        (wanted: number) => Math.min(wanted, AUDIT_LOG_LIMIT_MAX),
        (limited) => limited,
      ),
      tenantId: shortText,
      newestFirst: orDefault(flag),
      sinceMs: timeBound,
      untilMs: timeBound,
      action: orDefault(shortText),
      actor: orDefault(shortText),
      subject: orDefault(identifierText),
      object: orDefault(identifierText),
      requestId: orDefault(shortText),
    }),
    reply: 'auditLog',
    answer: message<AuditLogPage>({
      items: as('entries', list(message<AuditRecord>(recordFields))),
      nextCursor: orUndefined(text),
      resumeCursor: orUndefined(text),
      scannedToMs: orUndefined(int64),
    }),
  }),

  /** With the keys with which consoles sign their places in the logs. */
  listLogEnds: defineCall('listLogEnds', {
    access: 'console',
    request: nothing,
    reply: 'logEnds',
    answer: converted<LogColumns, LogEnds>(
      message({ slots: list(uint32), firsts: list(int64), lasts: list(int64), cursorKeys: list(text) }),
      ({ ranges, cursorKeys }) => ({
        slots: ranges.map(({ slot }) => slot),
        firsts: ranges.map(({ first }) => first),
        lasts: ranges.map(({ last }) => last),
        cursorKeys,
      }),
      ({ slots, firsts, lasts, cursorKeys }) => ({
        ranges: slots.map((slot, index) => ({ slot, first: firsts[index] ?? 0, last: lasts[index] ?? 0 })),
        cursorKeys,
      }),
    ),
  }),

  /** The changes of all tenants of a slot. */
  readLog: defineCall('readLog', {
    access: 'console',
    enumerates: true,
    request: message<LogQuery>({ slot: uint32, afterSeq: count, sinceMs: count }),
    reply: 'loggedChanges',
    answer: message<LoggedPage>({
      items: as('changes', list(message<LoggedChange>({ tenantId: text, ...recordFields }))),
      nextSeq: int64,
      atEnd: flag,
    }),
  }),
};
