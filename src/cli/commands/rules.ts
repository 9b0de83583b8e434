// `grantd rules …`: the rules of a tenant. A change replaces only the revision that it was compared with.

import type { ConvertOptions } from '@grantd/convert/rules';
import { type Command, Option } from 'commander';
import { type RuleSet, ruleSetRecord } from '../../rules/rule-set.ts';
import { diffRules, renderRuleSet } from '../../rules/rules-diff.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  JSON_OPTION,
  TENANT_EXAMPLE,
  TENANT_OPTION,
  type TenantOption,
  YES_OPTION,
} from '../command-parts.ts';
import { loadConverter, mapOption, ORIGINS } from '../converter.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { renderJson } from '../output/render.ts';
import { type ReplaceOptions, replaceRules } from '../rules-replacement.ts';
import { outsideTypesOption, readRulesVersion, readTenantRules, revised } from '../tenant-rules.ts';
import { readRulesFile } from './rules-file.ts';
import { registerRulesFormat } from './rules-format.ts';
import { registerRulesHistory, versionOf } from './rules-history.ts';
import { registerRulesTypes } from './rules-types.ts';

const FILE_ARGUMENT = ['<file>', 'a file of JSON, as "grantd rules show" prints it; - for standard input'] as const;

/** Exit codes as of diff(1): a failure must not look like a difference. */
const DIFFERS = 1;
const DIFF_FAILED = 2;

async function setRules(context: CliContext, file: string, options: ReplaceOptions): Promise<number> {
  const wanted = revised(await readRulesFile(context, file));
  return replaceRules(context, context.connectTenant(options.tenant), wanted, options);
}

interface DiffOptions extends TenantOption {
  readonly from?: number;
  readonly to?: number;
}

async function diffOf(context: CliContext, file: string | undefined, options: DiffOptions): Promise<readonly string[]> {
  const { tenant, from, to } = options;
  if (file !== undefined && to !== undefined) throw new CliFailure('Name either a file or --to.', EXIT.usage);
  if (file === undefined && from === undefined && to === undefined) {
    throw new CliFailure('Name a file, or versions with --from and --to.', EXIT.usage);
  }
  const wanted = file === undefined ? undefined : await readRulesFile(context, file);
  const client = context.connectTenant(tenant);
  const rulesAt = async (version: number | undefined): Promise<RuleSet> =>
    (await (version === undefined ? readTenantRules(client) : readRulesVersion(client, version))).ruleSet;
  return diffRules(await rulesAt(from), wanted ?? (await rulesAt(to)));
}

async function diff(context: CliContext, file: string | undefined, options: DiffOptions): Promise<number> {
  try {
    const diff = await diffOf(context, file, options);
    if (options.json) context.print(renderJson(diff));
    else for (const line of diff) context.print(line);
    return diff.length === 0 ? EXIT.ok : DIFFERS;
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    context.reportFailure(error);
    return DIFF_FAILED;
  }
}

function registerShow(rules: Command, context: CliContext): void {
  const show = rules
    .command('show')
    .description('print the rules of a tenant, as "grantd rules set" takes them')
    .argument('[version]', 'a number from "grantd rules history" (default: the present rules)', versionOf)
    .option(...TENANT_OPTION)
    .option('--json', 'print JSON with the revision of the rules');
  addExamples(
    show,
    `rules show --tenant ${TENANT_EXAMPLE} > rules.json`,
    `rules show --tenant ${TENANT_EXAMPLE} --json | jq -r .revision`,
    `rules show 3 --tenant ${TENANT_EXAMPLE}`,
  ).action(
    context.action(async (version: number | undefined, { tenant, json }: TenantOption) => {
      const client = context.connectTenant(tenant);
      const { ruleSet, revision } = await (version === undefined
        ? readTenantRules(client)
        : readRulesVersion(client, version));
      context.print(json ? renderJson({ revision, rule_set: ruleSetRecord(ruleSet) }) : renderRuleSet(ruleSet));
      return EXIT.ok;
    }),
  );
}

function registerConvert(rules: Command, context: CliContext): void {
  const convert = rules
    .command('convert')
    .description('turn a model of OpenFGA or a schema of SpiceDB or Permify into rules')
    .argument(
      '<file...>',
      'a .fga, .json, .zed or .perm file, the files of all modules or their fga.mod, or YAML with a model; - for standard input',
    )
    .addOption(
      new Option('--from <system>', 'the system that the model is from (default: by the file name)').choices(ORIGINS),
    )
    .addOption(
      mapOption(
        'what grants of this relation become; TYPE#NAME=RELATION for one type; may be repeated',
        'the same name',
      ),
    )
    .option('--output <file>', 'write the rules to this file, and the relation map as JSON beside it')
    .option('--partial', 'leave out what rules cannot express; checks of such names are denied')
    .addHelpText(
      'after',
      '\nPrints rules as JSON, and to standard error what does not fit, line by line, and the relation map.\nExit code: 0 converted, 1 not converted, 2 wrong usage.',
    );
  addExamples(
    convert,
    'rules convert model.fga > rules.json',
    'rules convert schema.zed --map reader=viewer,team#org=parent --output rules.json',
  ).action(
    context.action(async (files: string[], options: ConvertOptions) => {
      const { convertRules } = await loadConverter(() => import('@grantd/convert/rules'));
      return convertRules(context, files, options);
    }),
  );
}

export function registerRulesCommands(program: Command, context: CliContext): void {
  const rules = program.command('rules').description('work with rules: relations that follow from others');
  registerShow(rules, context);

  const set = rules
    .command('set')
    .description('replace the rules of a tenant; asks first if stored grants then mean something else')
    .argument(...FILE_ARGUMENT)
    .option(...TENANT_OPTION)
    .option('--dry-run', 'only show what would change')
    .option('--if-match <revision>', 'only replace rules of this revision (default: those it compares with)')
    .addOption(outsideTypesOption())
    .option(...YES_OPTION)
    .option(...JSON_OPTION);
  addExamples(
    set,
    `rules set rules.json --tenant ${TENANT_EXAMPLE} --dry-run`,
    `rules set rules.json --tenant ${TENANT_EXAMPLE}`,
    `rules set - --tenant ${TENANT_EXAMPLE} --yes < rules.json`,
  ).action(context.action((file: string, options: ReplaceOptions) => setRules(context, file, options)));

  registerDiff(rules, context);
  registerRulesHistory(rules, context);
  registerRulesFormat(rules, context);
  registerRulesTypes(rules, context);
  registerConvert(rules, context);
}

function registerDiff(rules: Command, context: CliContext): void {
  const command = rules
    .command('diff')
    .description('show how the rules of a file differ from those of a tenant, or two versions from each other')
    .argument('[file]', FILE_ARGUMENT[1])
    .option(...TENANT_OPTION)
    .option('--from <version>', 'the version to compare with (default: the present rules)', versionOf)
    .option('--to <version>', 'the version to compare, in place of a file (default: the present rules)', versionOf)
    .option('--json', 'print the lines as JSON')
    .addHelpText(
      'after',
      '\n"-" is what the tenant has, or --from; "+" what the file has, or --to. The order of rules has no meaning.\nExit code: 0 no difference, 1 a difference, 2 failed or wrong usage.',
    );
  addExamples(
    command,
    `rules diff rules.json --tenant ${TENANT_EXAMPLE}`,
    `rules diff --from 3 --tenant ${TENANT_EXAMPLE}`,
    `rules diff --from 3 --to 4 --tenant ${TENANT_EXAMPLE}`,
  ).action(
    context.action((file: string | undefined, options: DiffOptions) => diff(context, file, options), {
      lostCode: DIFF_FAILED,
    }),
  );
}
