// `grantd changes`: the change feed of a tenant, up to now or followed.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { FEED_ACTIONS, FEED_WAIT_SECONDS_MAX, feedActionsOf } from '../../../../src/core/change-feed.ts';
import { PAGE_LIMIT_MAX } from '../../../../src/core/limits.ts';
import { isRelationName, RELATION_RULE } from '../../../../src/core/tuples.ts';
import { summaryOfChange } from '../../../../src/rules/rules-diff.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples, TENANT_EXAMPLE, TENANT_OPTION } from '../command-parts.ts';
import { asRecord, type JsonRecord, recordsOf, textOf } from '../output/json-view.ts';
import { TIME_FORMS, timeParser } from '../output/times.ts';
import { followUntilInterrupted, type PatientReader } from '../retries.ts';
import { describeTerms } from './grants.ts';

interface ChangesOptions {
  readonly tenant?: string;
  readonly follow?: boolean;
  readonly cursor?: string;
  readonly since?: string;
  readonly namespace?: string;
  readonly relation?: string;
  readonly action?: string;
  readonly json?: boolean;
}

function parseRelationOption(text: string): string {
  if (isRelationName(text)) return text;
  throw new InvalidArgumentError(`It must be ${RELATION_RULE}.`);
}

function parseActions(text: string): string {
  if (feedActionsOf(text) !== undefined) return text;
  throw new InvalidArgumentError(`It must be one or several of ${FEED_ACTIONS.join(', ')}, separated by commas.`);
}

function contentOf(change: JsonRecord): string {
  if (change.grant !== undefined) {
    const { subject, relation, object, ...terms } = asRecord(change.grant);
    const former = change.former_terms === undefined ? [] : describeTerms(asRecord(change.former_terms));
    const before = former.length > 0 ? former.join(' ') : 'never expired';
    const was = change.former_terms === undefined ? [] : [`(before: ${before})`];
    return [subject, relation, object, ...describeTerms(terms), ...was].join(' ');
  }
  if (change.namespace !== undefined) return String(asRecord(change.namespace).name);
  return summaryOfChange(change.former, change.rules) ?? '';
}

const lineOf = (change: JsonRecord): string => [change.at, change.actor, change.action, contentOf(change)].join('  ');

const isAtEnd = (page: JsonRecord, changes: number, wait: string): boolean =>
  page.at_end === undefined ? changes === 0 && wait !== '0' : page.at_end === true;

/** Resolves to true at the end of the feed, to false if interrupted. */
async function printChanges(context: CliContext, reader: PatientReader, options: ChangesOptions): Promise<boolean> {
  const { follow, since, namespace, relation, action, json } = options;
  const filter = { namespace, relation, action };
  let { cursor } = options;
  for (let wait = '0'; ; ) {
    const from = cursor === undefined ? { since } : { cursor };
    const page = await reader.read({
      method: 'GET',
      path: '/changes',
      query: { ...filter, ...from, wait, limit: String(PAGE_LIMIT_MAX) },
    });
    if (page === undefined) break;
    const changes = recordsOf(page, 'changes');
    for (const change of changes) context.print(json ? JSON.stringify(change) : lineOf(change));
    cursor = textOf(page, 'next_cursor');
    if (!isAtEnd(page, changes.length, wait)) {
      // The public API does not say whether there is more: a page that stays empty for a second does.
      if (page.at_end === undefined && changes.length === 0) wait = '1';
      continue;
    }
    if (!follow) {
      context.note(`Continue with --cursor ${cursor}`);
      return true;
    }
    wait = String(FEED_WAIT_SECONDS_MAX);
  }
  if (cursor !== undefined) context.note(`Continue with --cursor ${cursor}`);
  return false;
}

export function registerChangesCommand(program: Command, context: CliContext): void {
  const parseTime = timeParser(context.nowMs, 'the past');
  const command = program
    .command('changes')
    .description('show the changes in a tenant as its applications see them: grants, namespaces, rules')
    .option(...TENANT_OPTION)
    .option('-f, --follow', 'go on with every new change as it is made, until interrupted')
    .option('--cursor <cursor>', 'only changes after this cursor')
    .addOption(
      new Option('--since <time>', `only changes from this time on: ${TIME_FORMS}, back from now`)
        .argParser(parseTime)
        .conflicts('cursor'),
    )
    .option('--namespace <name>', 'only grants on objects of this namespace, and the namespace itself')
    .option('--relation <relation>', 'only grants of this relation', parseRelationOption)
    .option('--action <actions>', `only these, separated by commas: ${FEED_ACTIONS.join(', ')}`, parseActions)
    .option('--json', 'print one change per line as JSON (NDJSON)');
  addExamples(
    command,
    `changes --tenant ${TENANT_EXAMPLE} --since 1h`,
    `changes --tenant ${TENANT_EXAMPLE} --follow --action grant.created,grant.revoked`,
    `changes --tenant ${TENANT_EXAMPLE} --follow --json >> acme.ndjson`,
  ).action(
    context.action((options: ChangesOptions) =>
      followUntilInterrupted(context, context.connectTenant(options.tenant), (reader) =>
        printChanges(context, reader, options),
      ),
    ),
  );
}
