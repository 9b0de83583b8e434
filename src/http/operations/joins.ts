// The join of a name (GET /v1/join): how a list of objects follows from grants that an application mirrors beside its
// own data, and from the sets of a subject. It changes only with the rules, whose revision is its entity tag.

import type { ErrorCode } from '../../core/errors.ts';
import { WARNING_HEADER } from '../../core/service-warnings.ts';
import { demandMatch, etagOf, isKnown } from '../../rules/rules-writes.ts';
import { EXAMPLE_ETAG } from '../schema/examples.ts';
import { EXAMPLE_JOIN, joinParametersSchema, joinSchema } from '../schema/join-schemas.ts';
import { validate } from '../schema/validation.ts';
import { type PublicOperation, withWarnings } from './operation.ts';
import { JOIN_RESPONSE_BYTES } from './response-bytes.ts';

const CODES: ReadonlyMap<PropertyKey, ErrorCode> = new Map([['name', 'invalid-relation']]);

export const readJoin: PublicOperation = {
  id: 'readJoin',
  method: 'GET',
  path: '/v1/join',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'Read how a list of objects follows from mirrored grants',
  description:
    'For an application that lists its own rows, sorted and filtered by its own database: which grants it mirrors from the change feed, and the formula by which a mirror and the sets of a subject give the objects of the namespace on which the subject holds the name. `grantd sync` does both from it. A join is a pure function of the rules, and every name that objects of the namespace can have has one. A name on a container (a folder of documents) is followed upwards along mirrored grants; where it depends on a gate, `ask` asks for it. A join that would take more than 256 KiB asks for the name on the objects themselves.',
  query: joinParametersSchema.shape,
  queryExamples: { namespace: 'document', name: 'viewer' },
  headers: {
    'If-None-Match': {
      description: 'Revisions that the client has. If the rules have one of them, the response is a 304.',
      example: EXAMPLE_ETAG,
    },
  },
  responseBytesMax: () => JOIN_RESPONSE_BYTES,
  successes: [
    {
      status: 200,
      description: 'The join under the present rules.',
      bodies: [{ name: 'Join', schema: joinSchema, example: EXAMPLE_JOIN }],
      header: ['ETag', WARNING_HEADER],
    },
    {
      status: 304,
      description: 'The rules have one of the revisions in `If-None-Match`, so the join is the same.',
      bodies: [],
      header: 'ETag',
    },
  ],
  errors: ['invalid-relation', 'precondition-failed'],
  answer(session, context, { query, headers }) {
    // A malformed condition is refused before the owner is called.
    isKnown(headers, '');
    const { deep = '', ...name } = validate(joinParametersSchema, query, CODES);
    const others = deep === '' ? [] : [...new Set(deep.split(','))].sort();
    return session.call('readJoin', context, { ...name, deep: others }).then(({ revision, json: join }) => {
      demandMatch(headers, revision);
      const etag = etagOf(revision);
      if (isKnown(headers, revision)) return { status: 304, etag, json: '' };
      const json = `{"tenant_id":"${session.tenantId}",${join.slice(1)}`;
      return withWarnings(context, { status: 200, etag, json });
    });
  },
};
