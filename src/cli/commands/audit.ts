// `grantd changes`: the audit log of a tenant, filtered, listed or followed.

import { type Command, Option } from 'commander';
import { CHANGE_ACTIONS } from '../../core/audit-filter.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples, type ListOptions, printListing, TENANT_EXAMPLE, TENANT_OPTION } from '../command-parts.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { describeChange, followChanges } from '../followed-audit-log.ts';
import { parseRows } from '../listing.ts';
import { path } from '../operator-client.ts';
import { asRecord } from '../output/json-view.ts';
import type { Column } from '../output/render.ts';
import { TIME_FORMS, timeParser } from '../output/times.ts';

const ROWS_DEFAULT = 100;
/** What is shown of the past before the changes that follow. */
const ROWS_BEFORE_DEFAULT = 10;

export interface ChangesOptions extends Omit<ListOptions, 'limit'> {
  readonly tenant: string;
  readonly limit?: number;
  readonly newestFirst?: boolean;
  readonly oldestFirst?: boolean;
  readonly since?: string;
  readonly until?: string;
  readonly follow?: boolean;
  readonly action?: string;
  readonly actor?: string;
  readonly subject?: string;
  readonly object?: string;
  readonly requestId?: string;
}

const COLUMNS: readonly Column[] = [
  ['at', 'at'],
  ['actor', 'actor'],
  ['action', (record) => String(asRecord(record.change).action ?? '-')],
  ['change', describeChange],
  ['request', 'request_id'],
];

function refuseTogether(options: ChangesOptions): void {
  const { newestFirst, oldestFirst, until } = options;
  if (options.follow && (newestFirst || oldestFirst || until !== undefined)) {
    const ends = newestFirst ? '--newest-first' : oldestFirst ? '--oldest-first' : '--until';
    throw new CliFailure(
      `${ends} ends with what has happened, --follow waits for what will: pass one of them.`,
      EXIT.usage,
    );
  }
}

export function registerChangesCommand(program: Command, context: CliContext): void {
  const parseTime = timeParser(context.nowMs, 'the past');
  const command = program
    .command('changes')
    .description('list what happened to a tenant, newest first: what, when and by whom')
    .option(...TENANT_OPTION)
    .option('--oldest-first', 'begin with what happened first')
    .addOption(
      new Option('--newest-first', 'begin with what happened last; so it does anyway').conflicts('oldestFirst'),
    )
    .option('--since <time>', `only what happened then or later: ${TIME_FORMS}, back from now`, parseTime)
    .option('--until <time>', 'only what happened before', parseTime)
    .addOption(
      new Option('--action <action>', `only changes of this kind: ${CHANGE_ACTIONS.join(', ')}`).choices(
        CHANGE_ACTIONS,
      ),
    )
    .option('--actor <actor>', 'only what this one changed: operator:NAME, the id of an API key, or system')
    .option('--subject <subject>', 'only grants of this subject')
    .option('--object <object>', 'only grants on this object')
    .option('--request-id <id>', 'only what this request changed')
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
    `changes --tenant ${TENANT_EXAMPLE} --since 1h`,
    `changes --tenant ${TENANT_EXAMPLE} --action grant.revoked --subject user:ann`,
    `changes --tenant ${TENANT_EXAMPLE} --oldest-first --since 2026-11-01 --until 2026-12-01 --limit 5000 --json`,
    `changes --tenant ${TENANT_EXAMPLE} --follow`,
    `changes --tenant ${TENANT_EXAMPLE} --follow --since 2026-11-01 --json >> acme.ndjson`,
  ).action(
    context.action(async (options: ChangesOptions) => {
      refuseTogether(options);
      const { tenant, oldestFirst, since, until } = options;
      const { action, actor, subject, object, requestId } = options;
      const filter = { since, action, actor, subject, object, request_id: requestId };
      if (options.follow) {
        return followChanges(context, { ...options, filter, before: options.limit ?? ROWS_BEFORE_DEFAULT });
      }
      const query = { order: oldestFirst ? 'asc' : 'desc', until, ...filter };
      const listing = { path: path`/tenants/${tenant}/changes`, name: 'changes', query, columns: COLUMNS };
      return printListing(context, listing, { ...options, limit: options.limit ?? ROWS_DEFAULT });
    }),
  );
}
