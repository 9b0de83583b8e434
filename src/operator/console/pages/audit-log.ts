// The audit log of a tenant: when, what, by whom, newest first, with an optional filter. It outlives its tenant, and so
// does its page.

import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../../core/audit-filter.ts';
import { html, type Markup } from '../../../http/pages/markup.ts';
import { CALLS } from '../../../rpc/calls/table.ts';
import { summaryOfChange } from '../../../rules/rules-diff.ts';
import type { AuditLogPage, AuditRecord } from '../../../shard/shard.ts';
import { type AuditFilterFields, auditFilterOf, auditFilterShape } from '../../audit-filters.ts';
import { tenantIdOf } from '../../path-ids.ts';
import { parseDateTime, type Refusal, refuseAll, refuseInvalid } from '../forms.ts';
import {
  type FramedTenant,
  type PageCall,
  type PageResult,
  readTenant,
  tenantPath,
  unlessGone,
  withQuery,
} from '../page.ts';
import { actorMarkup, liveKeys } from '../parts/actors.ts';
import { choicesOf, type Filled, queryForm, selectField, submit, textField } from '../parts/form-parts.ts';
import { type KeyLabel, keyIdEnd, keyMarkup } from '../parts/key-facts.ts';
import { tenantPage } from '../parts/layout.ts';
import { actionBadge, code, copyId, count, empty, foreign, moment, pager, section, table } from '../parts/parts.ts';

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
  return Object.fromEntries(FIELDS.map((name) => [name, query.typed(name)]).filter(([, text]) => text !== ''));
}

interface Filter {
  readonly fields: AuditFilterFields;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
}

function parseFilter({ since, until, ...rest }: Asked): { readonly filter: Filter } | { readonly refusal: Refusal } {
  const parsed = z.object(auditFilterShape).safeParse(rest);
  const [sinceMs, untilMs] = [since, until].map((text) => (text === undefined ? undefined : parseDateTime(text)));
  const wrongDate = (text: string | undefined, ms: number | undefined): string | undefined =>
    text !== undefined && ms === undefined ? 'This is not a date and time.' : undefined;
  const isReversed = untilMs !== undefined && untilMs <= Math.max(sinceMs ?? 0, 0);
  const refusal = refuseAll({
    ...(parsed.success ? {} : refuseInvalid(parsed.error).messages),
    since: wrongDate(since, sinceMs),
    until: wrongDate(until, untilMs) ?? (isReversed ? 'This must be after “Since”.' : undefined),
  });
  return parsed.success && refusal === undefined
    ? { filter: { fields: parsed.data, sinceMs, untilMs } }
    : { refusal: refusal ?? { status: 422, messages: {} } };
}

/** The same page with another value of one field, starting from its first page. */
interface Narrowing {
  readonly path: string;
  readonly asked: Asked;
}

const narrow = ({ path, asked }: Narrowing, field: Field, value: string, shown: Markup): Markup =>
  html`<a href=${withQuery(path, { ...asked, [field]: value })}>${shown}</a>`;

function whatMarkup(change: string, narrowing: Narrowing): Markup {
  const parsed = parseChange(change);
  if (parsed === undefined) return html`<code class="long">${change}</code>`;
  const { action, subject, relation, object = '', name, key_id: keyId, scopes = [], plan, state } = parsed;
  const { former_key_id: formerKeyId } = parsed;
  const rules = summaryOfChange(parsed.former, parsed.rules);
  const details: Markup[] = [
    subject !== undefined &&
      html` ${narrow(narrowing, 'subject', subject, foreign(subject))} <strong>${relation}</strong>${' '}
          ${narrow(narrowing, 'object', object, foreign(object))}`,
    keyId !== undefined
      ? html` ${keyMarkup({ keyId, name: name ?? '', scopes })}`
      : name === undefined || name === ''
        ? undefined
        : html` ${foreign(name)}`,
    formerKeyId !== undefined &&
      html` in place of <span title=${formerKeyId}>${code(keyIdEnd(formerKeyId))}</span>, which ends at ${parsed.former_ends_at}`,
    plan !== undefined && html` plan ${plan}`,
    state !== undefined && html`, ${state}`,
    rules !== undefined && html` ${rules}`,
  ];
  return html`${actionBadge(action)}${details}`;
}

/** Minimum entries of one request that are grouped. */
const GROUPED_MIN = 4;

/** Consecutive entries of one request, or a single entry. */
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

/** The number of entries for each action; unfolds to all of them. */
function groupMarkup(row: Row, narrowing: Narrowing): Markup {
  const actions = Map.groupBy(row, ({ change }) => parseChange(change)?.action ?? 'unknown');
  return html`<details class="grouped">
    <summary>${[...actions].map(([action, { length }]) => html`${actionBadge(action)} ${count(length)} `)}</summary>
    <ul class="lines">${row.map(({ change }) => html`<li>${whatMarkup(change, narrowing)}</li>`)}</ul>
  </details>`;
}

/** The keys that made these changes, if known: those of the tenant and those that the rows mention. */
async function knownKeys(
  call: PageCall,
  tenant: FramedTenant,
  rows: readonly AuditRecord[],
): Promise<ReadonlyMap<string, KeyLabel>> {
  const keys = new Map<string, KeyLabel>();
  for (const { change } of rows) {
    const { key_id: keyId, name = '', scopes = [] } = parseChange(change) ?? {};
    if (keyId !== undefined) keys.set(keyId, { keyId, name, scopes });
  }
  const isUnknown = ({ actor }: AuditRecord): boolean => actor.startsWith('key_') && !keys.has(actor);
  const hasKeys = tenant.state === 'active' || tenant.state === 'suspended';
  if (!hasKeys || !rows.some(isUnknown)) return keys;
  return new Map([...keys, ...(await liveKeys(call))]);
}

/** The tenant; if it is deleted, what the last entry of its log says. Throws `tenant-not-found` if it never existed. */
async function readKnown(call: PageCall): Promise<FramedTenant> {
  const tenant = await unlessGone(readTenant(call));
  if (tenant !== undefined) return tenant;
  const tenantId = tenantIdOf(call);
  const query = { limit: 1, cursor: undefined, newestFirst: true };
  const { items } = await call.operator.call(CALLS.listAuditLog, call.context(), { ...query, tenantId });
  return { tenantId, name: parseChange(items[0]?.change ?? '')?.name ?? tenantId, state: 'deleted' };
}

function filterForm({ path, asked }: Narrowing, filled: Filled): Markup {
  const isAsked = Object.keys(asked).length > 0;
  const field = (name: Field, label: string, hint?: string, type: 'text' | 'datetime-local' = 'text'): Markup =>
    textField({ name, label, type, hint }, filled);
  const fields = html`
    ${selectField({ name: 'action', label: 'Action', choices: choicesOf('any', AUDIT_ACTIONS) }, filled)}
    ${field('actor', 'Actor', 'operator:NAME, an API key ID, or system')}
    ${field('subject', 'Subject', 'namespace:id')}
    ${field('object', 'Object', 'namespace:id')}
    ${field('request_id', 'Request', 'req_ and 26 characters')}
    ${field('since', 'Since (UTC)', undefined, 'datetime-local')}
    ${field('until', 'Before (UTC)', undefined, 'datetime-local')}
    ${submit('Show', 'secondary')}`;
  return html`<details open=${isAsked}>
    <summary>Filter by action, actor, subject, object, request or time</summary>
    <search>${queryForm(path, fields)}</search>
    ${isAsked && html`<p><a href=${path}>Show all entries</a></p>`}
  </details>`;
}

function listingMarkup(
  page: AuditLogPage,
  narrowing: Narrowing,
  keys: ReadonlyMap<string, KeyLabel>,
  isDeleted: boolean,
): Markup {
  const { items, nextCursor } = page;
  if (items.length === 0) {
    if (nextCursor !== undefined)
      return empty('Nothing found so far', 'There are older entries: continue with the next page.');
    return Object.keys(narrowing.asked).length > 0
      ? empty('No entry matches', html`<a href=${narrowing.path}>Show all entries</a>, or use fewer filters.`)
      : empty(
          'Nothing here',
          isDeleted ? 'The entries of this tenant have expired.' : 'Every change to this tenant appears here.',
        );
  }
  // A page filtered by request shows every entry of it.
  const rows = narrowing.asked.request_id === undefined ? groupByRequest(items) : items.map((item): Row => [item]);
  return table<Row>('Changes', rows, [
    ['When', ([{ atMs }]) => moment(atMs)],
    ['What', (row) => (row.length === 1 ? whatMarkup(row[0].change, narrowing) : groupMarkup(row, narrowing))],
    ['By', ([{ actor }]) => narrow(narrowing, 'actor', actor, actorMarkup(actor, keys))],
    ['Request', ([{ requestId }]) => copyId(requestId, narrow(narrowing, 'request_id', requestId, code(requestId)))],
  ]);
}

export async function auditLogPage(call: PageCall): Promise<PageResult> {
  const tenant = await readKnown(call);
  const { tenantId } = tenant;
  const narrowing = { path: tenantPath(tenantId, 'audit-log'), asked: askedOf(call) };
  const read = parseFilter(narrowing.asked);
  const refusal = 'refusal' in read ? read.refusal : undefined;
  const content = html`
    ${filterForm(narrowing, { fields: call.query, refusal })}
    ${'filter' in read && (await listing(call, tenant, narrowing, read.filter))}
    <p><small>On the command line: <code>grantd audit-log --tenant ${tenantId}</code></small></p>`;
  const shown = section('audit-log', 'Audit log', content);
  return tenantPage(tenant, 'audit-log', `Audit log of ${tenant.name}`, shown, refusal);
}

async function listing(
  call: PageCall,
  tenant: FramedTenant,
  narrowing: Narrowing,
  { fields, sinceMs, untilMs }: Filter,
): Promise<Markup> {
  const { path, asked } = narrowing;
  const cursor = call.query.optional('cursor');
  const query = { limit: CHANGES_PER_PAGE, cursor, newestFirst: true, sinceMs, untilMs, ...auditFilterOf(fields) };
  const page = await call.operator.call(CALLS.listAuditLog, call.context(), { ...query, tenantId: tenant.tenantId });
  const keys = await knownKeys(call, tenant, page.items);
  const { nextCursor, scannedToMs } = page;
  // One page reads a bounded number of changes.
  const isShort = nextCursor !== undefined && scannedToMs !== undefined;
  return html`${listingMarkup(page, narrowing, keys, tenant.state === 'deleted')}
    ${isShort && html`<p role="status">Searched back to ${moment(scannedToMs)} so far. The next page continues from there.</p>`}
    ${pager(path, asked, cursor, nextCursor)}`;
}
