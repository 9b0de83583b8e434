// GET /v1/grants: the grants of a subject, or on an object, page by page.

import { anchorOf } from '../../core/bulk-writes.ts';
import { grantRecord } from '../../core/grant-attributes.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_GRANT, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { grantListSchema, grantQuerySchema } from '../schema/schemas.ts';
import { validate } from '../schema/validation.ts';
import type { Operation } from './operation.ts';
import { grantListBytesMax } from './response-bytes.ts';

export const listGrants: Operation = {
  id: 'listGrants',
  method: 'GET',
  path: '/v1/grants',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'List the grants of a subject, or on an object',
  description:
    'What is stored, ascending by the bytes of relation and object (or subject). A grant that exists throughout the listing appears exactly once. A page may hold fewer than `limit` grants, or none, although `next_cursor` leads on. A cursor is valid for the tenant and the query that it came from. To follow what changes afterwards, read all pages, and then the change feed from the `X-Service-Cursor` of the first one.',
  body: undefined,
  query: grantQuerySchema,
  queryExamples: { subject: EXAMPLE_TUPLE.subject },
  responseBytesMax: grantListBytesMax,
  successes: [
    {
      status: 200,
      feedCursor: true,
      description: 'One page.',
      schema: { name: 'GrantList', schema: grantListSchema },
      example: { grants: [EXAMPLE_GRANT], next_cursor: null },
    },
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'invalid-cursor'],
  answer(session, context, { query }) {
    const { subject, object, relation, limit, cursor } = validate(grantQuerySchema, query);
    return session
      .call(CALLS.listGrants, context, { of: anchorOf(subject, object), relation, limit, cursor })
      .then(({ items, nextCursor, feedCursor }) => ({
        status: 200,
        feedCursor,
        json: () => JSON.stringify({ grants: items.map(grantRecord), next_cursor: nextCursor ?? null }),
      }));
  },
};
