// `grantd rules convert`: turns a model of OpenFGA or a schema of SpiceDB into rules. It reads files and calls no
// service. If rules cannot say what the model says, it prints none, unless it is told to leave that out.

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { GrantdError } from '../../core/errors.ts';
import { parseRuleSet, ruleSetRecord } from '../../rules/rule-set.ts';
import type { CliContext } from '../cli-context.ts';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import { renderJson, renderTable } from '../output/render.ts';
import { type Conversion, convertModel, type Finding, UnmappedFailure } from '../rules-convert/conversion.ts';
import { addMapOptions } from '../rules-convert/map-options.ts';
import { ORIGINS, type Origin, parseModel } from '../rules-convert/model-files.ts';
import { readModelTexts } from '../rules-convert/model-reader.ts';
import type { MapOption, MappedRelation } from '../rules-convert/relation-map.ts';

interface ConvertOptions {
  readonly from?: Origin;
  readonly map: readonly MapOption[];
  readonly output?: string;
  readonly partial?: boolean;
}

/** Nobody reads more; a model that has more does not fit. */
const FINDINGS_SHOWN_MAX = 1000;

function renderFinding({ place, text, lost }: Finding, partial: boolean): string {
  const line = `${place.file}:${place.line}: ${text}`;
  if (lost === undefined) return line;
  return `${line} ${partial ? `Left out: ${lost}.` : `With --partial, ${lost} is left out.`}`;
}

function noteFindings(context: CliContext, findings: readonly Finding[], partial: boolean): void {
  for (const finding of findings.slice(0, FINDINGS_SHOWN_MAX)) context.note(renderFinding(finding, partial));
  const more = findings.length - FINDINGS_SHOWN_MAX;
  if (more > 0) context.note(`and ${more} more`);
}

function renderMap(mapped: readonly MappedRelation[]): string {
  const records = mapped.map(({ type, name, relation, reason }) => ({ name: `${type}#${name}`, relation, reason }));
  return renderTable(records, [
    ['in the model', 'name'],
    ['in grantd', 'relation'],
    ['because of', 'reason'],
  ]);
}

/** The rules as the service would read them: what it would refuse is refused here. */
function checkRules({ rules }: Conversion): string {
  try {
    return renderJson(ruleSetRecord(parseRuleSet(rules)));
  } catch (error) {
    if (!(error instanceof GrantdError)) throw error;
    throw new CliFailure(`A tenant cannot have these rules: ${error.message}`, EXIT.failed, { cause: error });
  }
}

function renderMapFile(mapped: readonly MappedRelation[]): string {
  const entries = mapped.map(({ type, name, relation }) => [`${type}#${name}`, relation] as const);
  return renderJson({ relation_map: Object.fromEntries(entries) });
}

/** `rules.json` has `rules.relation-map.json` beside it. */
const mapFileOf = (output: string): string => `${output.replace(/\.json$/i, '')}.relation-map.json`;

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, `${text}\n`);
  } catch (cause) {
    throw new CliFailure(`Cannot write ${file}: ${reasonOf(cause)}.`, EXIT.failed, { cause });
  }
}

async function readConversion(
  context: CliContext,
  files: readonly string[],
  options: ConvertOptions,
): Promise<Conversion> {
  try {
    return convertModel(parseModel(await readModelTexts(files, options.from, context.stdin)), options.map);
  } catch (error) {
    if (error instanceof UnmappedFailure) noteFindings(context, error.findings, options.partial === true);
    throw error;
  }
}

async function convert(context: CliContext, files: readonly string[], options: ConvertOptions): Promise<number> {
  const { output, partial = false } = options;
  const mapFile = output === undefined ? undefined : mapFileOf(output);
  if (files.some((file) => [output, mapFile].some((written) => written && resolve(written) === resolve(file)))) {
    throw new CliFailure('--output would overwrite a file of the model.', EXIT.usage);
  }
  const conversion = await readConversion(context, files, options);
  noteFindings(context, conversion.findings, partial);
  const unfit = conversion.findings.filter(({ lost }) => lost !== undefined).length;
  if (unfit > 0 && !partial) {
    const parts = unfit === 1 ? 'One part' : `${unfit} parts`;
    throw new CliFailure(
      `${parts} of the model cannot be converted: see above. No rules are printed. Change the model, or pass --partial to leave out the names concerned; they are then denied.`,
    );
  }
  const rules = checkRules(conversion);
  context.note('grantd does not enforce type restrictions: import only what the model allows.');
  if (conversion.mapped.length > 0) context.note(`\n${renderMap(conversion.mapped)}\n`);
  if (output === undefined || mapFile === undefined) {
    context.print(rules);
    return EXIT.ok;
  }
  await write(output, rules);
  await write(mapFile, renderMapFile(conversion.mapped));
  context.note(`The rules are in ${output}, and the relation map in ${mapFile}.`);
  return EXIT.ok;
}

export function registerRulesConvertCommand(rules: Command, context: CliContext): void {
  rules
    .command('convert')
    .description('turn an OpenFGA model or a SpiceDB schema into rules')
    .argument(
      '<file...>',
      'a .fga, .json or .zed file, the files of all modules or their fga.mod, or YAML with a model; - for standard input',
    )
    .addOption(
      new Option('--from <system>', 'where the model is from (default: by the name of the file)').choices(ORIGINS),
    )
    .addOption(
      new Option('--map <name=relation>', 'call this relation so; TYPE#NAME=RELATION for one type; may be repeated')
        .argParser(addMapOptions)
        .default([], 'names and synonyms'),
    )
    .option('--output <file>', 'write the rules to this file, and the relation map as JSON beside it')
    .option('--partial', 'leave out what rules cannot say; checks of such names are denied')
    .addHelpText(
      'after',
      '\nPrints rules as JSON, and to standard error what does not fit, line by line, and the relation map.\nExit code: 0 converted, 1 not converted, 2 wrong usage.\n\nExamples:\n  grantd rules convert model.fga > rules.json\n  grantd rules convert schema.zed --map team#org=parent,triager=commenter --output rules.json\n',
    )
    .action(context.action((files: string[], options: ConvertOptions) => convert(context, files, options)));
}
