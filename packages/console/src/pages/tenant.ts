// The overview of one tenant: its plan and usage, and the changes of the whole tenant. A form that changes something
// carries the value that it showed. If another operator was faster, the form is refused and shows the current value
// instead of overwriting it. To suspend, resume or delete a tenant asks for confirmation on a page of its own, which
// says what will happen; a deletion requires typing the tenant's name.

import { READERS_MAX, readersOf, resolvePlan } from '../../../../src/core/plans.ts';
import type { Tenant } from '../../../../src/core/tenants.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { tenantIdOf } from '../../../../src/operator/path-ids.ts';
import type { TenantStatus } from '../../../../src/shard/shard.ts';
import { type Refusal, refuse } from '../forms.ts';
import { type PageCall, type PageResult, page, pathTo, readTenant, redirect, tenantPath, unlessGone } from '../page.ts';
import {
  changeForm,
  formError,
  hidden,
  refilled,
  selectField,
  submit,
  submitOrLeave,
  textField,
} from '../parts/form-parts.ts';
import { confirmPage, stateBadge, tenantPage } from '../parts/layout.ts';
import { buttonLink, count, fact, foreign, moment, plural, refreshing, section } from '../parts/parts.ts';
import { usageMarkup } from './tenant-usage.ts';
import { planChoices, planText, readTenantName, refusePlan } from './tenants.ts';

const conflict = (what: string): string =>
  `Another operator has changed this to ${what} in the meantime. Nothing was overwritten; submit the form again to change it.`;

type Setting = 'plan' | 'name' | 'readers';

const READERS_OF_PLAN = 'plan';
const READERS_NUMBERS = Array.from({ length: READERS_MAX + 1 }, (_, readers) => String(readers));
/** The values of the field for the readers. */
const READERS_VALUES = [READERS_OF_PLAN, 'auto', ...READERS_NUMBERS];
const readersValue = ({ readers }: Tenant): string => String(readers ?? READERS_OF_PLAN);

function settingsForms(call: PageCall, tenant: Tenant, refused: Setting | undefined, refusal?: Refusal): Markup {
  const { plans, form, session } = call;
  const choices = planChoices(plans);
  const offered = plans.has(tenant.plan)
    ? choices
    : [...choices, { value: tenant.plan, text: planText(plans, tenant.plan) }];
  const { readers: planned, readersMax } = resolvePlan(plans, tenant.plan);
  const readers = {
    name: 'readers',
    label: 'Readers',
    choices: [
      { value: READERS_OF_PLAN, text: `as its plan says (${planned})` },
      { value: 'auto', text: `auto: as many as it needs, up to ${readersMax}` },
      ...READERS_NUMBERS.map((value) => ({ value, text: value })),
    ],
    value: readersValue(tenant),
    hint: 'Shards that answer reads of this tenant beside its owner.',
  };
  const filledFor = (setting: Setting) => (refused === setting ? refilled(form, refusal) : undefined);
  const formFor = (setting: Setting, field: Markup): Markup =>
    changeForm(
      session,
      tenantPath(tenant.tenantId, setting),
      html`${formError(filledFor(setting))}
        ${hidden({ shown: setting === 'readers' ? readers.value : tenant[setting] })}
        ${field}
        ${submit(`Change the ${setting}`, 'secondary')}`,
    );
  const plan = { name: 'plan', label: 'Plan', choices: offered, value: tenant.plan };
  const name = { name: 'name', label: 'Name', value: tenant.name, required: true };
  const forms = html`<div class="columns">
    ${formFor('plan', selectField(plan, filledFor('plan')))}
    ${formFor('name', textField(name, filledFor('name')))}
    ${formFor('readers', selectField(readers, filledFor('readers')))}
  </div>`;
  return section('settings', 'Settings', forms, 'card');
}

function lifeLinks({ tenantId, state }: Tenant): Markup {
  const [path, text] = state === 'suspended' ? ['resume', 'Resume …'] : ['suspend', 'Suspend …'];
  const links = html`
    <p>Suspending a tenant refuses its requests and keeps its data. Deleting it removes its data permanently.</p>
    <p class="buttons">${buttonLink(tenantPath(tenantId, path), text, 'secondary')}${' '}
      ${buttonLink(tenantPath(tenantId, 'delete'), 'Delete …', 'danger outline')}</p>`;
  return section('life', 'Suspend or delete', links, 'danger-zone');
}

/**
 * The state of a tenant during its deletion: the page follows it to its end. `tenant`: undefined once it no longer
 * exists.
 */
function deletionMarkup(tenant: TenantStatus | undefined, tenantId: string): Markup {
  if (tenant === undefined) {
    return html`<div id="deletion" role="status" class="empty deleted">
      <p class="empty-title">Tenant deleted</p>
      <p>All its data has been removed. Its <a href=${tenantPath(tenantId, 'audit-log')}>audit log</a> is kept.${' '}
        <a href=${pathTo(['tenants'])}>Back to the tenants</a></p>
    </div>`;
  }
  const { partsRemoved = 0, lastPartAtMs } = tenant.deletion ?? {};
  const progress =
    partsRemoved === 0
      ? 'Nothing has been removed yet.'
      : html`${plural(partsRemoved, 'part')} removed${lastPartAtMs && html`, the last one at ${moment(lastPartAtMs)}`}.`;
  return html`<div id="deletion" ...${refreshing(tenantPath(tenantId, 'deletion'), 2000)}>
    <h2>Deletion</h2>
    <p>The data of this tenant is being removed in the background. Restarts do not stop this.</p>
    <progress aria-label="Deletion"></progress>
    <p role="status">${progress}</p>
  </div>`;
}

function readersText(plans: PageCall['plans'], tenant: TenantStatus): string {
  const readers = readersOf(plans, tenant);
  if (readers !== 'auto') return count(readers);
  const { chosenReaders: now } = tenant;
  return now === undefined ? 'auto' : `auto: ${count(now)} now`;
}

function factsMarkup({ plans }: PageCall, tenant: TenantStatus): Markup {
  const { tenantId, state, plan, counts, grants, createdAtMs } = tenant;
  const { namespacesMax, keysMax, grantsMax } = resolvePlan(plans, plan);
  const bound = (
    title: string,
    path: string,
    number: number | undefined,
    max: number | undefined,
    more = '',
  ): Markup => {
    if (number === undefined) return undefined;
    const text = `${count(number)}${max === undefined ? '' : ` of ${count(max)}`}${more}`;
    return fact(title, html`<a href=${tenantPath(tenantId, path)}>${text}</a>`);
  };
  // Rounded up: a small amount is not shown as nothing.
  const kibibytes = Math.ceil((grants?.bytes ?? 0) / 1024);
  return html`<dl class="facts">
    ${fact('State', stateBadge(state))}
    ${fact('Plan', planText(plans, plan))}
    ${bound('Keys', 'keys', counts?.keys, keysMax)}
    ${bound('Namespaces', 'namespaces', counts?.namespaces, namespacesMax)}
    ${bound('Grants', 'grants', grants?.grants, grantsMax, ` (${count(kibibytes)} KiB)`)}
    ${fact('Readers', readersText(plans, tenant))}
    ${fact('Created', moment(createdAtMs))}
  </dl>`;
}

async function overview(call: PageCall, refused?: Setting, refusal?: Refusal): Promise<PageResult> {
  const tenant = await readTenant(call);
  const content =
    tenant.state === 'deleting'
      ? deletionMarkup(tenant, tenant.tenantId)
      : [await usageMarkup(call, tenant), settingsForms(call, tenant, refused, refusal), lifeLinks(tenant)];
  return tenantPage(tenant, '', tenant.name, [factsMarkup(call, tenant), content], refusal);
}

export const planPage = (call: PageCall, refusal: Refusal): Promise<PageResult> => overview(call, 'plan', refusal);
export const namePage = (call: PageCall, refusal: Refusal): Promise<PageResult> => overview(call, 'name', refusal);
export const readersPage = (call: PageCall, refusal: Refusal): Promise<PageResult> =>
  overview(call, 'readers', refusal);

/** The data of a tenant may be gone before the browser requests the page that follows its deletion. */
async function deletedPage(call: PageCall): Promise<PageResult> {
  const tenantId = tenantIdOf(call);
  // Rejects for one that never existed.
  await call.operator.call('listAuditLog', call.context(), { tenantId, limit: 1, cursor: undefined });
  return page('Tenant deleted', deletionMarkup(undefined, tenantId), { status: 404 });
}

export const overviewPage = async (call: PageCall): Promise<PageResult> =>
  (await unlessGone(overview(call))) ?? deletedPage(call);

export const deletionPart = async (call: PageCall): Promise<PageResult> => ({
  kind: 'part',
  body: deletionMarkup(await unlessGone(readTenant(call)), tenantIdOf(call)),
});

export async function changePlan(call: PageCall): Promise<PageResult | Refusal> {
  const { operator, plans, form, session } = call;
  const { tenantId, plan: present } = await readTenant(call);
  const plan = form.text('plan');
  const refused = refusePlan(plans, plan);
  if (refused !== undefined) return refused;
  if (present !== form.text('shown')) return refuse('plan', conflict(`“${present}”`), 409);
  await operator.call('updateTenant', call.context(), { tenantId, plan, operator: session.operator });
  return redirect(tenantPath(tenantId), `The plan is now ${plan}.`);
}

export async function changeName(call: PageCall): Promise<PageResult | Refusal> {
  const { operator, form, session } = call;
  const { tenantId, name: present } = await readTenant(call);
  const read = readTenantName(form);
  if ('refusal' in read) return read.refusal;
  if (present !== form.text('shown')) return refuse('name', conflict(`“${present}”`), 409);
  await operator.call('updateTenant', call.context(), { tenantId, name: read.name, operator: session.operator });
  return redirect(tenantPath(tenantId), 'The name has been changed.');
}

export async function changeReaders(call: PageCall): Promise<PageResult | Refusal> {
  const { operator, form, session } = call;
  const tenant = await readTenant(call);
  const { tenantId } = tenant;
  const value = form.text('readers');
  if (!READERS_VALUES.includes(value)) return refuse('readers', 'Choose a number, auto, or what the plan says.');
  const present = readersValue(tenant);
  const textOf = (each: string): string => (each === READERS_OF_PLAN ? 'what its plan says' : each);
  if (present !== form.text('shown')) return refuse('readers', conflict(textOf(present)), 409);
  const readers = value === READERS_OF_PLAN ? null : value === 'auto' ? value : Number(value);
  await operator.call('updateTenant', call.context(), { tenantId, readers, operator: session.operator });
  return redirect(tenantPath(tenantId), `Its readers are now ${textOf(value)}.`);
}

/** A change that the users of the tenant notice. */
interface LifeStep {
  readonly path: string;
  readonly title: string;
  readonly explanation: string;
  readonly button: string;
  readonly state: 'suspended' | 'active' | 'deleting';
  readonly notice?: string;
}

export const LIFE_STEPS: readonly LifeStep[] = [
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
  },
];

export const lifePage =
  ({ path, title, explanation, button, state }: LifeStep) =>
  async (call: PageCall, refusal?: Refusal): Promise<PageResult> => {
    const tenant = await readTenant(call);
    const { tenantId, name } = tenant;
    const filled = { fields: call.form, refusal };
    const label = html`Type the tenant’s name: ${foreign(name)}`;
    const deletes = state === 'deleting';
    const form = changeForm(
      call.session,
      tenantPath(tenantId, path),
      html`${formError(filled)}
        ${deletes && textField({ name: 'typed', label, required: true, hint: 'You can also type its ID.' }, filled)}
        ${submitOrLeave(button, deletes ? 'danger' : 'primary', tenantPath(tenantId))}`,
    );
    const content = html`<h2>${title}</h2><p>${explanation}</p>${form}`;
    return confirmPage(tenant, '', title, content, { refusal });
  };

export const takeLifeStep =
  ({ state, notice }: LifeStep) =>
  async (call: PageCall): Promise<PageResult | Refusal> => {
    const { tenantId, name } = await readTenant(call);
    const typed = call.form.typed('typed');
    if (state === 'deleting' && typed !== name.trim() && typed !== tenantId) {
      return refuse('typed', 'This is not the name of the tenant. Nothing was deleted.');
    }
    await call.operator.call('updateTenant', call.context(), { tenantId, state, operator: call.session.operator });
    return redirect(tenantPath(tenantId), notice);
  };
