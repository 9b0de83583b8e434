// The calls that read changes: the change feed of a tenant, its audit log, and the logs of the slots.

import { FEED_ACTIONS, FILTER_NAMES_MAX } from '../../core/change-feed.ts';
import type { AuditLogPage, TenantAuditLogQuery } from '../../shard/shard.ts';
import { AUDIT_LOG_LIMIT_MAX, FEED_WAIT_MS_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { identifierText, limit, pageFields, shortText } from './fields.ts';
import * as s from './schema.ts';

/**
 * A bound of time that a client has set: 0 on the wire means none. Nothing is older than the clock's first millisecond,
 * so an earlier bound means the same.
 */
const timeBound = s.converted(
  s.orUndefined(s.count),
  (ms: number | undefined) => (ms === undefined ? ms : Math.max(1, ms)),
  (ms) => ms,
);

const recordFields = { seq: s.int64, index: s.uint32, atMs: s.int64, actor: s.text, requestId: s.text, change: s.text };

const filterNames = s.list(shortText, { max: FILTER_NAMES_MAX });

/** On the wire, an empty name is none: version 0.2 has exactly one, which may be empty. */
const namesOrNone = s.converted<readonly string[], readonly string[] | undefined>(
  filterNames,
  (names) => names ?? [''],
  (names) => (names.some((name) => name !== '') ? names.filter((name) => name !== '') : undefined),
);

export const changeCalls = {
  /** At the end of the feed, the call waits for a change. */
  readChanges: defineCall('readChanges', {
    access: 'check:read',
    request: s.messageOf(
      {
        cursor: s.orUndefined(s.text),
        sinceMs: timeBound,
        fromNow: s.orDefault(s.flag),
        limit,
        waitMs: s.uint32In(0, FEED_WAIT_MS_MAX),
        namespaces: namesOrNone,
        relations: namesOrNone,
        on: s.orUndefined(filterNames),
        actions: s.list(s.word(...FEED_ACTIONS), { max: FEED_ACTIONS.length }),
        byAction: s.flag,
      },
      ({ actions, ...query }) => ({ ...query, actions: actions ?? [], byAction: actions !== undefined }),
      ({ actions, byAction, ...query }) => {
        demand(byAction || actions.length === 0, 'A filter has actions and lets all pass.');
        return { ...query, actions: byAction ? actions : undefined };
      },
    ),
    reply: 'changes',
    answer: s.messageOf(
      {
        items: s.as('entries', s.list(s.message({ ...recordFields, cursor: s.text }))),
        nextCursor: s.text,
        nextSeq: s.int64,
        nextIndex: s.sint32,
        atMs: s.int64,
        atEnd: s.flag,
      },
      ({ next, ...page }) => ({ ...page, nextSeq: next.seq, nextIndex: next.index }),
      ({ nextSeq, nextIndex, ...page }) => ({ ...page, next: { seq: nextSeq, index: nextIndex } }),
    ),
  }),

  listAuditLog: defineCall('listAuditLog', {
    access: 'console',
    enumerates: true,
    request: s.message<TenantAuditLogQuery>({
      ...pageFields,
      limit: s.converted(
        s.uint32In(1, AUDIT_LOG_LIMIT_MAX),
        (wanted: number) => Math.min(wanted, AUDIT_LOG_LIMIT_MAX),
        (limited) => limited,
      ),
      tenantId: shortText,
      newestFirst: s.orDefault(s.flag),
      sinceMs: timeBound,
      untilMs: timeBound,
      action: s.orDefault(shortText),
      actor: s.orDefault(shortText),
      subject: s.orDefault(identifierText),
      object: s.orDefault(identifierText),
      requestId: s.orDefault(shortText),
    }),
    reply: 'auditLog',
    answer: s.message<AuditLogPage>({
      items: s.as('entries', s.list(s.message(recordFields))),
      nextCursor: s.orUndefined(s.text),
      resumeCursor: s.orUndefined(s.text),
      scannedToMs: s.orUndefined(s.int64),
    }),
  }),

  /** With the keys with which consoles sign their places in the logs. */
  listLogEnds: defineCall('listLogEnds', {
    access: 'console',
    request: s.nothing,
    reply: 'logEnds',
    answer: s.messageOf(
      { slots: s.list(s.uint32), firsts: s.list(s.int64), lasts: s.list(s.int64), cursorKeys: s.list(s.text) },
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
    request: s.message({ slot: s.uint32, afterSeq: s.count, sinceMs: s.count }),
    reply: 'loggedChanges',
    answer: s.message({
      items: s.as('changes', s.list(s.message({ tenantId: s.text, ...recordFields }))),
      nextSeq: s.int64,
      atEnd: s.flag,
    }),
  }),
};
