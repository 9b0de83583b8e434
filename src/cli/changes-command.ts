// `grantd changes`: the trail of a tenant, oldest first.

import type { Command } from 'commander';
import type { CliContext } from './cli-context.ts';
import { EXIT } from './failures.ts';
import { asRecord, type JsonRecord } from './json-view.ts';
import { parseRows, readListing } from './listing.ts';
import { path } from './operator-client.ts';
import { type Column, renderJson, renderTable } from './render.ts';

const ROWS_DEFAULT = 100;

/** All fields of the change but its action. */
function describeChange(record: JsonRecord): string {
  const { action: _action, ...rest } = asRecord(record.change);
  return Object.entries(rest)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

const COLUMNS: readonly Column[] = [
  ['at', 'at'],
  ['actor', 'actor'],
  ['action', (record) => String(asRecord(record.change).action ?? '-')],
  ['change', describeChange],
  ['request', 'request_id'],
];

export function registerChangesCommand(program: Command, context: CliContext): void {
  program
    .command('changes')
    .description('list what happened to a tenant, oldest first: what, when and by whom')
    .requiredOption('--tenant <id>', 'the tenant, ten_…')
    .option('--limit <rows>', 'at most so many', parseRows, ROWS_DEFAULT)
    .option('--cursor <cursor>', 'go on where an earlier listing ended')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  grantd changes --tenant ten_01k8x0000000000000000000zz\n  grantd changes --tenant ten_01k8x0000000000000000000zz --limit 5000 --json\n',
    )
    .action(
      context.action(
        async (options: {
          readonly tenant: string;
          readonly limit: number;
          readonly cursor?: string;
          readonly json?: boolean;
        }) => {
          const client = await context.connect();
          const { records, nextCursor } = await readListing(client, {
            path: path`/tenants/${options.tenant}/changes`,
            name: 'changes',
            rows: options.limit,
            cursor: options.cursor,
          });
          context.print(options.json ? renderJson(records) : renderTable(records, COLUMNS));
          if (nextCursor !== undefined) context.note(`There are more: --cursor ${nextCursor}`);
          return EXIT.ok;
        },
      ),
    );
}
