// The tenants: the list of them, and the page that creates one. Invariant: a page of the list reads a bounded number of
// records, however many tenants there are. By ID, a page continues after the one before it; any other order sorts the
// first tenants that match, and says so if there are more.

import { z } from 'zod';
import { parseTenantId, type TenantId } from '../../../../src/core/ids.ts';
import { PAGE_LIMIT_MAX } from '../../../../src/core/limits.ts';
import { DEFAULT_PLAN_NAME, type Plans } from '../../../../src/core/plans.ts';
import { LISTED_STATES, type TenantFilter } from '../../../../src/core/tenants.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { tenantName } from '../../../../src/operator/schemas.ts';
import type { TenantStatus } from '../../../../src/shard/shard.ts';
import { type Fields, type Refusal, refuse, refuseInvalid } from '../forms.ts';
import { type PageCall, type PageResult, page, pathTo, type Query, redirect, tenantPath, withQuery } from '../page.ts';
import {
  type Choice,
  changeForm,
  choicesOf,
  formError,
  queryForm,
  refilled,
  selectField,
  submit,
  textField,
} from '../parts/form-parts.ts';
import { stateBadge } from '../parts/layout.ts';
import {
  asOf,
  buttonLink,
  copyCode,
  count,
  crumb,
  empty,
  foreign,
  identifyLink,
  minute,
  pageLinks,
  plural,
  table,
  UNLESS_FAILED,
} from '../parts/parts.ts';

const PATH = pathTo(['tenants']);
const NEW_PATH = pathTo(['tenants', 'new']);

const TENANTS_PER_PAGE = 50;
/** Maximum rows sorted when not ordering by ID: those of one call. */
const SORTED_MAX = PAGE_LIMIT_MAX;
/** Longer than any name. */
const SEARCH_LENGTH_MAX = 300;
/** Pages that “Previous page” can step back through. Their cursors are in the address, 30 characters each. */
const PAGES_BACK_MAX = 30;
/** Stands for the pages before them. */
const FORGOTTEN = '~';

type Compare = (left: TenantStatus, right: TenantStatus) => number;

/** Unknown counts come last. */
const descending =
  (pick: (tenant: TenantStatus) => number | undefined): Compare =>
  (left, right) =>
    (pick(right) ?? -1) - (pick(left) ?? -1);

const byName = new Intl.Collator('en', { numeric: true });

const ORDERS: Readonly<Record<string, { readonly text: string; readonly compare: Compare }>> = {
  name: { text: 'name', compare: (left, right) => byName.compare(left.name, right.name) },
  newest: { text: 'newest first', compare: descending(({ createdAtMs }) => createdAtMs) },
  oldest: { text: 'oldest first', compare: (left, right) => left.createdAtMs - right.createdAtMs },
  grants: { text: 'most grants', compare: descending(({ grants }) => grants?.grants) },
  requests: { text: 'most requests', compare: descending(({ lastMinute }) => lastMinute?.requests) },
};

interface ListQuery {
  readonly search: string;
  readonly filter: TenantFilter;
  /** A name in `ORDERS`; undefined: by ID. */
  readonly sort: string | undefined;
}

function askedOf({ query }: PageCall): ListQuery {
  const search = query.typed('q').slice(0, SEARCH_LENGTH_MAX);
  const state = LISTED_STATES.find((each) => each === query.text('state'));
  const sort = query.text('sort');
  return {
    search,
    filter: { name: search === '' ? undefined : search, plan: query.optional('plan'), state },
    sort: Object.hasOwn(ORDERS, sort) ? sort : undefined,
  };
}

const queryOf = ({ search, filter: { plan, state }, sort }: ListQuery): Query => ({ q: search, plan, state, sort });

interface ListedPage {
  readonly tenants: readonly TenantStatus[];
  /** The range of the listing that this page shows, as far as it is known. */
  readonly place: Markup;
  readonly first: Query | undefined;
  readonly previous: Query | undefined;
  readonly next: Query | undefined;
}

/** The cursors of the pages before this one. */
function cursorsBack(call: PageCall): readonly string[] {
  const cursors = call.query.text('back').split('.');
  const isValid = cursors.every((each, at) => parseTenantId(each) !== undefined || (at === 0 && each === FORGOTTEN));
  return isValid && cursors.length <= PAGES_BACK_MAX + 1 ? cursors : [];
}

async function pageById(call: PageCall, asked: ListQuery): Promise<ListedPage> {
  const cursor = call.query.optional('cursor');
  const after: TenantId | undefined = cursor === undefined ? undefined : parseTenantId(cursor);
  const listed = await call.operator.listTenants(call.context(), { ...asked.filter, after, limit: TENANTS_PER_PAGE });
  const query = queryOf(asked);
  const back = cursorsBack(call);
  const earlier = back.at(-1);
  const before = after === undefined ? back : [...back, after];
  const kept = before.length > PAGES_BACK_MAX ? [FORGOTTEN, ...before.slice(-PAGES_BACK_MAX + 1)] : before;
  return {
    tenants: listed.tenants,
    place: undefined,
    first: after === undefined ? undefined : query,
    previous:
      after === undefined || earlier === FORGOTTEN
        ? undefined
        : { ...query, cursor: earlier, back: back.slice(0, -1).join('.') },
    next: listed.next === undefined ? undefined : { ...query, cursor: listed.next, back: kept.join('.') },
  };
}

async function sortedPage(call: PageCall, asked: ListQuery, compare: Compare): Promise<ListedPage> {
  const query = { ...asked.filter, after: undefined, limit: SORTED_MAX };
  const { tenants, next } = await call.operator.listTenants(call.context(), query);
  const sorted = tenants.toSorted((left, right) => compare(left, right) || (left.tenantId < right.tenantId ? -1 : 1));
  const pages = Math.max(1, Math.ceil(sorted.length / TENANTS_PER_PAGE));
  const wanted = /^[1-9][0-9]{0,3}$/.test(call.query.text('page')) ? Number(call.query.text('page')) : 1;
  const at = Math.min(wanted, pages);
  const start = (at - 1) * TENANTS_PER_PAGE;
  const to = (number: number): Query => ({ ...queryOf(asked), page: number === 1 ? undefined : String(number) });
  const end = Math.min(start + TENANTS_PER_PAGE, sorted.length);
  const cut =
    next === undefined
      ? undefined
      : html`<strong>There are more: only the first ${count(sorted.length)} by ID that match are sorted.</strong> Search or filter for fewer.`;
  return {
    tenants: sorted.slice(start, end),
    place:
      sorted.length === 0
        ? cut
        : html`${count(start + 1)} to ${count(end)} of ${count(sorted.length)}${next === undefined ? '.' : ' or more.'} ${cut}`,
    first: at > 2 ? to(1) : undefined,
    previous: at > 1 ? to(at - 1) : undefined,
    next: at < pages ? to(at + 1) : undefined,
  };
}

/** A deleted tenant is in no listing, but its audit log is kept. */
function auditLogOf(search: string): Markup {
  const tenantId = parseTenantId(search);
  if (tenantId === undefined) return undefined;
  return html`${' '}If it was deleted, <a href=${tenantPath(tenantId, 'audit-log')}>its audit log</a> is still available.`;
}

function nothing({ search, filter: { plan, state } }: ListQuery, { next }: ListedPage): Markup {
  if (next !== undefined)
    return empty('None found so far', 'There are more tenants to search: continue with the next page.');
  if (search !== '' || plan !== undefined || state !== undefined) {
    return empty(
      'No tenant matches',
      html`Search for a shorter part of the name or with fewer filters, or <a href=${PATH}>show all tenants</a>.${auditLogOf(search)}`,
    );
  }
  return empty(
    'There are no tenants yet',
    html`A tenant is a customer with its own keys, namespaces and grants.${' '}
      <a href=${NEW_PATH}>Create the first one</a>.`,
  );
}

function requestsCell({ lastMinute }: TenantStatus): Markup {
  if (lastMinute === undefined) return html`<span title="The shard does not report it.">–</span>`;
  const { requests, refused } = lastMinute;
  return html`${count(requests)}${refused === 0 ? undefined : html` <span class="over">(${count(refused)} refused)</span>`}`;
}

const tenantsTable = (tenants: readonly TenantStatus[]): Markup =>
  table<TenantStatus>('Tenants', tenants, [
    ['Name', ({ tenantId, name }) => html`<a href=${tenantPath(tenantId)}>${foreign(name)}</a>`],
    ['Plan', ({ plan }) => plan],
    ['State', ({ state }) => (state === 'active' ? state : stateBadge(state))],
    ['Grants', ({ grants }) => (grants === undefined ? '' : count(grants.grants)), 'number'],
    ['Requests, last minute', requestsCell, 'number'],
    ['Created', ({ createdAtMs }) => minute(createdAtMs)],
    ['ID', ({ tenantId }) => copyCode(tenantId)],
  ]);

/** From the last look at the cluster: counting them would take a walk over all of them. */
function totalMarkup({ watch, clock }: PageCall): Markup {
  const { last } = watch;
  if (last === undefined || last.slots.length === 0) return undefined;
  const total = last.slots.reduce((sum, { tenants = 0 }) => sum + tenants, 0);
  const isWhole = last.slots.every(({ tenants }) => tenants !== undefined);
  return html`<p class="hint">${isWhole ? '' : 'At least '}${plural(total, 'tenant')} in the cluster, ${asOf(last.atMs, clock.wallMs())}.</p>`;
}

function filterForm({ plans, query }: PageCall, { search, filter, sort }: ListQuery): Markup {
  const { plan = '', state = '' } = filter;
  const planNames = plan === '' || plans.has(plan) ? [...plans.keys()] : [...plans.keys(), plan];
  const orders = Object.entries(ORDERS).map(([value, { text }]) => ({ value, text }));
  const fields = html`
    <div class="field">
      <label for="q">Search by name or ID</label>
      <input
        id="q" type="search" name="q" value=${search === '' ? query.text('q') : search} autocomplete="off" spellcheck="false" dir="auto"
        hx-get=${PATH} hx-include="closest form" hx-trigger="input changed delay:300ms" hx-target="#results" hx-select="#results"
        hx-swap="outerHTML" hx-sync="this:replace" ...${UNLESS_FAILED}
      />
    </div>
    ${selectField({ name: 'plan', label: 'Plan', choices: choicesOf('all', planNames), value: plan })}
    ${selectField({ name: 'state', label: 'State', choices: choicesOf('all', LISTED_STATES), value: state })}
    ${selectField({ name: 'sort', label: 'Sort by', choices: [{ value: '', text: 'ID' }, ...orders], value: sort ?? '' })}
    ${submit('Show', 'secondary')}`;
  return html`<search>${queryForm(PATH, fields)}</search>`;
}

export async function tenantsPage(call: PageCall): Promise<PageResult> {
  const asked = askedOf(call);
  const order = asked.sort === undefined ? undefined : ORDERS[asked.sort];
  const listed = order === undefined ? await pageById(call, asked) : await sortedPage(call, asked, order.compare);
  const { tenants, place, first, previous, next } = listed;
  const href = (query: Query | undefined): string | undefined => query && withQuery(PATH, query);
  const body = html`<div class="title-row">
      <h1>Tenants</h1>
      ${buttonLink(NEW_PATH, 'Create a tenant', '')}
    </div>
    ${filterForm(call, asked)}
    <div id="results">
      ${place && html`<p class="hint" role="status">${place}</p>`}
      ${tenants.length > 0 ? tenantsTable(tenants) : nothing(asked, listed)}
      ${pageLinks({ first: href(first), previous: href(previous), next: href(next) })}
    </div>
    ${totalMarkup(call)}
    ${identifyLink()}`;
  return page('Tenants', body);
}

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

export const planChoices = (plans: Plans): readonly Choice[] =>
  [...plans.keys()].map((name) => ({ value: name, text: planText(plans, name) }));

export function newTenantPage({ plans, session, form }: PageCall, refusal?: Refusal): PageResult {
  const filled = refilled(form, refusal);
  const fields = html`${formError(filled)}
    ${textField({ name: 'name', label: 'Name', required: true, hint: 'Shown to operators; up to 256 characters. It can be changed later.' }, filled)}
    ${selectField({ name: 'plan', label: 'Plan', choices: planChoices(plans), value: DEFAULT_PLAN_NAME, hint: 'Sets the request limit. It can be changed at any time.' }, filled)}
    ${submit('Create the tenant')}`;
  const body = html`${crumb(PATH, 'Tenants')}<h1>Create a tenant</h1>${changeForm(session, PATH, fields)}`;
  return page('Create a tenant', body, refusal);
}

export function readTenantName(form: Fields): { readonly name: string } | { readonly refusal: Refusal } {
  const name = form.typed('name');
  if (name === '') return { refusal: refuse('name', 'Enter a name.') };
  const parsed = z.object({ name: tenantName }).safeParse({ name });
  return parsed.success ? parsed.data : { refusal: refuseInvalid(parsed.error) };
}

export const refusePlan = (plans: Plans, plan: string): Refusal | undefined =>
  plans.has(plan) ? undefined : refuse('plan', 'Choose one of the plans.');

export async function createTenant(call: PageCall): Promise<PageResult | Refusal> {
  const { operator, plans, form, session } = call;
  const read = readTenantName(form);
  if ('refusal' in read) return read.refusal;
  const plan = form.text('plan');
  const refused = refusePlan(plans, plan);
  if (refused !== undefined) return refused;
  const tenant = { name: read.name, plan, operator: session.operator };
  const { tenantId } = await operator.createTenant(call.context(), tenant);
  return redirect(
    tenantPath(tenantId, 'keys'),
    'Tenant created. Next, create an API key so that applications can use it.',
  );
}
