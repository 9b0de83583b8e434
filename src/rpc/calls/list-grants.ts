// The grants of one subject, or on one object, page by page.

import type { GrantsQuery } from '../../shard/shard.ts';
import { demand } from '../wire-violation.ts';
import { defineCall } from './define-call.ts';
import { grantsFrom, grantsToWire } from './parts/grants.ts';
import { pageQueryFromWire, pageQueryToWire } from './parts/pages.ts';
import { relationFrom, relationToWire } from './parts/request-fields.ts';

const GRANT_MS = 0.003;

export const listGrants = defineCall({
  request: 'listGrants',
  reply: 'grants',
  access: 'check:read',
  write: 'no',
  costMs: ({ limit }) => GRANT_MS * limit,
  requestToWire: ({ of, relation, ...page }: GrantsQuery) => ({
    listGrants: { ...pageQueryToWire(page), ...of, relation: relation === undefined ? 0 : relationToWire(relation) },
  }),
  requestFromWire: ({ subject, object, relation, ...query }): GrantsQuery => {
    demand((subject === '') !== (object === ''), 'Grants are listed of a subject or of an object.');
    return {
      ...pageQueryFromWire(query),
      of: subject === '' ? { object } : { subject },
      relation: relation === 0 ? undefined : relationFrom(relation),
    };
  },
  serve: ({ connection, handle }, query) => connection.listGrants(handle, query),
  replyToWire: (page) => ({ grants: grantsToWire(page) }),
  replyFromWire: grantsFrom,
});
