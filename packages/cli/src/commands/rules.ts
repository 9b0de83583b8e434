// `grantd rules …`: the rules of a tenant. A change replaces only the revision that it was compared with.

import type { ConvertOptions } from '@grantd/convert/rules';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseVersion } from '../../../../src/core/rules-versions.ts';
import { type RuleSet, ruleSetRecord } from '../../../../src/rules/rule-set.ts';
import { diffRules, orderRules, renderRuleSet } from '../../../../src/rules/rules-diff.ts';
import { formatSource, sourceOf } from '../../../../src/rules/text/printer.ts';
import type { CliContext } from '../cli-context.ts';
import {
  addExamples,
  JSON_OPTION,
  TENANT_EXAMPLE,
  TENANT_OPTION,
  type TenantOption,
  YES_OPTION,
} from '../command-parts.ts';
import { loadConverter, mapOption, ORIGINS, type Origin } from '../converter.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { recordsOf, textOf } from '../output/json-view.ts';
import { type Column, renderJson } from '../output/render.ts';
import { writeWholeFile } from '../output/whole-file.ts';
import { readRulesFile } from '../rules-file.ts';
import { type ReplaceOptions, replaceRules } from '../rules-replacement.ts';
import { outsideTypesOption, readRulesVersion, readTenantRules, revised } from '../tenant-rules.ts';
import {
  LANGUAGES,
  type Language,
  languageOf,
  type ModelTypes,
  modelTypesOf,
  renderTypes,
  writeTypes,
} from '../types/render-types.ts';

const FILE_ARGUMENT = [
  '<file>',
  'a file of text, as "grantd rules show" prints it, of JSON or of YAML, perhaps with model tests; - for standard input',
] as const;

/** Exit codes as of diff(1): a failure must not look like a difference. */
const DIFFERS = 1;
const DIFF_FAILED = 2;

async function setRules(context: CliContext, file: string, options: ReplaceOptions): Promise<number> {
  const wanted = revised((await readRulesFile(context, file)).ruleSet);
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
  const wanted = file === undefined ? undefined : (await readRulesFile(context, file)).ruleSet;
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
    .option('--json', 'print JSON with the revision of the rules (default: text)');
  addExamples(
    show,
    `rules show --tenant ${TENANT_EXAMPLE} > rules.grantd`,
    `rules show --tenant ${TENANT_EXAMPLE} --json | jq -r .revision`,
    `rules show 3 --tenant ${TENANT_EXAMPLE}`,
  ).action(
    context.action(async (version: number | undefined, { tenant, json }: TenantOption) => {
      const client = context.connectTenant(tenant);
      const { ruleSet, revision } = await (version === undefined
        ? readTenantRules(client)
        : readRulesVersion(client, version));
      context.print(json ? renderJson({ revision, rule_set: ruleSetRecord(ruleSet) }) : sourceOf(ruleSet).trimEnd());
      return EXIT.ok;
    }),
  );
}

/** `grantd`: rules themselves, in another form. */
type ConvertFrom = Omit<ConvertOptions, 'from'> & { readonly from?: Origin | 'grantd' };

async function convertOwnRules(context: CliContext, files: readonly string[], options: ConvertFrom): Promise<number> {
  const [file = '', ...others] = files;
  const { json, output, map, partial } = options;
  if (others.length > 0) throw new CliFailure('Rules are in one file: name one.', EXIT.usage);
  if (map.length > 0 || partial) throw new CliFailure('--map and --partial are for other systems.', EXIT.usage);
  const { ruleSet } = await readRulesFile(context, file);
  const isJson = json ?? output?.toLowerCase().endsWith('.json') ?? false;
  const rules = isJson ? renderJson(ruleSetRecord(ruleSet)) : sourceOf(ruleSet).trimEnd();
  if (output === undefined) context.print(rules);
  else await writeWholeFile(output, `${rules}\n`);
  return EXIT.ok;
}

function registerConvert(rules: Command, context: CliContext): void {
  const convert = rules
    .command('convert')
    .description(
      'turn a model of OpenFGA or a schema of SpiceDB or Permify into rules, or rules in JSON or YAML into text',
    )
    .argument(
      '<file...>',
      'a .fga, .json, .zed or .perm file, the files of all modules or their fga.mod, or YAML with a model; - for standard input',
    )
    .addOption(
      new Option('--from <system>', 'the system that the model is from (default: by the file name)').choices([
        ...ORIGINS,
        'grantd',
      ]),
    )
    .addOption(
      mapOption(
        'what grants of this relation become; TYPE#NAME=RELATION for one type; may be repeated',
        'the same name',
      ),
    )
    .option('--output <file>', 'write the rules to this file, as JSON if it ends so, and the relation map beside it')
    .option('--json', 'rules as JSON (default: as text, with the comments of the model)')
    .option('--partial', 'leave out what rules cannot express; checks of such names are denied')
    .addHelpText(
      'after',
      '\nPrints rules, and to standard error what does not fit, line by line, and the relation map.\nExit code: 0 converted, 1 not converted, 2 wrong usage.',
    );
  addExamples(
    convert,
    'rules convert model.fga > rules.grantd',
    'rules convert schema.zed --map reader=viewer,team#org=parent --output rules.grantd',
    'rules convert --from grantd rules.json > rules.grantd',
  ).action(
    context.action(async (files: string[], { from, ...options }: ConvertFrom) => {
      if (from === 'grantd') return convertOwnRules(context, files, options);
      const { convertRules } = await loadConverter(() => import('@grantd/convert/rules'));
      return convertRules(context, files, { ...options, ...(from === undefined ? {} : { from }) });
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
    `rules set rules.grantd --tenant ${TENANT_EXAMPLE} --dry-run`,
    `rules set rules.grantd --tenant ${TENANT_EXAMPLE}`,
    `rules set - --tenant ${TENANT_EXAMPLE} --yes < rules.grantd`,
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
    `rules diff rules.grantd --tenant ${TENANT_EXAMPLE}`,
    `rules diff --from 3 --tenant ${TENANT_EXAMPLE}`,
    `rules diff --from 3 --to 4 --tenant ${TENANT_EXAMPLE}`,
  ).action(
    context.action((file: string | undefined, options: DiffOptions) => diff(context, file, options), {
      lostCode: DIFF_FAILED,
    }),
  );
}

// ---- format ----
//
// `grantd rules format`: a file of rules in one layout and one order, so that a difference between two files is one of
// meaning. The elements of a rule keep their order: it reads as a sentence.

async function formatFile(context: CliContext, file: string, check: boolean): Promise<boolean> {
  const { form, text, ruleSet } = await readRulesFile(context, file);
  if (form === 'yaml') {
    throw new CliFailure(
      `${file} is YAML, whose comments a layout would lose: write it as text, which "grantd rules convert --from grantd" prints.`,
    );
  }
  const formatted = form === 'text' ? formatSource(text) : `${renderRuleSet(orderRules(ruleSet))}\n`;
  if (file === '-' && !check) context.stdout.write(context.dataOf(formatted));
  if (text === formatted) return true;
  if (check) context.note(`${file === '-' ? 'Standard input' : file} is not formatted.`);
  else if (file !== '-') {
    await writeWholeFile(file, formatted);
    context.note(`${file}: formatted`);
  }
  return false;
}

export function registerRulesFormat(rules: Command, context: CliContext): void {
  const format = rules
    .command('format')
    .description('bring files of rules into one layout and order, without a change of what they mean')
    .argument('<file...>', 'files of text or JSON; - for standard input, which is printed')
    .option('--check', 'change nothing, and exit with 1 if a file is not formatted')
    .addHelpText(
      'after',
      '\nText keeps its order and comments. In JSON, everything is sorted, but for the elements of a rule.\nExit code: 0 all files are formatted now, 1 --check: some are not; or a file is wrong, 2 wrong usage.',
    );
  addExamples(format, 'rules format rules.grantd', 'rules format --check rules.grantd').action(
    context.action(async (files: string[], { check = false }: { readonly check?: boolean }) => {
      let all = true;
      for (const file of files) all = (await formatFile(context, file, check)) && all;
      return all || !check ? EXIT.ok : EXIT.failed;
    }),
  );
}

// ---- types ----

interface TypesOptions {
  readonly tenant?: string;
  readonly fromFile?: string;
  readonly language?: Language;
  readonly out?: string;
  readonly package: string;
}

function parsePackage(text: string): string {
  if (/^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*$/.test(text)) return text;
  throw new InvalidArgumentError('It must be the name of a package of Go or Java.');
}

async function typesOf(context: CliContext, { tenant, fromFile }: TypesOptions): Promise<ModelTypes> {
  if (fromFile !== undefined) return modelTypesOf(revised((await readRulesFile(context, fromFile)).ruleSet), []);
  const client = context.connectTenant(tenant);
  const rules = await readTenantRules(client);
  const listed = await client.readJson({ method: 'GET', path: '/namespaces' });
  return modelTypesOf(
    rules,
    recordsOf(listed, 'namespaces').map((each) => textOf(each, 'name')),
  );
}

async function writeRulesTypes(context: CliContext, options: TypesOptions): Promise<number> {
  const language = languageOf(options.language, options.out);
  if (language === 'go' && options.package.includes('.')) {
    throw new CliFailure('The name of a package of Go has no dots.', EXIT.usage);
  }
  const text = renderTypes(await typesOf(context, options), language, options.package);
  if (options.out === undefined) context.print(text.trimEnd());
  else await writeTypes(options.out, text);
  return EXIT.ok;
}

export function registerRulesTypes(rules: Command, context: CliContext): void {
  const types = rules
    .command('types')
    .description('write the namespaces, names and conditions of a tenant as types for its applications')
    .addOption(new Option('--language <language>', 'default: by the name of the file to write').choices(LANGUAGES))
    .option('--out <file>', 'write to this file (default: standard output)')
    .option('--from-file <file>', 'the rules of this file, in place of those of a tenant')
    .option('--package <name>', 'of the file in Go or Java', parsePackage, 'model')
    .option(...TENANT_OPTION)
    .addHelpText(
      'after',
      '\nA misspelled name then does not compile. The file is the same for the same rules and namespaces, and names the\nrevision of the rules.',
    );
  addExamples(
    types,
    `rules types --out src/model.ts --tenant ${TENANT_EXAMPLE}`,
    'rules types --from-file rules.grantd --out model/model.go',
  ).action(context.action((options: TypesOptions) => writeRulesTypes(context, options)));
}

// ---- history and rollback ----

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
