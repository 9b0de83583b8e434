// The audit log, a page at a time, as one JSON document or as lines: of one tenant, and exported of all tenants.
//
// A page of a tenant that reaches the end returns a cursor for later changes, so that a client that continues there
// misses none; one that ends because it has read enough says how far it has read. Lines of the export are CloudEvents,
// the last of them a checkpoint, and a page of it without changes waits for one if the request says so. Bounded: few
// exports at a time for each console, and fewer for each operator.

import { z } from 'zod';
import { type Clock, delay } from '../../../core/async/clock.ts';
import { AUDIT_ACTIONS, type AuditEntry, auditEvent, checkpointEvent } from '../../../core/audit-log.ts';
import { GrantdError } from '../../../core/errors.ts';
import { CURSOR_HEADER, LONG_CURSOR_LENGTH_MAX } from '../../../core/text/cursors.ts';
import { formatTimestamp } from '../../../core/text/timestamps.ts';
import type { AuditExportPage, AuditExportQuery } from '../../../front/front.ts';
import { NDJSON_TYPES } from '../../../http/pipeline/request-head.ts';
import type { BodyDescription } from '../../../http/schema/operation-description.ts';
import { namesType } from '../../../http/streams/media-types.ts';
import type { AuditRecord, LoggedChange } from '../../../shard/shard.ts';
import { auditFilterOf, auditFilterShape } from '../../audit-filters.ts';
import { OperatorSlots } from '../../operator-slots.ts';
import { tenantIdOf } from '../../path-ids.ts';
import { PARAMETERS, pageShape, sinceOrNow, timestamp, wait } from '../../schemas.ts';
import {
  ACCEPT_LINES,
  count,
  jsonResponse,
  linesResponse,
  nextCursor,
  type OperatorCall,
  type OperatorOperation,
  reading,
  timestampText,
} from '../operation.ts';

const NDJSON: Pick<BodyDescription, 'contentType' | 'lines'> = { contentType: 'application/x-ndjson', lines: true };

/** Whether the client asks for lines of JSON. */
const acceptsLines = ({ request }: OperatorCall): boolean => namesType(request.headers.accept, NDJSON_TYPES);

const entrySchema = z
  .object({
    seq: count('With `index` its position in the log.'),
    index: count('The number of the change at its position.'),
    at: timestampText('When it was decided.'),
    actor: z.string().meta({ description: 'The id of an API key, `operator:` and a name, or `system`.' }),
    request_id: z.string().meta({ description: 'The request that caused it.' }),
    change: z
      .looseObject({ action: z.enum(AUDIT_ACTIONS).meta({ description: 'Later versions may add actions.' }) })
      .meta({ description: 'What has changed; its other fields depend on the action.' }),
  })
  .meta({ description: 'An entry of the audit log.' });

function entryRecord(row: AuditRecord): Omit<AuditEntry, 'tenant_id'> {
  const { seq, index, actor } = row;
  const change: unknown = JSON.parse(row.change);
  return { seq, index, at: formatTimestamp(row.atMs), actor, request_id: row.requestId, change };
}

export const listAuditLog = reading({
  id: 'listAuditLog',
  path: '/tenants/{tenantId}/audit-log',
  tag: 'Audit log and changes',
  summary: 'Read the audit log of a tenant',
  description: 'Also of a deleted tenant. A page may be short, or empty, although `next_cursor` is not null.',
  query: {
    ...pageShape,
    ...auditFilterShape,
    order: z
      .enum(['asc', 'desc'], 'must be asc or desc')
      .default('asc')
      .meta({ description: '`asc`: oldest first; `desc`: newest first.' }),
    since: timestamp.meta(PARAMETERS.since).optional(),
    until: timestamp.meta({ description: 'Only what came before this time.' }).optional(),
    format: z.enum(['json', 'ndjson'], 'must be json or ndjson').meta(PARAMETERS.format).optional(),
  },
  headers: ACCEPT_LINES,
  successes: [
    {
      status: 200,
      description: 'One page.',
      bodies: [
        {
          name: 'AuditLog',
          schema: z.object({
            entries: z.array(entrySchema),
            next_cursor: nextCursor,
            resume_cursor: z
              .string()
              .nullable()
              .meta({ description: 'For later entries, once the end has been reached.' }),
            scanned_to: timestampText('How far a page has read that ends early.').nullable(),
          }),
        },
        { name: 'AuditEntry', schema: entrySchema, ...NDJSON },
      ],
      header: CURSOR_HEADER,
    },
  ],
  errors: ['invalid-cursor', 'cursor-too-old'],
  async run(call, query) {
    const { limit, cursor, order, since, until, format } = query;
    if (until !== undefined && until <= Math.max(since ?? 0, 0)) {
      throw new GrantdError('invalid-request', 'The parameter "until" must be after "since".');
    }
    const {
      items,
      nextCursor: next,
      resumeCursor,
      scannedToMs,
    } = await call.api.call('listAuditLog', call.context(), {
      tenantId: tenantIdOf(call),
      limit,
      cursor,
      newestFirst: order === 'desc',
      sinceMs: since,
      untilMs: until,
      ...auditFilterOf(query),
    });
    const entries = items.map(entryRecord);
    if (format === 'ndjson' || (format === undefined && acceptsLines(call))) {
      const continued = next ?? (order === 'asc' ? resumeCursor : undefined);
      return linesResponse(entries, continued);
    }
    return jsonResponse(200, {
      entries,
      next_cursor: next ?? null,
      resume_cursor: resumeCursor ?? null,
      scanned_to: scannedToMs === undefined ? null : formatTimestamp(scannedToMs),
    });
  },
});

/** How often a waiting export looks at the logs: each look asks every shard for the ends of its logs. */
const LOOK_MS = 500;
/** Each may hold a page of some mebibytes, and calls the shards twice a second while it waits. */
const EXPORTS = { what: 'exports of the audit log', slotsMax: 8, slotsPerOperatorMax: 4 };

const exportSchema = z.object({
  entries: z
    .array(
      entrySchema
        .extend({ tenant_id: z.string().meta({ description: 'The tenant.' }) })
        .meta({ description: 'An entry of the audit log, with its tenant.' }),
    )
    .meta({ description: 'Those of a tenant in the order of its log.' }),
  next_cursor: z.string().meta({ description: 'The `cursor` of the next request; the export has no end.' }),
  at_end: z.boolean().meta({ description: 'Whether all slots were read, and nothing more was there.' }),
  slots_missing: count('Slots that could not be read now. What is in them comes later.'),
});

const eventSchema = z
  .looseObject({
    specversion: z.literal('1.0'),
    type: z.string().meta({ description: '`grantd.audit.v1`, or `grantd.audit-checkpoint.v1` for the last line.' }),
    source: z.string(),
    id: z.string().meta({ description: 'With `source` it names the event.' }),
    time: timestampText('When it was decided.'),
    data: z.looseObject({}).meta({ description: 'The entry, or the cursor of the checkpoint.' }),
  })
  .meta({ description: 'An event of CloudEvents 1.0.' });

const exportedRecord = (row: LoggedChange): AuditEntry => ({ tenant_id: row.tenantId, ...entryRecord(row) });

async function readExport(call: OperatorCall, start: AuditExportQuery, waitMs: number): Promise<AuditExportPage> {
  const { api, clock } = call;
  const untilMs = clock.monotonicMs() + waitMs;
  let page = await api.exportAuditLog(call.context(), start);
  while (page.items.length === 0 && clock.monotonicMs() < untilMs) {
    // A page may be empty although more follows: its entries had no changes, or only ones before the start.
    const hasMore = !page.atEnd && page.slotsMissing === 0;
    await delay(clock, hasMore ? 0 : Math.min(LOOK_MS, untilMs - clock.monotonicMs()));
    if (call.isClosed()) return page;
    page = await api.exportAuditLog(call.context(), { cursor: page.cursor });
  }
  return page;
}

function exportEvents(
  { cursor, atEnd, slotsMissing }: AuditExportPage,
  entries: readonly AuditEntry[],
  clock: Pick<Clock, 'wallMs'>,
) {
  const at = formatTimestamp(clock.wallMs());
  const checkpoint = { cursor, at, at_end: atEnd, slots_missing: slotsMissing };
  return [...entries.map(auditEvent), checkpointEvent(checkpoint)];
}

export function createExportAuditLog(): OperatorOperation {
  const slots = new OperatorSlots(EXPORTS);
  return reading({
    id: 'exportAuditLog',
    path: '/audit-log',
    tag: 'Audit log and changes',
    summary: 'Export the audit log of all tenants',
    query: {
      cursor: z
        .string()
        .min(1, 'must not be empty')
        .max(LONG_CURSOR_LENGTH_MAX, 'is too long')
        .meta(PARAMETERS.cursor)
        .optional(),
      since: sinceOrNow,
      wait,
      format: z.enum(['json', 'cloudevents'], 'must be json or cloudevents').meta(PARAMETERS.format).optional(),
    },
    headers: ACCEPT_LINES,
    successes: [
      {
        status: 200,
        description: 'One page.',
        bodies: [
          { name: 'AuditExport', schema: exportSchema },
          { name: 'AuditEvent', schema: eventSchema, ...NDJSON },
        ],
      },
    ],
    errors: ['invalid-cursor', 'cursor-too-old'],
    async run(call, { cursor, since, wait: waitSeconds, format }) {
      if (cursor !== undefined && since !== undefined) {
        throw new GrantdError('invalid-request', 'The query has both "cursor" and "since".');
      }
      using _slot = slots.take(call.operator.name);
      const page = await readExport(call, { cursor, since }, waitSeconds * 1000);
      const entries = page.items.map(exportedRecord);
      if (format === 'cloudevents' || (format === undefined && acceptsLines(call))) {
        return linesResponse(exportEvents(page, entries, call.clock));
      }
      const { cursor: next, atEnd, slotsMissing } = page;
      return jsonResponse(200, { entries, next_cursor: next, at_end: atEnd, slots_missing: slotsMissing });
    },
  });
}
