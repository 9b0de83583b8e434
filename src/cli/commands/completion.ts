// `grantd completion`: what a shell needs to complete the operator's commands. @bomb.sh/tab provides the suggestions
// and the script for fish. Its scripts for bash and zsh cut values at a colon; the one for bash also needs the package
// bash-completion, and executes what is typed in `$(…)`. So bash and zsh get scripts of our own, which speak the same
// protocol.

import { readdirSync } from 'node:fs';
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';
import { assert } from '../../core/assert.ts';
import { AUDIT_ACTIONS } from '../../core/audit-filter.ts';
import { BUILT_IN_PLANS } from '../../core/plans.ts';
import { SCOPES } from '../../core/scopes.ts';
import { LISTED_STATES } from '../../core/tenants.ts';
import { RELATIONS } from '../../core/tuples.ts';
import { CHECK_OUTPUTS } from '../checks/check-output.ts';
import type { CliContext } from '../cli-context.ts';
import { addExamples } from '../command-parts.ts';
import { CliFailure, EXIT } from '../failures.ts';
import { COMPLETION_SCRIPTS } from './completion-scripts.ts';

const SHELLS = ['bash', 'zsh', 'fish'];
const PLANS = [...BUILT_IN_PLANS.keys()];

type Suggest = (complete: (value: string, description: string) => void) => void;

const suggest =
  (values: readonly string[]): Suggest =>
  (complete) => {
    for (const value of values) complete(value, '');
  };

/** Files in this directory that can be imported. The protocol cannot leave file names to the shell. */
const suggestFiles: Suggest = (complete) => {
  for (const name of readdirSync('.')) if (/\.(?:tsv|csv|ndjson|jsonl)$/i.test(name)) complete(name, '');
};

/** None if the file of contexts cannot be used: the command itself says why. */
const suggestContexts =
  (context: CliContext): Suggest =>
  (complete) => {
    try {
      for (const name of context.contextFile().read().named.keys()) complete(name, '');
    } catch (error) {
      if (!(error instanceof CliFailure)) throw error;
    }
  };

/** For an argument or an option of one command. */
const SUGGESTIONS: readonly (readonly [command: string, value: string, suggestions: Suggest])[] = [
  ...['check', 'grants add', 'grants list', 'grants revoke', 'objects', 'subjects'].map(
    (name) => [name, 'relation', suggest(RELATIONS)] as const,
  ),
  ['audit-log', 'action', suggest(AUDIT_ACTIONS)],
  ['keys create', 'scope', suggest(SCOPES)],
  ['tenants create', 'plan', suggest(PLANS)],
  ['tenants list', 'plan', suggest(PLANS)],
  ['tenants list', 'state', suggest(LISTED_STATES)],
  ['tenants update', 'plan', suggest(PLANS)],
  ['import', 'file', suggestFiles],
  ['check', 'file', suggestFiles],
  ['check', 'output', suggest(CHECK_OUTPUTS)],
  ['completion', 'shell', suggest(SHELLS)],
];

/** Call it last: it reads the registered commands. */
export function registerCompletionCommand(program: Command, context: CliContext): void {
  const root = tab(program, { completionCommandName: 'completion' });
  for (const [name, value, suggestions] of SUGGESTIONS) {
    const known = root.commands.get(name);
    const place = known?.arguments.get(value) ?? known?.options.get(value);
    assert(place !== undefined, 'suggestions are for a value that a command takes');
    place.handler = suggestions;
  }
  for (const [name, known] of root.commands) {
    const place = name === 'context use' || name === 'context remove' ? known.arguments.get('name') : undefined;
    for (const each of [place, known.options.get('use-context')]) {
      if (each !== undefined) each.handler = suggestContexts(context);
    }
  }

  // The library prints the suggestions itself: this only looks at what became of them.
  program.commands
    .find((each) => each.name() === 'complete')
    ?.hook(
      'postAction',
      context.action(async () => EXIT.ok),
    );
  const command = program.commands.find((each) => each.name() === 'completion');
  assert(command !== undefined, 'the library has made its command');
  command.registeredArguments[0]?.choices(SHELLS);
  command.description('print the completion script for bash, zsh or fish');
  command.addHelpText(
    'after',
    '\nCompletion works only if the shell finds "grantd", in the PATH or as a function.\n\nbash, in ~/.bashrc:  source <(grantd completion bash)\nzsh, in ~/.zshrc after compinit:  source <(grantd completion zsh)\nfish:  grantd completion fish > ~/.config/fish/completions/grantd.fish',
  );
  addExamples(command, 'completion bash', 'completion fish > ~/.config/fish/completions/grantd.fish').action(
    context.action(async (shell: string) => {
      if (!SHELLS.includes(shell)) throw new CliFailure(`The shell must be one of ${SHELLS.join(', ')}.`, EXIT.usage);
      const script = COMPLETION_SCRIPTS.get(shell);
      if (script === undefined) root.setup('grantd', 'grantd', shell);
      else context.stdout.write(script);
      return EXIT.ok;
    }),
  );
}
