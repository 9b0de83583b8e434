// The calls about the rules of a tenant. Rules travel as their canonical text.

import { parseRuleSet } from '../../rules/parse-rule-set.ts';
import { RULE_SET_BYTES_MAX, type RuleSet, textOfRules } from '../../rules/rule-set.ts';
import { KEEP_OUTSIDE } from '../../rules/rules-writes.ts';
import type { RulesRequest } from '../../shard/shard.ts';
import type { WriteRules, WriteRules__Output } from '../gen/grantd/v1/WriteRules.ts';
import { demand, WireViolation } from '../wire-violation.ts';
import { knownRelation, malformed } from './answer-fields.ts';
import { DONE_REPLY, defineCall, EMPTY_REQUEST } from './define-call.ts';
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

function answeredRules(text: string): RuleSet {
  try {
    return parseRuleSet(JSON.parse(text));
  } catch (error) {
    throw malformed(`The rules are no rule set: ${error}`);
  }
}

const requestToWire = ({ ruleSet, ifMatch, outsideTypes }: RulesRequest): WriteRules => ({
  rules: textOfRules(ruleSet),
  keepsOutside: outsideTypes === KEEP_OUTSIDE,
  ifMatch: ifMatch === undefined ? null : { revisions: [...ifMatch] },
});

function requestFromWire({ rules, ifMatch, keepsOutside }: WriteRules__Output): RulesRequest {
  const revisions = ifMatch?.revisions;
  demand((revisions?.length ?? 0) <= REVISIONS_MAX, `A condition has more than ${REVISIONS_MAX} revisions.`);
  return {
    ruleSet: ruleSetFrom(rules),
    ifMatch: revisions?.map((revision) => shortText(revision, 'A revision')),
    outsideTypes: keepsOutside ? KEEP_OUTSIDE : undefined,
  };
}

export const ruleCalls = {
  readRules: defineCall('readRules', {
    access: 'admin',
    ...EMPTY_REQUEST,
    reply: 'rules',
    replyToWire: (ruleSet) => ({ rules: textOfRules(ruleSet) }),
    replyFromWire: ({ rules }) => answeredRules(rules),
  }),

  writeRules: defineCall('writeRules', {
    access: 'admin',
    write: 'repeatable',
    requestToWire,
    requestFromWire,
    ...DONE_REPLY,
  }),

  previewRules: defineCall('previewRules', {
    access: 'admin',
    requestToWire,
    requestFromWire,
    reply: 'rulesPreview',
    replyToWire: ({ ungranted, ...preview }) => ({ ...preview, ungranted: [...ungranted] }),
    replyFromWire: ({ ungranted, ...preview }) => ({
      ...preview,
      ungranted: ungranted.map(({ namespace, relation }) => ({ namespace, relation: knownRelation(relation) })),
    }),
  }),

  listRulesVersions: defineCall('listRulesVersions', {
    access: 'admin',
    ...EMPTY_REQUEST,
    reply: 'rulesVersions',
    replyToWire: (versions) => ({ versions: [...versions] }),
    replyFromWire: ({ versions }) => versions,
  }),

  readRulesVersion: defineCall('readRulesVersion', {
    access: 'admin',
    requestToWire: (version) => ({ version }),
    requestFromWire: ({ version }) => version,
    reply: 'rules',
    replyToWire: (rules) => ({ rules }),
    replyFromWire: ({ rules }) => rules,
  }),
};
