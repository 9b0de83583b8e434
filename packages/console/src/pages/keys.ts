// The API keys of a tenant: create, list, rotate, revoke. A key is shown once, in the response to the form that created
// or rotated it, and stored nowhere.

import { z } from 'zod';
import { GrantdError } from '../../../../src/core/errors.ts';
import { ROTATION_GRACE_MS_DEFAULT, ROTATION_GRACE_MS_MAX } from '../../../../src/core/limits.ts';
import { type Scope, scopeMask, scopesOf } from '../../../../src/core/scopes.ts';
import { MS_PER_HOUR } from '../../../../src/core/text/timestamps.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { keyName, scopes } from '../../../../src/http/schema/schemas.ts';
import { findKey } from '../../../../src/operator/find-key.ts';
import { keyIdOf } from '../../../../src/operator/path-ids.ts';
import type { ListedKey } from '../../../../src/shard/shard.ts';
import { type Refusal, refuse, refuseInvalid } from '../forms.ts';
import {
  type FramedTenant,
  openTenant,
  type PageCall,
  type PageResult,
  readTenant,
  redirect,
  tenantPath,
  tenantSessionOf,
} from '../page.ts';
import {
  changeForm,
  checkBoxes,
  type FormContent,
  formError,
  refilled,
  selectField,
  submit,
  submitOrLeave,
  textField,
} from '../parts/form-parts.ts';
import { readFuture } from '../parts/grant-form.ts';
import {
  createdPanel,
  keyEnd,
  keyFacts,
  keyIdEnd,
  keyLabelOf,
  keyLastUse,
  keyText,
  mayRotate,
} from '../parts/key-facts.ts';
import { confirmPage, tenantPage } from '../parts/layout.ts';
import {
  buttonLink,
  code,
  copyCode,
  empty,
  foreign,
  identifyLink,
  minute,
  moment,
  pager,
  section,
  table,
} from '../parts/parts.ts';

const KEYS_PER_PAGE = 50;

const SCOPE_MEANINGS: Readonly<Record<Scope, string>> = {
  'check:read': 'run checks, list objects and namespaces',
  'grant:write': 'create and revoke grants, create namespaces',
  admin: 'manage keys of any scope, replace the rules; amounts to full access',
};

/** To revoke or rotate a key. */
function keyActions(tenantId: string, key: ListedKey, nowMs: number): Markup {
  const label = key.name === '' ? `the key ${keyIdEnd(key.keyId)}` : key.name;
  const path = tenantPath(tenantId, `keys/${key.keyId}`);
  return html`${
    mayRotate(key, nowMs) && html`${buttonLink(`${path}/rotate`, 'Rotate …', undefined, `Rotate ${label}`)} `
  }${buttonLink(`${path}/revoke`, 'Revoke …', 'danger outline', `Revoke ${label}`)}`;
}

const keysTable = (tenantId: string, keys: readonly ListedKey[], nowMs: number): Markup =>
  table<ListedKey>('API keys', keys, [
    ['Name', ({ name }) => (name === '' ? html`<em>no name</em>` : foreign(name))],
    ['Scopes', (key) => scopesOf(key.scopes).map((scope) => html`<span class="badge">${scope}</span> `)],
    ['Created', ({ createdAtMs }) => minute(createdAtMs)],
    ['Expires', (key) => keyEnd(key, nowMs, minute)],
    ['Last used', (key) => keyLastUse(key, nowMs)],
    ['ID', ({ keyId }) => copyCode(keyId)],
    ['Actions', (key) => keyActions(tenantId, key, nowMs), 'actions'],
  ]);

// If the page were the result of the form itself, loading it again would create a second key.
const WITHOUT_LOADING = { htmxTarget: '#content' };

function createForm(call: PageCall, tenantId: string, filled: FormContent | undefined): Markup {
  const choices = Object.entries(SCOPE_MEANINGS).map(([value, meaning]) => ({
    value,
    text: html`<code>${value}</code> <small>${meaning}</small>`,
  }));
  return changeForm(
    call.session,
    tenantPath(tenantId, 'keys'),
    html`${formError(filled)}
      ${textField({ name: 'name', label: 'Name', hint: 'What the key is for, to tell it apart from others.' }, filled)}
      ${checkBoxes({ name: 'scopes', legend: 'Scopes', choices, checked: ['check:read'] }, filled)}
      ${textField({ name: 'expires', label: 'Expires (UTC)', type: 'datetime-local', hint: 'Empty: never.' }, filled)}
      ${submit('Create the key')}`,
    WITHOUT_LOADING,
  );
}

export async function keysPage(call: PageCall, refusal?: Refusal, created?: Markup): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const { tenantId } = tenant;
  const cursor = call.query.optional('cursor');
  const { items, nextCursor } = await session.call('listKeys', call.context(), { limit: KEYS_PER_PAGE, cursor });
  const listing =
    items.length === 0
      ? empty(
          'This tenant has no keys',
          'Applications need a key to use this tenant. Create the first one below and give it to its owner.',
        )
      : keysTable(tenantId, items, call.clock.wallMs());
  const keys = [listing, pager(tenantPath(tenantId, 'keys'), {}, cursor, nextCursor), identifyLink()];
  const form = createForm(call, tenantId, refilled(call.form, refusal));
  const content = [created, section('keys', 'Keys', keys), section('new-key', 'Create a key', form, 'card')];
  return tenantPage(tenant, 'keys', `Keys of ${tenant.name}`, content, refusal);
}

const keyShape = z.object({ name: keyName, scopes });

export async function createKey(call: PageCall): Promise<PageResult | Refusal> {
  const { form, clock } = call;
  const parsed = keyShape.safeParse({ name: form.typed('name'), scopes: form.list('scopes') });
  if (!parsed.success) return refuseInvalid(parsed.error);
  const read = form.optional('expires') === undefined ? undefined : readFuture(form, 'expires', clock.wallMs());
  if (read !== undefined && 'refusal' in read) return read.refusal;
  const session = await tenantSessionOf(call);
  const key = { name: parsed.data.name, scopes: scopeMask(parsed.data.scopes), expiresAtMs: read?.ms };
  const { record, text } = await session.createKey(call.context(), key);
  return keysPage(call, undefined, createdPanel(record, text, 'is created'));
}

/** A page that asks for confirmation to change the key in the path. */
async function askAbout(
  call: PageCall,
  shown: {
    readonly title: string;
    readonly heading: string;
    readonly explanation: Markup;
    readonly form: (tenant: FramedTenant, filled: FormContent) => Markup;
  },
  refusal: Refusal | undefined,
): Promise<PageResult> {
  const { title, heading, explanation, form } = shown;
  const tenant = await readTenant(call);
  const keyId = keyIdOf(call);
  const key = await findKey(call.context, await tenantSessionOf(call), keyId);
  const filled = { fields: call.form, refusal };
  const content = html`
    <h2>${heading}</h2>
    ${key === undefined ? html`<p>${code(keyId)}</p>` : keyFacts(key, call.clock.wallMs())}
    <p>${explanation}</p>
    ${form(tenant, filled)}`;
  return confirmPage(tenant, 'keys', title, content, { refusal });
}

export const askToRevokeKey = (call: PageCall, refusal?: Refusal): Promise<PageResult> =>
  askAbout(
    call,
    {
      title: 'Revoke a key',
      heading: 'Revoke this key',
      explanation:
        'Requests with this key that start afterwards are refused, on every front. This cannot be undone, but you can create another key.',
      form: ({ tenantId }, filled) =>
        changeForm(
          call.session,
          tenantPath(tenantId, `keys/${keyIdOf(call)}/revoke`),
          html`${formError(filled)}${submitOrLeave('Revoke', 'danger', tenantPath(tenantId, 'keys'))}`,
        ),
    },
    refusal,
  );

export async function revokeKey(call: PageCall): Promise<PageResult> {
  const to = tenantPath(call.parameters.tenantId ?? '', 'keys');
  const keyId = keyIdOf(call);
  try {
    const session = await tenantSessionOf(call);
    // Afterwards its name is no longer known.
    const key = await findKey(call.context, session, keyId);
    await session.call('revokeKey', call.context(), keyId);
    return redirect(to, `The key ${key === undefined ? keyId : keyText(keyLabelOf(key))} is revoked.`);
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code !== 'key-not-found') throw error;
    // Another operator was faster: the key is revoked, as requested.
    return redirect(to, `The key ${keyId} had already been revoked.`);
  }
}

/** Milliseconds → the grace in words. */
const GRACES: Readonly<Record<string, string>> = {
  0: 'It is revoked at once',
  [MS_PER_HOUR]: '1 hour',
  [ROTATION_GRACE_MS_DEFAULT]: '24 hours',
  [7 * 24 * MS_PER_HOUR]: '7 days',
  [ROTATION_GRACE_MS_MAX]: '30 days',
};
const GRACE_CHOICES = Object.entries(GRACES).map(([value, text]) => ({ value, text }));

export const askToRotateKey = (call: PageCall, refusal?: Refusal): Promise<PageResult> =>
  askAbout(
    call,
    {
      title: 'Rotate a key',
      heading: 'Rotate this key',
      explanation:
        'This creates a key with the same name, scopes and expiry. Deploy it wherever the previous one is used before that one ends.',
      form: ({ tenantId }, filled) => {
        const grace = {
          name: 'grace',
          label: 'How long the previous key still works',
          hint: 'Never longer than until its own expiry. You can revoke it earlier.',
          choices: GRACE_CHOICES,
          value: String(ROTATION_GRACE_MS_DEFAULT),
        };
        return changeForm(
          call.session,
          tenantPath(tenantId, `keys/${keyIdOf(call)}/rotate`),
          html`${formError(filled)}${selectField(grace, filled)}
            ${submitOrLeave('Rotate', 'primary', tenantPath(tenantId, 'keys'))}`,
          WITHOUT_LOADING,
        );
      },
    },
    refusal,
  );

export async function rotateKey(call: PageCall): Promise<PageResult | Refusal> {
  const grace = call.form.text('grace');
  if (!Object.hasOwn(GRACES, grace)) return refuse('grace', 'Choose one of these.');
  const { tenant, session } = await openTenant(call);
  const rotation = { keyId: keyIdOf(call), graceMs: Number(grace) };
  const { key, text, former, revoked } = await session.rotateKey(call.context(), rotation);
  const end =
    revoked || former.expiresAtMs === undefined ? 'is revoked' : html`works until ${moment(former.expiresAtMs)}`;
  const formerEnd = html`<p>The previous key ${code(keyIdEnd(former.keyId))} ${end}.</p>`;
  const content = html`${createdPanel(key, text, 'is rotated', formerEnd)}
    <p><a href=${tenantPath(tenant.tenantId, 'keys')}>Keys of the tenant</a></p>`;
  return tenantPage(tenant, 'keys', 'Rotate a key', content);
}
