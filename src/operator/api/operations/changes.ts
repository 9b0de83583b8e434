// The change feed of a tenant for operators: the pages of GET /v1/changes, with the same cursors.

import { z } from 'zod';
import { changeJson, FEED_ACTIONS, FEED_WAIT_SECONDS_MAX, feedActionsOf } from '../../../core/change-feed.ts';
import { GrantdError } from '../../../core/errors.ts';
import { RELATIONS } from '../../../core/tuples.ts';
import type { ChangesQuery } from '../../../front/changes.ts';
import type { OperatorApi } from '../../../front/front.ts';
import { pageShape, parseQuery, sinceOrNow, waitSeconds } from '../../schemas.ts';
import { type Call, type Operation, sessionOf } from '../operation.ts';

/** How long one call to the owner waits, in ms: within the deadline of a request. */
const WAIT_PER_CALL_MS = 5000;

export const changesShape = {
  ...pageShape,
  since: sinceOrNow.optional(),
  namespace: z.string().min(1, 'must not be empty').optional(),
  relation: z.enum(RELATIONS, `must be one of ${RELATIONS.join(', ')}`).optional(),
  action: z
    .string()
    .refine((text) => feedActionsOf(text) !== undefined, `must be one or several of ${FEED_ACTIONS.join(', ')}`)
    .transform(feedActionsOf)
    .optional(),
  wait: waitSeconds(FEED_WAIT_SECONDS_MAX),
};

async function readPage(operatorApi: OperatorApi, call: Call, query: Omit<ChangesQuery, 'waitMs'>, waitMs: number) {
  const session = await sessionOf(operatorApi, call);
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

export function changesOperations(operatorApi: OperatorApi): readonly Operation[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId/changes',
      name: 'operator-list-changes',
      access: 'read-only',
      async run(call) {
        const { cursor, since, namespace, relation, action, limit, wait } = parseQuery(call.search, changesShape);
        if (cursor !== undefined && since !== undefined) {
          throw new GrantdError('invalid-request', 'The query has both "cursor" and "since".');
        }
        const filter = { namespace, relation, actions: action };
        const page = await readPage(operatorApi, call, { cursor, since, filter, limit }, wait * 1000);
        const changes = page.changes.map(changeJson).join(',');
        return {
          kind: 'text',
          contentType: 'application/json',
          text: `{"changes":[${changes}],"next_cursor":${JSON.stringify(page.cursor)},"at_end":${page.atEnd}}`,
        };
      },
    },
  ];
}
