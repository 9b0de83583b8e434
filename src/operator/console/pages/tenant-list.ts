// The list of tenants: searched, filtered, sorted, a page at a time. Invariant: a page reads a bounded number of
// records, however many tenants there are. By ID, a page continues after the one before it; any other order sorts the
// first tenants that match, and says so if there are more.

import { parseTenantId, type TenantId } from '../../../core/ids.ts';
import { PAGE_LIMIT_MAX } from '../../../core/limits.ts';
import { LISTED_STATES, type TenantFilter } from '../../../core/tenants.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import type { TenantStatus } from '../../../shard/shard.ts';
import { type PageCall, type PageDependencies, type PageResult, pathTo } from '../page.ts';
import { copyCode } from '../parts/copy.ts';
import { selectField, submit } from '../parts/form-parts.ts';
import { stateBadge } from '../parts/layout.ts';
import { asOf, count, empty, foreign, minute, plural, table } from '../parts/parts.ts';

const TENANTS_PER_PAGE = 50;
/** An order other than by ID sorts so many: those of one call. */
const SORTED_MAX = PAGE_LIMIT_MAX;
/** Longer than any name. */
const SEARCH_LENGTH_MAX = 300;
/** Pages that “Previous page” goes back one by one; their cursors are in the address, of 30 characters each. */
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

interface Asked {
  readonly search: string;
  readonly filter: TenantFilter;
  /** A name in `ORDERS`; undefined: by ID. */
  readonly sort: string | undefined;
}

function askedOf({ query }: PageCall): Asked {
  const search = query.text('q').trim().slice(0, SEARCH_LENGTH_MAX);
  const state = LISTED_STATES.find((each) => each === query.text('state'));
  const sort = query.text('sort');
  return {
    search,
    filter: { name: search === '' ? undefined : search, plan: query.optional('plan'), state },
    sort: Object.hasOwn(ORDERS, sort) ? sort : undefined,
  };
}

type Query = Readonly<Record<string, string | undefined>>;

const queryOf = ({ search, filter: { plan, state }, sort }: Asked): Query => ({ q: search, plan, state, sort });

interface ListedPage {
  readonly tenants: readonly TenantStatus[];
  /** Which of how many these are, as far as it is known. */
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

async function pageById({ operator }: PageDependencies, call: PageCall, asked: Asked): Promise<ListedPage> {
  const cursor = call.query.optional('cursor');
  const after: TenantId | undefined = cursor === undefined ? undefined : parseTenantId(cursor);
  const page = await operator.listTenants(call.context(), { ...asked.filter, after, limit: TENANTS_PER_PAGE });
  const query = queryOf(asked);
  const back = cursorsBack(call);
  const earlier = back.at(-1);
  const before = after === undefined ? back : [...back, after];
  const kept = before.length > PAGES_BACK_MAX ? [FORGOTTEN, ...before.slice(-PAGES_BACK_MAX + 1)] : before;
  return {
    tenants: page.tenants,
    place: undefined,
    first: after === undefined ? undefined : query,
    previous:
      after === undefined || earlier === FORGOTTEN
        ? undefined
        : { ...query, cursor: earlier, back: back.slice(0, -1).join('.') },
    next: page.next === undefined ? undefined : { ...query, cursor: page.next, back: kept.join('.') },
  };
}

async function sortedPage(
  { operator }: PageDependencies,
  call: PageCall,
  asked: Asked,
  compare: Compare,
): Promise<ListedPage> {
  const query = { ...asked.filter, after: undefined, limit: SORTED_MAX };
  const { tenants, next } = await operator.listTenants(call.context(), query);
  const sorted = tenants.toSorted((left, right) => compare(left, right) || (left.tenantId < right.tenantId ? -1 : 1));
  const pages = Math.max(1, Math.ceil(sorted.length / TENANTS_PER_PAGE));
  const wanted = /^[1-9][0-9]{0,3}$/.test(call.query.text('page')) ? Number(call.query.text('page')) : 1;
  const at = Math.min(wanted, pages);
  const start = (at - 1) * TENANTS_PER_PAGE;
  const to = (page: number): Query => ({ ...queryOf(asked), page: page === 1 ? undefined : String(page) });
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

function pageLinks({ first, previous, next }: ListedPage): Markup {
  if (first === undefined && previous === undefined && next === undefined) return undefined;
  const link = (query: Query | undefined, text: string, rel?: string): Markup =>
    query === undefined
      ? undefined
      : html`<a class="button secondary${rel === 'next' ? '' : ' outline'}" rel=${rel} href=${pathTo(['tenants'], query)}>${text}</a>`;
  return html`<nav class="pager" aria-label="Pages">
    ${link(first, 'First page')}${link(previous, 'Previous page', 'prev')}
    ${next === undefined ? html`<span>This is the last page.</span>` : link(next, 'Next page', 'next')}
  </nav>`;
}

/** A deleted tenant is in no listing, but its audit log is kept. */
function auditLogOf(search: string): Markup {
  const tenantId = parseTenantId(search);
  if (tenantId === undefined) return undefined;
  return html`${' '}If it was deleted, <a href=${pathTo(['tenants', tenantId, 'audit-log'])}>its audit log</a> is still available.`;
}

function nothing({ search, filter: { plan, state } }: Asked, page: ListedPage): Markup {
  if (page.next !== undefined)
    return empty('None found so far', 'There are more tenants to search: continue with the next page.');
  if (search !== '' || plan !== undefined || state !== undefined) {
    return empty(
      'No tenant matches',
      html`Search for a shorter part of the name or with fewer filters, or <a href=${pathTo(['tenants'])}>show all tenants</a>.${auditLogOf(search)}`,
    );
  }
  return empty(
    'There are no tenants yet',
    html`A tenant is a customer with its own keys, namespaces and grants.${' '}
      <a href=${pathTo(['tenants', 'new'])}>Create the first one</a>.`,
  );
}

function requestsCell({ lastMinute }: TenantStatus): Markup {
  if (lastMinute === undefined) return html`<span title="The shard does not tell.">–</span>`;
  const { requests, refused } = lastMinute;
  return html`${count(requests)}${refused === 0 ? undefined : html` <span class="over">(${count(refused)} refused)</span>`}`;
}

const tenantsTable = (tenants: readonly TenantStatus[]): Markup =>
  table<TenantStatus>(
    'Tenants',
    [
      {
        title: 'Name',
        cell: ({ tenantId, name }) => html`<a href=${pathTo(['tenants', tenantId])}>${foreign(name)}</a>`,
      },
      { title: 'Plan', cell: ({ plan }) => plan },
      { title: 'State', cell: ({ state }) => (state === 'active' ? state : stateBadge(state)) },
      {
        title: 'Grants',
        kind: 'number',
        cell: ({ grants }) => (grants === undefined ? '' : count(grants.grants)),
      },
      { title: 'Requests, last minute', kind: 'number', cell: requestsCell },
      { title: 'Created (UTC)', cell: ({ createdAtMs }) => minute(createdAtMs) },
      { title: 'Id', cell: ({ tenantId }) => copyCode(tenantId) },
    ],
    tenants,
  );

/** From the last look at the cluster: counting them would take a walk over all of them. */
function totalMarkup({ watch, clock }: PageDependencies): Markup {
  const { last } = watch;
  if (last === undefined || last.slots.length === 0) return undefined;
  const total = last.slots.reduce((sum, { tenants = 0 }) => sum + tenants, 0);
  const isWhole = last.slots.every(({ tenants }) => tenants !== undefined);
  return html`<p class="hint">${isWhole ? '' : 'At least '}${plural(total, 'tenant')} in the cluster, ${asOf(last.atMs, clock.wallMs())}.</p>`;
}

function filterForm({ plans }: PageDependencies, call: PageCall, { search, filter, sort = '' }: Asked): Markup {
  const path = pathTo(['tenants']);
  const { plan = '', state = '' } = filter;
  const planNames = plan === '' || plans.has(plan) ? [...plans.keys()] : [...plans.keys(), plan];
  const choices = (all: string, values: readonly string[]) => [
    { value: '', text: all },
    ...values.map((value) => ({ value, text: value })),
  ];
  const orders = Object.entries(ORDERS).map(([value, { text }]) => ({ value, text }));
  return html`<search><form method="get" action=${path} class="form-row tenant-filter">
    <div class="field">
      <label for="q">Search by name or ID</label>
      <input
        id="q" type="search" name="q" value=${search === '' ? call.query.text('q') : search} autocomplete="off" spellcheck="false" dir="auto"
        hx-get=${path} hx-include="closest form" hx-trigger="input changed delay:300ms" hx-target="#results" hx-select="#results"
        hx-swap="outerHTML" hx-sync="this:replace" hx-status:4xx="swap:none" hx-status:5xx="swap:none"
      />
    </div>
    ${selectField({ name: 'plan', label: 'Plan', choices: choices('all', planNames), value: plan })}
    ${selectField({ name: 'state', label: 'State', choices: choices('all', LISTED_STATES), value: state })}
    ${selectField({ name: 'sort', label: 'Sort by', choices: [{ value: '', text: 'ID' }, ...orders], value: sort })}
    ${submit('Show', 'secondary')}
  </form></search>`;
}

export async function tenantListPage(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const asked = askedOf(call);
  const order = asked.sort === undefined ? undefined : ORDERS[asked.sort];
  const page =
    order === undefined
      ? await pageById(dependencies, call, asked)
      : await sortedPage(dependencies, call, asked, order.compare);
  const body = html`<div class="title-row">
      <h1>Tenants</h1>
      <a class="button" href=${pathTo(['tenants', 'new'])}>Create a tenant</a>
    </div>
    ${filterForm(dependencies, call, asked)}
    <div id="results">
      ${page.place === undefined ? undefined : html`<p class="hint" role="status">${page.place}</p>`}
      ${page.tenants.length > 0 ? tenantsTable(page.tenants) : nothing(asked, page)}
      ${pageLinks(page)}
    </div>
    ${totalMarkup(dependencies)}
    <p>Has someone found a key? <a href=${pathTo(['identify-key'])}>Identify it.</a></p>`;
  return { kind: 'page', status: 200, title: 'Tenants', body };
}
