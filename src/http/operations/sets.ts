// The live half of a join (POST /v1/sets): the sets of a subject, with the moment of which they are.

import { CONTEXT_GRANT_ERRORS } from '../../core/call-context.ts';
import { EVALUATION_ERRORS } from '../../core/errors.ts';
import { BULK_BODY_BYTES_MAX, SET_BYTES_MAX, SETS_MAX } from '../../core/limits.ts';
import { formatTimestamp } from '../../core/text/timestamps.ts';
import { EXAMPLE_CONTEXT, EXAMPLE_REVISION, EXAMPLE_TENANT_ID, EXAMPLE_TIMESTAMP } from '../schema/examples.ts';
import { success } from '../schema/operation-description.ts';
import { setsBodySchema, setsSchema } from '../schema/schemas.ts';
import { validateBody, validateCallContext } from '../schema/validation.ts';
import type { PublicOperation } from './operation.ts';

/** The sets; for each its quotes and comma, and a character that JSON escapes; the rest of the answer. */
const RESPONSE_BYTES_MAX = 2 * SET_BYTES_MAX + 3 * SETS_MAX + 16 * 1024;

export const readSets: PublicOperation = {
  id: 'readSets',
  method: 'POST',
  path: '/v1/sets',
  scope: 'check:read',
  tag: 'Grants',
  summary: 'Read the sets of a subject, for a join',
  description: `The half of a list that belongs to its subject: the groups in which it is, and the names that it holds on containers. The other half are the grants that the join mirrors beside the application's own data; together they say on which objects the subject holds the name, as of \`at\`. Groups and containers that no grant names are left out. At most ${SETS_MAX.toLocaleString('en')} sets. Context grants of relations that the join mirrors are refused.`,
  body: {
    name: 'SetsRequest',
    schema: setsBodySchema,
    bytesMax: BULK_BODY_BYTES_MAX,
    example: {
      subject: 'user:alice',
      join: { namespace: 'document', name: 'viewer' },
      context: EXAMPLE_CONTEXT,
    },
  },
  responseBytesMax: () => RESPONSE_BYTES_MAX,
  successes: [
    success(200, 'The sets.', {
      name: 'SubjectSets',
      schema: setsSchema,
      example: {
        subjects: ['user:alice', 'team:engineering#member'],
        held: ['folder:plans#viewer'],
        perhaps: [],
        own: 'user:alice#self',
        tenant_id: EXAMPLE_TENANT_ID,
        revision: EXAMPLE_REVISION,
        at: { seq: 4711, time: EXAMPLE_TIMESTAMP },
        through: 4698,
      },
    }),
  ],
  errors: [...CONTEXT_GRANT_ERRORS, ...EVALUATION_ERRORS, 'too-many-sets'],
  answer(session, context, { body }) {
    const call = validateCallContext(setsBodySchema, body);
    const { subject, join, perhaps = false } = validateBody(setsBodySchema, body);
    const query = { subject, ...call, ...join, deep: join.deep ?? [], perhaps };
    return session.call('readSets', context, query).then(({ seq, timeMs, ...sets }) => ({
      status: 200,
      json: JSON.stringify({ ...sets, tenant_id: session.tenantId, at: { seq, time: formatTimestamp(timeMs) } }),
    }));
  },
};
