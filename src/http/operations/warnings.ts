// Adds warnings to the responses of operations.

import { warningHeaderOf } from '../../core/service-warnings.ts';
import type { RequestContext, TenantSession } from '../../front/front.ts';
import { warnOfUnknown } from '../../front/namespace-warnings.ts';
import type { OperationResponse } from './operation.ts';

/** The response, with a warning if the tenant knows nothing of one of the namespaces. */
export function withUnknownNamespaces(
  session: TenantSession,
  context: RequestContext,
  namespaces: readonly string[],
  response: OperationResponse,
): OperationResponse | Promise<OperationResponse> {
  const warned = warnOfUnknown(session, context, namespaces);
  return warned === undefined
    ? response
    : warned.then((warnings) => ({ ...response, warning: warningHeaderOf(warnings) }));
}
