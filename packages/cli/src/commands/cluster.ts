// `grantd plans`, `grantd slots`, `grantd members`, `grantd loads`: the cluster at a glance.

import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { addExamples, JSON_OPTION, type JsonOption } from '../command-parts.ts';
import { EXIT } from '../failures.ts';
import { type JsonRecord, recordsOf } from '../output/json-view.ts';
import { type Column, formatCount, renderJson } from '../output/render.ts';

interface ClusterListing {
  readonly name: string;
  /** The field of the response with the array, if it is not named like the command. */
  readonly field?: string;
  readonly description: string;
  readonly columns: readonly Column[];
  /** A second table, if it has rows. */
  readonly details?: {
    readonly columns: readonly Column[];
    rows(records: readonly JsonRecord[]): readonly JsonRecord[];
  };
  /** A line below the table. */
  readonly summary?: (records: readonly JsonRecord[]) => string;
}

const msCell =
  (field: string) =>
  (record: JsonRecord): string =>
    typeof record[field] === 'number' ? `${record[field]} ms` : '-';

const rateCell =
  (field: string) =>
  (record: JsonRecord): string => {
    const value = record[field];
    return typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 1 }) : '-';
  };

const shareCell =
  (field: string) =>
  (record: JsonRecord): string => {
    const value = record[field];
    return typeof value === 'number' && value > 0 ? `${Math.round(100 * value)} %` : '-';
  };

const plural = (count: number, noun: string): string => `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

/** `256 slots: 254 serving, 2 opening; 3 shards; checkpoint lag up to 12` */
function summarizeSlots(slots: readonly JsonRecord[]): string {
  const states = [...Map.groupBy(slots, ({ state }) => String(state))].sort(
    ([left, ofLeft], [right, ofRight]) => ofRight.length - ofLeft.length || (left < right ? -1 : 1),
  );
  const shards = new Set(slots.map(({ shard }) => shard).filter((shard) => shard !== null && shard !== undefined));
  const lagMax = slots.reduce((most, { checkpoint_lag: lag }) => Math.max(most, typeof lag === 'number' ? lag : 0), 0);
  return [
    `${plural(slots.length, 'slot')}: ${states.map(([state, of]) => `${formatCount(of.length)} ${state}`).join(', ')}`,
    plural(shards.size, 'shard'),
    `checkpoint lag up to ${formatCount(lagMax)}`,
  ].join('; ');
}

const READER_COLUMNS: readonly Column[] = [
  ['slot', 'slot'],
  ['tenant', 'tenant_id'],
  ['reader', 'shard'],
  ['epoch', 'epoch'],
  ['position', 'position'],
  ['calls', 'calls'],
  ['read indexes', 'read_indexes'],
  ['handed over', 'handed_over'],
  ['begun', 'begun'],
];

/** The shards that read for tenants of these slots, one in each row. */
const readersOf = (slots: readonly JsonRecord[]): readonly JsonRecord[] =>
  slots.flatMap((slot) => recordsOf(slot, 'readers').map((reader) => ({ slot: slot.slot, ...reader })));

function summarizeMembers(members: readonly JsonRecord[]): string {
  const states = [...Map.groupBy(members, ({ state }) => String(state))].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  return `${plural(members.length, 'member')}: ${states.map(([state, of]) => `${formatCount(of.length)} ${state}`).join(', ')}`;
}

function summarizeLoads(loads: readonly JsonRecord[]): string {
  const checks = loads.reduce((sum, { checks_per_second: each }) => sum + (typeof each === 'number' ? each : 0), 0);
  return `${plural(loads.length, 'shard')}: ${formatCount(checks)} checks/s`;
}

const LISTINGS: readonly ClusterListing[] = [
  {
    name: 'plans',
    description: 'list the plans of this service',
    columns: [
      ['plan', 'name'],
      ['requests', (plan) => (plan.requests === null ? 'unlimited' : String(plan.requests))],
      ['per seconds', 'window_seconds'],
      ['namespaces max', 'namespaces_max'],
      ['keys max', 'keys_max'],
      ['grants max', (plan) => (plan.grants_max === null ? 'unlimited' : String(plan.grants_max))],
      ['streams max', 'streams_max'],
      ['readers', 'readers'],
    ],
  },
  {
    name: 'slots',
    description:
      'list every slot with its owner, its epoch, how far its log and its state tables are, and the readers of its tenants',
    columns: [
      ['slot', 'slot'],
      ['state', 'state'],
      ['shard', 'shard'],
      ['epoch', 'epoch'],
      ['lease left', msCell('lease_left_ms')],
      ['tenants', 'tenants'],
      ['log end', 'log_end'],
      ['checkpoint', 'checkpoint'],
      ['lag', 'checkpoint_lag'],
      ['address', 'address'],
      ['incarnation', 'incarnation'],
    ],
    details: { columns: READER_COLUMNS, rows: readersOf },
    summary: summarizeSlots,
  },
  {
    name: 'members',
    description: 'list the members of the cluster and their sessions',
    columns: [
      ['shard', 'shard'],
      ['state', 'state'],
      ['slots', 'slots'],
      ['lease left', msCell('lease_left_ms')],
      ['heartbeat', 'heartbeat'],
      ['started', 'started_at'],
      ['address', 'address'],
      ['incarnation', 'incarnation'],
    ],
    summary: summarizeMembers,
  },
  {
    name: 'loads',
    field: 'shards',
    description:
      'list the load of each shard over the last ten seconds: checks, failures, latency, and the tenant whose calls waited most',
    columns: [
      ['shard', 'shard'],
      ['checks/s', rateCell('checks_per_second')],
      ['failures/s', rateCell('failures_per_second')],
      ['p99', msCell('p99_ms')],
      ['busiest tenant', 'busiest_tenant'],
      ['its share', shareCell('busiest_share')],
    ],
    summary: summarizeLoads,
  },
];

export function registerClusterCommands(program: Command, context: CliContext): void {
  for (const { name, field = name, description, columns, details, summary } of LISTINGS) {
    const command = program
      .command(name)
      .description(description)
      .option(...JSON_OPTION);
    addExamples(command, name, `${name} --json`).action(
      context.action(async (options: JsonOption) => {
        const client = context.connect();
        const records = recordsOf(await client.readJson({ method: 'GET', path: `/${name}` }), field);
        if (options.json) {
          context.print(renderJson(records));
          return EXIT.ok;
        }
        context.print(context.tableOf(records, columns));
        const rows = details?.rows(records) ?? [];
        if (details !== undefined && rows.length > 0) context.print(`\n${context.tableOf(rows, details.columns)}`);
        if (summary !== undefined) context.print(`\n${summary(records)}`);
        return EXIT.ok;
      }),
    );
  }
}
