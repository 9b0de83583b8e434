// The audit log of a tenant: every change, a page at a time, as one JSON document or as lines. A page that reaches the
// end returns a cursor for later changes, so that a client that continues there misses none. A page that ends because
// it has read enough says how far it has read.

import { z } from 'zod';
import { GrantdError } from '../../../core/errors.ts';
import { CURSOR_HEADER } from '../../../core/text/cursors.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { auditFilterOf, auditFilterShape } from '../../audit-filters.ts';
import { acceptsLines } from '../../body.ts';
import { pageShape, parseQuery, timestamp } from '../../schemas.ts';
import { type Operation, tenantIdOf } from '../operation.ts';
import { auditLogRecord } from '../records.ts';

export const auditLogShape = {
  ...pageShape,
  ...auditFilterShape,
  order: z.enum(['asc', 'desc'], 'must be asc or desc').default('asc'),
  since: timestamp.optional(),
  until: timestamp.optional(),
  format: z.enum(['json', 'ndjson'], 'must be json or ndjson').optional(),
};

export function auditLogOperations(operatorApi: OperatorApi): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/audit-log',
      name: 'operator-list-audit-log',
      access: 'read-only',
      async run(call) {
        const query = parseQuery(call.search, auditLogShape);
        if (query.until !== undefined && query.until <= Math.max(query.since ?? 0, 0)) {
          throw new GrantdError('invalid-request', 'The parameter "until" must be after "since".');
        }
        const { items, nextCursor, resumeCursor, scannedToMs } = await operatorApi.call(
          CALLS.listAuditLog,
          call.context(),
          {
            tenantId: tenantIdOf(call),
            limit: query.limit,
            cursor: query.cursor,
            newestFirst: query.order === 'desc',
            sinceMs: query.since,
            untilMs: query.until,
            ...auditFilterOf(query),
          },
        );
        const entries = items.map(auditLogRecord);
        if (query.format === 'ndjson' || (query.format === undefined && acceptsLines(call.request))) {
          const cursor = nextCursor ?? (query.order === 'asc' ? resumeCursor : undefined);
          return {
            kind: 'text',
            contentType: 'application/x-ndjson',
            text: entries.map((change) => `${JSON.stringify(change)}\n`).join(''),
            headers: cursor === undefined ? {} : { [CURSOR_HEADER]: cursor },
          };
        }
        return {
          kind: 'json',
          status: 200,
          body: {
            entries,
            next_cursor: nextCursor ?? null,
            resume_cursor: resumeCursor ?? null,
            scanned_to: scannedToMs === undefined ? null : formatTimestamp(scannedToMs),
          },
        };
      },
    },
  ];
}
