// The change feed of a tenant for operators: the pages of GET /v1/changes, with the same cursors.

import { z } from 'zod';
import { changeJson, FEED_ACTIONS, feedActionsOf } from '../../../core/change-feed.ts';
import { GrantdError } from '../../../core/errors.ts';
import { parseRelation } from '../../../core/tuples.ts';
import type { ChangesQuery } from '../../../front/changes.ts';
import { changeListSchema } from '../../../http/schema/change-schemas.ts';
import { success } from '../../../http/schema/operation-description.ts';
import { namespaceName, PARAMETERS, pageShape, sinceOrNow, wait } from '../../schemas.ts';
import { type Call, reading, sessionOf } from '../operation.ts';

/** How long one call to the owner waits, in ms: within the deadline of a request. */
const WAIT_PER_CALL_MS = 5000;

async function readPage(call: Call, query: Omit<ChangesQuery, 'waitMs'>, waitMs: number) {
  const session = await sessionOf(call);
  let start: Pick<ChangesQuery, 'cursor' | 'since'> = query;
  for (let leftMs = waitMs; ; leftMs -= WAIT_PER_CALL_MS) {
    const page = await session.readChanges(call.context(), {
      ...query,
      ...start,
      waitMs: Math.max(0, Math.min(leftMs, WAIT_PER_CALL_MS)),
    });
    if (page.changes.length > 0 || leftMs <= WAIT_PER_CALL_MS) return page;
    start = { cursor: page.cursor, since: undefined };
  }
}

export const listChanges = reading({
  id: 'listChanges',
  path: '/tenants/{tenantId}/changes',
  tag: 'Audit log and changes',
  summary: 'Read the change feed of a tenant',
  query: {
    ...pageShape,
    since: sinceOrNow,
    namespace: namespaceName,
    // Read as any text, since an invalid relation has an error type of its own.
    relation: z.string().meta(PARAMETERS.relation).optional(),
    action: z
      .string()
      .refine((text) => feedActionsOf(text) !== undefined, `must be one or several of ${FEED_ACTIONS.join(', ')}`)
      .meta(PARAMETERS.action)
      .transform(feedActionsOf)
      .optional(),
    wait,
  },
  successes: [
    success(200, 'One page.', {
      name: 'ChangePage',
      schema: changeListSchema.extend({
        at_end: z.boolean().meta({ description: 'Whether nothing more was there.' }),
      }),
    }),
  ],
  errors: ['invalid-relation', 'invalid-cursor', 'cursor-too-old'],
  async run(call, { cursor, since, namespace, relation, action, limit, wait: waitSeconds }) {
    if (cursor !== undefined && since !== undefined) {
      throw new GrantdError('invalid-request', 'The query has both "cursor" and "since".');
    }
    const parsed = relation === undefined ? undefined : parseRelation(relation);
    const filter = { namespace, relation: parsed, actions: action };
    const page = await readPage(call, { cursor, since, filter, limit }, waitSeconds * 1000);
    const changes = page.changes.map(changeJson).join(',');
    return {
      kind: 'text',
      contentType: 'application/json',
      text: `{"changes":[${changes}],"next_cursor":${JSON.stringify(page.cursor)},"at_end":${page.atEnd}}`,
    };
  },
});
