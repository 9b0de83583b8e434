// The header `X-Service-Warning` of responses to operators: see core/service-warnings.ts.

import { type ServiceWarning, WARNING_HEADER, warningHeaderOf } from '../../core/service-warnings.ts';
import type { OperatorTenantSession } from '../../front/front.ts';
import { warnOfUnknown } from '../../front/namespace-warnings.ts';
import type { Call } from './operation.ts';

type Headers = Readonly<Record<string, string>>;

export function headersOf(warnings: readonly ServiceWarning[]): Headers {
  const value = warningHeaderOf(warnings);
  return value === undefined ? {} : { [WARNING_HEADER]: value };
}

/** Of an answer that is false or empty, of these namespaces. */
export async function warningHeaders(
  session: OperatorTenantSession,
  call: Call,
  namespaces: readonly string[],
): Promise<Headers> {
  return headersOf((await warnOfUnknown(session, call.context(), namespaces)) ?? []);
}
