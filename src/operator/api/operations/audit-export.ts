// The export of the audit log of all tenants: pages from a cursor on, as one JSON document or as CloudEvents in lines,
// of which the last one is a checkpoint. A page without changes waits for one, if the request says so. Bounded: few
// exports at a time for each console.

import { z } from 'zod';
import { type Clock, delay } from '../../../core/async/clock.ts';
import { auditEvent, checkpointEvent } from '../../../core/audit-events.ts';
import { FEED_WAIT_SECONDS_MAX } from '../../../core/change-feed.ts';
import { GrantdError } from '../../../core/errors.ts';
import { LONG_CURSOR_LENGTH_MAX } from '../../../core/text/cursors.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import type { AuditExportPage, AuditExportQuery, OperatorApi } from '../../../front/front.ts';
import { acceptsLines } from '../../body.ts';
import { parseQuery, sinceOrNow, waitSeconds } from '../../schemas.ts';
import type { Call, Operation } from '../operation.ts';
import { exportedRecord } from '../records.ts';

/** How often a request that waits looks at the logs: each look asks every shard for the ends of its logs. */
const LOOK_MS = 500;
/** Each may hold a page of some mebibytes, and asks the shards twice a second while it waits. */
const EXPORTS_MAX = 8;

export const auditExportShape = {
  cursor: z.string().min(1, 'must not be empty').max(LONG_CURSOR_LENGTH_MAX, 'is too long').optional(),
  since: sinceOrNow.optional(),
  wait: waitSeconds(FEED_WAIT_SECONDS_MAX),
  format: z.enum(['json', 'cloudevents'], 'must be json or cloudevents').optional(),
};

export function auditExportOperations(operatorApi: OperatorApi, clock: Clock): readonly Operation[] {
  let exports = 0;

  async function readPage(call: Call, start: AuditExportQuery, waitMs: number): Promise<AuditExportPage> {
    const untilMs = clock.monotonicMs() + waitMs;
    let page = await operatorApi.exportAuditLog(call.context(), start);
    while (page.items.length === 0 && clock.monotonicMs() < untilMs) {
      // A page may be empty although more follows: its entries had no changes, or only earlier ones than asked for.
      const hasMore = !page.atEnd && page.slotsMissing === 0;
      await delay(clock, hasMore ? 0 : Math.min(LOOK_MS, untilMs - clock.monotonicMs()));
      if (call.request.socket.destroyed) return page;
      page = await operatorApi.exportAuditLog(call.context(), { cursor: page.cursor });
    }
    return page;
  }

  return [
    {
      method: 'GET',
      path: '/audit-log',
      name: 'operator-export-audit-log',
      access: 'read-only',
      async run(call) {
        const { cursor, since, wait, format } = parseQuery(call.search, auditExportShape);
        if (cursor !== undefined && since !== undefined) {
          throw new GrantdError('invalid-request', 'The query has both "cursor" and "since".');
        }
        if (exports >= EXPORTS_MAX) throw new GrantdError('overloaded', 'Too many exports of the audit log are open.');
        exports += 1;
        try {
          const page = await readPage(call, { cursor, since }, wait * 1000);
          const { atEnd, slotsMissing } = page;
          const entries = page.items.map(exportedRecord);
          if (format === 'cloudevents' || (format === undefined && acceptsLines(call.request))) {
            const at = formatTimestamp(clock.wallMs());
            const checkpoint = { cursor: page.cursor, at, at_end: atEnd, slots_missing: slotsMissing };
            const lines = [...entries.map(auditEvent), checkpointEvent(checkpoint)];
            const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
            return { kind: 'text', contentType: 'application/x-ndjson', text };
          }
          const body = { entries, next_cursor: page.cursor, at_end: atEnd, slots_missing: slotsMissing };
          return { kind: 'json', status: 200, body };
        } finally {
          exports -= 1;
        }
      },
    },
  ];
}
