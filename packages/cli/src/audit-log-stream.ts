// `grantd audit-log --follow` and `--all`: prints entries of one tenant or of all tenants as they happen, each once and
// in order, even if the service was away for a while. Invariant: the cursor in the cursor file is never ahead of what
// was written to standard output, so a command that starts again from there leaves nothing out.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type AuditEntry, auditEvent, checkpointEvent } from '../../../src/core/audit-log.ts';
import { FEED_WAIT_SECONDS_MAX } from '../../../src/core/change-feed.ts';
import { PAGE_LIMIT_MAX } from '../../../src/core/limits.ts';
import { formatTimestamp } from '../../../src/core/text/timestamps.ts';
import { summaryOfChange } from '../../../src/rules/rules-diff.ts';
import type { CliContext } from './cli-context.ts';
import { CliFailure, EXIT, reasonOf } from './failures.ts';
import { asRecord, type JsonRecord, optionalTextOf, recordsOf, textOf } from './output/json-view.ts';
import { escapeControls } from './output/plain-text.ts';
import { followUntilInterrupted, type PatientReader } from './retries.ts';
import type { ServiceRequest } from './service-client.ts';

/**
 * Between two requests, where the service does not wait itself. A request for one tenant's newest entries costs it a
 * read of at most one row.
 */
const LOOK_MS = 1000;

interface FollowOptions {
  readonly tenant?: string;
  readonly cursor?: string;
  readonly since?: string;
  /** The filters for changes, including the time range. */
  readonly filter: Readonly<Record<string, string | undefined>>;
  readonly json?: boolean;
  /** The number of past entries to show first, if neither a cursor nor a time is given. */
  readonly before: number;
}

/** All fields of the change except its action; of rules, which may be long, only how many there are. */
export function describeEntry(record: JsonRecord): string {
  const { action: _action, ...fields } = asRecord(record.change);
  const { rules, former, ...others } = fields;
  const summary = summaryOfChange(former, rules);
  const rest = summary === undefined ? fields : { rules: summary, ...others };
  return Object.entries(rest)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

/** One line per entry. Columns cannot be aligned with entries still to come. */
function lineOf(record: JsonRecord): string {
  const { action } = asRecord(record.change);
  const { at, tenant_id: tenant, actor, request_id: request } = record;
  return [at, tenant ?? [], actor, action, describeEntry(record), request].flat().map(String).join('  ');
}

const isDeletion = (record: JsonRecord): boolean => asRecord(record.change).state === 'deleted';

/** Rejects at once if the first request fails; later it waits until the service is back. */
export const followAuditLog = (context: CliContext, options: FollowOptions): Promise<number> =>
  followUntilInterrupted(context, context.connectOperatorTenant(options.tenant), async (reader) => {
    const deleted = await follow(context, reader, options);
    if (deleted) context.note('The tenant is deleted: its audit log has ended.');
    return deleted;
  });

/** Resolves to true once the tenant no longer exists, to false if interrupted. */
async function follow(context: CliContext, reader: PatientReader, options: FollowOptions): Promise<boolean> {
  const { since, json, filter } = options;
  const request = (query: Record<string, string | undefined>): ServiceRequest => ({
    method: 'GET',
    path: '/audit-log',
    query: { ...filter, ...query },
  });
  /** Prints changes and returns whether the tenant's very last one was among them. */
  const show = (changes: readonly JsonRecord[]): boolean => {
    for (const change of changes) context.print(json ? JSON.stringify(change) : lineOf(change));
    return changes.some(isDeletion);
  };

  let { cursor } = options;
  if (cursor === undefined && since === undefined) {
    const past: JsonRecord[] = [];
    let older: string | undefined;
    do {
      const limit = String(Math.min(options.before - past.length, PAGE_LIMIT_MAX));
      const page = await reader.read(request({ order: 'desc', limit, cursor: older }));
      if (page === undefined) return false;
      past.push(...recordsOf(page, 'entries'));
      cursor ??= optionalTextOf(page, 'resume_cursor');
      older = optionalTextOf(page, 'next_cursor');
      // A page may be short if few changes match.
    } while (older !== undefined && past.length < options.before);
    if (show(past.toReversed()) || cursor === undefined) return true;
  }
  while (true) {
    const page = await reader.read(request({ cursor, limit: String(PAGE_LIMIT_MAX) }));
    if (page === undefined) return false;
    if (show(recordsOf(page, 'entries'))) return true;
    const next = optionalTextOf(page, 'next_cursor');
    cursor = next ?? optionalTextOf(page, 'resume_cursor');
    // A deleted tenant has no further changes.
    if (cursor === undefined) return true;
    if (next === undefined && !(await reader.pause(LOOK_MS))) return false;
  }
}

export interface ExportOptions {
  readonly follow?: boolean;
  readonly cursor?: string;
  readonly cursorFile?: string;
  readonly since?: string;
  readonly json?: boolean;
  readonly output?: 'cloudevents';
}

export const exportAuditLog = (context: CliContext, options: ExportOptions): Promise<number> =>
  followUntilInterrupted(context, context.connect(), (reader) => printAll(context, reader, options));

/** Resolves to true at the end of the log, to false if interrupted. */
async function printAll(context: CliContext, reader: PatientReader, options: ExportOptions): Promise<boolean> {
  const { follow, since, cursorFile } = options;
  let cursor = options.cursor ?? storedCursor(cursorFile);
  for (let wait = '0'; ; ) {
    const from = cursor === undefined ? { since } : { cursor };
    const page = await reader.read({ method: 'GET', path: '/audit-log', query: { ...from, wait, format: 'json' } });
    if (page === undefined) break;
    const text = textOfPage(page, formatTimestamp(context.nowMs()), options);
    if (text !== '' && !(await written(context, text))) return false;
    cursor = textOf(page, 'next_cursor');
    if (cursorFile !== undefined) storeCursor(cursorFile, cursor);
    if (page.at_end === true && !follow) {
      if (cursorFile === undefined && options.output === undefined) context.note(`Continue with --cursor ${cursor}`);
      return true;
    }
    if (page.slots_missing !== 0 && !(await reader.pause(LOOK_MS))) break;
    wait = follow && page.at_end === true ? String(FEED_WAIT_SECONDS_MAX) : '0';
  }
  return false;
}

function textOfPage(page: JsonRecord, at: string, { json, output }: ExportOptions): string {
  const entries = recordsOf(page, 'entries');
  const lines =
    output === 'cloudevents'
      ? [...entries.map((entry) => JSON.stringify(auditEvent(entryOf(entry)))), checkpointLine(page, at)]
      : entries.map((entry) => (json ? JSON.stringify(entry) : lineOf(entry)));
  return lines.map((line) => `${line}\n`).join('');
}

const checkpointLine = (page: JsonRecord, at: string): string =>
  JSON.stringify(
    checkpointEvent({
      cursor: textOf(page, 'next_cursor'),
      at,
      at_end: page.at_end === true,
      slots_missing: Number(page.slots_missing),
    }),
  );

/** An event repeats these fields as its own. */
const entryOf = (entry: JsonRecord): AuditEntry => ({
  ...entry,
  tenant_id: textOf(entry, 'tenant_id'),
  seq: Number(entry.seq),
  index: Number(entry.index),
  at: textOf(entry, 'at'),
  actor: textOf(entry, 'actor'),
  request_id: textOf(entry, 'request_id'),
  change: entry.change,
});

/** Resolves to true when the reader has drained the text, to false if it closed. */
const written = (context: CliContext, text: string): Promise<boolean> =>
  new Promise((resolve) => {
    context.stdout.write(escapeControls(text), (error) => resolve(error === undefined || error === null));
  });

function storedCursor(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CliFailure(`The cursor file cannot be read: ${reasonOf(error)}`, EXIT.usage);
  }
}

/** A crash leaves either the previous cursor or this one. */
function storeCursor(file: string, cursor: string): void {
  try {
    writeFileSync(`${file}.new`, `${cursor}\n`, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new CliFailure(`The cursor file cannot be written: ${reasonOf(error)}`, EXIT.failed);
  }
}
