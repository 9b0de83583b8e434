// `grantd changes`: the trail of a tenant, listed or followed.

import { type Command, InvalidArgumentError } from 'commander';
import type { CliContext } from './cli-context.ts';
import { addExamples, type ListOptions, printListing, TENANT_EXAMPLE, TENANT_OPTION } from './command-parts.ts';
import { CliFailure, EXIT } from './failures.ts';
import { describeChange, followChanges } from './followed-changes.ts';
import { asRecord } from './json-view.ts';
import { parseRows } from './listing.ts';
import { path } from './operator-client.ts';
import type { Column } from './render.ts';

const ROWS_DEFAULT = 100;
/** What is shown of the past before the changes that follow. */
const ROWS_BEFORE_DEFAULT = 10;

export interface ChangesOptions extends Omit<ListOptions, 'limit'> {
  readonly tenant: string;
  readonly limit?: number;
  readonly newestFirst?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly follow?: boolean;
}

const COLUMNS: readonly Column[] = [
  ['at', 'at'],
  ['actor', 'actor'],
  ['action', (record) => String(asRecord(record.change).action ?? '-')],
  ['change', describeChange],
  ['request', 'request_id'],
];

/** What a person writes of a time (`2026-11-30`, `2026-11-30T12:00Z`), as the service takes it. */
function parseTime(text: string): string {
  const timeMs = Date.parse(text);
  if (!Number.isFinite(timeMs))
    throw new InvalidArgumentError('It must be a time: 2026-11-30 or 2026-11-30T12:00:00Z.');
  return new Date(timeMs).toISOString();
}

function refuseTogether(options: ChangesOptions): void {
  const ends = options.newestFirst ? '--newest-first' : '--until';
  if (options.follow && (options.newestFirst || options.until !== undefined)) {
    throw new CliFailure(
      `${ends} ends with what has happened, --follow waits for what will: pass one of them.`,
      EXIT.usage,
    );
  }
}

export function registerChangesCommand(program: Command, context: CliContext): void {
  const command = program
    .command('changes')
    .description('list what happened to a tenant, oldest first: what, when and by whom')
    .requiredOption(...TENANT_OPTION)
    .option('--newest-first', 'begin with what happened last')
    .option('--since <time>', 'only what happened then or later', parseTime)
    .option('--until <time>', 'only what happened before', parseTime)
    .option('-f, --follow', 'the last changes, then every new one as it comes, until interrupted')
    .option(
      '--limit <rows>',
      `at most so many (default: ${ROWS_DEFAULT}; of the past with --follow: ${ROWS_BEFORE_DEFAULT})`,
      parseRows,
    )
    .option('--cursor <cursor>', 'go on where an earlier listing ended')
    .option('--json', 'print JSON; with --follow a line per change (NDJSON)');
  addExamples(
    command,
    `changes --tenant ${TENANT_EXAMPLE} --newest-first`,
    `changes --tenant ${TENANT_EXAMPLE} --since 2026-11-01 --until 2026-12-01 --limit 5000 --json`,
    `changes --tenant ${TENANT_EXAMPLE} --follow`,
    `changes --tenant ${TENANT_EXAMPLE} --follow --since 2026-11-01 --json >> acme.ndjson`,
  ).action(
    context.action(async (options: ChangesOptions) => {
      refuseTogether(options);
      const { tenant, newestFirst, since, until } = options;
      if (options.follow) return followChanges(context, { ...options, before: options.limit ?? ROWS_BEFORE_DEFAULT });
      const query = { order: newestFirst ? 'desc' : undefined, since, until };
      const listing = { path: path`/tenants/${tenant}/changes`, name: 'changes', query, columns: COLUMNS };
      return printListing(context, listing, { ...options, limit: options.limit ?? ROWS_DEFAULT });
    }),
  );
}
