// The rules of the tenant.

import { parseRuleSet, textOfRules } from '../../rules/rule-set.ts';
import { defineCall } from './define-call.ts';

export const readRules = defineCall({
  request: 'readRules',
  reply: 'rules',
  access: 'admin',
  write: 'no',
  requestToWire: () => ({ readRules: {} }),
  requestFromWire: () => undefined,
  serve: ({ connection, handle }) => connection.readRules(handle),
  replyToWire: (ruleSet) => ({ rules: { rules: textOfRules(ruleSet) } }),
  replyFromWire: ({ rules }) => parseRuleSet(JSON.parse(rules)),
});
