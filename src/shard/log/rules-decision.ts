// Decides a write of rules: the condition on the former ones and the change itself are one decision, so that no two
// callers replace the same rules.

import { GrantdError } from '../../core/errors.ts';
import { withRulesRevision } from '../../core/tenants.ts';
import { hasRules, revisionOfRules, textOfRules } from '../../rules/rule-set.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import { NO_RULES_REVISION } from '../memory/tenant-rules.ts';
import type { RulesRequest } from '../shard.ts';
import { assertLives, type Decide } from './write-decisions.ts';

/**
 * Throws `precondition-failed` unless the rules have one of the revisions. `ifMatch`: undefined if it does not matter.
 */
export function demandRevision(ifMatch: readonly string[] | undefined, revision: string | undefined): void {
  const current = revision ?? NO_RULES_REVISION;
  if (ifMatch === undefined || ifMatch.includes(current)) return;
  throw new GrantdError(
    'precondition-failed',
    `The rules have the revision ${current}, which "If-Match" does not name. Nothing was changed.`,
  );
}

/** The rules of the tenant must be pinned. */
export function decideRules(memory: TenantMemory, { ruleSet, ifMatch }: RulesRequest): Decide {
  const rules = textOfRules(ruleSet);
  const revision = hasRules(ruleSet) ? revisionOfRules(rules) : undefined;
  return (draft) => {
    assertLives(draft, memory);
    const present = draft.tenant(memory);
    demandRevision(ifMatch, present.rulesRevision);
    const former = draft.rules(memory);
    if (former === rules) return { result: { kind: 'rules-written' }, changes: [] };
    const tenant = withRulesRevision(present, revision);
    return { result: { kind: 'rules-written' }, changes: [{ kind: 'rules-updated', tenant, rules, former }] };
  };
}
