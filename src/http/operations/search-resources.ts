// POST /access/v1/search/resource: on which resources a subject may perform an action, page by page.

import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { entitySearchResultSchema, resourceSearchSchema } from '../schema/authzen-schemas.ts';
import { parseResourceSearch } from '../schema/authzen-searches.ts';
import { EXAMPLE_EVALUATION } from '../schema/examples.ts';
import type { Operation } from './operation.ts';
import { answerSearch, entityText, searchBytesMax } from './search-results.ts';

export const searchResources: Operation = {
  id: 'searchResources',
  method: 'POST',
  path: '/access/v1/search/resource',
  scope: 'check:read',
  tag: 'AuthZEN',
  summary: 'Search for the resources on which a subject may perform an action',
  description:
    'The Resource Search API. Ascending by the bytes of the id, and complete: a resource that is permitted throughout the search is found exactly once. A page may have fewer results than `limit`, or none, although `next_token` leads on. There are no results for a type or an action that is not known.',
  body: {
    name: 'ResourceSearch',
    schema: resourceSearchSchema,
    bytesMax: BODY_BYTES_MAX,
    example: { ...EXAMPLE_EVALUATION, resource: { type: 'document' } },
  },
  query: undefined,
  responseBytesMax: (_query, body) => searchBytesMax(body),
  successes: [
    {
      status: 200,
      description: 'One page.',
      schema: { name: 'EntitySearchResult', schema: entitySearchResultSchema },
      example: { page: { next_token: '', count: 1 }, results: [{ type: 'document', id: 'readme' }] },
    },
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'invalid-cursor', 'evaluation-too-large'],
  answer: (session, context, { body }) =>
    answerSearch(
      session,
      context,
      parseResourceSearch(body),
      ({ entity, relation, namespace }, page) =>
        session.call(CALLS.listObjects, context, { subject: entity, relation, namespace, ...page }),
      entityText,
    ),
};
