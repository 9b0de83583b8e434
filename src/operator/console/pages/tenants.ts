// The tenants: search by part of the name or by id, a page at a time; create one.

import { z } from 'zod';
import { parseTenantId } from '../../../core/ids.ts';
import { DEFAULT_PLAN_NAME, type Plans } from '../../../core/plans.ts';
import type { Tenant } from '../../../core/tenants.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { tenantName } from '../../schemas.ts';
import { NO_FIELDS, type Refusal, refuse, refuseInvalid, refuseThrown } from '../forms.ts';
import { type ConsolePage, type PageCall, type PageDependencies, type PageResult, pathTo } from '../page.ts';
import { changeForm, type Filled, formError, selectField, submit, textField } from '../parts/form-parts.ts';
import { stateBadge } from '../parts/layout.ts';
import { code, count, empty, foreign, moment, pager, table } from '../parts/parts.ts';

const TENANTS_PER_PAGE = 50;
/** Longer than any name. */
const SEARCH_LENGTH_MAX = 300;

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

/** A deleted tenant is in no listing, but its audit log is kept. */
function auditLogOf(search: string): Markup {
  const tenantId = parseTenantId(search);
  if (tenantId === undefined) return undefined;
  return html`${' '}If it was deleted, <a href=${pathTo(['tenants', tenantId, 'audit-log'])}>its audit log</a> is still available.`;
}

async function results({ operator }: PageDependencies, call: PageCall): Promise<Markup> {
  const search = call.query.text('q').trim().slice(0, SEARCH_LENGTH_MAX);
  const cursor = call.query.optional('cursor');
  const after = cursor === undefined ? undefined : parseTenantId(cursor);
  const query = { after, limit: TENANTS_PER_PAGE, ...(search === '' ? {} : { name: search }) };
  const { tenants, next } = await operator.listTenants(call.context(), query);
  const listing =
    tenants.length > 0
      ? table<Tenant>(
          'Tenants',
          [
            {
              title: 'Name',
              cell: ({ tenantId, name }) => html`<a href=${pathTo(['tenants', tenantId])}>${foreign(name)}</a>`,
            },
            { title: 'Plan', cell: ({ plan }) => plan },
            { title: 'State', cell: ({ state }) => stateBadge(state) },
            { title: 'Created', cell: ({ createdAtMs }) => moment(createdAtMs) },
            { title: 'Id', cell: ({ tenantId }) => code(tenantId) },
          ],
          tenants,
        )
      : search !== ''
        ? empty(
            next === undefined ? 'No tenant matches' : 'None found so far',
            next === undefined
              ? html`Search for a shorter part of the name, or <a href=${pathTo(['tenants'])}>show all tenants</a>.${auditLogOf(search)}`
              : 'There are more tenants to search: continue with the next page.',
          )
        : empty(
            'There are no tenants yet',
            html`A tenant is a customer with its own keys, namespaces and grants.${' '}
              <a href=${pathTo(['tenants', 'new'])}>Create the first one</a>.`,
          );
  return html`<div id="results">
    ${listing}
    ${pager({ parts: ['tenants'], query: { q: search }, cursor, next })}
  </div>`;
}

async function listingPage(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const search = call.query.text('q');
  const path = pathTo(['tenants']);
  const body = html`<div class="title-row">
      <h1>Tenants</h1>
      <a class="button" href=${pathTo(['tenants', 'new'])}>Create a tenant</a>
    </div>
    <search><form method="get" action=${path} class="form-row">
      <div class="field">
        <label for="q">Search by name or ID</label>
        <input
          id="q" type="search" name="q" value=${search} autocomplete="off" spellcheck="false" dir="auto"
          hx-get=${path} hx-trigger="input changed delay:300ms" hx-target="#results" hx-select="#results"
          hx-swap="outerHTML" hx-sync="this:replace" hx-status:4xx="swap:none" hx-status:5xx="swap:none"
        />
      </div>
      ${submit('Search', 'secondary')}
    </form></search>
    ${await results(dependencies, call)}
    <p>Has someone found a key? <a href=${pathTo(['identify-key'])}>Identify it.</a></p>`;
  return { kind: 'page', status: 200, title: 'Tenants', body };
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
  const parsed = z.object({ name: tenantName }).safeParse({ name: call.form.text('name').trim() });
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
      run: (call) => listingPage(dependencies, call),
    },
    { method: 'POST', path: '/tenants', name: 'page-create-tenant', run: (call) => create(dependencies, call) },
    { method: 'GET', path: '/tenants/new', name: 'page-new-tenant', run: async (call) => newPage(dependencies, call) },
  ];
}
