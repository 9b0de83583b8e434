// GET /v1/changes: what has changed in the tenant, page by page or as a stream.

import type { z } from 'zod';
import {
  changeBytesMax,
  changeJson,
  FEED_WAIT_SECONDS_MAX,
  type FeedFilter,
  feedActionsOf,
} from '../../core/change-feed.ts';
import { GrantdError } from '../../core/errors.ts';
import { PAGE_LIMIT_DEFAULT } from '../../core/limits.ts';
import { parseTimestamp } from '../../core/text/timestamps.ts';
import type { ChangesPage, ChangesQuery, FeedStart } from '../../front/changes.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import {
  changeEventsSchema,
  changeLineSchema,
  changeListSchema,
  changesQuerySchema,
  EXAMPLE_CHANGES,
  EXAMPLE_EVENT,
  EXAMPLE_LINE,
} from '../schema/change-schemas.ts';
import { validate } from '../schema/validation.ts';
import type { AwaitedChanges } from '../streams/awaited-page.ts';
import { acceptedType } from '../streams/media-types.ts';
import type { StreamFormat } from '../streams/stream-format.ts';
import type {
  OpenRequest,
  OperationHeaders,
  OperationRequest,
  OperationResponse,
  PublicOperation,
  PublicServices,
  StreamedResponse,
} from './operation.ts';
import { changeListBytesMax } from './response-bytes.ts';

const JSON_TYPE = 'application/json';
const NDJSON_TYPE = 'application/x-ndjson';
const EVENTS_TYPE = 'text/event-stream';

/** In order of preference. Lines of JSON have several names, none of them registered. */
const FORMATS: ReadonlyMap<string, StreamFormat | 'page'> = new Map([
  [JSON_TYPE, 'page'],
  [NDJSON_TYPE, 'ndjson'],
  ['application/ndjson', 'ndjson'],
  ['application/jsonl', 'ndjson'],
  [EVENTS_TYPE, 'sse'],
]);
const TYPES = [...FORMATS.keys()];

interface FeedRequest {
  readonly contentType: string;
  readonly format: StreamFormat | 'page';
  readonly start: FeedStart;
  readonly filter: FeedFilter;
  readonly limit: number;
  readonly waitMs: number;
  readonly marksBatches: boolean;
}

/** What a query asks for; as a page. */
export function parseFeedQuery(query: Omit<z.output<typeof changesQuerySchema>, 'checkpoints'>): ChangesQuery {
  const {
    cursor,
    since,
    namespace: namespaces,
    relation: relations,
    on,
    action,
    limit = PAGE_LIMIT_DEFAULT,
    wait = 0,
  } = query;
  if (cursor !== undefined && since !== undefined) {
    throw new GrantdError('invalid-request', 'The query has both "cursor" and "since".');
  }
  if (on !== undefined && (namespaces !== undefined || relations !== undefined)) {
    const other = namespaces === undefined ? 'relation' : 'namespace';
    throw new GrantdError('invalid-request', `The query has both "on" and "${other}": "on" names both of each pair.`);
  }
  return {
    cursor,
    since: since === undefined || since === 'now' ? since : parseTimestamp(since),
    filter: { namespaces, relations, on, actions: action === undefined ? undefined : feedActionsOf(action) },
    limit,
    waitMs: wait * 1000,
  };
}

/** A client that has lost its connection repeats its first request and adds `Last-Event-ID`: the header wins. */
function startOf(headers: OperationHeaders, { cursor, since }: FeedStart): FeedStart {
  const lastId = headers['last-event-id'];
  if (lastId === undefined || lastId === '') return { cursor, since };
  if (typeof lastId !== 'string') throw new GrantdError('invalid-cursor', 'The header Last-Event-ID is repeated.');
  return { cursor: lastId };
}

function parseRequest({ query, headers }: OperationRequest): FeedRequest {
  const parsed = validate(changesQuerySchema, query);
  const contentType = acceptedType(headers.accept, TYPES);
  const format = contentType === undefined ? undefined : FORMATS.get(contentType);
  if (contentType === undefined || format === undefined) {
    throw new GrantdError('not-acceptable', `The header Accept has none of ${TYPES.join(', ')}.`);
  }
  if (format !== 'page' && (parsed.limit !== undefined || parsed.wait !== undefined)) {
    throw new GrantdError('invalid-request', '"limit" and "wait" are for pages; a stream has neither.');
  }
  const marksBatches = parsed.checkpoints === 'batch';
  if (format === 'page' && marksBatches) {
    throw new GrantdError('invalid-request', '"checkpoints" is for streams; a page has "seq" itself.');
  }
  const { filter, limit, waitMs, ...start } = parseFeedQuery(parsed);
  return { contentType, format, start: startOf(headers, start), filter, limit, waitMs, marksBatches };
}

/** Whether the response may be large and is built at once. Others reserve memory when there is something to send. */
const isPlainPage = ({ query: { wait = '0' }, headers }: OperationRequest): boolean =>
  Number(wait) === 0 && acceptedType(headers.accept, TYPES) === JSON_TYPE;

/** `more`: members after those of every page, each with a comma before it. */
export const pageJson = ({ changes, cursor, seq }: AwaitedChanges, more = ''): string =>
  `{"changes":[${changes.map(changeJson).join(',')}],"next_cursor":${JSON.stringify(cursor)},"seq":${seq}${more}}`;

interface FeedCall {
  readonly session: TenantSession;
  readonly context: RequestContext;
  readonly feed: FeedRequest;
}

const readPage = ({ session, context, feed: { start, filter, limit } }: FeedCall): Promise<ChangesPage> =>
  session.readChanges(context, { ...start, filter, limit, waitMs: 0 });

async function page(asked: FeedCall): Promise<OperationResponse> {
  const read = await readPage(asked);
  return { status: 200, json: () => pageJson(read) };
}

async function awaitedPage(
  { clock, streams }: PublicServices,
  asked: FeedCall,
  open: OpenRequest,
): Promise<OperationResponse> {
  const { filter, limit, waitMs } = asked.feed;
  let read: AwaitedChanges = await readPage(asked);
  if (read.changes.length === 0) {
    const { cursor, seq } = read;
    const startedMs = clock.monotonicMs();
    try {
      read = await streams.awaitPage(open, asked.session, { cursor, seq, filter, limit, waitMs });
    } finally {
      open.waitedMs = clock.monotonicMs() - startedMs;
    }
  }
  const bytesMax = read.changes.reduce((sum, change) => sum + changeBytesMax(change), 0);
  return { status: 200, json: () => pageJson(read), bytesMax };
}

export const listChanges: PublicOperation<PublicServices> = {
  id: 'listChanges',
  method: 'GET',
  path: '/v1/changes',
  scope: 'check:read',
  tag: 'Changes',
  summary: 'Follow what changes',
  description: `Every change of grants, namespaces and rules, in the order in which they were decided, none before its write is durable. As pages of \`${JSON_TYPE}\`, or, if the header Accept asks for \`${EVENTS_TYPE}\` or \`${NDJSON_TYPE}\`, as a stream that stays open. A stream has a checkpoint at least every 15 s, even if nothing passes the filter: everything up to its cursor has been sent. Every page and checkpoint has a \`seq\`: every change of the entries of the log up to it that passes the filter has been sent, and an entry is never half sent. With \`checkpoints=batch\`, a stream has a checkpoint after each batch of changes, at once; a page says at once how far the log is. With \`relation\` or \`on\`, only those grants pass, created, updated, revoked or expired, and changes of the rules. After an interruption, continue from the last cursor: nothing is left out, but a change may come again, with the same \`seq\` and \`index\`. A page waits up to ${FEED_WAIT_SECONDS_MAX} s for a change if \`wait\` says so. A client that does not keep up is disconnected. A stream ends with its key. To follow from a snapshot, list the grants first and begin with the \`X-Service-Cursor\` of the first page. The plan of the tenant bounds its streams at each front; a page that waits counts as one.`,
  query: changesQuerySchema.shape,
  queryExamples: { since: '2026-01-15T00:00:00Z', namespace: 'document', action: 'grant.created,grant.revoked' },
  headers: {
    'Last-Event-ID': {
      description: 'The id of the last event of an interrupted stream: it continues there, whatever the query says.',
      example: EXAMPLE_CHANGES.next_cursor,
    },
  },
  responseBytesMax: (request) => (isPlainPage(request) ? changeListBytesMax(request) : 0),
  successes: [
    {
      status: 200,
      description: 'One page, or a stream.',
      bodies: [
        { name: 'ChangeList', schema: changeListSchema, example: EXAMPLE_CHANGES },
        { contentType: NDJSON_TYPE, name: 'ChangeLine', schema: changeLineSchema, example: EXAMPLE_LINE },
        { contentType: EVENTS_TYPE, name: 'ChangeEvents', schema: changeEventsSchema, example: EXAMPLE_EVENT },
      ],
    },
  ],
  errors: ['invalid-relation', 'invalid-cursor', 'cursor-too-old', 'not-acceptable', 'too-many-streams'],
  answer(session, context, request, services): Promise<OperationResponse | StreamedResponse> {
    const feed = parseRequest(request);
    const { contentType, format, start, filter, marksBatches } = feed;
    if (format !== 'page') {
      const opened = services.streams.open(request.open, session, { start, filter, format, marksBatches });
      return opened.then((listener) => ({ contentType, listener }));
    }
    const asked = { session, context, feed };
    return feed.waitMs === 0 ? page(asked) : awaitedPage(services, asked, request.open);
  },
};
