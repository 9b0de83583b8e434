// `grantd completion`: what a shell needs to complete the operator's commands. The scripts that it prints run `grantd
// complete -- WORD…`, which takes the suggestions from the commands as they are registered.

import { readdirSync } from 'node:fs';
import type { Command, Option } from 'commander';
import { assert } from '../../../../src/core/assert.ts';
import { AUDIT_ACTIONS } from '../../../../src/core/audit-log.ts';
import { BUILT_IN_PLANS } from '../../../../src/core/plans.ts';
import { SCOPES } from '../../../../src/core/scopes.ts';
import { LISTED_STATES } from '../../../../src/core/tenants.ts';
import { RELATIONS } from '../../../../src/core/tuples.ts';
import { CHECK_OUTPUTS } from '../checks/check-run.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples } from '../command-parts.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { COMPLETION_SCRIPTS } from './completion-scripts.ts';

const SHELLS = [...COMPLETION_SCRIPTS.keys()];
const PLANS = [...BUILT_IN_PLANS.keys()];

type Values = () => readonly string[];

/** Files in this directory that can be imported. The protocol cannot leave file names to the shell. */
const importableFiles: Values = () => readdirSync('.').filter((name) => /\.(?:tsv|csv|ndjson|jsonl)$/i.test(name));

/** For an argument or an option of one command. */
const VALUES: Readonly<Record<string, Values>> = {
  ...Object.fromEntries(
    ['check', 'grants add', 'grants list', 'grants revoke', 'objects', 'subjects'].map((name) => [
      `${name} relation`,
      () => RELATIONS,
    ]),
  ),
  'audit-log action': () => AUDIT_ACTIONS,
  'keys create scope': () => SCOPES,
  'tenants create plan': () => PLANS,
  'tenants list plan': () => PLANS,
  'tenants list state': () => LISTED_STATES,
  'tenants update plan': () => PLANS,
  'import file': importableFiles,
  'check file': importableFiles,
  'check output': () => CHECK_OUTPUTS,
};

const takesValue = ({ required, optional }: Option): boolean => required || optional;

/** A command as it was found on a line, and how many arguments of it came before the word that is completed. */
interface Line {
  readonly command: Command;
  readonly path: readonly string[];
  readonly given: number;
  /** The option whose value the word is. */
  readonly option: Option | undefined;
}

const optionOf = (command: Command, word: string): Option | undefined =>
  command
    .createHelp()
    .visibleOptions(command)
    .find(({ short, long }) => word === short || word === long);

function readLine(program: Command, words: readonly string[]): Line {
  let line: Line = { command: program, path: [], given: 0, option: undefined };
  for (const word of words) {
    const { command, path, given, option } = line;
    const next = given === 0 ? command.commands.find((each) => each.name() === word) : undefined;
    if (option !== undefined) line = { ...line, option: undefined };
    else if (word.startsWith('-')) {
      const named = optionOf(command, word);
      line = { ...line, option: named !== undefined && takesValue(named) ? named : undefined };
    } else if (next !== undefined) line = { ...line, command: next, path: [...path, word] };
    else line = { ...line, given: given + 1 };
  }
  return line;
}

/** Each with its description. */
type Suggestions = readonly (readonly [value: string, description: string])[];

/** For the last of the words, however it begins. `valuesOf`: those of an option or an argument. */
function suggest(
  program: Command,
  words: readonly string[],
  valuesOf: (path: string, name: string) => readonly string[] | undefined,
): Suggestions {
  const word = words.at(-1) ?? '';
  const { command, path, given, option } = readLine(program, words.slice(0, -1));
  const valued = option ?? (word.includes('=') ? optionOf(command, word.slice(0, word.indexOf('='))) : undefined);
  const argument =
    command.registeredArguments[given] ?? command.registeredArguments.findLast(({ variadic }) => variadic);
  const values = (name: string, choices: readonly string[] = []): Suggestions =>
    (valuesOf(path.join(' '), name) ?? choices).map((value) => [value, '']);
  if (valued !== undefined) return values(valued.name(), valued.argChoices);
  const help = command.createHelp();
  if (word.startsWith('-')) {
    return help
      .visibleOptions(command)
      .map(({ long, short, description }) => [(word.startsWith('--') ? long : short) ?? long ?? '', description]);
  }
  const commands: Suggestions =
    given > 0 ? [] : help.visibleCommands(command).map((each) => [each.name(), each.description()]);
  return [...commands, ...(argument === undefined ? [] : values(argument.name(), argument.argChoices))];
}

/** None if the file of contexts cannot be used: the command itself says why. */
function contextNames(context: CliContext): readonly string[] {
  try {
    return [...context.contextFile().read().named.keys()];
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    return [];
  }
}

function addComplete(program: Command, context: CliContext): void {
  const valuesOf = (path: string, name: string): readonly string[] | undefined =>
    name === 'use-context' || /^context (?:use|remove) name$/.test(`${path} ${name}`)
      ? contextNames(context)
      : VALUES[`${path} ${name}`]?.();
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(
      context.action(async (words: readonly string[]) => {
        const word = words.at(-1) ?? '';
        const typed = word.startsWith('-') ? word.slice(word.indexOf('=') + 1) : word;
        const lines = suggest(program, words, valuesOf)
          .filter(([value]) => value.startsWith(typed))
          .map(([value, description]) => `${value}\t${description}\n`);
        // Scripts of earlier versions expect the last line: no files beside these.
        context.stdout.write(`${[...new Set(lines)].join('')}:4\n`);
        return EXIT.ok;
      }),
    );
}

/** Call it last: it reads the registered commands. */
export function registerCompletionCommand(program: Command, context: CliContext): void {
  const command = program.command('completion').description('print the completion script for bash, zsh or fish');
  command.addArgument(command.createArgument('<shell>', 'Shell type for completion script').choices(SHELLS));
  command.addHelpText(
    'after',
    '\nCompletion works only if the shell finds "grantd", in the PATH or as a function.\n\nbash, in ~/.bashrc:  source <(grantd completion bash)\nzsh, in ~/.zshrc after compinit:  source <(grantd completion zsh)\nfish:  grantd completion fish > ~/.config/fish/completions/grantd.fish',
  );
  addExamples(command, 'completion bash', 'completion fish > ~/.config/fish/completions/grantd.fish').action(
    context.action(async (shell: string) => {
      context.stdout.write(COMPLETION_SCRIPTS.get(shell) ?? '');
      return EXIT.ok;
    }),
  );
  addComplete(program, context);
  for (const each of Object.keys(VALUES)) {
    const words = each.split(' ');
    const { command: found } = readLine(program, words.slice(0, -1));
    const [name = ''] = words.slice(-1);
    const names = [...found.options, ...found.registeredArguments].map((place) => place.name());
    assert(names.includes(name), 'suggestions are for a value that a command takes');
  }
}
