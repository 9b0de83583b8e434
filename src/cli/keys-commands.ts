// `grantd keys …`: the API keys of a tenant. The text of a key is printed once, when it is made.

import type { Command } from 'commander';
import type { CliContext } from './cli-context.ts';
import { EXIT } from './failures.ts';
import { parseRows, ROWS_DEFAULT, readListing } from './listing.ts';
import { path } from './operator-client.ts';
import { type Column, renderJson, renderRecord, renderTable } from './render.ts';

interface TenantOption {
  readonly tenant: string;
  readonly json?: boolean;
}

const COLUMNS: readonly Column[] = [
  ['key', 'key_id'],
  ['name', (key) => (key.name === '' ? '-' : String(key.name))],
  ['scopes', 'scopes'],
  ['created', 'created_at'],
  ['expires', 'expires_at'],
  ['last used', 'last_used_at'],
];

const TENANT_OPTION = ['--tenant <id>', 'the tenant, ten_…'] as const;
const JSON_OPTION = ['--json', 'print JSON'] as const;

/** `--scope` may be repeated, and each may be a list with commas. */
const addScopes = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...text.split(',').map((scope) => scope.trim()),
];

export function registerKeysCommands(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('make, list and revoke the API keys of a tenant');

  keys
    .command('create')
    .description('make an API key; its text is shown this once and kept nowhere')
    .requiredOption(...TENANT_OPTION)
    .requiredOption('--scope <scope>', 'check:read, grant:write or admin; repeat it for several', addScopes)
    .option('--name <name>', 'what it is for')
    .option('--expires-at <time>', 'when it ends, in UTC: 2030-01-31T12:00:00Z')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExamples:\n  grantd keys create --tenant ten_01k8x0000000000000000000zz --scope check:read --name web\n  grantd keys create --tenant ten_01k8x0000000000000000000zz --scope check:read --scope grant:write --json\n',
    )
    .action(
      context.action(
        async (options: TenantOption & { scope: readonly string[]; name?: string; expiresAt?: string }) => {
          const client = await context.connect();
          const json = {
            scopes: options.scope,
            ...(options.name === undefined ? {} : { name: options.name }),
            ...(options.expiresAt === undefined ? {} : { expires_at: options.expiresAt }),
          };
          const key = await client.readJson({ method: 'POST', path: path`/tenants/${options.tenant}/keys`, json });
          context.print(options.json ? renderJson(key) : renderRecord(key));
          if (!options.json) context.note('Keep the key now: it cannot be shown again.');
          return EXIT.ok;
        },
      ),
    );

  keys
    .command('list')
    .description('list the live API keys of a tenant')
    .requiredOption(...TENANT_OPTION)
    .option('--limit <rows>', 'at most so many', parseRows, ROWS_DEFAULT)
    .option('--cursor <cursor>', 'go on where an earlier listing ended')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  grantd keys list --tenant ten_01k8x0000000000000000000zz\n')
    .action(
      context.action(async (options: TenantOption & { limit: number; cursor?: string }) => {
        const client = await context.connect();
        const { records, nextCursor } = await readListing(client, {
          path: path`/tenants/${options.tenant}/keys`,
          name: 'keys',
          rows: options.limit,
          cursor: options.cursor,
        });
        context.print(options.json ? renderJson(records) : renderTable(records, COLUMNS));
        if (nextCursor !== undefined) context.note(`There are more: --cursor ${nextCursor}`);
        return EXIT.ok;
      }),
    );

  keys
    .command('revoke')
    .description('revoke an API key; requests that start afterwards are refused')
    .argument('<key_id>', 'key_…, of "grantd keys list"')
    .requiredOption(...TENANT_OPTION)
    .addHelpText(
      'after',
      '\nExamples:\n  grantd keys revoke --tenant ten_01k8x0000000000000000000zz key_01k8x0000000000000000000zz\n',
    )
    .action(
      context.action(async (keyId: string, options: TenantOption) => {
        const client = await context.connect();
        await client.readJson({ method: 'DELETE', path: path`/tenants/${options.tenant}/keys/${keyId}` });
        context.print(`${keyId} is revoked.`);
        return EXIT.ok;
      }),
    );
}
