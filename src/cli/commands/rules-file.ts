// Rules in a file of JSON, as commands take them.

import { GrantdError } from '../../core/errors.ts';
import { RULES_BODY_BYTES_MAX } from '../../core/limits.ts';
import { parseJson } from '../../core/text/json.ts';
import { utf8Text } from '../../core/text/utf8.ts';
import { parseRuleSet } from '../../rules/parse-rule-set.ts';
import type { RuleSet } from '../../rules/rule-set.ts';
import type { CliContext } from '../cli-context.ts';
import { CliFailure, EXIT, reasonOf } from '../failures.ts';
import { openSource, readWhole } from '../import/import-source.ts';

/** The rules of a file, and its text. */
export async function readRulesText(
  context: CliContext,
  file: string,
): Promise<{ readonly text: string; readonly ruleSet: RuleSet }> {
  const name = file === '-' ? 'Standard input' : file;
  const { source } = await openSource(context, file);
  try {
    const bytes = await readWhole(source, RULES_BODY_BYTES_MAX);
    if (bytes === undefined) throw new Error(`it is longer than ${RULES_BODY_BYTES_MAX / 1024} KiB`);
    const text = utf8Text(bytes);
    return { text, ruleSet: parseRuleSet(parseJson(text, 'The text')) };
  } catch (error) {
    const reason = error instanceof GrantdError ? error.message : `${reasonOf(error)}.`;
    throw new CliFailure(`${name} has no rules that a tenant can have: ${reason}`, EXIT.failed, { cause: error });
  }
}

export const readRulesFile = async (context: CliContext, file: string): Promise<RuleSet> =>
  (await readRulesText(context, file)).ruleSet;
