// Rules in files, as people write them: text, JSON or YAML, perhaps within a file of model tests or of declared
// tenants. Invariant: everything that is wrong with them is told at once, each with its line.

import { setImmediate } from 'node:timers/promises';
import { GrantdError } from '../../../src/core/errors.ts';
import { isJsonObject } from '../../../src/core/json-members.ts';
import { RULES_BODY_BYTES_MAX } from '../../../src/core/limits.ts';
import { utf8Text } from '../../../src/core/text/utf8.ts';
import { parseRuleSetInTurns, RULE_SET_MEMBERS } from '../../../src/rules/parse-rule-set.ts';
import type { RuleSet } from '../../../src/rules/rule-set.ts';
import { isJsonForm, parseRulesText } from '../../../src/rules/rules-text.ts';
import { PROBLEM_PLACE } from '../../../src/rules/text/rules-source.ts';
import type { CliContext } from './cli-context.ts';
import { CliFailure, EXIT, reasonOf } from './failures.ts';
import { openSource, readWhole } from './import/import-source.ts';
import { Cursor, parseYaml, plainOf, YAML_BYTES_MAX } from './yaml-file.ts';

/** Members of a file of model tests; its rules are a map. */
const TEST_MEMBERS = ['rules', 'rules_file', 'grants', 'grants_file', 'tests'];

/** A line of YAML that the text form cannot have. */
const YAML_MEMBER = /^(?:rules|rules_file|conditions|types|grants|grants_file|tests)[ \t]*:/m;

export interface RulesFile {
  readonly form: 'text' | 'json' | 'yaml';
  readonly text: string;
  readonly ruleSet: RuleSet;
}

/** Lines as `FILE:LINE: PROBLEM`. */
const failureOf = (problems: readonly { readonly line: number; readonly text: string }[]): CliFailure =>
  new CliFailure(
    problems
      .toSorted((left, right) => left.line - right.line)
      .map(({ text }) => text)
      .join('\n'),
  );

/** Rules as text, which is a value of a file in YAML. */
async function rulesInText({ node, file, path }: Cursor, text: string): Promise<RuleSet> {
  const parsed = await parseRulesText(text, () => setImmediate());
  if (parsed.kind === 'parsed') return parsed.ruleSet;
  const first = node.kind === 'text' ? node.textLine : node.line;
  throw failureOf(
    parsed.problems.map(({ message, place }) => {
      const line = first + (place?.line ?? 1) - 1;
      return { line, text: `${file}:${line}: ${path === '' ? '' : `${path} are not valid rules: `}${message}` };
    }),
  );
}

/** Rules in YAML, or as text in it; `{}` means an empty rule set. Throws a CliFailure. */
export async function rulesInYaml(cursor: Cursor): Promise<RuleSet> {
  if (cursor.node.kind === 'text' && cursor.node.text.trim() !== '') return rulesInText(cursor, cursor.node.text);
  const { fields } = cursor.map(RULE_SET_MEMBERS);
  const plain = Object.fromEntries([...fields].map(([name, each]) => [name, plainOf(each)]));
  try {
    return await parseRuleSetInTurns({ rules: [], ...plain }, () => setImmediate(), { expressions: true });
  } catch (error) {
    const problems = GrantdError.from(error)
      .message.split('\n')
      .map((sentence) => {
        const [, path = '', inText = '1'] = PROBLEM_PLACE.exec(sentence) ?? [];
        const { node, file } = cursor.at(path);
        const line = node.kind === 'text' ? node.textLine + Number(inText) - 1 : node.line;
        const what = cursor.path === '' ? '' : `${cursor.path} are not valid rules: `;
        return { line, text: `${file}:${line}: ${what}${sentence}` };
      });
    throw failureOf(problems);
  }
}

/** `tests` in JSON: the file is one of model tests. */
function hasTests(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && 'tests' in value;
  } catch {
    return false;
  }
}

function rulesOfDocument(name: string, text: string): Promise<RuleSet> {
  const root = new Cursor(name, parseYaml(name, Buffer.from(text)), '');
  const { node } = root;
  const isOfTests =
    node.kind === 'map' &&
    (TEST_MEMBERS.some((member) => member !== 'rules' && node.fields.has(member)) ||
      ['map', 'text'].includes(node.fields.get('rules')?.kind ?? ''));
  if (!isOfTests) return rulesInYaml(root);
  const map = root.map(TEST_MEMBERS);
  const named = root.field(map, 'rules_file');
  if (named !== undefined) throw named.failure('names the file that has the rules: pass that file.');
  return rulesInYaml(root.demand(map, 'rules'));
}

/** The rules of a file, or of standard input (`-`). Throws a CliFailure. */
export async function readRulesFile(context: CliContext, file: string): Promise<RulesFile> {
  const name = file === '-' ? 'Standard input' : file;
  const isYaml = /\.ya?ml$/i.test(file);
  const { source } = await openSource(context, file);
  let text: string;
  try {
    const bytesMax = isYaml ? YAML_BYTES_MAX : RULES_BODY_BYTES_MAX;
    const bytes = await readWhole(source, bytesMax);
    if (bytes === undefined) throw new Error(`it is longer than ${bytesMax / 1024} KiB`);
    text = utf8Text(bytes);
    if (!isYaml && text.startsWith('\u{feff}')) throw new Error('it begins with a byte order mark: remove it');
  } catch (error) {
    const reason = error instanceof GrantdError ? error.message : `${reasonOf(error)}.`;
    throw new CliFailure(`${name} does not contain valid rules: ${reason}`, EXIT.failed, { cause: error });
  }
  const isJson = isJsonForm(text);
  if (isYaml || (isJson ? hasTests(text) : YAML_MEMBER.test(text))) {
    return { form: 'yaml', text, ruleSet: await rulesOfDocument(name, text) };
  }
  const parsed = await parseRulesText(text, () => setImmediate());
  if (parsed.kind === 'parsed') return { form: isJson ? 'json' : 'text', text, ruleSet: parsed.ruleSet };
  const problems = parsed.problems.map(({ message, place }) => {
    const at = place === undefined ? '' : `:${place.line}:${place.column}`;
    return `${name}${at}: ${message}`;
  });
  throw new CliFailure(problems.join('\n'));
}
