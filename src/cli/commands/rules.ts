// `grantd rules …`: the rules of a tenant. A change replaces only the revision that it was compared with.

import type { ConvertOptions } from '@grantd/convert/rules';
import { type Command, Option } from 'commander';
import { ruleSetRecord } from '../../rules/rule-set.ts';
import { diffRules, renderRuleSet } from '../../rules/rules-diff.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  confirm,
  JSON_OPTION,
  TENANT_EXAMPLE,
  TENANT_OPTION,
  type TenantOption,
  YES_OPTION,
} from '../command-parts.ts';
import { loadConverter, mapOption, ORIGINS } from '../converter.ts';
import { CliFailure, EXIT } from '../failures.ts';
import type { JsonRecord } from '../output/json-view.ts';
import { formatCount, renderJson } from '../output/render.ts';
import { putTenantRules, readTenantRules, revised } from '../tenant-rules.ts';
import { readRulesFile } from './rules-file.ts';
import { registerRulesTypes } from './rules-types.ts';

const FILE_ARGUMENT = ['<file>', 'a file of JSON, as "grantd rules show" prints it; - for standard input'] as const;

/** Exit codes as of diff(1): a failure must not look like a difference. */
const DIFFERS = 1;
const DIFF_FAILED = 2;

const numberOf = (record: JsonRecord, name: string): number => {
  const value = record[name];
  return typeof value === 'number' ? value : 0;
};

/** The findings of a dry run, as sentences; `changesGrants`: stored grants would mean something else. */
function describePreview(preview: JsonRecord, diff: readonly string[]) {
  const groupSubjects = numberOf(preview, 'group_subjects');
  const publicGrants = numberOf(preview, 'public_grants');
  const complete = preview.complete === true;
  const atLeast = complete ? '' : 'at least ';
  const switches = diff.some((line) => /^[+-] (?:groups|public):/.test(line));
  const lines: string[] = [];
  if (groupSubjects > 0) {
    lines.push(
      `The grants of ${atLeast}${formatCount(groupSubjects)} subjects of the form namespace:id#name become, or cease to be, grants to groups.`,
    );
  }
  if (publicGrants > 0) {
    lines.push(`In all, ${atLeast}${formatCount(publicGrants)} grants to namespace:* become, or cease to be, public.`);
  }
  const notFollowed = numberOf(preview, 'grants_not_followed');
  if (notFollowed > 0) {
    lines.push(
      `The rules can never follow ${atLeast}${formatCount(notFollowed)} stored grants: they are to a group or namespace:* without effect under these rules, or where rules follow only single entities.`,
    );
  }
  const outside = numberOf(preview, 'grants_outside_types');
  if (outside > 0) {
    lines.push(
      `The types do not allow ${atLeast}${formatCount(outside)} stored grants. They stay until they are revoked.`,
    );
  }
  for (const each of Array.isArray(preview.ungranted) ? preview.ungranted : []) {
    lines.push(`The rules use grants of ${each.relation} on objects of ${each.namespace}, but none was found.`);
  }
  if (!complete) {
    lines.push(
      `Only ${formatCount(numberOf(preview, 'scanned_grants'))} grants were looked at: there may be more of each.`,
    );
  }
  return { lines, changesGrants: groupSubjects > 0 || publicGrants > 0 || (!complete && switches) };
}

interface SetOptions extends TenantOption {
  readonly dryRun?: boolean;
  readonly ifMatch?: string;
  readonly yes?: boolean;
}

async function setRules(context: CliContext, file: string, options: SetOptions): Promise<number> {
  const { tenant, json = false } = options;
  const wanted = revised(await readRulesFile(context, file));
  const client = await context.connect();
  const present = await readTenantRules(client, tenant);
  const ifMatch = options.ifMatch ?? present.revision;
  const diff = diffRules(present.ruleSet, wanted.ruleSet);
  const record = ruleSetRecord(wanted.ruleSet);
  const preview = await putTenantRules(client, tenant, record, { ifMatch, dryRun: true });
  const { lines, changesGrants } = describePreview(preview, diff);
  if (!json) for (const line of [...diff, ...lines]) context.print(line);
  if (options.dryRun) {
    if (json) context.print(renderJson(preview));
    else context.print(preview.changed === true ? 'Nothing was changed.' : 'The tenant has these rules already.');
    return EXIT.ok;
  }
  if (preview.changed !== true) {
    context.print(json ? renderJson(preview) : 'The tenant has these rules already.');
    return EXIT.ok;
  }
  if (changesGrants && !options.yes) {
    await confirm(context, {
      what: 'With these rules, stored grants mean something else, as listed above.',
      answer: 'yes',
      declined: 'Nothing was changed.',
    });
  }
  await putTenantRules(client, tenant, record, { ifMatch });
  context.print(json ? renderJson(preview) : `The rules are set. Their revision is ${wanted.revision}.`);
  return EXIT.ok;
}

async function diffWithFile(context: CliContext, file: string, options: TenantOption): Promise<number> {
  try {
    const wanted = await readRulesFile(context, file);
    const present = await readTenantRules(await context.connect(), options.tenant);
    const diff = diffRules(present.ruleSet, wanted);
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
    .option(...TENANT_OPTION)
    .option('--json', 'print JSON with the revision of the rules');
  addExamples(
    show,
    `rules show --tenant ${TENANT_EXAMPLE} > rules.json`,
    `rules show --tenant ${TENANT_EXAMPLE} --json | jq -r .revision`,
  ).action(
    context.action(async ({ tenant, json }: TenantOption) => {
      const { ruleSet, revision } = await readTenantRules(await context.connect(), tenant);
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
    .option(...YES_OPTION)
    .option(...JSON_OPTION);
  addExamples(
    set,
    `rules set rules.json --tenant ${TENANT_EXAMPLE} --dry-run`,
    `rules set rules.json --tenant ${TENANT_EXAMPLE}`,
    `rules set - --tenant ${TENANT_EXAMPLE} --yes < rules.json`,
  ).action(context.action((file: string, options: SetOptions) => setRules(context, file, options)));

  const diff = rules
    .command('diff')
    .description('show how the rules of a file differ from those of a tenant')
    .argument(...FILE_ARGUMENT)
    .option(...TENANT_OPTION)
    .option('--json', 'print the lines as JSON')
    .addHelpText(
      'after',
      '\n"-" is what the tenant has, "+" what the file has. The order of rules has no meaning.\nExit code: 0 no difference, 1 a difference, 2 failed or wrong usage.',
    );
  addExamples(diff, `rules diff rules.json --tenant ${TENANT_EXAMPLE}`).action(
    context.action((file: string, options: TenantOption) => diffWithFile(context, file, options)),
  );

  registerRulesTypes(rules, context);
  registerConvert(rules, context);
}
