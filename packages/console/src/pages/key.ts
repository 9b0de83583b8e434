// One API key: its facts, and what it has done. The search leads here.

import { html } from '../../../../src/http/pages/markup.ts';
import { findKey } from '../../../../src/operator/find-key.ts';
import { keyIdOf, noKey } from '../../../../src/operator/path-ids.ts';
import { openTenant, type PageCall, type PageResult, tenantPath } from '../page.ts';
import { keyFacts, mayRotate } from '../parts/key-facts.ts';
import { tenantPage } from '../parts/layout.ts';
import { buttonLink, crumb, section } from '../parts/parts.ts';

export async function keyPage(call: PageCall): Promise<PageResult> {
  const keyId = keyIdOf(call);
  const { tenant, session } = await openTenant(call);
  const key = await findKey(call.context, session, keyId);
  if (key === undefined) throw noKey();
  const { tenantId } = tenant;
  const path = tenantPath(tenantId, `keys/${keyId}`);
  const changes = tenantPath(tenantId, 'audit-log', { actor: keyId });
  const content = html`${keyFacts(key, call.clock.wallMs())}
    <p class="buttons">
      ${buttonLink(changes, 'What it has changed')}
      ${mayRotate(key, call.clock.wallMs()) && buttonLink(`${path}/rotate`, 'Rotate …')}
      ${buttonLink(`${path}/revoke`, 'Revoke …', 'danger outline')}
    </p>`;
  const shown = html`${crumb(tenantPath(tenantId, 'keys'), 'Keys')}${section('key', 'Key', content, 'card')}`;
  return tenantPage(tenant, 'keys', `Key of ${tenant.name}`, shown);
}
