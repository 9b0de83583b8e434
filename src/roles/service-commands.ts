// The commands that call a service, put together with the settings and contexts that name it.

import type { Command } from 'commander';
import type { CliContext, CliDependencies } from '../../packages/cli/src/cli-context.ts';
import { registerCliCommands } from '../../packages/cli/src/commands.ts';
import { isDiscarded, writeWhole } from '../../packages/cli/src/output/standard-output.ts';
import { type ProgramProcess, wantsJson } from './command-line.ts';
import { chooseService, openContexts } from './service-choice.ts';

interface ProgramParts {
  readonly version: string;
  readonly openShard?: CliDependencies['openShard'];
  /** Commands that only the whole program has. */
  readonly others?: readonly ((program: Command, context: CliContext) => void)[];
}

export function registerServiceCommands(
  program: Command,
  started: ProgramProcess,
  { version, openShard, others = [] }: ProgramParts,
): void {
  const { env, stdin, stdout, stderr } = started;
  const contexts = openContexts(env);
  writeWhole(stdout);
  const dependencies: CliDependencies = {
    version,
    chooseService: (name) => chooseService(env, contexts, name),
    contexts,
    ...(openShard && { openShard }),
    json: wantsJson(started),
    stdin,
    stdout,
    stderr,
    isDiscarded: () => isDiscarded(stdout),
    exit: (code) => started.exit(code),
    setExitCode: (code) => {
      started.exitCode = code;
    },
  };
  registerCliCommands(program, dependencies, others);
}
