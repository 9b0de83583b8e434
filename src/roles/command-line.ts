// The frame of a command line: of the whole program, and of the package that only calls services. Imports no command,
// because a process that serves loads this file too.

import { Command } from 'commander';
import { CliFailure, renderFailure } from '../../packages/cli/src/failures.ts';
import { escapeControls } from '../../packages/cli/src/output/plain-text.ts';
import { renderSettingsHelp } from '../config/read-config.ts';
import type { Role } from '../config/setting.ts';
import type { ProcessStart } from './process/heap.ts';
import { describeFailure } from './process/start-error.ts';

/** The parts of `node:process` that a program uses. */
export type ProgramProcess = ProcessStart & Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'exit' | 'exitCode'>;

export const createProgram = ({ stdout, stderr }: ProgramProcess, version: string): Command =>
  new Command('grantd')
    .description('Multi-tenant authorization: does this subject hold this relation on this object?')
    .version(version)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showHelpAfterError('(add --help for the options)');

/** Whether errors go out as JSON. Everything after `--` is data. */
export const wantsJson = ({ argv }: ProgramProcess): boolean =>
  argv.slice(2, argv.includes('--') ? argv.indexOf('--') : undefined).includes('--json');

/** Parses the command line and runs the command, to its end or to the end of the process. */
export async function parseProgram(
  program: Command,
  started: ProgramProcess,
  /** Undefined: the command reads no settings. */
  roleOf: (commandName: string) => Role | undefined,
): Promise<void> {
  const addSettingsHelp = (command: Command): void => {
    const role = roleOf(command.name());
    if (role !== undefined) command.addHelpText('after', renderSettingsHelp(role));
    command.commands.forEach(addSettingsHelp);
  };
  program.commands.forEach(addSettingsHelp);
  try {
    await program.parseAsync(started.argv);
  } catch (error) {
    const text = describeFailure(error);
    const shown = wantsJson(started) ? renderFailure(new CliFailure(text), true) : text;
    started.stderr.write(`${escapeControls(shown)}\n`);
    started.exit(1);
  }
}
