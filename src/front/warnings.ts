// The warning of rules that leave stored grants outside their types.

import type { ServiceWarning } from '../core/service-warnings.ts';
import type { RulesText } from '../rules/rules-text.ts';
import type { RulesPreview, RulesRequest } from '../rules/rules-writes.ts';
import type { RequestContext } from './front.ts';

interface PreviewSession {
  call(name: 'previewRules', context: RequestContext, request: RulesRequest): Promise<RulesPreview>;
}

/**
 * The warning of a write of rules whose types do not allow some of the stored grants. Counts them once the rules are
 * written: from then on there can only be fewer. It never rejects, since the rules stay written; grants that could not
 * be counted may be outside.
 */
export async function warnOfOutside(
  session: PreviewSession,
  context: RequestContext,
  rules: RulesText,
): Promise<readonly ServiceWarning[]> {
  if (rules.ruleSet.types.length === 0) return [];
  const { outsideTypes: grants, complete } = await session
    .call('previewRules', context, { rules, ifMatch: undefined })
    .catch(() => ({ outsideTypes: 0, complete: false }));
  return grants === 0 && complete ? [] : [{ code: 'grants-outside-types', grants, complete }];
}
