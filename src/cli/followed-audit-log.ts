// `grantd audit-log --follow`: prints changes as they happen. It continues from a cursor of the service, so that it
// prints each change once and in order, even if the service was away for a while.

import { PAGE_LIMIT_MAX } from '../core/limits.ts';
import { summaryOfChange } from '../rules/rules-diff.ts';
import type { CliContext } from './cli-context.ts';
import { type OperatorRequest, path } from './operator-client.ts';
import { asRecord, type JsonRecord, optionalTextOf, recordsOf } from './output/json-view.ts';
import { followUntilInterrupted, type PatientReader } from './retrying-reader.ts';

/** A request for one tenant's newest changes costs the service a read of at most one row. */
const LOOK_MS = 1000;

interface FollowOptions {
  readonly tenant: string;
  readonly cursor?: string;
  readonly since?: string;
  /** The filters for changes, including the time range. */
  readonly filter: Readonly<Record<string, string | undefined>>;
  readonly json?: boolean;
  /** How many past changes are shown first, if neither a cursor nor a time says where to begin. */
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

/** One line per change. Columns cannot be aligned with changes still to come. */
function lineOf(record: JsonRecord): string {
  const { action } = asRecord(record.change);
  return [record.at, record.actor, action, describeEntry(record), record.request_id].map(String).join('  ');
}

const isDeletion = (record: JsonRecord): boolean => asRecord(record.change).state === 'deleted';

/** Rejects at once if the first request fails; later it waits until the service is back. */
export const followAuditLog = (context: CliContext, options: FollowOptions): Promise<number> =>
  followUntilInterrupted(context, async (reader) => {
    const deleted = await follow(context, reader, options);
    if (deleted) context.note('The tenant is deleted: its audit log has ended.');
    return deleted;
  });

/** True: the tenant no longer exists. False: interrupted. */
async function follow(context: CliContext, reader: PatientReader, options: FollowOptions): Promise<boolean> {
  const { since, json, filter } = options;
  const request = (query: Record<string, string | undefined>): OperatorRequest => ({
    method: 'GET',
    path: path`/tenants/${options.tenant}/audit-log`,
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
