// The audit log of a tenant: when, what, by whom, newest first, with an optional filter. It outlives its tenant, and so
// does its page.

import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../../core/audit-filter.ts';
import { GrantdError } from '../../../core/errors.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { summaryOfChange } from '../../../rules/rules-diff.ts';
import type { AuditLogPage, AuditRecord, TenantStatus } from '../../../shard/shard.ts';
import { type AuditFilterFields, auditFilterOf, auditFilterShape } from '../../audit-filters.ts';
import { KEYS_PER_READ } from '../../find-key.ts';
import { type Refusal, refuseInvalid } from '../forms.ts';
import {
  type ConsolePage,
  type PageCall,
  type PageDependencies,
  type PageResult,
  pathTo,
  tenantIdOf,
  tenantSessionOf,
} from '../page.ts';
import { actionBadge } from '../parts/action-badge.ts';
import { copyId } from '../parts/copy.ts';
import { parseDateTime } from '../parts/date-time.ts';
import { type Filled, selectField, submit, textField } from '../parts/form-parts.ts';
import { type KeyFacts, keyFactsOf, keyIdEnd, keyMarkup } from '../parts/key-label.ts';
import { type FramedTenant, tenantFrame } from '../parts/layout.ts';
import { code, count, empty, foreign, moment, pager, table } from '../parts/parts.ts';
import { readTenant } from './tenant.ts';

const CHANGES_PER_PAGE = 50;

/** A change as the log describes it. Actions of later versions are shown as they are. */
const changeShape = z.object({
  action: z.string(),
  subject: z.string().optional(),
  relation: z.string().optional(),
  object: z.string().optional(),
  name: z.string().optional(),
  key_id: z.string().optional(),
  former_key_id: z.string().optional(),
  former_ends_at: z.string().nullish(),
  scopes: z.array(z.string()).optional(),
  plan: z.string().optional(),
  state: z.string().optional(),
  rules: z.unknown().optional(),
  former: z.unknown().optional(),
});

function parseChange(text: string): z.output<typeof changeShape> | undefined {
  try {
    return changeShape.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const FIELDS = ['action', 'actor', 'subject', 'object', 'request_id', 'since', 'until'] as const;
type Field = (typeof FIELDS)[number];
type Asked = Partial<Readonly<Record<Field, string>>>;

/** The filled-in fields, as typed. */
function askedOf({ query }: PageCall): Asked {
  const filled = FIELDS.flatMap((name) => {
    const text = query.text(name).trim();
    return text === '' ? [] : [[name, text] as const];
  });
  return Object.fromEntries(filled);
}

interface Filter {
  readonly fields: AuditFilterFields;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
}

function parseFilter({ since, until, ...rest }: Asked): { readonly filter: Filter } | { readonly refusal: Refusal } {
  const parsed = z.object(auditFilterShape).safeParse(rest);
  const [sinceMs, untilMs] = [since, until].map((text) => (text === undefined ? undefined : parseDateTime(text)));
  const messages: Record<string, string> = parsed.success ? {} : { ...refuseInvalid(parsed.error).messages };
  for (const [name, text, ms] of [
    ['since', since, sinceMs],
    ['until', until, untilMs],
  ] as const) {
    if (text !== undefined && ms === undefined) messages[name] = 'This is not a date and time.';
  }
  if (untilMs !== undefined && untilMs <= Math.max(sinceMs ?? 0, 0)) messages.until ??= 'This must be after “Since”.';
  if (!parsed.success || Object.keys(messages).length > 0) return { refusal: { status: 422, messages } };
  return { filter: { fields: parsed.data, sinceMs, untilMs } };
}

/** The same page with another value of one field, starting from its first page. */
interface Narrowing {
  readonly parts: readonly string[];
  readonly asked: Asked;
}

function narrow({ parts, asked }: Narrowing, field: Field, value: string, shown: Markup): Markup {
  return html`<a href=${pathTo(parts, { ...asked, [field]: value })}>${shown}</a>`;
}

function whatMarkup(change: string, narrowing: Narrowing): Markup {
  const parsed = parseChange(change);
  if (parsed === undefined) return html`<code class="long">${change}</code>`;
  const { action, subject, relation, object = '', name, key_id: keyId, scopes = [], plan, state } = parsed;
  const { former_key_id: formerKeyId } = parsed;
  const rules = summaryOfChange(parsed.former, parsed.rules);
  const details: Markup[] = [
    subject === undefined
      ? undefined
      : html` ${narrow(narrowing, 'subject', subject, foreign(subject))} <strong>${relation}</strong>${' '}
          ${narrow(narrowing, 'object', object, foreign(object))}`,
    keyId !== undefined
      ? html` ${keyMarkup({ keyId, name: name ?? '', scopes })}`
      : name === undefined || name === ''
        ? undefined
        : html` ${foreign(name)}`,
    formerKeyId === undefined
      ? undefined
      : html` in place of <span title=${formerKeyId}>${code(keyIdEnd(formerKeyId))}</span>, which ends at ${parsed.former_ends_at}`,
    plan === undefined ? undefined : html` plan ${plan}`,
    state === undefined ? undefined : html`, ${state}`,
    rules === undefined ? undefined : html` ${rules}`,
  ];
  return html`${actionBadge(action)}${details}`;
}

/** Fewer of one request stay apart. */
const GROUPED_MIN = 4;

/** Entries of one request that follow each other, as one row; otherwise a row of its own. */
type Row = readonly [AuditRecord, ...(readonly AuditRecord[])];

function groupByRequest(items: readonly AuditRecord[]): readonly Row[] {
  const rows: Row[] = [];
  for (let from = 0, to = 0; from < items.length; from = to) {
    const first = items[from];
    if (first === undefined) break;
    to = from + 1;
    while (items[to]?.requestId === first.requestId && items[to]?.actor === first.actor) to += 1;
    const alike = items.slice(from, to);
    if (alike.length < GROUPED_MIN) rows.push(...alike.map((item): Row => [item]));
    else rows.push([first, ...alike.slice(1)]);
  }
  return rows;
}

/** How many of each action; on demand all of them. */
function groupMarkup(row: Row, narrowing: Narrowing): Markup {
  const actions = Map.groupBy(row, ({ change }) => parseChange(change)?.action ?? 'unknown');
  return html`<details class="grouped">
    <summary>${[...actions].map(([action, { length }]) => html`${actionBadge(action)} ${count(length)} `)}</summary>
    <ul class="lines">${row.map(({ change }) => html`<li>${whatMarkup(change, narrowing)}</li>`)}</ul>
  </details>`;
}

function actorMarkup(actor: string, keys: ReadonlyMap<string, KeyFacts>): Markup {
  const name = /^operator:(.*)$/su.exec(actor)?.[1];
  if (name !== undefined) return html`operator token ${foreign(name)}`;
  const key = keys.get(actor);
  return key === undefined ? code(actor) : html`key ${keyMarkup(key)}`;
}

/** The keys that made these changes, if known: those of the tenant and those that the rows mention. */
async function knownKeys(
  { operator }: PageDependencies,
  call: PageCall,
  tenant: FramedTenant,
  rows: readonly AuditRecord[],
): Promise<ReadonlyMap<string, KeyFacts>> {
  const keys = new Map<string, KeyFacts>();
  for (const { change } of rows) {
    const { key_id: keyId, name = '', scopes = [] } = parseChange(change) ?? {};
    if (keyId !== undefined) keys.set(keyId, { keyId, name, scopes });
  }
  const isUnknown = ({ actor }: AuditRecord): boolean => actor.startsWith('key_') && !keys.has(actor);
  const hasKeys = tenant.state === 'active' || tenant.state === 'suspended';
  if (!hasKeys || !rows.some(isUnknown)) return keys;
  try {
    const session = await tenantSessionOf(operator, call);
    const { items } = await session.call(CALLS.listKeys, call.context(), { limit: KEYS_PER_READ, cursor: undefined });
    for (const key of items) keys.set(key.keyId, keyFactsOf(key));
  } catch (error) {
    // Names are a convenience: without them, the changes show ids.
    if (!(error instanceof GrantdError)) throw error;
  }
  return keys;
}

/** The tenant; if it is deleted, what the last entry of its log says. Throws `tenant-not-found` if it never existed. */
async function readKnown(dependencies: PageDependencies, call: PageCall): Promise<TenantStatus | FramedTenant> {
  try {
    return await readTenant(dependencies, call);
  } catch (error) {
    if (!(error instanceof GrantdError) || error.code !== 'tenant-not-found') throw error;
    const tenantId = tenantIdOf(call);
    const query = { limit: 1, cursor: undefined, newestFirst: true };
    const { items } = await dependencies.operator.call(CALLS.listAuditLog, call.context(), { ...query, tenantId });
    const name = parseChange(items[0]?.change ?? '')?.name ?? tenantId;
    return { tenantId, name, state: 'deleted' };
  }
}

function filterForm({ parts, asked }: Narrowing, filled: Filled): Markup {
  const isAsked = Object.keys(asked).length > 0;
  const field = (name: Field, label: string, hint?: string, type: 'text' | 'datetime-local' = 'text'): Markup =>
    textField({ name, label, type, value: asked[name] ?? '', ...(hint === undefined ? {} : { hint }) }, filled);
  const actions = AUDIT_ACTIONS.map((action) => ({ value: action, text: action }));
  const choices = [{ value: '', text: 'any' }, ...actions];
  return html`<details open=${isAsked}>
    <summary>Filter by action, actor, subject, object, request or time</summary>
    <search><form method="get" action=${pathTo(parts)} class="form-row" novalidate>
      ${selectField({ name: 'action', label: 'Action', choices, value: asked.action ?? '' }, filled)}
      ${field('actor', 'Actor', 'operator:NAME, an API key ID, or system')}
      ${field('subject', 'Subject', 'namespace:id')}
      ${field('object', 'Object', 'namespace:id')}
      ${field('request_id', 'Request', 'req_ and 26 characters')}
      ${field('since', 'Since (UTC)', undefined, 'datetime-local')}
      ${field('until', 'Before (UTC)', undefined, 'datetime-local')}
      ${submit('Show', 'secondary')}
    </form></search>
    ${isAsked ? html`<p><a href=${pathTo(parts)}>Show all entries</a></p>` : undefined}
  </details>`;
}

function listingMarkup(
  page: AuditLogPage,
  narrowing: Narrowing,
  keys: ReadonlyMap<string, KeyFacts>,
  isDeleted: boolean,
): Markup {
  const { items, nextCursor } = page;
  if (items.length === 0) {
    if (nextCursor !== undefined)
      return empty('Nothing found so far', 'There are older entries: continue with the next page.');
    return Object.keys(narrowing.asked).length > 0
      ? empty('No entry matches', html`<a href=${pathTo(narrowing.parts)}>Show all entries</a>, or use fewer filters.`)
      : empty(
          'Nothing here',
          isDeleted ? 'The entries of this tenant have expired.' : 'Every change to this tenant appears here.',
        );
  }
  // Whoever asks for one request wants to see its entries.
  const rows = narrowing.asked.request_id === undefined ? groupByRequest(items) : items.map((item): Row => [item]);
  return table<Row>(
    'Changes',
    [
      { title: 'When (UTC)', cell: ([{ atMs }]) => moment(atMs) },
      {
        title: 'What',
        cell: (row) => (row.length === 1 ? whatMarkup(row[0].change, narrowing) : groupMarkup(row, narrowing)),
      },
      { title: 'By', cell: ([{ actor }]) => narrow(narrowing, 'actor', actor, actorMarkup(actor, keys)) },
      {
        title: 'Request',
        cell: ([{ requestId }]) => copyId(requestId, narrow(narrowing, 'request_id', requestId, code(requestId))),
      },
    ],
    rows,
  );
}

async function auditLogPage(dependencies: PageDependencies, call: PageCall): Promise<PageResult> {
  const tenant = await readKnown(dependencies, call);
  const { tenantId } = tenant;
  const parts = ['tenants', tenantId, 'audit-log'];
  const asked = askedOf(call);
  const narrowing = { parts, asked };
  const read = parseFilter(asked);
  const refusal = 'refusal' in read ? read.refusal : undefined;
  const cursor = call.query.optional('cursor');
  let listing: Markup;
  if ('filter' in read) {
    const { fields, sinceMs, untilMs } = read.filter;
    const query = { limit: CHANGES_PER_PAGE, cursor, newestFirst: true, sinceMs, untilMs, ...auditFilterOf(fields) };
    const page = await dependencies.operator.call(CALLS.listAuditLog, call.context(), { ...query, tenantId });
    const keys = await knownKeys(dependencies, call, tenant, page.items);
    const { nextCursor, scannedToMs } = page;
    // One page reads a bounded number of changes.
    const isShort = nextCursor !== undefined && scannedToMs !== undefined;
    listing = html`${listingMarkup(page, narrowing, keys, tenant.state === 'deleted')}
      ${isShort ? html`<p role="status">Searched back to ${moment(scannedToMs)} UTC so far. The next page continues from there.</p>` : undefined}
      ${pager({ parts, query: asked, cursor, next: nextCursor })}`;
  }
  const content = html`<section aria-labelledby="audit-log-title">
    <h2 id="audit-log-title">Audit log</h2>
    ${filterForm(narrowing, { fields: call.query, refusal })}
    ${listing}
    <p><small>On the command line: <code>grantd audit-log --tenant ${tenantId}</code></small></p>
  </section>`;
  const title = `Audit log of ${tenant.name}`;
  return { kind: 'page', status: refusal?.status ?? 200, title, body: tenantFrame(tenant, 'audit-log', content) };
}

export function auditLogPages(dependencies: PageDependencies): readonly ConsolePage[] {
  const run = (call: PageCall): Promise<PageResult> => auditLogPage(dependencies, call);
  return [{ method: 'GET', path: '/tenants/:tenantId/audit-log', name: 'page-audit-log', access: 'read-only', run }];
}
