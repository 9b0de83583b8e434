// The page that rotates an API key: it asks for the grace, and shows the new key once, in the response to its form.

import { ROTATION_GRACE_MS_DEFAULT, ROTATION_GRACE_MS_MAX } from '../../../core/limits.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import type { RotatedKey, TenantStatus } from '../../../shard/shard.ts';
import { findKey } from '../../find-key.ts';
import { type Refusal, refuse, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  keyIdOf,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { changeForm, formError, selectField, submit } from '../parts/form-parts.ts';
import { createdPanel, keyFacts } from '../parts/key-facts.ts';
import { keyIdEnd } from '../parts/key-label.ts';
import { tenantFrame } from '../parts/layout.ts';
import { code, moment } from '../parts/parts.ts';
import { readTenant } from './tenant.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The graces that the page offers. */
const GRACES: readonly { readonly graceMs: number; readonly text: string }[] = [
  { graceMs: 0, text: 'It is revoked at once' },
  { graceMs: HOUR_MS, text: '1 hour' },
  { graceMs: ROTATION_GRACE_MS_DEFAULT, text: '24 hours' },
  { graceMs: 7 * DAY_MS, text: '7 days' },
  { graceMs: ROTATION_GRACE_MS_MAX, text: '30 days' },
];
const CHOICES = GRACES.map(({ graceMs, text }) => ({ value: String(graceMs), text }));

const keysPath = (tenant: TenantStatus): string => pathTo(['tenants', tenant.tenantId, 'keys']);

async function askToRotate(dependencies: PageDependencies, call: PageCall, refusal?: Refusal): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const keyId = keyIdOf(call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const key = await findKey(call.context, session, keyId);
  const filled = refusal === undefined ? undefined : { fields: call.form, refusal };
  const grace = selectField(
    {
      name: 'grace',
      label: 'How long the former key still works',
      hint: 'Never longer than until its own expiry. You can revoke it earlier.',
      choices: CHOICES,
      value: String(ROTATION_GRACE_MS_DEFAULT),
    },
    filled,
  );
  const form = changeForm(
    call.session,
    pathTo(['tenants', tenant.tenantId, 'keys', keyId, 'rotate']),
    html`${formError(filled)}${grace}
      <p class="buttons">${submit('Rotate')} <a class="button secondary outline" href=${keysPath(tenant)}>Cancel</a></p>`,
    // If the page were the result of the form itself, loading it again would send the form again.
    { htmxTarget: '#content' },
  );
  const content = html`<section class="confirm">
    <h2>Rotate this key</h2>
    ${key === undefined ? html`<p>${code(keyId)}</p>` : keyFacts(key, dependencies.clock.wallMs())}
    <p>This creates a key with the same name, scopes and expiry. Deploy it wherever the former one is used before that one
      ends.</p>
    ${form}
  </section>`;
  return {
    kind: 'page',
    status: refusal?.status ?? 200,
    title: 'Rotate a key',
    body: tenantFrame(tenant, 'keys', content),
  };
}

function formerEnd({ former, revoked }: RotatedKey): Markup {
  const { keyId, expiresAtMs } = former;
  return revoked || expiresAtMs === undefined
    ? html`<p>The former key ${code(keyIdEnd(keyId))} is revoked.</p>`
    : html`<p>The former key ${code(keyIdEnd(keyId))} works until ${moment(expiresAtMs)} UTC.</p>`;
}

async function rotate(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const grace = GRACES.find(({ graceMs }) => String(graceMs) === call.form.text('grace'));
  if (grace === undefined) return askToRotate(dependencies, call, refuse('grace', 'Choose one of these.'));
  try {
    const tenant = await readTenant(dependencies, call);
    const session = await tenantSessionOf(dependencies.operator, call);
    const rotation = { keyId: keyIdOf(call), graceMs: grace.graceMs };
    const { text, ...rotated } = await session.rotateKey(call.context(), rotation);
    const content = html`${createdPanel({ key: rotated.key, text }, 'is rotated', formerEnd(rotated))}
      <p><a href=${keysPath(tenant)}>Keys of the tenant</a></p>`;
    return { kind: 'page', status: 200, title: 'Rotate a key', body: tenantFrame(tenant, 'keys', content) };
  } catch (error) {
    return askToRotate(dependencies, call, refuseThrown(error));
  }
}

export function keyRotationPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const path = '/tenants/:tenantId/keys/:keyId/rotate';
  const name = 'page-rotate-key';
  return [
    { method: 'GET', path, name, run: (call) => askToRotate(dependencies, call) },
    { method: 'POST', path, name, run: (call) => rotate(dependencies, call) },
  ];
}
