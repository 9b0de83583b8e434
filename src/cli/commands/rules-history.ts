// `grantd rules history` and `grantd rules rollback`: the versions of the rules of a tenant, and the way back to one.

import { type Command, InvalidArgumentError } from 'commander';
import { parseVersion } from '../../core/rules-versions.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  JSON_OPTION,
  TENANT_EXAMPLE,
  TENANT_OPTION,
  type TenantOption,
  YES_OPTION,
} from '../command-parts.ts';
import { EXIT } from '../failures.ts';
import { recordsOf } from '../output/json-view.ts';
import { type Column, renderJson } from '../output/render.ts';
import { type ReplaceOptions, replaceRules } from '../rules-replacement.ts';
import { outsideTypesOption, readRulesVersion } from '../tenant-rules.ts';

const COLUMNS: readonly Column[] = [
  ['version', 'version'],
  ['at', 'at'],
  ['actor', 'actor'],
  ['lines', ({ added, removed }) => `+${added} -${removed}`],
  ['request', 'request_id'],
];

/** The value of an argument or option that names a version. */
export function versionOf(text: string): number {
  const version = parseVersion(text);
  if (version === undefined) throw new InvalidArgumentError('It must be the number of a version.');
  return version;
}

async function printHistory(context: CliContext, { tenant, json }: TenantOption): Promise<number> {
  const record = await context.connectTenant(tenant).readJson({ method: 'GET', path: '/rules/versions' });
  const versions = recordsOf(record, 'versions');
  context.print(json ? renderJson(versions) : context.tableOf(versions, COLUMNS));
  return EXIT.ok;
}

async function rollBack(context: CliContext, version: number, options: ReplaceOptions): Promise<number> {
  const client = context.connectTenant(options.tenant);
  const wanted = await readRulesVersion(client, version);
  return replaceRules(context, client, wanted, options, true);
}

export function registerRulesHistory(rules: Command, context: CliContext): void {
  const history = rules
    .command('history')
    .description('list the versions of the rules of a tenant, from the newest back: who changed them, and when')
    .option(...TENANT_OPTION)
    .option(...JSON_OPTION);
  addExamples(history, `rules history --tenant ${TENANT_EXAMPLE}`).action(
    context.action((options: TenantOption) => printHistory(context, options)),
  );

  const rollback = rules
    .command('rollback')
    .description('return to an earlier version of the rules of a tenant; shows the difference and asks first')
    .argument('<version>', 'a number from "grantd rules history"', versionOf)
    .option(...TENANT_OPTION)
    .option('--dry-run', 'only show what would change')
    .option('--if-match <revision>', 'only replace rules of this revision (default: those it compares with)')
    .addOption(outsideTypesOption())
    .option(...YES_OPTION)
    .option(...JSON_OPTION)
    .addHelpText('after', '\nThe rules of that version become a new version. Nothing is removed from the history.');
  addExamples(
    rollback,
    `rules rollback 3 --tenant ${TENANT_EXAMPLE} --dry-run`,
    `rules rollback 3 --tenant ${TENANT_EXAMPLE}`,
  ).action(context.action((version: number, options: ReplaceOptions) => rollBack(context, version, options)));
}
