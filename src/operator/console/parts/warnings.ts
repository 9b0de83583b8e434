// Warnings beside an answer that is false or empty, as the API gives them in a header.

import { describeWarning } from '../../../core/service-warnings.ts';
import type { TenantSession } from '../../../front/front.ts';
import { warnOfUnknown } from '../../../front/namespace-warnings.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import type { PageCall } from '../page.ts';
import { foreign } from './parts.ts';

/** Of these namespaces, those that the tenant knows nothing of; undefined: it knows all. */
export async function unknownNamespacesMarkup(
  call: PageCall,
  session: TenantSession,
  namespaces: readonly string[],
): Promise<Markup> {
  const warnings = (await warnOfUnknown(session, call.context(), namespaces)) ?? [];
  if (warnings.length === 0) return undefined;
  return warnings.map((warning) => html`<p class="warning">${foreign(describeWarning(warning))}</p>`);
}
