// GET /v1/keys: the API keys of the tenant, without the keys themselves.

import { listedKeyRecord } from '../../core/records.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_KEY, EXAMPLE_TIMESTAMP } from '../schema/examples.ts';
import { keyListSchema, pageQuerySchema } from '../schema/schemas.ts';
import { validate } from '../schema/validation.ts';
import type { Operation } from './operation.ts';
import { keyListBytesMax } from './response-bytes.ts';

export const listKeys: Operation = {
  id: 'listKeys',
  method: 'GET',
  path: '/v1/keys',
  scope: 'admin',
  tag: 'Keys',
  summary: 'List the API keys',
  description: 'Keys that are not revoked, including expired ones. The keys themselves are not shown.',
  body: undefined,
  query: pageQuerySchema,
  responseBytesMax: keyListBytesMax,
  successes: [
    {
      status: 200,
      description: 'One page.',
      schema: { name: 'KeyList', schema: keyListSchema },
      example: { keys: [{ ...EXAMPLE_KEY, last_used_at: EXAMPLE_TIMESTAMP }], next_cursor: null },
    },
  ],
  errors: ['invalid-cursor'],
  answer(session, context, { query }) {
    const { limit, cursor } = validate(pageQuerySchema, query);
    return session.call(CALLS.listKeys, context, { limit, cursor }).then(({ items, nextCursor }) => ({
      status: 200,
      json: () => JSON.stringify({ keys: items.map(listedKeyRecord), next_cursor: nextCursor ?? null }),
    }));
  },
};
