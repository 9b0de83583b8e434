// The commands, mounted on the program's command line. They talk to a service, with an API key or the operator's token,
// and those that try a model to a shard in this process.

import type { Command } from 'commander';
import { type CliContext, type CliDependencies, createCliContext } from './cli-context.ts';
import { registerApplyCommand } from './commands/apply.ts';
import { registerAuditLogCommand } from './commands/audit-log.ts';
import { registerChangesCommand } from './commands/changes.ts';
import { registerCheckCommand } from './commands/check.ts';
import { registerClusterCommands } from './commands/cluster.ts';
import { registerCompletionCommand } from './commands/completion.ts';
import { contextOption, registerContextCommands } from './commands/context.ts';
import { registerExportCommand } from './commands/export.ts';
import { registerGrantsCommands } from './commands/grants.ts';
import { registerImportCommand } from './commands/import.ts';
import { registerKeysCommands } from './commands/keys.ts';
import { registerMcpCommand } from './commands/mcp.ts';
import { registerModelCommands } from './commands/model.ts';
import { registerRepairTimeCommand } from './commands/repair-time.ts';
import { registerRulesCommands } from './commands/rules.ts';
import { registerSyncCommands } from './commands/sync.ts';
import { registerTenantsCommands } from './commands/tenants.ts';
import { registerUsageCommand } from './commands/usage.ts';
import { exitOnUsage } from './failures.ts';

/** Commands that call no service, or all services. */
const WITHOUT_SERVICE: ReadonlySet<string> = new Set([
  'completion',
  'context add',
  'context list',
  'context remove',
  'context use',
  'model test',
  'rules convert',
  'rules format',
  'secrets',
]);

/** `--use-context` of each command below that calls a service. */
function addContextChoice(commands: readonly Command[], path: readonly string[] = []): void {
  for (const command of commands) {
    const names = [...path, command.name()];
    if (command.commands.length > 0) addContextChoice(command.commands, names);
    else if (!WITHOUT_SERVICE.has(names.join(' '))) command.addOption(contextOption());
  }
}

/** `others`: commands that only the whole program has. */
export function registerCliCommands(
  program: Command,
  dependencies: CliDependencies,
  others: readonly ((program: Command, context: CliContext) => void)[] = [],
): void {
  const context = createCliContext(dependencies);
  const before = new Set(program.commands);
  program.commandsGroup('Permissions:');
  registerCheckCommand(program, context);
  registerGrantsCommands(program, context);
  registerRulesCommands(program, context);
  registerModelCommands(program, context);
  program.commandsGroup('Tenants:');
  registerTenantsCommands(program, context);
  registerKeysCommands(program, context);
  registerApplyCommand(program, context);
  registerImportCommand(program, context);
  registerExportCommand(program, context);
  registerChangesCommand(program, context);
  registerSyncCommands(program, context);
  registerAuditLogCommand(program, context);
  registerUsageCommand(program, context);
  program.commandsGroup('Cluster:');
  registerClusterCommands(program, context);
  registerRepairTimeCommand(program, context);
  program.commandsGroup('This program:');
  registerContextCommands(program, context);
  registerMcpCommand(program, context, dependencies.version);
  for (const register of others) register(program, context);
  addContextChoice(program.commands.filter((each) => !before.has(each)));
  program.hook('preAction', (_program, command) => context.useContext(command.getOptionValue('useContext')));
  registerCompletionCommand(program, context);
  exitOnUsage(program, dependencies);
}
