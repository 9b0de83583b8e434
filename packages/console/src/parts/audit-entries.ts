// Entries of the audit log as pages show them: what has changed, by whom, in which request, and the filter over them.
// Every value in a row narrows the listing to it.

import { z } from 'zod';
import { AUDIT_ACTIONS } from '../../../../src/core/audit-log.ts';
import { termsInRecord } from '../../../../src/core/grant-attributes.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { type AuditFilterFields, auditFilterShape } from '../../../../src/operator/audit-filters.ts';
import { summaryOfChange } from '../../../../src/rules/rules-diff.ts';
import type { AuditRecord, LoggedChange } from '../../../../src/shard/shard.ts';
import type { FileFormat } from '../audit-files.ts';
import { parseDateTime, type Refusal, refuseAll, refuseInvalid } from '../forms.ts';
import { type PageCall, tenantPath, withQuery } from '../page.ts';
import { actorCell } from './actors.ts';
import { choicesOf, type FormContent, queryForm, selectField, submit, textField } from './form-parts.ts';
import { type KeyLabel, keyIdEnd, keyMarkup } from './key-facts.ts';
import { actionBadge, code, copyId, count, foreign, moment, plural, table, termsMarkup } from './parts.ts';

/** A change as the log describes it. Actions of later versions are shown as they are. */
const changeShape = z
  .looseObject({
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
    readers: z.union([z.number(), z.literal('auto')]).optional(),
    rules: z.unknown().optional(),
    former: z.unknown().optional(),
    former_terms: z.record(z.string(), z.unknown()).transform(termsInRecord).optional(),
  })
  .transform((change) => ({ ...change, terms: termsInRecord(change) }));

export function parseChange(text: string): z.output<typeof changeShape> | undefined {
  try {
    return changeShape.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const FIELDS = ['action', 'actor', 'subject', 'object', 'request_id', 'since', 'until'] as const;
type Field = (typeof FIELDS)[number];
export type FilterTexts = Partial<Readonly<Record<Field, string>>>;

/** The filled-in fields, as typed. */
export function askedOf({ query }: PageCall): FilterTexts {
  return Object.fromEntries(FIELDS.map((name) => [name, query.typed(name)]).filter(([, text]) => text !== ''));
}

export interface Filter {
  readonly fields: AuditFilterFields;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
}

export function parseFilter({
  since,
  until,
  ...rest
}: FilterTexts): { readonly filter: Filter } | { readonly refusal: Refusal } {
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
export interface Narrowing {
  readonly path: string;
  readonly asked: FilterTexts;
  /** On a page of all tenants: their names, as far as they are known. */
  readonly tenantNames?: ReadonlyMap<string, string>;
}

const narrow = ({ path, asked }: Narrowing, field: Field, value: string, shown: Markup): Markup =>
  html`<a href=${withQuery(path, { ...asked, [field]: value })}>${shown}</a>`;

function whatMarkup(change: string, narrowing: Narrowing): Markup {
  const parsed = parseChange(change);
  if (parsed === undefined) return html`<code class="long">${foreign(change)}</code>`;
  const { action, subject, relation, object = '', name, key_id: keyId, scopes = [], plan, state, readers } = parsed;
  const { former_key_id: formerKeyId, former_terms: former, terms } = parsed;
  const rules = summaryOfChange(parsed.former, parsed.rules);
  const details: Markup[] = [
    subject !== undefined &&
      html` ${narrow(narrowing, 'subject', subject, foreign(subject))} <strong>${relation}</strong>${' '}
          ${narrow(narrowing, 'object', object, foreign(object))}`,
    Object.keys(terms).length > 0 && html` <small>${termsMarkup(terms)}</small>`,
    former !== undefined && html` <small>(before: ${termsMarkup(former)})</small>`,
    keyId !== undefined
      ? html` ${keyMarkup({ keyId, name: name ?? '', scopes })}`
      : name === undefined || name === ''
        ? undefined
        : html` ${foreign(name)}`,
    formerKeyId !== undefined &&
      html` in place of <span title=${formerKeyId}>${code(keyIdEnd(formerKeyId))}</span>, which ends at ${parsed.former_ends_at}`,
    plan !== undefined && html` plan ${plan}`,
    state !== undefined && html`, ${state}`,
    readers !== undefined && html`, ${readers === 'auto' ? 'readers auto' : plural(readers, 'reader')}`,
    rules !== undefined && html` ${rules}`,
  ];
  return html`${actionBadge(action)}${details}`;
}

/** Minimum entries of one request that are grouped. */
const GROUPED_MIN = 4;

/** Consecutive entries of one request, or a single entry. */
type Row = readonly [Entry, ...(readonly Entry[])];

/** An entry of one tenant, or of all of them with its tenant. */
type Entry = AuditRecord & Partial<Pick<LoggedChange, 'tenantId'>>;

function groupByRequest(items: readonly Entry[]): readonly Row[] {
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

/** The keys that entries mention themselves. */
export function mentionedKeys(rows: readonly AuditRecord[]): ReadonlyMap<string, KeyLabel> {
  const keys = new Map<string, KeyLabel>();
  for (const { change } of rows) {
    const { key_id: keyId, name = '', scopes = [] } = parseChange(change) ?? {};
    if (keyId !== undefined) keys.set(keyId, { keyId, name, scopes });
  }
  return keys;
}

/** The form of the filter, open if it is filled in. `tenant`: the field for one, on the page of all tenants. */
export function filterForm({ path, asked }: Narrowing, filled: FormContent, tenant?: Markup): Markup {
  const isAsked = Object.keys(asked).length > 0 || filled.refusal !== undefined;
  return html`<details open=${isAsked}>
    <summary>Filter by ${tenant === undefined ? '' : 'tenant, '}action, actor, subject, object, request or time</summary>
    <search>${queryForm(path, filterFields(filled, tenant))}</search>
    ${isAsked && html`<p><a href=${path}>Show all entries</a></p>`}
  </details>`;
}

/** The fields of the filter, and its button. `first`: a field before them. */
function filterFields(filled: FormContent, first: Markup): Markup {
  const field = (name: Field, label: string, hint?: string, type: 'text' | 'datetime-local' = 'text'): Markup =>
    textField({ name, label, type, hint }, filled);
  return html`${first}
    ${selectField({ name: 'action', label: 'Action', choices: choicesOf('any', AUDIT_ACTIONS) }, filled)}
    ${field('actor', 'Actor', 'operator:NAME, an API key ID, or system')}
    ${field('subject', 'Subject', 'namespace:id')}
    ${field('object', 'Object', 'namespace:id')}
    ${field('request_id', 'Request', 'req_ and 26 characters')}
    ${field('since', 'Since (UTC)', undefined, 'datetime-local')}
    ${field('until', 'Before (UTC)', undefined, 'datetime-local')}
    ${submit('Show', 'secondary')}`;
}

/** Links to the entries of the filter as files. */
export function downloadLinks(path: string, asked: FilterTexts & Readonly<Record<string, string | undefined>>): Markup {
  const link = (format: string, text: string): Markup =>
    html`<a href=${withQuery(path, { ...asked, format })} download>${text}</a>`;
  return html`<p class="downloads">Download: ${link('csv', 'CSV')} ${link('ndjson', 'NDJSON')}
    <small>up to ${count(DOWNLOADED_MAX)} entries, oldest first</small></p>`;
}

/** The format that a link asks for. */
export const fileFormatOf = ({ query }: PageCall): FileFormat => (query.text('format') === 'csv' ? 'csv' : 'ndjson');

/** Entries in one file. */
export const DOWNLOADED_MAX = 100_000;

function tenantCell({ tenantNames }: Narrowing, [{ tenantId = '' }]: Row): Markup {
  const name = tenantNames?.get(tenantId);
  return html`<a href=${tenantPath(tenantId, name === undefined ? 'audit-log' : '')}>${name === undefined ? code(keyIdEnd(tenantId)) : foreign(name)}</a>`;
}

export function entriesTable(
  items: readonly Entry[],
  narrowing: Narrowing,
  keys: ReadonlyMap<string, KeyLabel>,
): Markup {
  // A page filtered by request shows every entry of it.
  const rows = narrowing.asked.request_id === undefined ? groupByRequest(items) : items.map((item): Row => [item]);
  return table<Row>('Changes', rows, [
    ['When', ([{ atMs }]) => moment(atMs)],
    ...(narrowing.tenantNames === undefined ? [] : [['Tenant', (row: Row) => tenantCell(narrowing, row)] as const]),
    ['What', (row) => (row.length === 1 ? whatMarkup(row[0].change, narrowing) : groupMarkup(row, narrowing))],
    [
      'By',
      ([{ actor, tenantId }]) =>
        actorCell(actor, keys, narrow(narrowing, 'actor', actor, 'only their changes'), tenantId),
    ],
    ['Request', ([{ requestId }]) => copyId(requestId, narrow(narrowing, 'request_id', requestId, code(requestId)))],
  ]);
}
