// The audit log of a tenant: when, what, by whom, newest first, with an optional filter, on a page and as a file. It
// outlives its tenant, and so does its page.

import type { AuditFilter } from '../../../../src/core/audit-log.ts';
import { html, type Markup } from '../../../../src/http/pages/markup.ts';
import { auditFilterOf } from '../../../../src/operator/audit-filters.ts';
import { tenantIdOf } from '../../../../src/operator/path-ids.ts';
import type { AuditLogPage, AuditRecord } from '../../../../src/shard/shard.ts';
import { auditFile } from '../audit-files.ts';
import { type FramedTenant, type PageCall, type PageResult, readTenant, tenantPath, unlessGone } from '../page.ts';
import { liveKeys } from '../parts/actors.ts';
import {
  askedOf,
  DOWNLOADED_MAX,
  downloadLinks,
  entriesTable,
  type Filter,
  fileFormatOf,
  filterForm,
  mentionedKeys,
  type Narrowing,
  parseChange,
  parseFilter,
} from '../parts/audit-entries.ts';
import type { KeyLabel } from '../parts/key-facts.ts';
import { tenantPage } from '../parts/layout.ts';
import { empty, moment, pager, section } from '../parts/parts.ts';

const CHANGES_PER_PAGE = 50;
const CHANGES_PER_READ = 1000;

/** The keys that made these changes, if known: those of the tenant and those that the rows mention. */
async function knownKeys(
  call: PageCall,
  tenant: FramedTenant,
  rows: readonly AuditRecord[],
): Promise<ReadonlyMap<string, KeyLabel>> {
  const keys = mentionedKeys(rows);
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
  const { items } = await call.operator.call('listAuditLog', call.context(), { ...query, tenantId });
  return { tenantId, name: parseChange(items[0]?.change ?? '')?.name ?? tenantId, state: 'deleted' };
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
  return entriesTable(items, narrowing, keys);
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
    ${'filter' in read && downloadLinks(`${narrowing.path}/file`, narrowing.asked)}
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
  const page = await call.operator.call('listAuditLog', call.context(), { ...query, tenantId: tenant.tenantId });
  const keys = await knownKeys(call, tenant, page.items);
  const { nextCursor, scannedToMs } = page;
  // One page reads a bounded number of changes.
  const isShort = nextCursor !== undefined && scannedToMs !== undefined;
  return html`${listingMarkup(page, narrowing, keys, tenant.state === 'deleted')}
    ${isShort && html`<p role="status">Searched back to ${moment(scannedToMs)} so far. The next page continues from there.</p>`}
    ${pager(path, asked, cursor, nextCursor)}`;
}

/** The entries of the filter as a file, oldest first. */
export async function auditLogFile(call: PageCall): Promise<PageResult> {
  const tenantId = tenantIdOf(call);
  const read = parseFilter(askedOf(call));
  if ('refusal' in read) return auditLogPage(call);
  const { fields, sinceMs, untilMs } = read.filter;
  const file = { name: `audit-log-${tenantId}`, format: fileFormatOf(call), operator: call.session.operator };
  return auditFile(file, entriesOf(call, tenantId, auditFilterOf(fields), sinceMs, untilMs));
}

async function* entriesOf(
  { operator, context }: PageCall,
  tenantId: string,
  filter: AuditFilter,
  sinceMs: number | undefined,
  untilMs: number | undefined,
) {
  let cursor: string | undefined;
  let left = DOWNLOADED_MAX;
  do {
    const query = { tenantId, limit: Math.min(left, CHANGES_PER_READ), cursor, sinceMs, untilMs, ...filter };
    const { items, nextCursor } = await operator.call('listAuditLog', context(), query);
    yield {
      entries: items.map((item) => ({ ...item, tenantId })),
      isCut: nextCursor !== undefined && items.length >= left,
    };
    left -= items.length;
    cursor = nextCursor;
  } while (cursor !== undefined && left > 0);
}
