// `grantd audit-log --all`: the audit log of all tenants, up to now or followed. Invariant: the cursor in the cursor
// file is never ahead of what was written to standard output, so a command that starts again from there leaves nothing
// out.

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type AuditEntry, auditEvent, checkpointEvent } from '../core/audit-events.ts';
import { FEED_WAIT_SECONDS_MAX } from '../core/change-feed.ts';
import { formatTimestamp } from '../core/text/timestamps.ts';
import type { CliContext } from './cli-context.ts';
import { CliFailure, EXIT, reasonOf } from './failures.ts';
import { describeEntry } from './followed-audit-log.ts';
import { asRecord, type JsonRecord, recordsOf, textOf } from './output/json-view.ts';
import { followUntilInterrupted, type PatientReader } from './retrying-reader.ts';

/** The pause after a page that says that a slot could not be read. */
const LOOK_MS = 1000;

export interface ExportOptions {
  readonly follow?: boolean;
  readonly cursor?: string;
  readonly cursorFile?: string;
  readonly since?: string;
  readonly json?: boolean;
  readonly output?: 'cloudevents';
}

export const exportAuditLog = (context: CliContext, options: ExportOptions): Promise<number> =>
  followUntilInterrupted(context, (reader) => tell(context, reader, options));

/** True: everything up to now has been told. False: interrupted. */
async function tell(context: CliContext, reader: PatientReader, options: ExportOptions): Promise<boolean> {
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

/** The service has said what it is: what an event repeats in its own fields is text. */
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

const lineOf = (entry: JsonRecord): string =>
  [entry.at, entry.tenant_id, entry.actor, asRecord(entry.change).action, describeEntry(entry), entry.request_id]
    .map(String)
    .join('  ');

/** Once whoever reads has taken it; false: nobody reads any more. */
const written = (context: CliContext, text: string): Promise<boolean> =>
  new Promise((resolve) => {
    context.stdout.write(text, (error) => resolve(error === undefined || error === null));
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

/** A crash leaves the cursor before or this one. */
function storeCursor(file: string, cursor: string): void {
  try {
    writeFileSync(`${file}.new`, `${cursor}\n`, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new CliFailure(`The cursor file cannot be written: ${reasonOf(error)}`, EXIT.failed);
  }
}
