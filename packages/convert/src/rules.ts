// `grantd rules convert`: turns a model of OpenFGA or a schema of SpiceDB or Permify into rules. It reads files and
// calls no service. If rules cannot express the whole model, it prints none, unless --partial leaves the rest out.

import { resolve } from 'node:path';
import { GrantdError } from '../../../src/core/errors.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import { type RuleSet, ruleSetRecord } from '../../../src/rules/rule-set.ts';
import { printRules } from '../../../src/rules/text/printer.ts';
import type { CliContext } from '../../cli/src/cli-context.ts';
import type { MapOption, Origin } from '../../cli/src/converter.ts';
import { CliFailure, EXIT } from '../../cli/src/failures.ts';
import { renderJson, renderTable } from '../../cli/src/output/render.ts';
import { writeWholeFile } from '../../cli/src/output/whole-file.ts';
import { type Conversion, convertModel } from './model/conversion.ts';
import { modelComments } from './model/model-comments.ts';
import { parseModel, readModelTexts } from './model/model-reader.ts';
import type { MappedRelation } from './model/relation-map.ts';
import { type Finding, formatPlace } from './model/source-model.ts';
import { mapOf, relationMapRecord } from './tuples/tuple-names.ts';

export interface ConvertOptions {
  readonly from?: Origin;
  readonly map: readonly MapOption[];
  readonly json?: boolean;
  readonly output?: string;
  readonly partial?: boolean;
}

/** A model with more findings than this does not fit, and more lines would not help. */
const FINDINGS_SHOWN_MAX = 1000;

function renderFinding({ place, text, lost }: Finding, partial: boolean): string {
  const line = `${formatPlace(place)}: ${text}`;
  if (lost === undefined) return line;
  return `${line} ${partial ? `Left out: ${lost}.` : `With --partial, ${lost} is left out.`}`;
}

function noteFindings(context: CliContext, findings: readonly Finding[], partial: boolean): void {
  for (const finding of findings.slice(0, FINDINGS_SHOWN_MAX)) context.note(renderFinding(finding, partial));
  const more = findings.length - FINDINGS_SHOWN_MAX;
  if (more > 0) context.note(`and ${more} more`);
}

function renderMap(mapped: readonly MappedRelation[]): string {
  const renamed = mapped.filter(({ reason }) => reason !== 'same name');
  const records = renamed.map(({ type, name, relation, reason }) => ({ name: `${type}#${name}`, relation, reason }));
  return renderTable(records, [
    ['in the model', 'name'],
    ['in grantd', 'relation'],
    ['because of', 'reason'],
  ]);
}

/** Parses the rules as the service does, and refuses the same ones. */
function checkRules({ rules }: Conversion): RuleSet {
  try {
    return parseRuleSet(rules);
  } catch (error) {
    if (!(error instanceof GrantdError)) throw error;
    throw new CliFailure(`A tenant cannot have these rules: ${error.message}`, EXIT.failed, { cause: error });
  }
}

/** `rules.grantd` has `rules.relation-map.json` beside it. */
const mapFileOf = (output: string): string => `${output.replace(/\.[a-z]+$/i, '')}.relation-map.json`;

/** Resolves to the exit code. */
export async function convertRules(
  context: CliContext,
  files: readonly string[],
  options: ConvertOptions,
): Promise<number> {
  const { output, partial = false } = options;
  const mapFile = output === undefined ? undefined : mapFileOf(output);
  if (files.some((file) => [output, mapFile].some((written) => written && resolve(written) === resolve(file)))) {
    throw new CliFailure('--output would overwrite a file of the model.', EXIT.usage);
  }
  const texts = await readModelTexts(files, options.from, context.stdin);
  const model = parseModel(texts);
  const conversion = convertModel(model, options.map);
  noteFindings(context, conversion.findings, partial);
  const unfit = conversion.findings.filter(({ lost }) => lost !== undefined).length;
  if (unfit > 0 && !partial) {
    const parts = unfit === 1 ? 'One part' : `${unfit} parts`;
    throw new CliFailure(
      `${parts} of the model cannot be converted: see above. No rules are printed. Change the model, or pass --partial to leave out the names concerned; they are then denied.`,
    );
  }
  const ruleSet = checkRules(conversion);
  const isJson = options.json ?? output?.toLowerCase().endsWith('.json') ?? false;
  const rules = isJson
    ? renderJson(ruleSetRecord(ruleSet))
    : printRules(ruleSet, modelComments(texts, conversion.definitions)).trimEnd();
  if (conversion.mapped.some(({ reason }) => reason !== 'same name'))
    context.note(`\n${renderMap(conversion.mapped)}\n`);
  if (output === undefined || mapFile === undefined) {
    context.print(rules);
    return EXIT.ok;
  }
  await writeWholeFile(output, `${rules}\n`);
  await writeWholeFile(mapFile, `${renderJson(relationMapRecord(mapOf(conversion.mapped)))}\n`);
  context.note(`The rules are in ${output}, and the relation map in ${mapFile}.`);
  return EXIT.ok;
}
