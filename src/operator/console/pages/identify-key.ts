// The page that says which API key a text is that someone has found. Invariant: the text arrives in the body of a form,
// is hashed here, and is neither passed on, shown again, nor part of an address.

import { apiKeyFault, hashApiKey, parseApiKey } from '../../../core/api-keys.ts';
import { GrantdError } from '../../../core/errors.ts';
import type { KeyId, TenantId } from '../../../core/ids.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import type { IdentifiedKey, TenantStatus } from '../../../shard/shard.ts';
import { NO_FIELDS, type Refusal, refuse, refuseThrown } from '../forms.ts';
import { type ConsolePage, type PageCall, type PageDependencies, type PageResult, pathTo } from '../page.ts';
import { formError, submit, textField } from '../parts/form-parts.ts';
import { keyFacts, mayRotate } from '../parts/key-facts.ts';
import { code, foreign } from '../parts/parts.ts';

const PATH = '/identify-key';

/** What a text is found to be. */
interface Found {
  readonly tenantId: TenantId;
  readonly keyId: KeyId;
  /** Undefined: this cluster has no such tenant now. */
  readonly tenant: TenantStatus | undefined;
  /** Undefined: the tenant has no such key now. */
  readonly identified: IdentifiedKey | undefined;
}

function verdict({ tenant, identified }: Found, nowMs: number): string {
  if (tenant === undefined)
    return 'No tenant of this cluster has such a key. It may be of another cluster, or of a deleted tenant.';
  if (identified === undefined) return 'The tenant has no such key now. It was revoked, or the text was made up.';
  if (!identified.matches) {
    return 'The tenant has a key with this ID, but the secret is not its own. The text was altered or made up, and does not work.';
  }
  const { expiresAtMs } = identified.key;
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return 'It is this key. It has expired, and no longer works.';
  if (tenant.state === 'suspended') return 'It is this key. It works again as soon as its tenant is not suspended.';
  return 'It is this key, and it works. Whoever has found it can use it.';
}

function foundPanel(found: Found, nowMs: number): Markup {
  const { tenantId, keyId, tenant, identified } = found;
  const of = ['tenants', tenantId, 'keys', keyId];
  const actions =
    identified?.matches === true
      ? html`<p class="buttons">
          <a class="button danger outline" href=${pathTo([...of, 'revoke'])}>Revoke …</a>
          ${
            mayRotate(identified.key, nowMs)
              ? html`<a class="button secondary outline" href=${pathTo([...of, 'rotate'])}>Rotate …</a>`
              : undefined
          }
        </p>`
      : undefined;
  const shownTenant =
    tenant === undefined
      ? code(tenantId)
      : html`<a href=${pathTo(['tenants', tenantId])}>${foreign(tenant.name)}</a> ${code(tenantId)}`;
  return html`<section class="card" role="status" data-focus tabindex="-1" aria-labelledby="found-title">
    <h2 id="found-title">What it is</h2>
    <p><strong>${verdict(found, nowMs)}</strong></p>
    <p>Tenant: ${shownTenant}</p>
    ${identified === undefined ? html`<p>Key: ${code(keyId)}</p>` : keyFacts(identified.key, nowMs)}
    ${actions}
  </section>`;
}

/** It changes nothing, so an operator who may only read can send it, too. */
function form({ session }: PageCall, refusal: Refusal | undefined): Markup {
  const filled = { fields: NO_FIELDS, refusal };
  const hint = 'It is not kept. Only its IDs and its SHA-256 go to the shard.';
  return html`<form method="post" action=${pathTo(['identify-key'])} class="form-stack" novalidate>
    <input type="hidden" name="csrf" value=${session.csrf} />
    ${formError(filled)}
    ${textField({ name: 'key', label: 'API key', type: 'password', placeholder: 'gk1_…', hint }, filled)}
    ${submit('Identify')}
  </form>`;
}

function page(call: PageCall, shown: { readonly refusal?: Refusal; readonly found?: Markup } = {}): PageResult {
  const body = html`<h1>Identify a key</h1>
    ${shown.found}
    <section class="card">
      <p>Has someone found a text that looks like an API key? This says which key of which tenant it is, and whether it works.</p>
      ${form(call, shown.refusal)}
    </section>`;
  return { kind: 'page', status: shown.refusal?.status ?? 200, title: 'Identify a key', body };
}

/** Undefined if the error says that there is none. */
async function unlessAbsent<Value>(read: Promise<Value>): Promise<Value | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof GrantdError && error.code === 'tenant-not-found') return undefined;
    throw error;
  }
}

async function identify({ operator, clock }: PageDependencies, call: PageCall): Promise<PageResult> {
  const text = call.form.text('key').trim();
  if (text === '') return page(call);
  const parts = parseApiKey(text);
  if (parts === undefined) return page(call, { refusal: refuse('key', apiKeyFault(text, 'The text')) });
  const { tenantId, keyId } = parts;
  try {
    const tenant = await unlessAbsent(operator.call(CALLS.readTenant, call.context(), { tenantId }));
    const session = tenant && (await unlessAbsent(operator.tenant(call.context(), tenantId, call.session.operator)));
    const identified = await session?.call(CALLS.identifyKey, call.context(), { keyId, hash: hashApiKey(text) });
    return page(call, { found: foundPanel({ tenantId, keyId, tenant, identified }, clock.wallMs()) });
  } catch (error) {
    return page(call, { refusal: refuseThrown(error) });
  }
}

export function identifyKeyPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const name = 'page-identify-key';
  return [
    { method: 'GET', path: PATH, name, access: 'read-only', run: (call) => Promise.resolve(page(call)) },
    { method: 'POST', path: PATH, name, access: 'read-only', run: (call) => identify(dependencies, call) },
  ];
}
