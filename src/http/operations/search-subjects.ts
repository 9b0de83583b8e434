// POST /access/v1/search/subject: who may perform an action on a resource, page by page.

import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { entitySearchResultSchema, subjectSearchSchema } from '../schema/authzen-schemas.ts';
import { parseSubjectSearch } from '../schema/authzen-searches.ts';
import { EXAMPLE_EVALUATION } from '../schema/examples.ts';
import type { Operation } from './operation.ts';
import { answerSearch, entityText, searchBytesMax } from './search-results.ts';

export const searchSubjects: Operation = {
  id: 'searchSubjects',
  method: 'POST',
  path: '/access/v1/search/subject',
  scope: 'check:read',
  tag: 'AuthZEN',
  summary: 'Search for the subjects that may perform an action on a resource',
  description:
    'The Subject Search API. Finds the subjects of the type that the grants name, groups resolved. Everybody of a public namespace is the id `*`, and a group of the type is `id#name`. Ascending by the bytes of the id, and complete: a subject that is permitted throughout the search is found exactly once. A page may have fewer results than `limit`, or none, although `next_token` leads on. There are no results for a type or an action that is not known.',
  body: {
    name: 'SubjectSearch',
    schema: subjectSearchSchema,
    bytesMax: BODY_BYTES_MAX,
    example: { ...EXAMPLE_EVALUATION, subject: { type: 'user' } },
  },
  query: undefined,
  responseBytesMax: (_query, body) => searchBytesMax(body),
  successes: [
    {
      status: 200,
      description: 'One page.',
      schema: { name: 'EntitySearchResult', schema: entitySearchResultSchema },
      example: {
        page: { next_token: '', count: 2 },
        results: [
          { type: 'user', id: 'alice' },
          { type: 'user', id: 'bob' },
        ],
      },
    },
  ],
  errors: ['invalid-subject', 'invalid-relation', 'invalid-object', 'invalid-cursor', 'evaluation-too-large'],
  answer: (session, context, { body }) =>
    answerSearch(
      session,
      context,
      parseSubjectSearch(body),
      ({ entity, relation, namespace }, page) =>
        session.call(CALLS.listHolders, context, { object: entity, relation, namespace, ...page }),
      entityText,
    ),
};
