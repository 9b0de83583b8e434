// How the program ends after a usage error or requested help, whichever command it was. Apart from the commands, so
// that a process that serves does without them.

import type { Command, CommanderError } from 'commander';
import type { CliDependencies } from './cli-context.ts';
import { CliFailure, EXIT, renderFailure } from './failures.ts';

/** For the whole program. Requested help ends with 0, wrong usage with 2: 1 is for commands that ran and failed. */
export function exitOnUsage(command: Command, dependencies: Pick<CliDependencies, 'stderr' | 'json' | 'exit'>): void {
  const { stderr, json = false } = dependencies;
  const exit = dependencies.exit ?? ((code: number): never => process.exit(code));
  command.configureOutput({
    // As every other failure begins.
    outputError: (text, write) => write(text.replace(/^error: /, 'grantd: ')),
    // Programs get one line instead of the message and the help.
    ...(json ? { writeErr: () => {} } : {}),
  });
  command.exitOverride(({ exitCode, code, message }: CommanderError) => {
    if (exitCode === 0) exit(EXIT.ok);
    if (json) {
      const what = code === 'commander.help' ? 'A command is missing; --help lists them.' : message;
      stderr.write(`${renderFailure(new CliFailure(what.replace(/^error: /, ''), EXIT.usage), true)}\n`);
    }
    exit(EXIT.usage);
  });
  for (const child of command.commands) exitOnUsage(child, dependencies);
}
