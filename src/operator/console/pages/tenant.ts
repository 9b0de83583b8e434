// The overview of one tenant: its plan and usage, and the actions on the whole tenant. A form that changes something
// carries the value that it showed. If another operator was faster, the form is refused and shows the current value
// instead of overwriting it.

import { z } from 'zod';
import { GrantdError } from '../../../core/errors.ts';
import { resolvePlan } from '../../../core/plans.ts';
import type { Tenant } from '../../../core/tenants.ts';
import type { UsageMinute } from '../../../front/front.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import type { TenantStatus } from '../../../shard/shard.ts';
import { tenantName } from '../../schemas.ts';
import { type Refusal, refuse, refuseInvalid, refuseThrown } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantIdOf,
} from '../page.ts';
import { changeForm, type Filled, formError, selectField, submit, textField } from '../parts/form-parts.ts';
import { type FramedTenant, stateBadge, tenantFrame } from '../parts/layout.ts';
import { count, empty, moment, plural, table } from '../parts/parts.ts';
import { everyMinute, type Limit, limitPerMinute, limitsOf, usagePlot } from '../parts/plots.ts';
import { NAME_MISSING, planChoices, planText } from './tenants.ts';

/** The tenant in the path. Throws `tenant-not-found` also for a tenant that no longer exists. */
export async function readTenant({ operator }: PageDependencies, call: PageCall): Promise<TenantStatus> {
  const tenant = await operator.call(CALLS.readTenant, call.context(), { tenantId: tenantIdOf(call) });
  if (tenant.state === 'deleted') throw new GrantdError('tenant-not-found', 'There is no tenant with this ID.');
  return tenant;
}

/** Undefined if the tenant no longer exists. */
export async function unlessGone<Result>(read: Promise<Result>): Promise<Result | undefined> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code !== 'tenant-not-found') throw error;
    return undefined;
  }
}

/** Where the tenant cannot be read, its id stands for its name: an error page would lose what was typed. */
export async function readTenantOrId(dependencies: PageDependencies, call: PageCall): Promise<FramedTenant> {
  try {
    return await readTenant(dependencies, call);
  } catch {
    const tenantId = tenantIdOf(call);
    return { tenantId, name: tenantId, state: 'active' };
  }
}

const conflict = (what: string): string =>
  `Another operator has changed this to ${what} in the meantime. Nothing was overwritten; submit the form again to change it.`;

/** A burst is refused by the limit of the window, however quiet the rest of the minute is. */
function limitInWords(limit: Limit | undefined): string {
  if (limit === undefined) return 'The plan has no limit.';
  const perMinute = `${count(limitPerMinute(limit))} requests per minute`;
  if (limit.windowSeconds === 60) return `The limit is ${perMinute}.`;
  const window = limit.windowSeconds === 1 ? 'second' : plural(limit.windowSeconds, 'second');
  return `The limit is ${plural(limit.requests, 'request')} per ${window}: ${perMinute} if they come evenly.`;
}

async function usageMarkup(
  { operator, clock, plans }: PageDependencies,
  call: PageCall,
  tenant: Tenant,
): Promise<Markup> {
  const path = pathTo(['tenants', tenant.tenantId, 'usage']);
  const limitOf = (plan: string): Limit | undefined => {
    const { requests, windowSeconds } = resolvePlan(plans, plan);
    return requests === undefined ? undefined : { requests, windowSeconds };
  };
  const limit = limitOf(tenant.plan);
  const known = await operator.call(CALLS.readUsage, call.context(), { tenantId: tenant.tenantId });
  const minutes = everyMinute(known, clock.wallMs());
  // The current minute is incomplete and would look like a drop.
  const complete = minutes.slice(0, -1);
  const shown = complete.some(({ requests }) => requests > 0) ? complete : minutes;
  const sum = (pick: (minute: UsageMinute) => number): number =>
    minutes.reduce((total, minute) => total + pick(minute), 0);
  const all = sum((minute) => minute.requests);
  const refused = sum((minute) => minute.refused);
  const content =
    all === 0
      ? empty(
          'No requests in the last hour',
          'Usage is kept in memory for an hour. It starts again at zero when the tenant moves to another shard.',
        )
      : html`<p>
          ${plural(all, 'request')} in the last hour, ${count(sum((minute) => minute.checks))} of them checks.${' '}
          ${refused === 0 ? 'The limit refused none of them.' : html`<strong>${count(refused)} refused by the limit.</strong>`}
        </p>
        ${usagePlot(shown, limitsOf(shown, limit, limitOf))}
        <details>
          <summary>As a table</summary>
          ${table<UsageMinute>(
            'Requests per minute',
            [
              { title: 'Minute (UTC)', cell: ({ atMs }) => moment(atMs) },
              { title: 'Requests', kind: 'number', cell: (minute) => count(minute.requests) },
              { title: 'Checks', kind: 'number', cell: ({ checks }) => count(checks) },
              { title: 'Refused', kind: 'number', cell: (minute) => count(minute.refused) },
            ],
            minutes.filter((minute) => minute.requests > 0).toReversed(),
          )}
        </details>`;
  return html`<div id="usage" data-live="10000" hx-get=${path} hx-trigger="every 10s, refresh" hx-swap="outerMorph" hx-status:4xx="swap:none" hx-status:5xx="swap:none">
    <h2>Usage</h2>
    <p>${limitInWords(limit)}</p>
    ${content}
  </div>`;
}

interface Refused {
  readonly which: 'plan' | 'name';
  readonly refusal: Refusal;
}

function settingsForms({ plans }: PageDependencies, call: PageCall, tenant: Tenant, refused?: Refused): Markup {
  const parts = ['tenants', tenant.tenantId];
  const filledFor = (which: Refused['which']): Filled | undefined =>
    refused?.which === which ? { fields: call.form, refusal: refused.refusal } : undefined;
  const choices = planChoices(plans);
  const offered = plans.has(tenant.plan)
    ? choices
    : [...choices, { value: tenant.plan, text: planText(plans, tenant.plan) }];
  return html`<section class="card" aria-labelledby="settings-title">
    <h2 id="settings-title">Settings</h2>
    <div class="columns">
      ${changeForm(
        call.session,
        pathTo([...parts, 'plan']),
        html`${formError(filledFor('plan'))}
          <input type="hidden" name="shown" value=${tenant.plan} />
          ${selectField({ name: 'plan', label: 'Plan', choices: offered, value: tenant.plan }, filledFor('plan'))}
          ${submit('Change the plan', 'secondary')}`,
      )}
      ${changeForm(
        call.session,
        pathTo([...parts, 'name']),
        html`${formError(filledFor('name'))}
          <input type="hidden" name="shown" value=${tenant.name} />
          ${textField({ name: 'name', label: 'Name', value: tenant.name, required: true }, filledFor('name'))}
          ${submit('Change the name', 'secondary')}`,
      )}
    </div>
  </section>`;
}

function lifeLinks(tenant: Tenant): Markup {
  const { tenantId, state } = tenant;
  const suspend =
    state === 'suspended'
      ? html`<a class="button secondary" href=${pathTo(['tenants', tenantId, 'resume'])}>Resume …</a>`
      : html`<a class="button secondary" href=${pathTo(['tenants', tenantId, 'suspend'])}>Suspend …</a>`;
  return html`<section class="danger-zone" aria-labelledby="life-title">
    <h2 id="life-title">Suspend or delete</h2>
    <p>Suspending a tenant refuses its requests and keeps its data. Deleting it removes its data permanently.</p>
    <p class="buttons">${suspend} <a class="button danger outline" href=${pathTo(['tenants', tenantId, 'delete'])}>Delete …</a></p>
  </section>`;
}

/**
 * The state of a tenant during its deletion: the page follows it to its end. `tenant`: undefined once it no longer
 * exists.
 */
export function deletionMarkup(tenant: TenantStatus | undefined, tenantId: string): Markup {
  const path = pathTo(['tenants', tenantId, 'deletion']);
  if (tenant === undefined) {
    return html`<div id="deletion" role="status" class="empty deleted">
      <p class="empty-title">Tenant deleted</p>
      <p>All its data has been removed. Its <a href=${pathTo(['tenants', tenantId, 'audit-log'])}>audit log</a> is kept.
        <a href=${pathTo(['tenants'])}>Back to the tenants</a></p>
    </div>`;
  }
  const { partsRemoved = 0, lastPartAtMs } = tenant.deletion ?? {};
  const progress =
    partsRemoved === 0
      ? 'Nothing has been removed yet.'
      : html`${plural(partsRemoved, 'part')} removed${lastPartAtMs === undefined ? '' : html`, the last one at ${moment(lastPartAtMs)} UTC`}.`;
  return html`<div id="deletion" data-live="2000" hx-get=${path} hx-trigger="every 2s, refresh" hx-swap="outerMorph" hx-status:4xx="swap:none" hx-status:5xx="swap:none">
    <h2>Deletion</h2>
    <p>The data of this tenant is being removed in the background. Restarts do not stop this.</p>
    <progress aria-label="Deletion"></progress>
    <p role="status">${progress}</p>
  </div>`;
}

/** In KiB, rounded up: a small amount is not shown as nothing. */
function grantsFact({ tenantId, grants }: TenantStatus, max: number | undefined): Markup {
  if (grants === undefined) return undefined;
  const number = `${count(grants.grants)}${max === undefined ? '' : ` of ${count(max)}`} (${count(Math.ceil(grants.bytes / 1024))} KiB)`;
  return html`<div><dt>Grants</dt><dd><a href=${pathTo(['tenants', tenantId, 'grants'])}>${number}</a></dd></div>`;
}

async function overview(dependencies: PageDependencies, call: PageCall, refused?: Refused): Promise<PageResult> {
  const tenant = await readTenant(dependencies, call);
  const { namespacesMax, keysMax, grantsMax } = resolvePlan(dependencies.plans, tenant.plan);
  const { counts } = tenant;
  const bound = (title: string, path: string, number: number | undefined, max: number): Markup =>
    number === undefined
      ? undefined
      : html`<div><dt>${title}</dt><dd><a href=${pathTo(['tenants', tenant.tenantId, path])}>${count(number)} of ${count(max)}</a></dd></div>`;
  const facts = html`<dl class="facts">
    <div><dt>State</dt><dd>${stateBadge(tenant.state)}</dd></div>
    <div><dt>Plan</dt><dd>${planText(dependencies.plans, tenant.plan)}</dd></div>
    ${bound('Keys', 'keys', counts?.keys, keysMax)}
    ${bound('Namespaces', 'namespaces', counts?.namespaces, namespacesMax)}
    ${grantsFact(tenant, grantsMax)}
    <div><dt>Created</dt><dd>${moment(tenant.createdAtMs)} UTC</dd></div>
  </dl>`;
  const content =
    tenant.state === 'deleting'
      ? [facts, deletionMarkup(tenant, tenant.tenantId)]
      : [
          facts,
          await usageMarkup(dependencies, call, tenant),
          settingsForms(dependencies, call, tenant, refused),
          lifeLinks(tenant),
        ];
  const status = refused?.refusal.status ?? 200;
  return { kind: 'page', status, title: tenant.name, body: tenantFrame(tenant, '', content) };
}

/** Of a tenant that no longer exists: its data may be gone before the page is asked for that follows its deletion. */
async function deletedPage({ operator }: PageDependencies, call: PageCall): Promise<PageResult> {
  const tenantId = tenantIdOf(call);
  // Rejects for one that never existed.
  await operator.call(CALLS.listAuditLog, call.context(), { tenantId, limit: 1, cursor: undefined });
  return { kind: 'page', status: 404, title: 'Tenant deleted', body: deletionMarkup(undefined, tenantId) };
}

const showOverview = async (dependencies: PageDependencies, call: PageCall): Promise<PageResult> =>
  (await unlessGone(overview(dependencies, call))) ?? deletedPage(dependencies, call);

async function changePlan(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const { operator, plans } = dependencies;
  const again = (refusal: Refusal): Promise<PageResult> => overview(dependencies, call, { which: 'plan', refusal });
  const tenant = await readTenant(dependencies, call);
  const plan = call.form.text('plan');
  if (!plans.has(plan)) return again(refuse('plan', 'Choose one of the plans.'));
  if (tenant.plan !== call.form.text('shown')) return again(refuse('plan', conflict(`“${tenant.plan}”`), 409));
  try {
    const change = { tenantId: tenant.tenantId, plan, operator: call.session.operator };
    await operator.call(CALLS.updateTenant, call.context(), change);
    const notice = `The plan is now ${plan}.`;
    return { kind: 'redirect', to: pathTo(['tenants', tenant.tenantId]), notice };
  } catch (error) {
    return again(refuseThrown(error));
  }
}

async function changeName(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const { operator } = dependencies;
  const again = (refusal: Refusal): Promise<PageResult> => overview(dependencies, call, { which: 'name', refusal });
  const tenant = await readTenant(dependencies, call);
  const name = call.form.text('name').trim();
  if (name === '') return again(refuse('name', NAME_MISSING));
  const parsed = z.object({ name: tenantName }).safeParse({ name });
  if (!parsed.success) return again(refuseInvalid(parsed.error));
  if (tenant.name !== call.form.text('shown')) return again(refuse('name', conflict(`“${tenant.name}”`), 409));
  try {
    const change = { tenantId: tenant.tenantId, name: parsed.data.name, operator: call.session.operator };
    await operator.call(CALLS.updateTenant, call.context(), change);
    return { kind: 'redirect', to: pathTo(['tenants', tenant.tenantId]), notice: 'The name has been changed.' };
  } catch (error) {
    return again(refuseThrown(error));
  }
}

export function tenantPages(dependencies: PageDependencies): readonly ConsolePage[] {
  return [
    {
      method: 'GET',
      path: '/tenants/:tenantId',
      name: 'page-tenant',
      access: 'read-only',
      run: (call) => showOverview(dependencies, call),
    },
    {
      method: 'GET',
      path: '/tenants/:tenantId/usage',
      name: 'page-usage',
      access: 'read-only',
      unattended: true,
      async run(call) {
        const tenant = await readTenant(dependencies, call);
        return { kind: 'part', body: await usageMarkup(dependencies, call, tenant) };
      },
    },
    {
      method: 'POST',
      path: '/tenants/:tenantId/plan',
      name: 'page-change-plan',
      run: (call) => changePlan(dependencies, call),
    },
    {
      method: 'POST',
      path: '/tenants/:tenantId/name',
      name: 'page-change-name',
      run: (call) => changeName(dependencies, call),
    },
  ];
}
