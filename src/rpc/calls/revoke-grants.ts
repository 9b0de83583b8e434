// Revokes the grants of one subject, or on one object: one operation, up to 1,000 at one moment.

import { REVOKED_PER_CALL_MAX } from '../../core/limits.ts';
import type { GrantFilter, RevokeResult } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { malformed } from './parts/answer-fields.ts';
import { filterFrom, filterToWire } from './parts/grants.ts';

/** What revoking the most grants takes. */
const REVOKE_MS = 5;

export const revokeGrants = defineCall({
  request: 'revokeGrants',
  reply: 'revoked',
  access: 'grant:write',
  write: 'repeatable',
  costMs: () => REVOKE_MS,
  requestToWire: (filter: GrantFilter) => ({ revokeGrants: filterToWire(filter) }),
  requestFromWire: filterFrom,
  serve: ({ connection, handle, attempt }, filter) => connection.revokeGrants(handle, attempt, filter),
  replyToWire: (result) => ({ revoked: result }),
  replyFromWire: ({ revoked, complete }): RevokeResult => {
    if (revoked > REVOKED_PER_CALL_MAX) throw malformed(`A call has revoked ${revoked} grants.`);
    return { revoked, complete };
  },
});
