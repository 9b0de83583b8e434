// `grantd rules format`: a file of rules in one layout and one order, so that a difference between two files is one of
// meaning. The elements of a rule keep their order: it reads as a sentence.

import type { Command } from 'commander';
import { orderRules, renderRuleSet } from '../../rules/rules-diff.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples } from '../command-parts.ts';
import { EXIT } from '../failures.ts';
import { writeWholeFile } from '../output/whole-file.ts';
import { readRulesText } from './rules-file.ts';

async function formatFile(context: CliContext, file: string, check: boolean): Promise<boolean> {
  const { text, ruleSet } = await readRulesText(context, file);
  const formatted = `${renderRuleSet(orderRules(ruleSet))}\n`;
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
    .argument('<file...>', 'files of JSON; - for standard input, which is printed')
    .option('--check', 'change nothing, and exit with 1 if a file is not formatted')
    .addHelpText(
      'after',
      '\nRules are sorted by namespace and name, and types, conditions, relations and public namespaces too. Elements of\na rule keep their order.\nExit code: 0 all files are formatted now, 1 --check: some are not; or a file is wrong, 2 wrong usage.',
    );
  addExamples(format, 'rules format rules.json', 'rules format --check rules.json').action(
    context.action(async (files: string[], { check = false }: { readonly check?: boolean }) => {
      let all = true;
      for (const file of files) all = (await formatFile(context, file, check)) && all;
      return all || !check ? EXIT.ok : EXIT.failed;
    }),
  );
}
