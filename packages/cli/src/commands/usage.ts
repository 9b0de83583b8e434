// `grantd usage`: the requests of a tenant against its limit, by the minute for up to a day and otherwise by the hour.

import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { addExamples, JSON_OPTION, TENANT_EXAMPLE, TENANT_OPTION, type TenantOption } from '../command-parts.ts';
import { EXIT } from '../failures.ts';
import { asRecord, type JsonRecord, recordsOf } from '../output/json-view.ts';
import { type Column, formatCount, renderJson } from '../output/render.ts';
import { TIME_FORMS, timeParser } from '../output/times.ts';

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

function render(context: CliContext, usage: JsonRecord, since: string | undefined): string {
  const buckets = recordsOf(usage, 'buckets');
  if (buckets.length === 0) return `No requests ${since === undefined ? 'in the last hour' : `since ${since}`}.`;
  const minutes = countOf(usage, 'bucket_seconds') / 60;
  const most = perMinute(usage.limit);
  const columns: readonly Column[] = [
    [minutes > 1 ? 'hour' : 'minute', 'at'],
    ['requests', 'requests'],
    ['refused', 'refused'],
    ['checks', 'checks'],
    [
      'of the limit',
      (bucket) => barOf(countOf(bucket, 'requests') - countOf(bucket, 'refused'), most && most * minutes),
    ],
  ];
  const total = (field: string): string =>
    formatCount(buckets.reduce((sum, bucket) => sum + countOf(bucket, field), 0));
  const limit = most === undefined ? 'no limit' : `the plan allows ${formatCount(most)} per minute`;
  return `${context.tableOf(buckets, columns)}\n\n${total('requests')} requests, ${total('refused')} refused, ${total('checks')} checks; ${limit}`;
}

export function registerUsageCommand(program: Command, context: CliContext): void {
  const parseTime = timeParser(context.nowMs, 'the past');
  const command = program
    .command('usage')
    .description('show the requests of a tenant: all, refused, and checks; by the minute or by the hour')
    .option(...TENANT_OPTION)
    .option('--since <time>', `where to begin, up to 31 days back: ${TIME_FORMS} (default: the last hour)`, parseTime)
    .option(...JSON_OPTION);
  addExamples(
    command,
    `usage --tenant ${TENANT_EXAMPLE}`,
    `usage --tenant ${TENANT_EXAMPLE} --since 7d`,
    `usage --tenant ${TENANT_EXAMPLE} --json`,
  ).action(
    context.action(async ({ tenant, since, json }: TenantOption & { readonly since?: string }) => {
      const client = context.connectOperatorTenant(tenant);
      const query = since === undefined ? {} : { since };
      const usage = await client.readJson({ method: 'GET', path: '/usage', query });
      context.print(json ? renderJson(usage) : render(context, usage, since));
      return EXIT.ok;
    }),
  );
}
