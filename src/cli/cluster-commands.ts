// `grantd plans`, `grantd slots`, `grantd members`: the cluster at a glance.

import type { Command } from 'commander';
import type { CliContext } from './cli-context.ts';
import { EXIT } from './failures.ts';
import { recordsOf } from './json-view.ts';
import { type Column, renderJson, renderTable } from './render.ts';

interface ClusterListing {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Column[];
}

const LISTINGS: readonly ClusterListing[] = [
  {
    name: 'plans',
    description: 'list the plans that the service knows',
    columns: [
      ['plan', 'name'],
      ['requests', (plan) => (plan.requests === null ? 'unlimited' : String(plan.requests))],
      ['per seconds', 'window_seconds'],
      ['namespaces max', 'namespaces_max'],
      ['keys max', 'keys_max'],
    ],
  },
  {
    name: 'slots',
    description: 'list the slots that are served now, and by whom',
    columns: [
      ['slot', 'slot'],
      ['epoch', 'epoch'],
      ['state', 'state'],
      ['shard', 'shard'],
      ['tenants', 'tenants'],
      ['log end', 'log_end'],
      ['checkpoint', 'checkpoint'],
    ],
  },
  {
    name: 'members',
    description: 'list the members of the cluster',
    columns: [
      ['shard', 'shard'],
      ['state', 'state'],
      ['address', 'address'],
      ['started', 'started_at'],
      ['incarnation', 'incarnation'],
    ],
  },
];

export function registerClusterCommands(program: Command, context: CliContext): void {
  for (const { name, description, columns } of LISTINGS) {
    program
      .command(name)
      .description(description)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExamples:\n  grantd ${name}\n  grantd ${name} --json\n`)
      .action(
        context.action(async (options: { json?: boolean }) => {
          const client = await context.connect();
          const records = recordsOf(await client.readJson({ method: 'GET', path: `/${name}` }), name);
          context.print(options.json ? renderJson(records) : renderTable(records, columns));
          return EXIT.ok;
        }),
      );
  }
}
