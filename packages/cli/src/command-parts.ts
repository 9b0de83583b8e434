// What many commands share: options and examples, printing a record or a listing, and confirmation by the user.

import { createInterface } from 'node:readline/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { JsonObject } from '../../../src/core/json-members.ts';
import { PAGE_LIMIT_MAX } from '../../../src/core/limits.ts';
import type { CliContext } from './cli-context.ts';
import { CliFailure, EXIT } from './failures.ts';
import { itemsOf, type JsonRecord, optionalTextOf } from './output/json-view.ts';
import { escapeControls } from './output/plain-text.ts';
import { type Column, renderJson, renderRecord } from './output/render.ts';
import type { ServiceClient, ServiceRequest } from './service-client.ts';

/** A tenant's id in examples. */
export const TENANT_EXAMPLE = 'ten_01k8x0000000000000000000zz';

export interface JsonOption {
  readonly json?: boolean;
}

/** For commands with TENANT_OPTION. */
export interface TenantOption extends JsonOption {
  readonly tenant?: string;
}

export interface ListOptions extends JsonOption {
  readonly limit: number;
  readonly cursor?: string;
}

export const JSON_OPTION = ['--json', 'print JSON'] as const;
export const TENANT_OPTION = [
  '--tenant <id>',
  'the tenant, ten_… (default: GRANTD_TENANT); not with an API key, which belongs to one',
] as const;
export const YES_OPTION = ['--yes', 'do not ask for confirmation'] as const;

const ROWS_DEFAULT = 1000;
const ROWS_MAX = 100_000;

export function parseRows(text: string): number {
  const rows = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (rows < 1 || rows > ROWS_MAX) throw new InvalidArgumentError(`It must be a number from 1 to ${ROWS_MAX}.`);
  return rows;
}

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

/** Makes one call and prints the record that it returns. */
export async function printAnswer(
  context: CliContext,
  client: ServiceClient,
  request: ServiceRequest,
  options: JsonOption,
): Promise<number> {
  printRecord(context, await client.readJson(request), options);
  return EXIT.ok;
}

interface Listing {
  readonly items: readonly (JsonRecord | string)[];
  /** Subjects that `ns:*` in the listing does not stand for. */
  readonly excluded: readonly unknown[];
  /** Where to continue; undefined at the end. */
  readonly nextCursor: string | undefined;
}

/** Joins pages, up to the requested number of rows. */
export async function readListing(
  client: ServiceClient,
  listing: {
    readonly path: string;
    readonly name: string;
    readonly rows: number;
    readonly cursor?: string | undefined;
    readonly query?: Readonly<Record<string, string | undefined>> | undefined;
    /** Sent with the query as members of the body of a POST. */
    readonly members?: JsonObject | undefined;
  },
): Promise<Listing> {
  const { path, query, members } = listing;
  const items: (JsonRecord | string)[] = [];
  const excluded: unknown[] = [];
  let cursor = listing.cursor;
  do {
    const limit = Math.min(listing.rows - items.length, PAGE_LIMIT_MAX);
    const page = await client.readJson(
      members === undefined
        ? { method: 'GET', path, query: { ...query, limit: String(limit), cursor } }
        : { method: 'POST', path, json: { ...query, ...members, limit, cursor } },
    );
    items.push(...itemsOf(page, listing.name));
    if (Array.isArray(page.excluded)) excluded.push(...page.excluded);
    cursor = optionalTextOf(page, 'next_cursor');
  } while (cursor !== undefined && items.length < listing.rows);
  return { items, excluded, nextCursor: cursor };
}

/**
 * Prints a listing, and on standard error how to continue. An item that is not an object goes to the first column.
 */
export async function printListing(
  context: CliContext,
  client: ServiceClient,
  listing: {
    readonly path: string;
    readonly name: string;
    readonly query?: Readonly<Record<string, string | undefined>>;
    readonly members?: JsonObject | undefined;
    readonly columns: readonly Column[];
    /** Texts that people look for last: in a table, they stand behind the others of the page. */
    readonly isLast?: (text: string) => boolean;
  },
  options: ListOptions,
): Promise<number> {
  const { path, name, query, members, isLast = () => false } = listing;
  const { items, excluded, nextCursor } = await readListing(client, {
    path,
    name,
    query,
    members,
    rows: options.limit,
    cursor: options.cursor,
  });
  const hasExcluded = excluded.length > 0;
  // A program that expects a mere list must not read "everyone" in it.
  if (options.json) context.print(renderJson(hasExcluded ? { [name]: items, excluded } : items));
  else {
    const [last, first] = [true, false].map((wanted) =>
      items.filter((item) => (typeof item === 'string' && isLast(item)) === wanted),
    );
    context.print(context.tableOf([...(first ?? []), ...(last ?? [])].map(rowOf(listing.columns)), listing.columns));
  }
  if (hasExcluded) context.note(`Excluded, although all of their namespace are listed: ${excluded.join(', ')}`);
  if (nextCursor !== undefined) context.note(`There are more rows: continue with --cursor ${nextCursor}`);
  return EXIT.ok;
}

const rowOf =
  (columns: readonly Column[]) =>
  (item: JsonRecord | string): JsonRecord =>
    typeof item === 'string' ? { [columns[0]?.[0] ?? '']: item } : item;

/**
 * Asks before an irreversible action. Only the exact answer counts as a yes; without a terminal, `--yes` must confirm.
 */
export async function confirm(
  context: CliContext,
  question: {
    /** The effect of the action, as a sentence. */
    readonly what: string;
    /** The text to type. */
    readonly answer: string;
    /** The message after any other text. */
    readonly declined: string;
  },
): Promise<void> {
  const { what, answer, declined } = question;
  if (!context.stdin.isTTY || !context.stderr.isTTY) {
    throw new CliFailure(`${what} This needs confirmation. Without a terminal, pass --yes.`, EXIT.usage);
  }
  const prompt = createInterface({ input: context.stdin, output: context.stderr });
  // Ctrl-C and the end of the input mean no.
  const ended = new Promise<string>((resolve) => {
    prompt.once('close', () => resolve(''));
    prompt.once('SIGINT', () => prompt.close());
  });
  try {
    const typed = await Promise.race([prompt.question(escapeControls(`${what}\nType ${answer} to continue: `)), ended]);
    if (typed.trim() !== answer) throw new CliFailure(declined);
  } finally {
    prompt.close();
  }
}
