// The operator's commands, mounted on the program's command line. They speak to the operator's API and to nothing else.

import type { Command, CommanderError } from 'commander';
import { registerChangesCommand } from './changes-command.ts';
import { registerCheckCommand } from './check-command.ts';
import { type CliDependencies, createCliContext } from './cli-context.ts';
import { registerClusterCommands } from './cluster-commands.ts';
import { registerCompletionCommand } from './completion-command.ts';
import { registerExportCommand } from './export-command.ts';
import { EXIT } from './failures.ts';
import { registerGrantsCommands } from './grants-commands.ts';
import { registerImportCommand } from './import-command.ts';
import { registerKeysCommands } from './keys-commands.ts';
import { registerSecretsCommand } from './secrets-command.ts';
import { registerTenantsCommands } from './tenants-commands.ts';
import { registerUsageCommand } from './usage-command.ts';

/** Help asked for ends with 0, wrong usage with 2: 1 is for commands that ran and failed. */
function exitOnUsage(command: Command, exit: (code: number) => never): void {
  command.exitOverride((error: CommanderError) => exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage));
  for (const child of command.commands) exitOnUsage(child, exit);
}

export function registerCliCommands(program: Command, dependencies: CliDependencies): void {
  const context = createCliContext(dependencies);
  const exit = dependencies.exit ?? ((code: number): never => process.exit(code));
  const present = new Set(program.commands);
  registerTenantsCommands(program, context);
  registerKeysCommands(program, context);
  registerGrantsCommands(program, context);
  registerCheckCommand(program, context);
  registerChangesCommand(program, context);
  registerImportCommand(program, context);
  registerExportCommand(program, context);
  registerUsageCommand(program, context);
  registerClusterCommands(program, context);
  registerSecretsCommand(program, context);
  registerCompletionCommand(program, context);
  for (const command of program.commands) if (!present.has(command)) exitOnUsage(command, exit);
}
