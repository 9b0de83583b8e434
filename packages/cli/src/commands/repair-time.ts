// `grantd repair-time`: sets the time of each slot's log back to the clock of its shard, where a wrong clock has put it
// ahead. Safe to interrupt and to repeat: each slot has its old time or the new one.

import type { Command } from 'commander';
import { formatTimestamp } from '../../../../src/core/text/timestamps.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples, confirm, JSON_OPTION, type JsonOption, YES_OPTION } from '../command-parts.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { type JsonRecord, recordsOf } from '../output/json-view.ts';
import { type Column, renderJson } from '../output/render.ts';
import type { ServiceClient } from '../service-client.ts';

interface RepairOptions extends JsonOption {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** Between two requests for a slot whose grants are still being collected. */
const PAUSE_MS = 500;

const secondsCell = ({ ahead_ms: ahead }: JsonRecord): string =>
  typeof ahead === 'number' ? `${Math.ceil(ahead / 1000)} s` : '-';

const COLUMNS: readonly Column[] = [
  ['slot', 'slot'],
  ['state', 'state'],
  ['ahead', secondsCell],
  ['clock of its shard', 'clock'],
  ['keys revoked', 'keys_revoked'],
];

const numberIn = (record: JsonRecord, field: string): number => Number(record[field] ?? 0);

const requestRepair = (client: ServiceClient, slot: number, dryRun: boolean): Promise<JsonRecord> =>
  client.readJson({
    method: 'POST',
    path: `/slots/${slot}/repair-time`,
    query: { dry_run: dryRun ? 'true' : undefined },
  });

/** The slots whose time is ahead; and those that have no owner now. */
async function survey(client: ServiceClient) {
  const ahead: JsonRecord[] = [];
  const unserved: number[] = [];
  for (const record of recordsOf(await client.readJson({ method: 'GET', path: '/slots' }), 'slots')) {
    const slot = numberIn(record, 'slot');
    if (record.state !== 'serving') {
      unserved.push(slot);
      continue;
    }
    const found = await requestRepair(client, slot, true);
    if (found.state === 'ahead') ahead.push(found);
  }
  return { ahead, unserved };
}

/** Repeats the request until the slot has its new time. Undefined: interrupted. */
async function repairSlot(
  context: CliContext,
  client: ServiceClient,
  found: JsonRecord,
  signal: AbortSignal,
): Promise<JsonRecord | undefined> {
  let keys = 0;
  while (!signal.aborted) {
    const record = await requestRepair(client, numberIn(found, 'slot'), false);
    keys += numberIn(record, 'keys_revoked');
    // A repeat of a request whose answer was lost finds the time right.
    if (record.state === 'right') return { ...found, state: 'repaired', keys_revoked: keys };
    if (record.state === 'repaired') return { ...record, keys_revoked: keys };
    await context.pause(PAUSE_MS, signal);
  }
  return undefined;
}

async function repairAll(
  context: CliContext,
  client: ServiceClient,
  ahead: readonly JsonRecord[],
): Promise<readonly JsonRecord[]> {
  const repaired: JsonRecord[] = [];
  await context.untilInterrupted(async (signal) => {
    for (const found of ahead) {
      const record = await repairSlot(context, client, found, signal);
      if (record === undefined) return;
      repaired.push(record);
    }
  });
  return repaired;
}

async function run(context: CliContext, options: RepairOptions): Promise<number> {
  const { dryRun = false, yes = false, json = false } = options;
  const client = context.connect();
  const { ahead, unserved } = await survey(client);
  const furthest = ahead.reduce((most, record) => Math.max(most, numberIn(record, 'ahead_ms')), 0);
  const asks = ahead.length > 0 && !dryRun;
  if (asks && !yes) {
    const clocks = ahead.map(({ clock }) => String(clock)).sort();
    await confirm(context, {
      what: `The time of ${ahead.length === 1 ? 'a slot' : `${ahead.length} slots`} is up to ${Math.ceil(furthest / 1000)} seconds ahead of the clock of the shard, which shows ${clocks[0]} (your computer: ${formatTimestamp(context.nowMs())}). Every grant and API key that has expired by their time ends for good.`,
      answer: 'repair',
      declined: 'Nothing was changed.',
    });
  }
  const records = asks ? await repairAll(context, client, ahead) : ahead;
  if (json) context.print(renderJson(records));
  else if (ahead.length === 0) context.print('No slot is ahead of the clock of its shard.');
  else context.print(context.tableOf(records, COLUMNS));
  if (records.length < ahead.length) {
    context.note('Interrupted. To finish, run the same command again; this is safe.');
    return EXIT.interrupted;
  }
  if (unserved.length === 0) return EXIT.ok;
  throw new CliFailure(
    `Slots without an owner that answers: ${unserved.join(', ')}. Run the same command again later.`,
  );
}

export function registerRepairTimeCommand(program: Command, context: CliContext): void {
  const command = program
    .command('repair-time')
    .description('set the time of slots back to the clocks of their shards, where a wrong clock has put it ahead')
    .option('--dry-run', 'change nothing, and list the slots that are ahead')
    .option(...YES_OPTION)
    .option(...JSON_OPTION);
  addExamples(command, 'repair-time --dry-run', 'repair-time', 'repair-time --yes --json').action(
    context.action((options: RepairOptions) => run(context, options)),
  );
}
