// Changes that a tenant's users notice: suspend, resume, delete. Each asks for confirmation on a page of its own and
// says what will happen; a deletion requires typing the tenant's name.

import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { type Refusal, refuse, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantIdOf,
} from '../page.ts';
import { changeForm, formError, submit, textField } from '../parts/form-parts.ts';
import { tenantFrame } from '../parts/layout.ts';
import { foreign } from '../parts/parts.ts';
import { deletionMarkup, readTenant, unlessGone } from './tenant.ts';

interface Step {
  readonly path: 'suspend' | 'resume' | 'delete';
  readonly title: string;
  readonly explanation: Markup;
  readonly button: string;
  readonly state: 'suspended' | 'active' | 'deleting';
  readonly notice: string | undefined;
}

const STEPS: readonly Step[] = [
  {
    path: 'suspend',
    title: 'Suspend this tenant',
    explanation:
      'All its requests that start afterwards are refused, on every front. No data is removed; you can resume the tenant at any time.',
    button: 'Suspend',
    state: 'suspended',
    notice: 'The tenant is suspended: its requests are now refused.',
  },
  {
    path: 'resume',
    title: 'Resume this tenant',
    explanation: 'Its requests are served again at once, with the same keys and grants as before.',
    button: 'Resume',
    state: 'active',
    notice: 'The tenant is active again.',
  },
  {
    path: 'delete',
    title: 'Delete this tenant',
    explanation:
      'Its requests are refused at once, and all its keys, namespaces and grants are removed. This cannot be undone; you can only restore a backup.',
    button: 'Delete permanently',
    state: 'deleting',
    notice: undefined,
  },
];

async function ask(dependencies: PageDependencies, call: PageCall, step: Step, refusal?: Refusal): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const filled = { fields: call.form, refusal };
  const back = pathTo(['tenants', tenant.tenantId]);
  const typed =
    step.path === 'delete'
      ? textField(
          {
            name: 'typed',
            label: html`Type the tenant’s name: ${foreign(tenant.name)}`,
            required: true,
            hint: 'You can also type its ID.',
          },
          filled,
        )
      : undefined;
  const form = changeForm(
    call.session,
    pathTo(['tenants', tenant.tenantId, step.path]),
    html`${formError(filled)}${typed}
      <p class="buttons">
        ${submit(step.button, step.path === 'delete' ? 'danger' : 'primary')}
        ${' '}<a class="button secondary outline" href=${back}>Cancel</a>
      </p>`,
  );
  const content = html`<section class="confirm"><h2>${step.title}</h2><p>${step.explanation}</p>${form}</section>`;
  const status = refusal?.status ?? 200;
  return { kind: 'page', status, title: step.title, body: tenantFrame(tenant, '', content) };
}

async function take(dependencies: PageDependencies, call: PageCall, step: Step): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const { tenantId, name } = tenant;
  if (step.path === 'delete') {
    const typed = call.form.text('typed').trim();
    if (typed !== name.trim() && typed !== tenantId) {
      return ask(dependencies, call, step, refuse('typed', 'This is not the name of the tenant. Nothing was deleted.'));
    }
  }
  try {
    const change = { tenantId, state: step.state, operator: call.session.operator };
    await dependencies.operator.call(CALLS.updateTenant, call.context(), change);
  } catch (error) {
    return ask(dependencies, call, step, refuseThrown(error));
  }
  const to = pathTo(['tenants', tenantId]);
  return step.notice === undefined ? { kind: 'redirect', to } : { kind: 'redirect', to, notice: step.notice };
}

async function deletionPart(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const tenant = await unlessGone(readTenant(dependencies, call));
  return { kind: 'part', body: deletionMarkup(tenant, tenantIdOf(call)) };
}

export function tenantLifePages(dependencies: PageDependencies): readonly ConsolePage[] {
  const steps = STEPS.flatMap((step): ConsolePage[] => {
    const path = `/tenants/:tenantId/${step.path}`;
    const name = `page-${step.path}-tenant`;
    return [
      { method: 'GET', path, name, run: (call) => ask(dependencies, call, step) },
      { method: 'POST', path, name, run: (call) => take(dependencies, call, step) },
    ];
  });
  return [
    ...steps,
    {
      method: 'GET',
      path: '/tenants/:tenantId/deletion',
      name: 'page-deletion',
      access: 'read-only',
      unattended: true,
      run: (call) => deletionPart(dependencies, call),
    },
  ];
}
