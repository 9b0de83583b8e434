// The namespaces of a tenant: list and create. A grant creates the namespaces that it names, so few are created here.

import type { Namespace } from '../../../core/tuples.ts';
import { isNamespaceName } from '../../../core/tuples.ts';
import { html } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { type Refusal, refuse, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantSessionOf,
} from '../page.ts';
import { changeForm, formError, submit, textField } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { code, count, empty, moment, table } from '../parts/parts.ts';
import { readTenant } from './tenant.ts';

/** A tenant has at most as many as its plan allows, a thousand by default: they fit one page. */
const NAMESPACES_SHOWN_MAX = 5000;

async function namespacesPage(dependencies: PageDependencies, call: PageCall, refusal?: Refusal): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const session = await tenantSessionOf(dependencies.operator, call);
  const all = await session.call(CALLS.listNamespaces, call.context(), undefined);
  const shown = all.slice(0, NAMESPACES_SHOWN_MAX);
  const filled = refusal === undefined ? undefined : { fields: call.form, refusal };
  const listing =
    all.length === 0
      ? empty(
          'This tenant has no namespaces',
          'A grant creates its namespaces automatically. Create one here to reserve its name.',
        )
      : [
          table<Namespace>(
            'Namespaces',
            [
              { title: 'Name', cell: ({ name }) => code(name) },
              { title: 'Created', cell: ({ createdAtMs }) => moment(createdAtMs) },
            ],
            shown,
          ),
          all.length > shown.length ? html`<p>${count(all.length - shown.length)} more are not shown.</p>` : undefined,
        ];
  const form = changeForm(
    call.session,
    pathTo(['tenants', tenant.tenantId, 'namespaces']),
    html`${formError(filled)}
      ${textField({ name: 'name', label: 'Name', required: true, hint: 'A letter, then up to 63 letters, digits, “_”, “.” or “-”.' }, filled)}
      ${submit('Create the namespace')}`,
  );
  const content = html`
    <section aria-labelledby="namespaces-title"><h2 id="namespaces-title">Namespaces</h2>${listing}</section>
    <section class="card" aria-labelledby="new-namespace-title"><h2 id="new-namespace-title">Create a namespace</h2>${form}</section>`;
  const status = refusal?.status ?? 200;
  return {
    kind: 'page',
    status,
    title: `Namespaces of ${tenant.name}`,
    body: tenantFrame(tenant, 'namespaces', content),
  };
}

async function create(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const name = call.form.text('name').trim();
  if (!isNamespaceName(name)) {
    return namespacesPage(dependencies, call, refuse('name', 'This is not a valid namespace name.'));
  }
  try {
    const session = await tenantSessionOf(dependencies.operator, call);
    const { created } = await session.call(CALLS.createNamespace, call.context(), name);
    const notice = created ? `Namespace ${name} created.` : `Namespace ${name} already existed.`;
    return { kind: 'redirect', to: pathTo(['tenants', session.tenantId, 'namespaces']), notice };
  } catch (error) {
    return namespacesPage(dependencies, call, refuseThrown(error));
  }
}

export function namespacePages(dependencies: PageDependencies): readonly ConsolePage[] {
  const path = '/tenants/:tenantId/namespaces';
  return [
    {
      method: 'GET',
      path,
      name: 'page-namespaces',
      access: 'read-only',
      run: (call) => namespacesPage(dependencies, call),
    },
    { method: 'POST', path, name: 'page-create-namespace', run: (call) => create(dependencies, call) },
  ];
}
