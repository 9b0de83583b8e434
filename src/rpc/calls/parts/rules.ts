// Rules in requests and replies, both ways: as their canonical text.

import { parseRuleSet, RULE_SET_BYTES_MAX, type RuleSet, textOfRules } from '../../../rules/rule-set.ts';
import type { RulesRequest } from '../../../shard/shard.ts';
import type { WriteRules, WriteRules__Output } from '../../gen/grantd/v1/WriteRules.ts';
import { demand, WireViolation } from '../../wire-violation.ts';
import { shortText } from './request-fields.ts';

/** Revisions in a condition: several times what fits into the header of a request. */
const REVISIONS_MAX = 1000;

/** Throws `invalid-request`, which a front of this version has excluded. */
function ruleSetFrom(text: string): RuleSet {
  demand(text.length <= RULE_SET_BYTES_MAX, 'A rule set is longer than any may be.');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new WireViolation('A rule set is not JSON.');
  }
  return parseRuleSet(body);
}

export const rulesRequestToWire = ({ ruleSet, ifMatch }: RulesRequest): WriteRules => ({
  rules: textOfRules(ruleSet),
  ifMatch: ifMatch === undefined ? null : { revisions: [...ifMatch] },
});

export function rulesRequestFrom({ rules, ifMatch }: WriteRules__Output): RulesRequest {
  const revisions = ifMatch?.revisions;
  demand((revisions?.length ?? 0) <= REVISIONS_MAX, `A condition has more than ${REVISIONS_MAX} revisions.`);
  return { ruleSet: ruleSetFrom(rules), ifMatch: revisions?.map((revision) => shortText(revision, 'A revision')) };
}
