// Replaces the rules of the tenant, under a condition on the present ones.

import type { RulesRequest } from '../../shard/shard.ts';
import { defineCall } from './define-call.ts';
import { rulesRequestFrom, rulesRequestToWire } from './parts/rules.ts';

export const writeRules = defineCall({
  request: 'writeRules',
  reply: 'done',
  access: 'admin',
  write: 'repeatable',
  requestToWire: (request: RulesRequest) => ({ writeRules: rulesRequestToWire(request) }),
  requestFromWire: rulesRequestFrom,
  serve: ({ connection, handle, attempt }, request) => connection.writeRules(handle, attempt, request),
  replyToWire: () => ({ done: {} }),
  replyFromWire: () => undefined,
});
