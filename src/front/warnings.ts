// Warnings that calls of a tenant may have.

import type { ServiceWarning } from '../core/service-warnings.ts';
import { CALLS } from '../rpc/calls/table.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import type { RulesPreview, RulesRequest } from '../rules/rules-writes.ts';
import type { RequestContext } from './front.ts';

interface PreviewSession {
  call(call: typeof CALLS.previewRules, context: RequestContext, request: RulesRequest): Promise<RulesPreview>;
}

/**
 * The warning of a write of rules whose types do not allow some of the stored grants. Counts them once the rules are
 * written: from then on there can only be fewer. It never rejects, since the rules stay written; grants that could not
 * be counted may be outside.
 */
export async function warnOfOutside(
  session: PreviewSession,
  context: RequestContext,
  ruleSet: RuleSet,
): Promise<readonly ServiceWarning[]> {
  if (ruleSet.types.length === 0) return [];
  const { outsideTypes: grants, complete } = await session
    .call('previewRules', context, { ruleSet, ifMatch: undefined })
    .catch(() => ({ outsideTypes: 0, complete: false }));
  return grants === 0 && complete ? [] : [{ code: 'grants-outside-types', grants, complete }];
}

/** The warnings of an answered request: namespaces that it names, and of which the tenant has no grant and no rule. */
export const warningsOf = ({ unknownNamespaces = [] }: RequestContext): readonly ServiceWarning[] =>
  unknownNamespaces.map((namespace) => ({ code: 'unknown-namespace', namespace }));
