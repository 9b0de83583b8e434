// The audit log of a tenant, page by page, perhaps filtered.

import type { TrailPage, TrailQuery } from '../../shard/shard.ts';
import type { ListTrail__Output } from '../gen/grantd/v1/ListTrail.ts';
import { TRAIL_LIMIT_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { zeroAsUndefined } from './parts/answer-fields.ts';
import { nextCursorOf, pageFrom, pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';
import { IDENTIFIER_UNITS_MAX, shortText } from './parts/request-fields.ts';

type TenantTrailQuery = TrailQuery & { readonly tenantId: string };

function queryFrom(query: ListTrail__Output): TenantTrailQuery {
  const { tenantId, newestFirst, sinceMs, untilMs, action, actor, subject, object, requestId } = query;
  demand(Number.isFinite(sinceMs) && Number.isFinite(untilMs), 'A bound of time is not a number.');
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

export const listTrail = defineCall({
  request: 'listTrail',
  reply: 'trail',
  access: 'console',
  write: 'no',
  requestToWire: (query: TenantTrailQuery) => {
    const { tenantId, newestFirst = false, sinceMs = 0, untilMs = 0 } = query;
    const { action = '', actor = '', subject = '', object = '', requestId = '' } = query;
    const page = pageQueryToWire(query, TRAIL_LIMIT_MAX);
    return {
      listTrail: { ...page, tenantId, newestFirst, sinceMs, untilMs, action, actor, subject, object, requestId },
    };
  },
  requestFromWire: queryFrom,
  serve: ({ connection }, query) => connection.listTrail(query),
  replyToWire: (page) => ({
    trail: {
      entries: page.items.map((row) => ({ ...row })),
      nextCursor: nextCursorOf(page),
      resumeCursor: page.resumeCursor ?? '',
      scannedToMs: page.scannedToMs ?? 0,
    },
  }),
  replyFromWire: ({ entries, nextCursor, resumeCursor, scannedToMs }): TrailPage => ({
    ...pageFrom(entries, nextCursor),
    resumeCursor: resumeCursor === '' ? undefined : resumeCursor,
    scannedToMs: zeroAsUndefined(scannedToMs),
  }),
});
