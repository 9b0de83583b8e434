// The namespaces of a tenant: list and create. A grant creates the namespaces that it names, so few are created here.

import type { Namespace } from '../../../../src/core/tuples.ts';
import { isNamespaceName } from '../../../../src/core/tuples.ts';
import { html } from '../../../../src/http/pages/markup.ts';
import { type Refusal, refuse } from '../forms.ts';
import { openTenant, type PageCall, type PageResult, redirect, tenantPath, tenantSessionOf } from '../page.ts';
import { changeForm, formError, refilled, submit, textField } from '../parts/form-parts.ts';
import { tenantPage } from '../parts/layout.ts';
import { code, count, empty, minute, section, table } from '../parts/parts.ts';

/** A tenant has at most as many as its plan allows, a thousand by default: they fit one page. */
const NAMESPACES_SHOWN_MAX = 5000;

export async function namespacesPage(call: PageCall, refusal?: Refusal): Promise<PageResult> {
  const { tenant, session } = await openTenant(call);
  const all = await session.call('listNamespaces', call.context(), undefined);
  const shown = all.slice(0, NAMESPACES_SHOWN_MAX);
  const listing =
    all.length === 0
      ? empty(
          'This tenant has no namespaces',
          'A grant creates its namespaces automatically. Create one here to reserve its name.',
        )
      : [
          table<Namespace>('Namespaces', shown, [
            ['Name', ({ name }) => code(name)],
            ['Created', ({ createdAtMs }) => minute(createdAtMs)],
          ]),
          all.length > shown.length ? html`<p>${count(all.length - shown.length)} more are not shown.</p>` : undefined,
        ];
  const filled = refilled(call.form, refusal);
  const form = changeForm(
    call.session,
    tenantPath(tenant.tenantId, 'namespaces'),
    html`${formError(filled)}
      ${textField({ name: 'name', label: 'Name', required: true, hint: 'A letter, then up to 63 letters, digits, “_”, “.” or “-”.' }, filled)}
      ${submit('Create the namespace')}`,
  );
  const content = [
    section('namespaces', 'Namespaces', listing),
    section('new-namespace', 'Create a namespace', form, 'card'),
  ];
  return tenantPage(tenant, 'namespaces', `Namespaces of ${tenant.name}`, content, refusal);
}

export async function createNamespace(call: PageCall): Promise<PageResult | Refusal> {
  const name = call.form.typed('name');
  if (!isNamespaceName(name)) return refuse('name', 'This is not a valid namespace name.');
  const session = await tenantSessionOf(call);
  const { created } = await session.call('createNamespace', call.context(), name);
  const path = tenantPath(session.tenantId, 'namespaces');
  return redirect(path, created ? `Namespace ${name} created.` : `Namespace ${name} already existed.`);
}
