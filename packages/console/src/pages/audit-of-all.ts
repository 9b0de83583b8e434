// The audit log of all tenants, newest first, on a page and as a file. It is read from the logs of the slots, which
// keep some days. Invariants: a page reads a bounded number of changes, and says so if there are more in its range; a
// page back begins where this one ended, so that none is left out.

import { parseTenantId } from '../../../../src/core/ids.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../../../src/core/text/timestamps.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { auditFilterOf } from '../../../../src/operator/audit-filters.ts';
import type { LoggedChange } from '../../../../src/shard/shard.ts';
import { auditFile, type EntriesPart } from '../audit-files.ts';
import { type AuditOfAllQuery, auditOfAll } from '../audit-of-all.ts';
import { type Refusal, refuse } from '../forms.ts';
import { type PageCall, type PageResult, page, pathTo, redirect, tenantPath, withQuery } from '../page.ts';
import {
  askedOf,
  DOWNLOADED_MAX,
  downloadLinks,
  entriesTable,
  type Filter,
  type FilterTexts,
  fileFormatOf,
  filterForm,
  mentionedKeys,
  parseFilter,
} from '../parts/audit-entries.ts';
import { textField } from '../parts/form-parts.ts';
import { count, empty, moment } from '../parts/parts.ts';

const PATH = pathTo(['audit-log']);
const FILE_PATH = pathTo(['audit-log', 'file']);
const CHANGES_PER_PAGE = 50;
/** What one page reads, at most: some seconds, and some megabytes. */
const READ_MAX = 50_000;
const READING_MS_MAX = 5000;
/** Names of tenants that are looked up at once, for one page. */
const NAME_MS_MAX = 1000;

const RANGES = [
  { name: 'hour', text: 'hour', ms: MS_PER_HOUR },
  { name: 'day', text: 'day', ms: MS_PER_DAY },
  { name: 'week', text: '7 days', ms: 7 * MS_PER_DAY },
] as const;

interface NewestEntries {
  /** The newest, newest first. */
  readonly entries: readonly LoggedChange[];
  readonly matches: number;
  readonly read: number;
  /** Everything in the range was read. */
  readonly isWhole: boolean;
  readonly slotsMissing: number;
}

const newestFirst = (left: LoggedChange, right: LoggedChange): number =>
  right.atMs - left.atMs ||
  Number(left.tenantId > right.tenantId) - Number(left.tenantId < right.tenantId) ||
  right.seq - left.seq ||
  right.index - left.index;

/** The newest entries and all others of the same moment: the page before begins with the moment before. */
function newest(entries: readonly LoggedChange[]): readonly LoggedChange[] {
  const sorted = entries.toSorted(newestFirst);
  const lastMs = sorted[CHANGES_PER_PAGE - 1]?.atMs;
  return lastMs === undefined ? sorted : sorted.filter(({ atMs }) => atMs >= lastMs);
}

async function readNewest(call: PageCall, query: AuditOfAllQuery): Promise<NewestEntries> {
  const enoughAtMs = call.clock.monotonicMs() + READING_MS_MAX;
  let entries: readonly LoggedChange[] = [];
  let [matches, read, slotsMissing, isWhole] = [0, 0, 0, false];
  for await (const part of auditOfAll(call, query)) {
    entries = newest([...entries, ...part.entries]);
    matches += part.entries.length;
    read += part.read;
    ({ slotsMissing, atEnd: isWhole } = part);
    if (read >= READ_MAX || call.clock.monotonicMs() >= enoughAtMs) break;
  }
  return { entries, matches, read, isWhole, slotsMissing };
}

/** Names are a convenience: where one cannot be read, the page shows the ID. */
async function namesOf(call: PageCall, entries: readonly LoggedChange[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(entries.map(({ tenantId }) => tenantId))].flatMap((id) => parseTenantId(id) ?? []);
  const context = { ...call.context(), deadlineMs: call.clock.monotonicMs() + NAME_MS_MAX };
  const read = await Promise.allSettled(ids.map((tenantId) => call.operator.call('readTenant', context, { tenantId })));
  const tenants = read.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  return new Map(tenants.filter(({ state }) => state !== 'deleted').map(({ tenantId, name }) => [tenantId, name]));
}

interface Range {
  readonly name: string | undefined;
  readonly text: string | undefined;
  readonly sinceMs: number;
}

function rangeOf({ query, clock }: PageCall, sinceMs: number | undefined): Range {
  if (sinceMs !== undefined) return { name: undefined, text: undefined, sinceMs };
  const { name, text, ms } = RANGES.find((range) => range.name === query.text('range')) ?? RANGES[1];
  return { name, text, sinceMs: clock.wallMs() - ms };
}

function rangeLinks(asked: FilterTexts, shown: Range): Markup {
  const rest: FilterTexts = { ...asked, since: '', until: '' };
  const links = RANGES.map(({ name, text }) => {
    const href = withQuery(PATH, { ...rest, range: name === 'day' ? undefined : name });
    return html`<li><a href=${href} aria-current=${shown.name === name ? 'true' : undefined}>${text}</a></li>`;
  });
  return html`<nav class="ranges" aria-label="Range"><ul>${links}</ul></nav>`;
}

function progressMarkup(
  { entries, matches, read, isWhole, slotsMissing }: NewestEntries,
  { sinceMs, text }: Range,
): Markup {
  const range = text === undefined ? html`since ${moment(sinceMs)}` : `in the last ${text}`;
  const found =
    matches > entries.length
      ? `The newest ${count(entries.length)} of ${count(matches)} entries`
      : `${count(matches)} ${matches === 1 ? 'entry' : 'entries'}`;
  return html`<p role="status">${found} ${range}, of ${count(read)} changes read.${' '}
    ${!isWhole && slotsMissing === 0 && html`<strong>There are more changes than one page reads, so newer entries may be missing.</strong> Choose a shorter range.`}
    ${slotsMissing > 0 && html`<strong>${count(slotsMissing)} slots could not be read now.</strong>`}
  </p>`;
}

async function listing(call: PageCall, asked: FilterTexts, { fields, sinceMs, untilMs }: Filter): Promise<Markup> {
  const range = rangeOf(call, sinceMs);
  const listed = await readNewest(call, { ...auditFilterOf(fields), sinceMs: range.sinceMs, untilMs });
  const { entries, matches, isWhole } = listed;
  const named = { ...asked, ...(range.name === undefined || range.name === 'day' ? {} : { range: range.name }) };
  const narrowing = { path: PATH, asked: named, tenantNames: await namesOf(call, entries) };
  const shown =
    entries.length > 0
      ? entriesTable(entries, narrowing, mentionedKeys(entries))
      : empty(
          'No entry found',
          html`Choose a longer range or fewer filters. The logs of all tenants keep some days; that of one tenant goes back 400 days.`,
        );
  const lastMs = entries.at(-1)?.atMs;
  const older =
    matches > entries.length &&
    lastMs !== undefined &&
    withQuery(PATH, { ...named, until: new Date(lastMs).toISOString().slice(0, -1) });
  return html`<div class="title-row">${progressMarkup(listed, range)}${rangeLinks(asked, range)}</div>
    ${shown}
    ${older && html`<nav class="pager" aria-label="Pages"><a class="button secondary" rel="next" href=${older}>Older entries</a></nav>`}
    ${isWhole && downloadLinks(FILE_PATH, named)}`;
}

/** A tenant has an audit log of its own, which goes back further. */
function ofTenant(call: PageCall, asked: FilterTexts, path: string): PageResult | Refusal | undefined {
  const text = call.query.typed('tenant');
  if (text === '') return undefined;
  const tenantId = parseTenantId(text);
  if (tenantId === undefined) return refuse('tenant', 'This is not the ID of a tenant, ten_ and 26 characters.');
  return redirect(withQuery(tenantPath(tenantId, path), { ...asked, format: call.query.optional('format') }));
}

export async function auditOfAllPage(call: PageCall): Promise<PageResult> {
  const asked = askedOf(call);
  const other = ofTenant(call, asked, 'audit-log');
  if (other !== undefined && 'kind' in other) return other;
  const read = parseFilter(asked);
  const refusal = other ?? ('refusal' in read ? read.refusal : undefined);
  const filled = { fields: call.query, refusal };
  const hint = 'An ID: its own audit log goes back 400 days';
  const tenant = textField({ name: 'tenant', label: 'Tenant', hint }, filled);
  const body = html`<h1>Audit log</h1>
    <p class="hint">The changes of all tenants: who changed what, and when.</p>
    ${filterForm({ path: PATH, asked }, filled, tenant)}
    ${refusal === undefined && 'filter' in read && (await listing(call, asked, read.filter))}
    <p><small>On the command line: <code>grantd audit-log --all --since 1d</code></small></p>`;
  return page('Audit log', body, refusal);
}

/** The entries of the filter as a file. */
export async function auditOfAllFile(call: PageCall): Promise<PageResult> {
  const asked = askedOf(call);
  const other = ofTenant(call, asked, 'audit-log/file');
  if (other !== undefined && 'kind' in other) return other;
  const read = parseFilter(asked);
  if (other !== undefined || 'refusal' in read) return auditOfAllPage(call);
  const { fields, sinceMs, untilMs } = read.filter;
  const query = { ...auditFilterOf(fields), sinceMs: rangeOf(call, sinceMs).sinceMs, untilMs };
  const file = { name: 'audit-log', format: fileFormatOf(call), operator: call.session.operator };
  return auditFile(file, partsOf(call, query));
}

async function* partsOf(call: PageCall, query: AuditOfAllQuery): AsyncGenerator<EntriesPart, void, undefined> {
  let left = DOWNLOADED_MAX;
  let isWhole = false;
  for await (const { entries, atEnd } of auditOfAll(call, query)) {
    isWhole = atEnd && entries.length <= left;
    yield { entries: entries.slice(0, left), isCut: false };
    left -= entries.length;
    if (left <= 0) break;
  }
  yield { entries: [], isCut: !isWhole };
}
