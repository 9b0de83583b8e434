// The API keys of a tenant: create, list, revoke. A key is shown once, in the response to the form that created it, and
// stored nowhere.

import { z } from 'zod';
import { GrantdError } from '../../../core/errors.ts';
import { type Scope, scopeMask, scopesOf } from '../../../core/scopes.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import type { ListedKey, TenantStatus } from '../../../shard/shard.ts';
import { findKey } from '../../find-key.ts';
import { keyName, scopes } from '../../schemas.ts';
import { type Refusal, refuse, refuseInvalid, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  keyIdOf,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { copyCode } from '../parts/copy.ts';
import { parseDateTime } from '../parts/date-time.ts';
import { changeForm, checkBoxes, type Filled, formError, submit, textField } from '../parts/form-parts.ts';
import { type CreatedKey, createdPanel, keyEnd, keyFacts, mayRotate } from '../parts/key-facts.ts';
import { keyFactsOf, keyIdEnd, keyText } from '../parts/key-label.ts';
import { tenantFrame } from '../parts/layout.ts';
import { ago, code, empty, foreign, moment, pager, table } from '../parts/parts.ts';
import { readTenant } from './tenant.ts';

const KEYS_PER_PAGE = 50;

const SCOPE_MEANINGS: Readonly<Record<Scope, string>> = {
  'check:read': 'run checks, list objects and namespaces',
  'grant:write': 'create and revoke grants, create namespaces',
  admin: 'manage keys of any scope, replace the rules: with it, everything can be had',
};

function keysTable(tenant: TenantStatus, keys: readonly ListedKey[], nowMs: number): Markup {
  return table<ListedKey>(
    'API keys',
    [
      { title: 'Name', cell: ({ name }) => (name === '' ? html`<em>no name</em>` : foreign(name)) },
      {
        title: 'Scopes',
        cell: (key) => scopesOf(key.scopes).map((scope) => html`<span class="badge">${scope}</span> `),
      },
      { title: 'Created', cell: ({ createdAtMs }) => moment(createdAtMs) },
      {
        title: 'Expires',
        cell: (key) => keyEnd(key, nowMs),
      },
      {
        title: 'Last used',
        cell: ({ lastUsedAtMs }) => (lastUsedAtMs === undefined ? 'never' : ago(lastUsedAtMs, nowMs)),
      },
      { title: 'Id', cell: ({ keyId }) => copyCode(keyId) },
      {
        title: 'Actions',
        kind: 'actions',
        cell: (key) => {
          const of = ['tenants', tenant.tenantId, 'keys', key.keyId];
          const label = key.name === '' ? `the key ${keyIdEnd(key.keyId)}` : key.name;
          return html`${
            mayRotate(key, nowMs)
              ? html`<a class="button secondary outline" href=${pathTo([...of, 'rotate'])} aria-label="Rotate ${label}">Rotate …</a> `
              : undefined
          }<a class="button danger outline" href=${pathTo([...of, 'revoke'])} aria-label="Revoke ${label}">Revoke …</a>`;
        },
      },
    ],
    keys,
  );
}

function createForm(call: PageCall, tenant: TenantStatus, filled: Filled | undefined): Markup {
  const choices = Object.entries(SCOPE_MEANINGS).map(([value, meaning]) => ({
    value,
    text: html`<code>${value}</code> <small>${meaning}</small>`,
  }));
  return changeForm(
    call.session,
    pathTo(['tenants', tenant.tenantId, 'keys']),
    html`${formError(filled)}
      ${textField({ name: 'name', label: 'Name', hint: 'What the key is for, to tell it apart from others.' }, filled)}
      ${checkBoxes({ name: 'scopes', legend: 'Scopes', choices, checked: ['check:read'] }, filled)}
      ${textField({ name: 'expires', label: 'Expires (UTC)', type: 'datetime-local', hint: 'Empty: never.' }, filled)}
      ${submit('Create the key')}`,
    // If the page were the result of the form itself, loading it again would create a second key.
    { htmxTarget: '#content' },
  );
}

async function keysPage(
  dependencies: PageDependencies,
  call: PageCall,
  shown: { readonly refusal?: Refusal; readonly created?: CreatedKey } = {},
): Promise<PageResult> {
  const { operator, clock } = dependencies;
  const tenant = await readTenant(dependencies, call);
  const session = await tenantSessionOf(operator, call);
  const cursor = call.query.optional('cursor');
  const page = await session.call(CALLS.listKeys, call.context(), { limit: KEYS_PER_PAGE, cursor });
  const filled = shown.refusal === undefined ? undefined : { fields: call.form, refusal: shown.refusal };
  const listing =
    page.items.length === 0
      ? empty(
          'This tenant has no keys',
          'Applications need a key to use this tenant. Create the first one below and give it to its owner.',
        )
      : keysTable(tenant, page.items, clock.wallMs());
  const parts = ['tenants', tenant.tenantId, 'keys'];
  const content = html`
    ${shown.created === undefined ? undefined : createdPanel(shown.created, 'is created')}
    <section aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>${listing}${pager({ parts, query: {}, cursor, next: page.nextCursor })}
      <p>Has someone found a key? <a href=${pathTo(['identify-key'])}>Identify it.</a></p></section>
    <section class="card" aria-labelledby="new-key-title"><h2 id="new-key-title">Create a key</h2>${createForm(call, tenant, filled)}</section>`;
  const status = shown.refusal?.status ?? 200;
  return { kind: 'page', status, title: `Keys of ${tenant.name}`, body: tenantFrame(tenant, 'keys', content) };
}

const keyShape = z.object({ name: keyName, scopes });

async function create(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const { operator, clock } = dependencies;
  const again = (refusal: Refusal): Promise<PageResult> => keysPage(dependencies, call, { refusal });
  const parsed = keyShape.safeParse({ name: call.form.text('name').trim(), scopes: call.form.list('scopes') });
  if (!parsed.success) return again(refuseInvalid(parsed.error));
  const expires = call.form.optional('expires');
  const expiresAtMs = expires === undefined ? undefined : parseDateTime(expires);
  if (expires !== undefined && expiresAtMs === undefined)
    return again(refuse('expires', 'This is not a date and time.'));
  if (expiresAtMs !== undefined && expiresAtMs <= clock.wallMs()) {
    return again(refuse('expires', 'This must be in the future.'));
  }
  try {
    const session = await tenantSessionOf(operator, call);
    const { name } = parsed.data;
    const key = { name, scopes: scopeMask(parsed.data.scopes), expiresAtMs };
    const { record, text } = await session.createKey(call.context(), key);
    return keysPage(dependencies, call, { created: { key: record, text } });
  } catch (error) {
    return again(refuseThrown(error));
  }
}

async function askToRevoke(dependencies: PageDependencies, call: PageCall, refusal?: Refusal): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const keyId = keyIdOf(call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const key = await findKey(call.context, session, keyId);
  const back = pathTo(['tenants', tenant.tenantId, 'keys']);
  const form = changeForm(
    call.session,
    pathTo(['tenants', tenant.tenantId, 'keys', keyId, 'revoke']),
    html`${formError({ fields: call.form, refusal })}
      <p class="buttons">${submit('Revoke', 'danger')} <a class="button secondary outline" href=${back}>Cancel</a></p>`,
  );
  const content = html`<section class="confirm">
    <h2>Revoke this key</h2>
    ${key === undefined ? html`<p>${code(keyId)}</p>` : keyFacts(key, dependencies.clock.wallMs())}
    <p>Requests with this key that start afterwards are refused, on every front. This cannot be undone, but you can create another key.</p>
    ${form}
  </section>`;
  return {
    kind: 'page',
    status: refusal?.status ?? 200,
    title: 'Revoke a key',
    body: tenantFrame(tenant, 'keys', content),
  };
}

async function revoke(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const to = pathTo(['tenants', call.parameters.tenantId ?? '', 'keys']);
  const keyId = keyIdOf(call);
  try {
    const session = await tenantSessionOf(dependencies.operator, call);
    // Afterwards its name is no longer known.
    const key = await findKey(call.context, session, keyId);
    await session.call(CALLS.revokeKey, call.context(), keyId);
    const named = key === undefined ? keyId : keyText(keyFactsOf(key));
    return { kind: 'redirect', to, notice: `The key ${named} is revoked.` };
  } catch (error) {
    // Another operator was faster: the key is revoked, as requested.
    if (error instanceof GrantdError && error.code === 'key-not-found') {
      return { kind: 'redirect', to, notice: `The key ${keyId} had already been revoked.` };
    }
    return askToRevoke(dependencies, call, refuseThrown(error));
  }
}

export function keyPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const path = '/tenants/:tenantId/keys';
  const revokePath = `${path}/:keyId/revoke`;
  return [
    { method: 'GET', path, name: 'page-keys', access: 'read-only', run: (call) => keysPage(dependencies, call) },
    { method: 'POST', path, name: 'page-create-key', run: (call) => create(dependencies, call) },
    { method: 'GET', path: revokePath, name: 'page-revoke-key', run: (call) => askToRevoke(dependencies, call) },
    { method: 'POST', path: revokePath, name: 'page-revoke-key', run: (call) => revoke(dependencies, call) },
  ];
}
