// What many commands share: options, examples, and how a listing is read and printed.

import type { Command } from 'commander';
import type { CliContext } from './cli-context.ts';
import { EXIT } from './failures.ts';
import { parseRows, ROWS_DEFAULT, readListing } from './listing.ts';
import type { JsonRecord } from './output/json-view.ts';
import { type Column, renderJson, renderRecord } from './output/render.ts';

/** A tenant's id in examples. */
export const TENANT_EXAMPLE = 'ten_01k8x0000000000000000000zz';

export interface JsonOption {
  readonly json?: boolean;
}

/** For commands with TENANT_OPTION; `registerCliCommands` refuses to run one without a tenant. */
export interface TenantOption extends JsonOption {
  readonly tenant: string;
}

export interface ListOptions extends JsonOption {
  readonly limit: number;
  readonly cursor?: string;
}

export const JSON_OPTION = ['--json', 'print JSON'] as const;
export const TENANT_OPTION = ['--tenant <id>', 'the tenant, ten_… (default: GRANTD_TENANT)'] as const;
export const YES_OPTION = ['--yes', 'do not ask for confirmation'] as const;

export function addListOptions(command: Command): Command {
  return command
    .option('--limit <rows>', 'maximum number of rows', parseRows, ROWS_DEFAULT)
    .option('--cursor <cursor>', 'continue where an earlier listing ended')
    .option(...JSON_OPTION);
}

export function addExamples(command: Command, ...lines: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  grantd ${line}\n`).join('')}`);
}

export function printRecord(context: CliContext, record: JsonRecord, options: JsonOption): void {
  context.print(options.json ? renderJson(record) : renderRecord(record));
}

/**
 * Prints a listing, and on standard error how to continue. An item that is no object gets the name of the first column.
 */
export async function printListing(
  context: CliContext,
  listing: {
    readonly path: string;
    readonly name: string;
    readonly query?: Readonly<Record<string, string | undefined>>;
    readonly columns: readonly Column[];
  },
  options: ListOptions,
): Promise<number> {
  const client = await context.connect();
  const { path, name, query } = listing;
  const { items, nextCursor } = await readListing(client, {
    path,
    name,
    query,
    rows: options.limit,
    cursor: options.cursor,
  });
  context.print(options.json ? renderJson(items) : context.tableOf(items.map(rowOf(listing.columns)), listing.columns));
  if (nextCursor !== undefined) context.note(`There are more rows: continue with --cursor ${nextCursor}`);
  return EXIT.ok;
}

const rowOf =
  (columns: readonly Column[]) =>
  (item: JsonRecord | string): JsonRecord =>
    typeof item === 'string' ? { [columns[0]?.[0] ?? '']: item } : item;
