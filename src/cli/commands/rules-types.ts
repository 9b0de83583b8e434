// `grantd rules types`: what the rules of a tenant, or of a file, define as types for its applications.

import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { addExamples, TENANT_EXAMPLE, TENANT_OPTION } from '../command-parts.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { recordsOf, textOf } from '../output/json-view.ts';
import { readTenantRules } from '../tenant-rules.ts';
import { LANGUAGES, type Language, type ModelTypes, modelTypesOf } from '../types/model-types.ts';
import { languageOf, renderTypes, writeTypes } from '../types/write-types.ts';
import { readRulesFile } from './rules-file.ts';

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
  if (fromFile !== undefined) return modelTypesOf(await readRulesFile(context, fromFile), []);
  const client = context.connectTenant(tenant);
  const { ruleSet } = await readTenantRules(client);
  const listed = await client.readJson({ method: 'GET', path: '/namespaces' });
  return modelTypesOf(
    ruleSet,
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
    'rules types --from-file rules.json --out model/model.go',
  ).action(context.action((options: TypesOptions) => writeRulesTypes(context, options)));
}
