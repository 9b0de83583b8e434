// The calls about the rules of a tenant. Rules travel as their canonical text.

import { parseRuleSet } from '../../rules/parse-rule-set.ts';
import { RULE_SET_BYTES_MAX, type RuleSet, textOfRules } from '../../rules/rule-set.ts';
import { KEEP_OUTSIDE } from '../../rules/rules-writes.ts';
import type { RulesPreview, RulesRequest } from '../../shard/shard.ts';
import { DONE, defineCall } from './define-call.ts';
import { relation, shortText } from './fields.ts';
import { as, converted, flag, form, int64, list, message, nothing, only, orUndefined, text, uint32 } from './schema.ts';

/** Revisions in a condition: several times what fits into the header of a request. */
const REVISIONS_MAX = 1000;

/** Throws `invalid-request` for JSON that is not a rule set: fronts of this version do not send any. */
function ruleSetFrom(wire: string): RuleSet | undefined {
  if (wire.length > RULE_SET_BYTES_MAX) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(wire);
  } catch {
    return undefined;
  }
  return parseRuleSet(body);
}

const ruleSet = form('a rule set', ruleSetFrom, textOfRules);

const rulesRequest = message<RulesRequest>({
  ruleSet: as('rules', ruleSet),
  ifMatch: orUndefined(only('revisions', list(shortText, { max: REVISIONS_MAX }))),
  outsideTypes: as(
    'keepsOutside',
    converted(
      flag,
      (outsideTypes: RulesRequest['outsideTypes']) => outsideTypes === KEEP_OUTSIDE,
      (keepsOutside) => (keepsOutside ? KEEP_OUTSIDE : undefined),
    ),
  ),
});

export const ruleCalls = {
  readRules: defineCall('readRules', {
    access: 'admin',
    request: nothing,
    reply: 'rules',
    answer: only('rules', ruleSet),
  }),

  writeRules: defineCall('writeRules', { access: 'admin', write: 'repeatable', request: rulesRequest, ...DONE }),

  previewRules: defineCall('previewRules', {
    access: 'admin',
    request: rulesRequest,
    reply: 'rulesPreview',
    answer: message<RulesPreview>({
      revision: text,
      groupSubjects: uint32,
      publicGrants: uint32,
      notFollowed: uint32,
      outsideTypes: uint32,
      ungranted: list(message({ namespace: text, relation })),
      scannedGrants: uint32,
      complete: flag,
    }),
  }),

  listRulesVersions: defineCall('listRulesVersions', {
    access: 'admin',
    request: nothing,
    reply: 'rulesVersions',
    answer: only(
      'versions',
      list(
        message({
          version: uint32,
          revision: text,
          atMs: int64,
          actor: text,
          requestId: text,
          added: uint32,
          removed: uint32,
        }),
      ),
    ),
  }),

  readRulesVersion: defineCall('readRulesVersion', {
    access: 'admin',
    request: only('version', uint32),
    reply: 'rules',
    answer: only('rules', text),
  }),
};
