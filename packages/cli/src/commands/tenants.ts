// `grantd tenants …`: create, list, show, change and delete tenants.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { READERS_MAX } from '../../../../src/core/plans.ts';
import { LISTED_STATES, type ReadersSetting } from '../../../../src/core/tenants.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  addListOptions,
  confirm,
  JSON_OPTION,
  type JsonOption,
  type ListOptions,
  printListing,
  printRecord,
  TENANT_EXAMPLE,
  YES_OPTION,
} from '../command-parts.ts';
import { waitForDeletion } from '../deletion-wait.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { type JsonRecord, textOf } from '../output/json-view.ts';
import type { Column } from '../output/render.ts';
import { path, type ServiceRequest } from '../service-client.ts';

const COLUMNS: readonly Column[] = [
  ['tenant', 'tenant_id'],
  ['name', 'name'],
  ['plan', 'plan'],
  ['state', 'state'],
  ['grants', 'grants'],
  ['created', 'created_at'],
];

const ID_ARGUMENT = ['<id>', 'ten_…'] as const;

/** `tenants NAME ID`, each of which sets a state. */
const STATE_COMMANDS = [
  ['suspend', 'suspended', 'refuse every request of a tenant until it is resumed; nothing is deleted'],
  ['resume', 'active', 'serve a suspended tenant again'],
] as const;

function parseReaders(text: string): ReadersSetting | 'plan' {
  if (text === 'plan' || text === 'auto') return text;
  const readers = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  if (readers < 0 || readers > READERS_MAX) {
    throw new InvalidArgumentError(`It must be a number from 0 to ${READERS_MAX}, "auto" or "plan".`);
  }
  return readers;
}

interface UpdateOptions extends JsonOption, DryRunOption {
  readonly name?: string;
  readonly plan?: string;
  readonly readers?: ReadersSetting | 'plan';
}

function registerReads(tenants: Command, context: CliContext): void {
  const list = tenants
    .command('list')
    .description('list the tenants of the cluster')
    .option('--name <text>', 'only tenants whose name or ID contains this text (case-insensitive)')
    .option('--plan <name>', 'only tenants with this plan')
    .addOption(new Option('--state <state>', 'only tenants in this state').choices(LISTED_STATES));
  addExamples(
    addListOptions(list),
    'tenants list',
    'tenants list --name acme',
    'tenants list --plan free --state suspended',
    'tenants list --json | jq -r ".[].tenant_id"',
  );
  list.action(
    context.action(
      (options: ListOptions & { readonly name?: string; readonly plan?: string; readonly state?: string }) => {
        const { name, plan, state } = options;
        const query = { name, plan, state };
        return printListing(
          context,
          context.connect(),
          { path: '/tenants', name: 'tenants', query, columns: COLUMNS },
          options,
        );
      },
    ),
  );

  const show = tenants
    .command('show')
    .description('show a tenant')
    .argument(...ID_ARGUMENT)
    .option(...JSON_OPTION);
  addExamples(show, `tenants show ${TENANT_EXAMPLE}`).action(
    context.action((id: string, options: JsonOption) =>
      requestTenant(context, { method: 'GET', path: path`/tenants/${id}` }, options),
    ),
  );
}

interface DryRunOption {
  readonly dryRun?: boolean;
}

/** For people, without the counts if the service did not count. */
function printTenant(context: CliContext, tenant: JsonRecord, options: JsonOption): number {
  const { counts, ...rest } = tenant;
  printRecord(context, options.json || counts !== null ? tenant : rest, options);
  return EXIT.ok;
}

/** Makes one call and prints the tenant that it returns. */
async function requestTenant(context: CliContext, request: ServiceRequest, options: JsonOption): Promise<number> {
  const client = context.connect();
  return printTenant(context, await client.readJson(request), options);
}

function registerUpdates(tenants: Command, context: CliContext): void {
  const create = tenants
    .command('create')
    .description('create a tenant')
    .argument('<name>', 'display name, up to 256 characters')
    .option('--plan <name>', 'plan of the tenant (default: free)')
    .option(...JSON_OPTION);
  addExamples(create, 'tenants create "Acme Corp" --plan standard').action(
    context.action((name: string, options: JsonOption & { readonly plan?: string }) => {
      const json = { name, ...(options.plan === undefined ? {} : { plan: options.plan }) };
      return requestTenant(context, { method: 'POST', path: '/tenants', json }, options);
    }),
  );

  const set = (id: string, json: object, options: JsonOption & DryRunOption): Promise<number> => {
    const query = { dry_run: options.dryRun ? 'true' : undefined };
    return requestTenant(context, { method: 'PATCH', path: path`/tenants/${id}`, query, json }, options);
  };

  const update = tenants
    .command('update')
    .description('change the name, the plan or the readers of a tenant; it applies everywhere within seconds')
    .argument(...ID_ARGUMENT)
    .option('--name <name>', 'another display name, up to 256 characters; the ID stays the same')
    .option('--plan <name>', 'another plan, from "grantd plans"')
    .option(
      '--readers <number>',
      'shards that answer its reads beside its owner; "auto": as many as it needs; "plan": as its plan says',
      parseReaders,
    )
    .option('--dry-run', 'change nothing, and show the tenant as it would be, with the limits that it would exceed')
    .option(...JSON_OPTION);
  addExamples(
    update,
    `tenants update ${TENANT_EXAMPLE} --name "Acme Corp"`,
    `tenants update ${TENANT_EXAMPLE} --plan scale`,
    `tenants update ${TENANT_EXAMPLE} --plan free --dry-run`,
    `tenants update ${TENANT_EXAMPLE} --readers 3`,
    `tenants update ${TENANT_EXAMPLE} --readers auto`,
    `tenants update ${TENANT_EXAMPLE} --readers plan`,
  ).action(
    context.action((id: string, options: UpdateOptions) => {
      const { name, plan, readers } = options;
      if (name === undefined && plan === undefined && readers === undefined) {
        throw new CliFailure('Pass at least one of --name, --plan and --readers.', EXIT.usage);
      }
      return set(id, { name, plan, readers: readers === 'plan' ? null : readers }, options);
    }),
  );

  for (const [name, state, description] of STATE_COMMANDS) {
    const command = tenants
      .command(name)
      .description(description)
      .argument(...ID_ARGUMENT)
      .option(...JSON_OPTION);
    addExamples(command, `tenants ${name} ${TENANT_EXAMPLE}`).action(
      context.action((id: string, options: JsonOption) => set(id, { state }, options)),
    );
  }
}

interface DeletionOptions extends JsonOption, DryRunOption {
  readonly yes?: boolean;
  readonly wait?: boolean;
}

function registerDeletion(tenants: Command, context: CliContext): void {
  const command = tenants
    .command('delete')
    .description('delete a tenant with all its grants and keys; its ID is never reused')
    .argument(...ID_ARGUMENT)
    .option(...YES_OPTION)
    .option('--wait', 'show progress, and wait until all data is removed')
    .option('--dry-run', 'delete nothing, and show what would be deleted')
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nRequests of the tenant are refused at once. Its data is removed in the background; until then,\n"grantd tenants show" says "deleting". To watch the progress, run the command again with --wait.',
    );
  addExamples(
    command,
    `tenants delete ${TENANT_EXAMPLE}`,
    `tenants delete ${TENANT_EXAMPLE} --dry-run`,
    `tenants delete ${TENANT_EXAMPLE} --wait`,
    `tenants delete ${TENANT_EXAMPLE} --yes`,
  ).action(
    context.action(async (id: string, options: DeletionOptions) => {
      if (options.dryRun) {
        const query = { dry_run: 'true' };
        return requestTenant(context, { method: 'DELETE', path: path`/tenants/${id}`, query }, options);
      }
      const client = context.connect();
      if (!options.yes) {
        const tenant = await client.readJson({ method: 'GET', path: path`/tenants/${id}` });
        await confirm(context, {
          what: `This permanently deletes the tenant "${textOf(tenant, 'name')}" with all its grants and keys.`,
          answer: textOf(tenant, 'tenant_id'),
          declined: 'Nothing was deleted.',
        });
      }
      const deleted = await client.readJson({ method: 'DELETE', path: path`/tenants/${id}` });
      if (options.wait) return waitForDeletion(context, client, deleted, options.json === true);
      return printTenant(context, deleted, options);
    }),
  );
}

export function registerTenantsCommands(program: Command, context: CliContext): void {
  const tenants = program.command('tenants').description('create, list, change and delete tenants');
  registerReads(tenants, context);
  registerUpdates(tenants, context);
  registerDeletion(tenants, context);
}
