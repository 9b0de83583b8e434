// The audit log of a tenant, page by page, optionally filtered.

import type { AuditLogPage, AuditLogQuery } from '../../shard/shard.ts';
import type { ListAuditLog__Output } from '../gen/grantd/v1/ListAuditLog.ts';
import { AUDIT_LOG_LIMIT_MAX } from '../protocol.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { zeroAsUndefined } from './parts/answer-fields.ts';
import { nextCursorOf, pageFrom, pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';
import { IDENTIFIER_UNITS_MAX, shortText } from './parts/request-fields.ts';

type TenantAuditLogQuery = AuditLogQuery & { readonly tenantId: string };

function queryFrom(query: ListAuditLog__Output): TenantAuditLogQuery {
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

export const listAuditLog = defineCall({
  request: 'listAuditLog',
  reply: 'auditLog',
  access: 'console',
  write: 'no',
  requestToWire: (query: TenantAuditLogQuery) => {
    const { tenantId, newestFirst = false, sinceMs = 0, untilMs = 0 } = query;
    const { action = '', actor = '', subject = '', object = '', requestId = '' } = query;
    const page = pageQueryToWire(query, AUDIT_LOG_LIMIT_MAX);
    return {
      listAuditLog: { ...page, tenantId, newestFirst, sinceMs, untilMs, action, actor, subject, object, requestId },
    };
  },
  requestFromWire: queryFrom,
  serve: ({ connection }, query) => connection.listAuditLog(query),
  replyToWire: (page) => ({
    auditLog: {
      entries: page.items.map((row) => ({ ...row })),
      nextCursor: nextCursorOf(page),
      resumeCursor: page.resumeCursor ?? '',
      scannedToMs: page.scannedToMs ?? 0,
    },
  }),
  replyFromWire: ({ entries, nextCursor, resumeCursor, scannedToMs }): AuditLogPage => ({
    ...pageFrom(entries, nextCursor),
    resumeCursor: resumeCursor === '' ? undefined : resumeCursor,
    scannedToMs: zeroAsUndefined(scannedToMs),
  }),
});
