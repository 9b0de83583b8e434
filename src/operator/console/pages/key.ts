// One API key: its facts, and what it has done. The search leads here.

import { html } from '../../../http/pages/markup.ts';
import { findKey } from '../../find-key.ts';
import { keyIdOf, noKey } from '../../path-ids.ts';
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
  const changes = html`<a href=${tenantPath(tenantId, 'audit-log', { actor: keyId })}>What it has changed</a>`;
  const content = html`${crumb(tenantPath(tenantId, 'keys'), 'Keys')}
    ${keyFacts(key, call.clock.wallMs())}
    <p>${changes}</p>
    <p class="buttons">
      ${mayRotate(key, call.clock.wallMs()) && buttonLink(`${path}/rotate`, 'Rotate …')}
      ${buttonLink(`${path}/revoke`, 'Revoke …', 'danger outline')}
    </p>`;
  return tenantPage(tenant, 'keys', `Key of ${tenant.name}`, section('key', 'Key', content, 'card'));
}
