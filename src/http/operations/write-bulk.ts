// POST /v1/grants/bulk: creates and revokes up to 100 grants at one moment of the tenant's history, or none of them.

import type { Clock } from '../../core/async/clock.ts';
import { bulkWriteRecord, demandWritten, parseBulkWrite } from '../../core/bulk-writes.ts';
import { BULK_BODY_BYTES_MAX, BULK_CHANGES_MAX, BULK_CONDITIONS_MAX } from '../../core/limits.ts';
import { unfollowedWarnings, warningHeaderOf } from '../../core/service-warnings.ts';
import { CALLS } from '../../rpc/calls/table.ts';
import { EXAMPLE_GRANT, EXAMPLE_TUPLE } from '../schema/examples.ts';
import { bulkWriteResultSchema, bulkWriteSchema } from '../schema/schemas.ts';
import type { Operation } from './operation.ts';
import { bulkWriteBytesMax } from './response-bytes.ts';

const EXAMPLE_REVOKED = { ...EXAMPLE_TUPLE, relation: 'editor' };

export const createWriteBulk = (clock: Pick<Clock, 'wallMs'>): Operation => ({
  id: 'writeBulk',
  method: 'POST',
  path: '/v1/grants/bulk',
  scope: 'grant:write',
  tag: 'Grants',
  summary: `Create and revoke up to ${BULK_CHANGES_MAX} grants at once`,
  description: `All changes take effect at one moment, or none does: no check sees a part of them. A grant that exists already, and a revocation of one that does not exist, are no errors. An existing grant keeps its expiry unless \`expires_at\` is given; \`null\` removes it. A grant that has expired does not exist. \`if\` holds up to ${BULK_CONDITIONS_MAX} conditions on the state before the call, also on tuples that the call changes; unless all are met, the response is a 412 and nothing is changed. No tuple may occur twice among the changes. A limit of the plan refuses the whole call. Repeating a call never does anything twice; but once a call has taken effect, its own changes may keep a repeated one from meeting its conditions. Counts as one request.`,
  body: {
    name: 'BulkWrite',
    schema: bulkWriteSchema,
    bytesMax: BULK_BODY_BYTES_MAX,
    example: {
      grants: [EXAMPLE_TUPLE],
      revocations: [EXAMPLE_REVOKED],
      if: [{ ...EXAMPLE_REVOKED, exists: true }],
    },
  },
  query: undefined,
  responseBytesMax: (_query, body) => bulkWriteBytesMax(body),
  successes: [
    {
      status: 200,
      warns: true,
      description: 'What each change has done, in the order of the request.',
      schema: { name: 'BulkWriteResult', schema: bulkWriteResultSchema },
      example: { grants: [{ ...EXAMPLE_GRANT, created: true }], revocations: [{ revoked: true }] },
    },
  ],
  errors: [
    'bulk-too-large',
    'invalid-subject',
    'invalid-relation',
    'invalid-object',
    'precondition-failed',
    'namespace-limit-reached',
    'grant-limit-reached',
  ],
  answer(session, context, { body }) {
    const write = parseBulkWrite(body, clock.wallMs());
    return session.call(CALLS.writeBulk, context, write).then((result) => {
      const written = demandWritten(write, result);
      const warning = warningHeaderOf(unfollowedWarnings(written.grants));
      return { status: 200, warning, json: () => JSON.stringify(bulkWriteRecord(write, written)) };
    });
  },
});
