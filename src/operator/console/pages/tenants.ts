// The tenants: the list of them, and the page that creates one; and the plans in words.

import { z } from 'zod';
import { DEFAULT_PLAN_NAME, type Plans } from '../../../core/plans.ts';
import { html } from '../../../http/pages/markup.ts';
import { tenantName } from '../../schemas.ts';
import { NO_FIELDS, type Refusal, refuse, refuseInvalid, refuseThrown } from '../forms.ts';
import { type ConsolePage, type PageCall, type PageDependencies, type PageResult, pathTo } from '../page.ts';
import { changeForm, type Filled, formError, selectField, submit, textField } from '../parts/form-parts.ts';
import { count } from '../parts/parts.ts';
import { tenantListPage } from './tenant-list.ts';

export const NAME_MISSING = 'Enter a name.';

/** The rate limit of a plan, in words. */
export function planText(plans: Plans, name: string): string {
  const plan = plans.get(name);
  if (plan === undefined) return `${name} (not configured here; treated as ${DEFAULT_PLAN_NAME})`;
  if (plan.requests === undefined) return `${name} (no limit)`;
  const { windowSeconds } = plan;
  const window =
    windowSeconds === 1 ? 'a second' : windowSeconds === 60 ? 'a minute' : `in ${count(windowSeconds)} seconds`;
  return `${name} (${count(plan.requests)} requests ${window})`;
}

export function planChoices(plans: Plans): readonly { readonly value: string; readonly text: string }[] {
  return [...plans.keys()].map((name) => ({ value: name, text: planText(plans, name) }));
}

function newPage({ plans }: PageDependencies, call: PageCall, refusal?: Refusal): PageResult {
  const filled: Filled = { fields: refusal === undefined ? NO_FIELDS : call.form, refusal };
  const form = changeForm(
    call.session,
    pathTo(['tenants']),
    html`${formError(filled)}
      ${textField({ name: 'name', label: 'Name', required: true, hint: 'Shown to operators; up to 256 characters. It can be changed later.' }, filled)}
      ${selectField({ name: 'plan', label: 'Plan', choices: planChoices(plans), value: DEFAULT_PLAN_NAME, hint: 'Sets the request limit. It can be changed at any time.' }, filled)}
      ${submit('Create the tenant')}`,
  );
  const body = html`<p class="crumb"><a href=${pathTo(['tenants'])}>Tenants</a></p><h1>Create a tenant</h1>${form}`;
  return { kind: 'page', status: refusal?.status ?? 200, title: 'Create a tenant', body };
}

async function create(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const { operator, plans } = dependencies;
  const name = call.form.text('name').trim();
  if (name === '') return newPage(dependencies, call, refuse('name', NAME_MISSING));
  const parsed = z.object({ name: tenantName }).safeParse({ name });
  if (!parsed.success) return newPage(dependencies, call, refuseInvalid(parsed.error));
  const plan = call.form.text('plan');
  if (!plans.has(plan)) return newPage(dependencies, call, refuse('plan', 'Choose one of the plans.'));
  try {
    const tenant = { name: parsed.data.name, plan, operator: call.session.operator };
    const { tenantId } = await operator.createTenant(call.context(), tenant);
    const notice = 'Tenant created. Next, create an API key so that applications can use it.';
    return { kind: 'redirect', to: pathTo(['tenants', tenantId, 'keys']), notice };
  } catch (error) {
    return newPage(dependencies, call, refuseThrown(error));
  }
}

export function tenantsPages(dependencies: PageDependencies): readonly ConsolePage[] {
  return [
    {
      method: 'GET',
      path: '/tenants',
      name: 'page-tenants',
      access: 'read-only',
      run: (call) => tenantListPage(dependencies, call),
    },
    { method: 'POST', path: '/tenants', name: 'page-create-tenant', run: (call) => create(dependencies, call) },
    { method: 'GET', path: '/tenants/new', name: 'page-new-tenant', run: async (call) => newPage(dependencies, call) },
  ];
}
