// `grantd audit-log`: the audit log of a tenant, filtered, listed or followed; or that of all tenants.

import { type Command, Option } from 'commander';
import { AUDIT_ACTIONS } from '../../../../src/core/audit-log.ts';
import { describeEntry, exportAuditLog, followAuditLog } from '../audit-log-stream.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  type ListOptions,
  parseRows,
  printListing,
  TENANT_EXAMPLE,
  TENANT_OPTION,
} from '../command-parts.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { asRecord } from '../output/json-view.ts';
import type { Column } from '../output/render.ts';
import { TIME_FORMS, timeParser } from '../output/times.ts';

const ROWS_DEFAULT = 100;
/** How many past entries are shown before new ones are followed. */
const ROWS_BEFORE_DEFAULT = 10;

export interface AuditLogOptions extends Omit<ListOptions, 'limit'> {
  readonly tenant?: string;
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
  readonly all?: boolean;
  readonly output?: 'cloudevents';
  readonly cursorFile?: string;
}

/** The options that `--all` has no meaning for, as commander names them. */
const OF_ONE_TENANT = [
  'tenant',
  'oldestFirst',
  'newestFirst',
  'until',
  'action',
  'actor',
  'subject',
  'object',
  'requestId',
  'limit',
];

const COLUMNS: readonly Column[] = [
  ['at', 'at'],
  ['actor', 'actor'],
  ['action', (record) => String(asRecord(record.change).action ?? '-')],
  ['change', describeEntry],
  ['request', 'request_id'],
];

function refuseTogether(options: AuditLogOptions): void {
  const { newestFirst, oldestFirst, until, all, output, cursorFile, cursor, since } = options;
  if (!all && (output !== undefined || cursorFile !== undefined)) {
    const option = output === undefined ? '--cursor-file' : '--output';
    throw new CliFailure(`${option} is for the audit log of all tenants. Pass --all, too.`, EXIT.usage);
  }
  if (all && cursor !== undefined && (since !== undefined || cursorFile !== undefined)) {
    throw new CliFailure('--cursor says where to begin. Pass neither --since nor --cursor-file with it.', EXIT.usage);
  }
  if (options.follow && (newestFirst || oldestFirst || until !== undefined)) {
    const ends = newestFirst ? '--newest-first' : oldestFirst ? '--oldest-first' : '--until';
    throw new CliFailure(
      `--follow waits for new entries, so it cannot be combined with ${ends}. Pass only one of them.`,
      EXIT.usage,
    );
  }
}

export function registerAuditLogCommand(program: Command, context: CliContext): void {
  const parseTime = timeParser(context.nowMs, 'the past');
  const command = program
    .command('audit-log')
    .description('show the audit log of a tenant, newest entry first: who changed what, and when')
    .option(...TENANT_OPTION)
    .option('--oldest-first', 'show the oldest entry first')
    .addOption(new Option('--newest-first', 'show the newest entry first (the default)').conflicts('oldestFirst'))
    .option('--since <time>', `only entries from this time on: ${TIME_FORMS}, back from now`, parseTime)
    .option('--until <time>', 'only entries before this time', parseTime)
    .addOption(new Option('--action <action>', 'only entries with this action').choices(AUDIT_ACTIONS))
    .option('--actor <actor>', 'only entries by this actor: operator:NAME, an API key ID, or system')
    .option('--subject <subject>', 'only entries about grants of this subject')
    .option('--object <object>', 'only entries about grants on this object')
    .option('--request-id <id>', 'only entries made by this request')
    .option('-f, --follow', 'show the latest entries, then every new one as it arrives, until interrupted')
    .option(
      '--limit <rows>',
      `maximum number of entries (default: ${ROWS_DEFAULT}; with --follow, past entries: ${ROWS_BEFORE_DEFAULT})`,
      parseRows,
    )
    .option('--cursor <cursor>', 'continue where an earlier listing ended')
    .option('--json', 'print JSON; with --follow or --all, one entry per line (NDJSON)')
    .addOption(new Option('--all', 'the audit log of all tenants, oldest entry first').conflicts(OF_ONE_TENANT))
    .addOption(
      new Option('--output <format>', 'with --all: print events of CloudEvents 1.0, one per line, and checkpoints')
        .choices(['cloudevents'])
        .conflicts('json'),
    )
    .option('--cursor-file <file>', 'with --all: continue at the cursor in this file, and keep it up to date');
  addExamples(
    command,
    `audit-log --tenant ${TENANT_EXAMPLE} --since 1h`,
    `audit-log --tenant ${TENANT_EXAMPLE} --action grant.revoked --subject user:ann`,
    `audit-log --tenant ${TENANT_EXAMPLE} --oldest-first --since 2026-11-01 --until 2026-12-01 --limit 5000 --json`,
    `audit-log --tenant ${TENANT_EXAMPLE} --follow`,
    `audit-log --tenant ${TENANT_EXAMPLE} --follow --since 2026-11-01 --json >> acme.ndjson`,
    'audit-log --all --follow --output cloudevents --cursor-file audit.cursor',
  ).action(
    context.action(async (options: AuditLogOptions) => {
      refuseTogether(options);
      if (options.all) return exportAuditLog(context, options);
      const { oldestFirst, since, until } = options;
      const { action, actor, subject, object, requestId } = options;
      const filter = { since, action, actor, subject, object, request_id: requestId };
      if (options.follow) {
        return followAuditLog(context, { ...options, filter, before: options.limit ?? ROWS_BEFORE_DEFAULT });
      }
      const query = { order: oldestFirst ? 'asc' : 'desc', until, ...filter };
      const listing = { path: '/audit-log', name: 'entries', query, columns: COLUMNS };
      return printListing(context, context.connectOperatorTenant(options.tenant), listing, {
        ...options,
        limit: options.limit ?? ROWS_DEFAULT,
      });
    }),
  );
}
