// POST /access/v1/search/action: which actions a subject may perform on a resource, page by page.

import { BODY_BYTES_MAX } from '../../core/limits.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { RULES_MAX } from '../../rules/rule-set.ts';
import { actionSearchResultSchema, actionSearchSchema } from '../schema/authzen-schemas.ts';
import { parseActionSearch } from '../schema/authzen-searches.ts';
import { EXAMPLE_EVALUATION } from '../schema/examples.ts';
import type { Operation } from './operation.ts';
import { actionText, answerSearch } from './search-results.ts';

/** An action with the longest name, and its comma. */
const ACTION_BYTES_MAX = 64 + '{"name":""},'.length;

const { subject, resource } = EXAMPLE_EVALUATION;

export const searchActions: Operation = {
  id: 'searchActions',
  method: 'POST',
  path: '/access/v1/search/action',
  scope: 'check:read',
  tag: 'AuthZEN',
  summary: 'Search for the actions that a subject may perform on a resource',
  description:
    'The Action Search API. The actions on a type are the derived names that the rules of the tenant define for it; where they define none, the built-in relations. All of a page are decided at one moment. Ascending. There are no results for what is not known.',
  body: {
    name: 'ActionSearch',
    schema: actionSearchSchema,
    bytesMax: BODY_BYTES_MAX,
    example: { subject, resource },
  },
  query: undefined,
  responseBytesMax: () => RULES_MAX * ACTION_BYTES_MAX,
  successes: [
    {
      status: 200,
      description: 'One page.',
      schema: { name: 'ActionSearchResult', schema: actionSearchResultSchema },
      example: { page: { next_token: '', count: 2 }, results: [{ name: 'editor' }, { name: 'viewer' }] },
    },
  ],
  errors: ['invalid-subject', 'invalid-object', 'invalid-cursor', 'evaluation-too-large'],
  answer: (session, context, { body }) =>
    answerSearch(
      session,
      context,
      parseActionSearch(body),
      (asked, page) => session.call(CALLS.listNames, context, { ...asked, ...page }),
      actionText,
    ),
};
