// The change feed of a tenant for operators: the pages of GET /v1/changes, with the same cursors. Each says whether the
// end was reached.

import { z } from 'zod';
import type { ChangesQuery } from '../../../front/changes.ts';
import { pageJson, parseFeedQuery } from '../../../http/operations/changes.ts';
import type { OperationResponse } from '../../../http/operations/operation.ts';
import { changeListSchema, changesQuerySchema } from '../../../http/schema/change-schemas.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { validate } from '../../../http/schema/validation.ts';
import type { OperatorOperation, OperatorSession } from '../operation.ts';

/** An operator has pages alone. */
const querySchema = changesQuerySchema.omit({ checkpoints: true });

/** How long one call to the owner waits, in ms: within the deadline of a request. */
const WAIT_PER_CALL_MS = 5000;

async function readPage(operator: OperatorSession, query: ChangesQuery): Promise<OperationResponse> {
  const session = await operator.tenant();
  let start: Pick<ChangesQuery, 'cursor' | 'since'> = query;
  for (let leftMs = query.waitMs; ; leftMs -= WAIT_PER_CALL_MS) {
    const waitMs = Math.max(0, Math.min(leftMs, WAIT_PER_CALL_MS));
    const page = await session.readChanges(operator.context(), { ...query, ...start, waitMs });
    if (page.changes.length > 0 || leftMs <= WAIT_PER_CALL_MS) {
      return { status: 200, json: pageJson(page, `,"at_end":${page.atEnd}`) };
    }
    start = { cursor: page.cursor, since: undefined };
  }
}

export const listChanges: OperatorOperation = {
  id: 'listChanges',
  method: 'GET',
  path: '/tenants/{tenantId}/changes',
  access: 'read-only',
  tag: 'Audit log and changes',
  summary: 'Read the change feed of a tenant',
  query: querySchema.shape,
  successes: [
    success(200, 'One page.', {
      name: 'ChangePage',
      schema: changeListSchema.extend({
        at_end: z.boolean().meta({ description: 'Whether nothing more was there.' }),
      }),
    }),
  ],
  errors: ['invalid-relation', 'invalid-cursor', 'cursor-too-old'],
  answer: (session, _context, { query }) => readPage(session, parseFeedQuery(validate(querySchema, query))),
};
