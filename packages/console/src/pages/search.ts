// The search at the top of every page: an ID, a subject, an object, or a part of a tenant's name, and the page where it
// belongs. Invariants: what was typed arrives in the body of a form, since it may be an API key, and is never part of
// an address unless it is an ID or a name; a search reads a bounded number of changes and tenants, and says how far it
// got.

import { inParallel } from '../../../../src/core/async/in-parallel.ts';
import { GrantdError } from '../../../../src/core/errors.ts';
import { type KeyId, parseKeyId, parseTenantId, type TenantId, timeOfId } from '../../../../src/core/ids.ts';
import { isIdentifier } from '../../../../src/core/tuples.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { findKey } from '../../../../src/operator/find-key.ts';
import type { LoggedChange, TenantStatus } from '../../../../src/shard/shard.ts';
import { auditOfAll } from '../audit-of-all.ts';
import { type EntitySides, sidesOf } from '../entity-sides.ts';
import { Fields } from '../forms.ts';
import { type PageCall, type PageResult, page, pathTo, redirect, tenantPath, unlessGone } from '../page.ts';
import { parseChange } from '../parts/audit-entries.ts';
import { hidden, submit, textField } from '../parts/form-parts.ts';
import { code, count, empty, foreign, plural } from '../parts/parts.ts';
import { identifyKey } from './identify-key.ts';

/** Longer than any subject. */
const SEARCH_LENGTH_MAX = 1000;
/** Changes and tenants that one search looks at, and for how long. */
const CHANGES_MAX = 20_000;
const TENANTS_MAX = 1000;
const SEARCHING_MS_MAX = 4000;
const TENANTS_AT_ONCE = 16;
/** Tenants that a page names. */
const SHOWN_MAX = 20;
/** Clocks of a cluster differ: a change may have an earlier time than the ID that it has. */
const CLOCK_STEP_MS = 60_000;
const REQUEST_MS_MAX = 3_600_000;

/** Also a part of one: it must not become part of an address. */
const API_KEY = /^gk\d/i;
const ID = /^(?:ten|key|grt|req)_[0-9a-z]{26}$/;

/** A page that says what was not found, how far the search got, and what to do next. */
function nothing(call: PageCall, title: string, next: Markup, asksForTenant = true): PageResult {
  const body = html`<h1>Search</h1>
    ${empty(title, next)}
    ${asksForTenant && tenantForm(call)}`;
  return page('Search', body, { status: 404 });
}

function searchForm(call: PageCall, fields: Markup): Markup {
  return html`<form method="post" action=${pathTo(['search'])} class="form-row" novalidate aria-label="Search in a tenant">
    ${hidden({ csrf: call.session.csrf })}${fields}${submit('Search', 'secondary')}
  </form>`;
}

/** Repeats the search within a tenant. */
function tenantForm(call: PageCall): Markup {
  const fields = html`${hidden({ q: call.form.typed('q') })}
    ${textField({ name: 'tenant', label: 'Search in one tenant', id: 'search-tenant', hint: 'Its ID, ten_ and 26 characters' })}`;
  return searchForm(call, fields);
}

export function searchPage(_call: PageCall): PageResult {
  const body = html`<h1>Search</h1>
    <p>The field at the top of every page finds:</p>
    <dl class="facts">
      <div><dt>A tenant</dt><dd>${code('ten_…')}, or a part of its name</dd></div>
      <div><dt>An API key</dt><dd>${code('key_…')}, or the key itself, which is not kept</dd></div>
      <div><dt>A request</dt><dd>${code('req_…')}, from a log or an error: what it changed</dd></div>
      <div><dt>A grant</dt><dd>${code('grt_…')}: who has it, and who made it</dd></div>
      <div><dt>A subject or an object</dt><dd>${code('user:ada')}, ${code('document:plan')}: its grants</dd></div>
    </dl>
    <p class="hint"><kbd>Ctrl</kbd> <kbd>K</kbd>, or <kbd>⌘</kbd> <kbd>K</kbd>, goes to the field. On a page of a tenant, the search begins with that tenant.</p>`;
  return page('Search', body);
}

export async function search(call: PageCall): Promise<PageResult> {
  const text = call.form.typed('q').slice(0, SEARCH_LENGTH_MAX);
  if (text === '') return searchPage(call);
  if (API_KEY.test(text)) {
    const result = await identifyKey({ ...call, form: new Fields(`key=${encodeURIComponent(text)}`) });
    return 'kind' in result ? result : nothing(call, 'This is not an API key', 'A part of it may be missing.', false);
  }
  if (ID.test(text)) return findId(call, text);
  if (isIdentifier(text)) return findEntity(call, text);
  return redirect(pathTo(['tenants'], { q: text }));
}

/** The tenant that was chosen, or on whose page the search began. Undefined: none, or no longer. */
async function chosenTenant(call: PageCall): Promise<TenantStatus | undefined> {
  const tenantId = parseTenantId(call.form.typed('tenant'));
  if (tenantId === undefined) return undefined;
  return unlessGone(call.operator.call('readTenant', call.context(), { tenantId }));
}

// ---- IDs ----

async function findId(call: PageCall, id: string): Promise<PageResult> {
  const tenantId = parseTenantId(id);
  if (tenantId !== undefined) return findTenant(call, tenantId);
  if (timeOfId(id) === undefined && parseKeyId(id) === undefined) {
    return nothing(call, 'This ID is not one of grantd', 'A character may be missing or wrong: copy it again.', false);
  }
  const chosen = await chosenTenant(call);
  const keyId = parseKeyId(id);
  if (keyId !== undefined) return findKeyId(call, keyId, chosen);
  if (chosen !== undefined && id.startsWith('req_')) {
    return redirect(tenantPath(chosen.tenantId, 'audit-log', { request_id: id }));
  }
  const { change, read, isWhole } = await findChange(call, id);
  if (change !== undefined) return pageOfChange(id, change);
  const kind = id.startsWith('req_') ? 'request' : 'grant';
  return nothing(
    call,
    `No change with this ${kind} found`,
    [
      farInLog(read, isWhole),
      kind === 'request'
        ? 'Only requests that change something are in the audit log: search the logs of the fronts for a check.'
        : 'The grant may be older than the logs of all tenants, which keep some days.',
      'The audit log of one tenant goes back 400 days.',
    ].join(' '),
  );
}

async function findTenant(call: PageCall, tenantId: TenantId): Promise<PageResult> {
  const tenant = await unlessGone(call.operator.call('readTenant', call.context(), { tenantId }));
  if (tenant !== undefined && tenant.state !== 'deleted') return redirect(tenantPath(tenantId));
  const query = { tenantId, limit: 1, cursor: undefined, newestFirst: true };
  const audited = await unlessGone(call.operator.call('listAuditLog', call.context(), query));
  if (audited !== undefined)
    return redirect(tenantPath(tenantId, 'audit-log'), 'This tenant was deleted. Its audit log is kept.');
  const next = html`It may be of another cluster, or was deleted more than 400 days ago. <a href=${pathTo(['tenants'])}>All tenants</a>`;
  return nothing(call, 'No tenant has this ID', next, false);
}

const farInLog = (read: number, isWhole: boolean): string =>
  isWhole
    ? `All changes of all tenants from its time on were looked at: ${count(read)}.`
    : `The search looked at ${plural(read, 'change')} of all tenants from its time on, and ended there.`;

/** The first change that has the ID, from the time that is in the ID on. */
async function findChange(call: PageCall, id: string) {
  const { clock } = call;
  const enoughAtMs = clock.monotonicMs() + SEARCHING_MS_MAX;
  const createdAtMs = timeOfId(id) ?? clock.wallMs();
  const sinceMs = Math.max(0, createdAtMs - CLOCK_STEP_MS);
  // A change is decided soon after its request. The grant of a change may be older, but its ID is then in that change.
  const query = { sinceMs, untilMs: createdAtMs + REQUEST_MS_MAX, ...(id.startsWith('req_') ? { requestId: id } : {}) };
  const quoted = JSON.stringify(id);
  let [read, isWhole] = [0, false];
  for await (const part of auditOfAll(call, query)) {
    const change = part.entries.find((entry) => entry.requestId === id || entry.change.includes(quoted));
    if (change !== undefined) return { change, read, isWhole };
    read += part.read;
    isWhole = part.atEnd;
    if (read >= CHANGES_MAX || clock.monotonicMs() >= enoughAtMs) break;
  }
  return { change: undefined, read, isWhole };
}

function pageOfChange(id: string, { tenantId, requestId, change }: LoggedChange): PageResult {
  if (id.startsWith('req_')) return redirect(tenantPath(tenantId, 'audit-log', { request_id: requestId }));
  const { subject } = parseChange(change) ?? {};
  if (subject === undefined) return redirect(tenantPath(tenantId, 'audit-log', { request_id: requestId }));
  return redirect(
    tenantPath(tenantId, 'audit-log', { subject, request_id: requestId }),
    'This is the change that made the grant. Its subject and object lead to their other changes.',
  );
}

async function hasKey(call: PageCall, tenantId: TenantId, keyId: KeyId): Promise<boolean> {
  const session = await unlessGone(call.operator.tenant(call.context(), tenantId, call.session.operator));
  return session !== undefined && (await findKey(call.context, session, keyId)) !== undefined;
}

/** The tenant of a key is the one that was chosen, the one whose log says so, or one that has the key now. */
async function findKeyId(call: PageCall, keyId: KeyId, chosen: TenantStatus | undefined): Promise<PageResult> {
  const pageOf = (tenantId: string): PageResult => redirect(tenantPath(tenantId, `keys/${keyId}`));
  if (chosen !== undefined && (await hasKey(call, chosen.tenantId, keyId))) return pageOf(chosen.tenantId);
  const { change, read, isWhole } = await findChange(call, keyId);
  const tenantId = change && parseTenantId(change.tenantId);
  if (change !== undefined && tenantId !== undefined) {
    const { requestId } = change;
    if (await hasKey(call, tenantId, keyId)) return pageOf(tenantId);
    const path = tenantPath(tenantId, 'audit-log', { request_id: requestId });
    return redirect(path, 'This key no longer exists. The change that created it is below.');
  }
  const { tenants, looked, isAll } = await tenantsWith(call, (tenantId) => hasKey(call, tenantId, keyId), 1);
  const [found] = tenants;
  if (found !== undefined) return pageOf(found.tenantId);
  return nothing(
    call,
    'No key with this ID found',
    [
      farInTenants(looked, isAll),
      farInLog(read, isWhole),
      'It may have been revoked some time ago: the audit log of its tenant goes back 400 days.',
    ].join(' '),
  );
}

// ---- subjects and objects ----

async function sidesIn(call: PageCall, tenantId: TenantId, entity: string): Promise<EntitySides> {
  const session = await unlessGone(call.operator.tenant(call.context(), tenantId, call.session.operator));
  return session === undefined ? { asSubject: false, asObject: false } : sidesOf(session, call.context, entity);
}

const pageOfEntity = (tenantId: TenantId, entity: string, side: 'subject' | 'object'): string =>
  tenantPath(tenantId, 'grants', { [side]: entity });

async function findEntity(call: PageCall, entity: string): Promise<PageResult> {
  const chosen = await chosenTenant(call);
  if (chosen !== undefined) {
    const { asSubject, asObject } = await sidesIn(call, chosen.tenantId, entity);
    if (asSubject !== asObject)
      return redirect(pageOfEntity(chosen.tenantId, entity, asSubject ? 'subject' : 'object'));
    const link = (side: 'subject' | 'object', text: string): Markup =>
      html`<a href=${pageOfEntity(chosen.tenantId, entity, side)}>${text}</a>`;
    const history = html`<a href=${tenantPath(chosen.tenantId, 'audit-log', { subject: entity })}>changes of its grants</a>`;
    if (!asSubject) {
      const next = html`${foreign(chosen.name)} has no grant of the subject ${foreign(entity)}, and none on an object of that name. See the ${history}, ${link('subject', 'grant it something')}, or search in all tenants from the page of the <a href=${pathTo(['cluster'])}>cluster</a>.`;
      return nothing(call, 'No grants found', next);
    }
    const body = html`<h1>Search</h1>
      <p>In ${foreign(chosen.name)}, ${foreign(entity)} is both:</p>
      <ul class="lines"><li>${link('subject', 'a subject: the grants that it has')}</li><li>${link('object', 'an object: the grants on it')}</li></ul>`;
    return page('Search', body);
  }
  return findEntityInAll(call, entity);
}

async function findEntityInAll(call: PageCall, entity: string): Promise<PageResult> {
  const sides = new Map<TenantId, EntitySides>();
  const { tenants, looked, isAll } = await tenantsWith(
    call,
    async (tenantId) => {
      const found = await sidesIn(call, tenantId, entity);
      sides.set(tenantId, found);
      return found.asSubject || found.asObject;
    },
    SHOWN_MAX,
  );
  const far = farInTenants(looked, isAll);
  if (tenants.length === 0)
    return nothing(
      call,
      'No grants found',
      html`${far} None has a grant of the subject ${foreign(entity)}, or on an object of that name.`,
    );
  const links = tenants.flatMap(({ tenantId, name }) => {
    const { asSubject = false, asObject = false } = sides.get(tenantId) ?? {};
    const link = (side: 'subject' | 'object', text: string): Markup =>
      html`<li><a href=${pageOfEntity(tenantId, entity, side)}>${foreign(name)}</a> ${text}</li>`;
    return [
      asSubject ? link('subject', 'has grants of this subject') : undefined,
      asObject ? link('object', 'has grants on this object') : undefined,
    ];
  });
  const shown = links.filter((link) => link !== undefined);
  const [only] = tenants;
  if (isAll && shown.length === 1 && only !== undefined) {
    return redirect(
      pageOfEntity(only.tenantId, entity, sides.get(only.tenantId)?.asSubject === true ? 'subject' : 'object'),
    );
  }
  const more = tenants.length >= SHOWN_MAX ? html` Only the first ${count(SHOWN_MAX)} are shown.` : undefined;
  const body = html`<h1>Search</h1>
    <p>Grants with ${foreign(entity)}:</p>
    <ul class="lines">${shown}</ul>
    <p class="hint" role="status">${far}${more}</p>
    ${tenantForm(call)}`;
  return page('Search', body);
}

const farInTenants = (looked: number, isAll: boolean): string =>
  isAll
    ? `All tenants were looked at: ${count(looked)}.`
    : `The search looked at ${plural(looked, 'tenant')}, and ended there.`;

/** Tenants of which something holds, up to `max`, among the first ones by ID. */
async function tenantsWith(call: PageCall, holds: (tenantId: TenantId) => Promise<boolean>, max: number) {
  const { operator, clock } = call;
  const enoughAtMs = clock.monotonicMs() + SEARCHING_MS_MAX;
  const { tenants, next } = await operator.listTenants(call.context(), { after: undefined, limit: TENANTS_MAX });
  const found: TenantStatus[] = [];
  let looked = 0;
  await inParallel(
    tenants.filter(({ state }) => state !== 'deleting'),
    TENANTS_AT_ONCE,
    async (tenant) => {
      if (found.length >= max || clock.monotonicMs() >= enoughAtMs) return;
      try {
        if (await holds(tenant.tenantId)) found.push(tenant);
        looked += 1;
      } catch (error) {
        // A tenant whose slot has no owner now is not looked at.
        if (!(error instanceof GrantdError) || !error.retryable) throw error;
      }
    },
  );
  const isAll = next === undefined && looked === tenants.length;
  return {
    tenants: found.slice(0, max).sort((left, right) => (left.tenantId < right.tenantId ? -1 : 1)),
    looked,
    isAll,
  };
}
