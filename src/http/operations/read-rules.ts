// GET /v1/rules: the rules of the tenant, with their revision.

import { CALLS } from '../../rpc/calls/table.ts';
import { revisionOfRules, textOfRules } from '../../rules/rule-set.ts';
import { demandMatch, etagOf, isKnown } from '../../rules/rules-writes.ts';
import { EXAMPLE_ETAG, EXAMPLE_RULE_SET } from '../schema/examples.ts';
import { ruleSetSchema } from '../schema/rule-schemas.ts';
import type { Operation } from './operation.ts';
import { RULES_BYTES } from './response-bytes.ts';

export const readRules: Operation = {
  id: 'readRules',
  method: 'GET',
  path: '/v1/rules',
  scope: 'admin',
  tag: 'Rules',
  summary: 'Read the rules',
  description:
    'What `PUT /v1/rules` takes. A tenant that has never set rules has empty ones, with a revision too: then relations follow from grants alone.',
  body: undefined,
  query: undefined,
  headers: {
    'If-None-Match': {
      description: 'Revisions that the client has. If the rules have one of them, the response is a 304.',
      example: EXAMPLE_ETAG,
    },
  },
  responseBytesMax: () => RULES_BYTES,
  successes: [
    {
      status: 200,
      etag: true,
      description: 'The rules.',
      schema: { name: 'RuleSet', schema: ruleSetSchema },
      example: EXAMPLE_RULE_SET,
    },
    { status: 304, etag: true, description: 'The rules have one of the revisions in `If-None-Match`.' },
  ],
  errors: ['precondition-failed'],
  answer(session, context, { headers }) {
    // A malformed condition is refused before the owner is asked.
    isKnown(headers, '');
    return session.call(CALLS.readRules, context, undefined).then((ruleSet) => {
      const text = textOfRules(ruleSet);
      const revision = revisionOfRules(text);
      demandMatch(headers, revision);
      const etag = etagOf(revision);
      return isKnown(headers, revision) ? { status: 304, etag, json: '' } : { status: 200, etag, json: text };
    });
  },
};
