// `grantd tenants …`: made, listed, shown, changed and deleted.

import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { CliContext } from './cli-context.ts';
import { CliFailure, EXIT } from './failures.ts';
import { type JsonRecord, textOf } from './json-view.ts';
import { parseRows, ROWS_DEFAULT, readListing } from './listing.ts';
import { path } from './operator-client.ts';
import { type Column, renderJson, renderRecord, renderTable } from './render.ts';

interface JsonOption {
  readonly json?: boolean;
}

const COLUMNS: readonly Column[] = [
  ['tenant', 'tenant_id'],
  ['name', 'name'],
  ['plan', 'plan'],
  ['state', 'state'],
  ['created', 'created_at'],
];

const JSON_OPTION = ['--json', 'print JSON'] as const;

function printTenant(context: CliContext, tenant: JsonRecord, options: JsonOption): void {
  context.print(options.json ? renderJson(tenant) : renderRecord(tenant));
}

/** Nothing but the tenant's own id counts as a yes. */
async function confirmDeletion(context: CliContext, tenant: JsonRecord): Promise<void> {
  const id = textOf(tenant, 'tenant_id');
  if (!context.stdin.isTTY || !context.stderr.isTTY) {
    throw new CliFailure('Deleting a tenant has to be confirmed. Where nobody can be asked, pass --yes.', EXIT.usage);
  }
  const prompt = createInterface({ input: context.stdin, output: context.stderr });
  try {
    const answer = await prompt.question(
      `This deletes the tenant "${textOf(tenant, 'name')}" with all its grants and keys, for good.\nType ${id} to go on: `,
    );
    if (answer.trim() !== id) throw new CliFailure('Nothing was deleted.');
  } finally {
    prompt.close();
  }
}

export function registerTenantsCommands(program: Command, context: CliContext): void {
  const tenants = program.command('tenants').description('make, list, change and delete tenants');

  tenants
    .command('create')
    .description('make a tenant')
    .argument('<name>', 'what people call it, up to 256 characters')
    .option('--plan <name>', 'its plan; without it, free')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  grantd tenants create "Acme Corp" --plan standard\n')
    .action(
      context.action(async (name: string, options: JsonOption & { plan?: string }) => {
        const client = await context.connect();
        const json = { name, ...(options.plan === undefined ? {} : { plan: options.plan }) };
        printTenant(context, await client.readJson({ method: 'POST', path: '/tenants', json }), options);
        return EXIT.ok;
      }),
    );

  tenants
    .command('list')
    .description('list the tenants of the cluster')
    .option('--limit <rows>', 'at most so many', parseRows, ROWS_DEFAULT)
    .option('--cursor <cursor>', 'go on where an earlier listing ended')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  grantd tenants list\n  grantd tenants list --json | jq -r ".[].tenant_id"\n')
    .action(
      context.action(async (options: JsonOption & { limit: number; cursor?: string }) => {
        const client = await context.connect();
        const { records, nextCursor } = await readListing(client, {
          path: '/tenants',
          name: 'tenants',
          rows: options.limit,
          cursor: options.cursor,
        });
        context.print(options.json ? renderJson(records) : renderTable(records, COLUMNS));
        if (nextCursor !== undefined) context.note(`There are more: --cursor ${nextCursor}`);
        return EXIT.ok;
      }),
    );

  tenants
    .command('show')
    .description('show a tenant')
    .argument('<id>', 'ten_…')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  grantd tenants show ten_01k8x0000000000000000000zz\n')
    .action(
      context.action(async (id: string, options: JsonOption) => {
        const client = await context.connect();
        printTenant(context, await client.readJson({ method: 'GET', path: path`/tenants/${id}` }), options);
        return EXIT.ok;
      }),
    );

  const change = async (id: string, json: object, options: JsonOption): Promise<number> => {
    const client = await context.connect();
    printTenant(context, await client.readJson({ method: 'PATCH', path: path`/tenants/${id}`, json }), options);
    return EXIT.ok;
  };

  tenants
    .command('set-plan')
    .description('put a tenant on another plan; it counts from the next request')
    .argument('<id>', 'ten_…')
    .argument('<plan>', 'one of "grantd plans"')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  grantd tenants set-plan ten_01k8x0000000000000000000zz scale\n')
    .action(context.action((id: string, plan: string, options: JsonOption) => change(id, { plan }, options)));

  tenants
    .command('suspend')
    .description('refuse every request of a tenant until it is resumed; nothing is deleted')
    .argument('<id>', 'ten_…')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  grantd tenants suspend ten_01k8x0000000000000000000zz\n')
    .action(context.action((id: string, options: JsonOption) => change(id, { state: 'suspended' }, options)));

  tenants
    .command('resume')
    .description('serve a suspended tenant again')
    .argument('<id>', 'ten_…')
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  grantd tenants resume ten_01k8x0000000000000000000zz\n')
    .action(context.action((id: string, options: JsonOption) => change(id, { state: 'active' }, options)));

  tenants
    .command('delete')
    .description('delete a tenant with all its grants and keys; its id is never used again')
    .argument('<id>', 'ten_…')
    .option('--yes', 'do not ask')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nThe tenant is refused at once; its data is removed in the background, and until then\n"grantd tenants show" says "deleting".\n\nExamples:\n  grantd tenants delete ten_01k8x0000000000000000000zz\n  grantd tenants delete ten_01k8x0000000000000000000zz --yes\n',
    )
    .action(
      context.action(async (id: string, options: JsonOption & { yes?: boolean }) => {
        const client = await context.connect();
        if (!options.yes) {
          await confirmDeletion(context, await client.readJson({ method: 'GET', path: path`/tenants/${id}` }));
        }
        printTenant(context, await client.readJson({ method: 'DELETE', path: path`/tenants/${id}` }), options);
        return EXIT.ok;
      }),
    );
}
