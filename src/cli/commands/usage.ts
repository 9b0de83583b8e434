// `grantd usage`: the last hour of a tenant's requests, minute by minute, against its limit.

import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { addExamples, JSON_OPTION, TENANT_EXAMPLE, TENANT_OPTION, type TenantOption } from '../command-parts.ts';
import { EXIT } from '../failures.ts';
import { asRecord, type JsonRecord, recordsOf } from '../output/json-view.ts';
import { type Column, formatCount, renderJson } from '../output/render.ts';

const BAR_LENGTH = 20;

const countOf = (record: JsonRecord, field: string): number => {
  const value = record[field];
  return typeof value === 'number' ? value : 0;
};

/** Requests that the plan allows per minute; undefined: unlimited. */
function perMinute(limit: unknown): number | undefined {
  if (typeof limit !== 'object' || limit === null) return undefined;
  const { requests, window_seconds: seconds } = asRecord(limit);
  return typeof requests === 'number' && typeof seconds === 'number' ? (requests * 60) / seconds : undefined;
}

/** `#####     25 %`. */
function barOf(requests: number, most: number | undefined): string {
  if (most === undefined || most === 0) return '-';
  const share = requests / most;
  return `${'#'.repeat(Math.round(Math.min(share, 1) * BAR_LENGTH)).padEnd(BAR_LENGTH)} ${Math.round(share * 100)} %`;
}

function render(context: CliContext, usage: JsonRecord): string {
  const minutes = recordsOf(usage, 'minutes');
  if (minutes.length === 0)
    return 'No requests in the last hour. Usage starts again at zero when the tenant moves to another shard.';
  const most = perMinute(usage.limit);
  const columns: readonly Column[] = [
    ['minute', 'at'],
    ['requests', 'requests'],
    ['refused', 'refused'],
    ['checks', 'checks'],
    ['of the limit', (minute) => barOf(countOf(minute, 'requests') - countOf(minute, 'refused'), most)],
  ];
  const total = (field: string): string =>
    formatCount(minutes.reduce((sum, minute) => sum + countOf(minute, field), 0));
  const limit = most === undefined ? 'no limit' : `the plan allows ${formatCount(most)} per minute`;
  return `${context.tableOf(minutes, columns)}\n\n${total('requests')} requests, ${total('refused')} refused, ${total('checks')} checks; ${limit}`;
}

export function registerUsageCommand(program: Command, context: CliContext): void {
  const command = program
    .command('usage')
    .description('show the last hour of a tenant per minute: requests, refused requests, checks')
    .option(...TENANT_OPTION)
    .option(...JSON_OPTION);
  addExamples(command, `usage --tenant ${TENANT_EXAMPLE}`, `usage --tenant ${TENANT_EXAMPLE} --json`).action(
    context.action(async (options: TenantOption) => {
      const client = context.connectOperatorTenant(options.tenant);
      const usage = await client.readJson({ method: 'GET', path: '/usage' });
      context.print(options.json ? renderJson(usage) : render(context, usage));
      return EXIT.ok;
    }),
  );
}
