// The page that identifies an API key that someone has found. Invariant: its text arrives in the body of a form, is
// hashed here, and is neither passed on, shown again, nor part of an address.

import { apiKeyFault, hashApiKey, parseApiKey } from '../../../../src/core/api-keys.ts';
import type { KeyId, TenantId } from '../../../../src/core/ids.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import type { IdentifiedKey, TenantStatus } from '../../../../src/shard/shard.ts';
import { NO_FIELDS, type Refusal, refuse } from '../forms.ts';
import { type PageCall, type PageResult, page, pathTo, tenantPath, unlessGone } from '../page.ts';
import { changeForm, formError, submit, textField } from '../parts/form-parts.ts';
import { keyFacts, mayRotate } from '../parts/key-facts.ts';
import { buttonLink, code, foreign } from '../parts/parts.ts';

/** The result of a look-up. */
interface KeyLookUp {
  readonly tenantId: TenantId;
  readonly keyId: KeyId;
  /** Undefined: this cluster has no such tenant now. */
  readonly tenant: TenantStatus | undefined;
  /** Undefined: the tenant has no such key now. */
  readonly identified: IdentifiedKey | undefined;
}

function verdict({ tenant, identified }: KeyLookUp, nowMs: number): string {
  if (tenant === undefined)
    return 'No tenant of this cluster has such a key. It may be of another cluster, or of a deleted tenant.';
  if (identified === undefined) return 'The tenant has no such key now. It was revoked, or the text was made up.';
  if (!identified.matches) {
    return 'The tenant has a key with this ID, but the secret is not its own. The text was altered or made up, and does not work.';
  }
  const { expiresAtMs } = identified.key;
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return 'It is this key. It has expired, and no longer works.';
  if (tenant.state === 'suspended') return 'It is this key. It works again as soon as its tenant is not suspended.';
  return 'It is this key, and it works. Anyone who has found it can use it.';
}

function foundPanel(found: KeyLookUp, nowMs: number): Markup {
  const { tenantId, keyId, tenant, identified } = found;
  const path = tenantPath(tenantId, `keys/${keyId}`);
  const actions =
    identified?.matches === true &&
    html`<p class="buttons">
      ${buttonLink(`${path}/revoke`, 'Revoke …', 'danger outline')}
      ${mayRotate(identified.key, nowMs) && buttonLink(`${path}/rotate`, 'Rotate …')}
    </p>`;
  const link = tenant && html`<a href=${tenantPath(tenantId)}>${foreign(tenant.name)}</a> `;
  return html`<section class="card" role="status" data-focus tabindex="-1" aria-labelledby="found-title">
    <h2 id="found-title">What it is</h2>
    <p><strong>${verdict(found, nowMs)}</strong></p>
    <p>Tenant: ${link}${code(tenantId)}</p>
    ${identified === undefined ? html`<p>Key: ${code(keyId)}</p>` : keyFacts(identified.key, nowMs)}
    ${actions}
  </section>`;
}

export function identifyKeyPage({ session }: PageCall, refusal?: Refusal, found?: Markup): PageResult {
  // What was typed is not shown again.
  const filled = { fields: NO_FIELDS, refusal };
  const hint = 'It is not kept. Only its IDs and its SHA-256 go to the shard.';
  const form = changeForm(
    session,
    pathTo(['identify-key']),
    html`${formError(filled)}
      ${textField({ name: 'key', label: 'API key', type: 'password', placeholder: 'gk1_…', hint }, filled)}
      ${submit('Identify')}`,
    { changesNothing: true },
  );
  const body = html`<h1>Identify a key</h1>
    ${found}
    <section class="card">
      <p>Has someone found a text that looks like an API key? This says which key of which tenant it is, and whether it works.</p>
      ${form}
    </section>`;
  return page('Identify a key', body, refusal);
}

export async function identifyKey(call: PageCall): Promise<PageResult | Refusal> {
  const { operator, clock, form, session: login } = call;
  const text = form.typed('key');
  if (text === '') return identifyKeyPage(call);
  const parts = parseApiKey(text);
  if (parts === undefined) return refuse('key', apiKeyFault(text, 'The text'));
  const { tenantId, keyId } = parts;
  const tenant = await unlessGone(operator.call('readTenant', call.context(), { tenantId }));
  const session = tenant && (await unlessGone(operator.tenant(call.context(), tenantId, login.operator)));
  const identified = await session?.call('identifyKey', call.context(), { keyId, hash: hashApiKey(text) });
  return identifyKeyPage(call, undefined, foundPanel({ tenantId, keyId, tenant, identified }, clock.wallMs()));
}
