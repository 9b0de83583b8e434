// The trail of a tenant: every change, a page at a time, as one JSON document or as lines. A page that reaches the end
// says where the changes that are still to come will begin, so that whoever asks there again misses none. A page that
// ended because enough was read for it says how far it looked.

import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { GrantdError } from '../../../core/errors.ts';
import { formatTimestamp } from '../../../core/timestamps.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { changeFilterOf, changeFilterShape } from '../../audit-filters.ts';
import { NDJSON_MEDIA_TYPES } from '../../body.ts';
import { pageShape, parseQuery, timestamp } from '../../schemas.ts';
import { type Operation, tenantIdOf } from '../operation.ts';
import { changeRecord } from '../records.ts';

/** With the lines of a page: where to go on. Lines have no room for it. */
const CURSOR_HEADER = 'X-Service-Cursor';

const changesShape = {
  ...pageShape,
  ...changeFilterShape,
  order: z.enum(['asc', 'desc'], 'must be asc or desc').default('asc'),
  since: timestamp.optional(),
  until: timestamp.optional(),
  format: z.enum(['json', 'ndjson'], 'must be json or ndjson').optional(),
};

const acceptsLines = (request: IncomingMessage): boolean =>
  (request.headers.accept ?? '')
    .split(',')
    .some((range) => NDJSON_MEDIA_TYPES.includes((range.split(';')[0] ?? '').trim().toLowerCase()));

export function changeOperations(operatorApi: OperatorApi): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/changes',
      name: 'operator-list-changes',
      async run(call) {
        const query = parseQuery(call.search, changesShape);
        if (query.until !== undefined && query.until <= Math.max(query.since ?? 0, 0)) {
          throw new GrantdError('invalid-request', 'The parameter "until" must be after "since".');
        }
        const { items, nextCursor, resumeCursor, scannedToMs } = await operatorApi.listTrail(
          call.context(),
          tenantIdOf(call),
          {
            limit: query.limit,
            cursor: query.cursor,
            newestFirst: query.order === 'desc',
            sinceMs: query.since,
            untilMs: query.until,
            ...changeFilterOf(query),
          },
        );
        const changes = items.map(changeRecord);
        if (query.format === 'ndjson' || (query.format === undefined && acceptsLines(call.request))) {
          const cursor = nextCursor ?? (query.order === 'asc' ? resumeCursor : undefined);
          return {
            kind: 'text',
            contentType: 'application/x-ndjson',
            text: changes.map((change) => `${JSON.stringify(change)}\n`).join(''),
            headers: cursor === undefined ? {} : { [CURSOR_HEADER]: cursor },
          };
        }
        return {
          kind: 'json',
          status: 200,
          body: {
            changes,
            next_cursor: nextCursor ?? null,
            resume_cursor: resumeCursor ?? null,
            scanned_to: scannedToMs === undefined ? null : formatTimestamp(scannedToMs),
          },
        };
      },
    },
  ];
}
