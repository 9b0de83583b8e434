// The operator's commands, mounted on the program's command line. They talk only to the operator's API, and those that
// try a model to a shard in this process.

import type { Command } from 'commander';
import { type CliDependencies, createCliContext } from './cli-context.ts';
import { registerApplyCommand } from './commands/apply.ts';
import { registerAuditLogCommand } from './commands/audit-log.ts';
import { registerChangesCommand } from './commands/changes.ts';
import { registerCheckCommand } from './commands/check.ts';
import { registerClusterCommands } from './commands/cluster.ts';
import { registerCompletionCommand } from './commands/completion.ts';
import { registerExportCommand } from './commands/export.ts';
import { registerGrantsCommands } from './commands/grants.ts';
import { registerImportCommand } from './commands/import.ts';
import { registerKeysCommands } from './commands/keys.ts';
import { registerModelCommands } from './commands/model.ts';
import { registerRulesCommands } from './commands/rules.ts';
import { registerSecretsCommand } from './commands/secrets.ts';
import { registerTenantsCommands } from './commands/tenants.ts';
import { registerUsageCommand } from './commands/usage.ts';
import { CliFailure, exitOnUsage } from './failures.ts';

/** Gives a command without `--tenant` the tenant of the settings, or refuses it before it runs. */
function fillTenant(program: Command, defaultTenant: () => string | undefined): void {
  program.hook('preAction', (_program, command) => {
    const takesTenant = command.options.some((option) => option.attributeName() === 'tenant');
    if (!takesTenant || command.getOptionValue('tenant') !== undefined) return;
    if (command.getOptionValue('all') === true || command.getOptionValue('fromFile') !== undefined) return;
    try {
      const tenant = defaultTenant();
      if (tenant === undefined)
        command.error("error: the tenant is missing: pass '--tenant <id>' or set GRANTD_TENANT");
      command.setOptionValueWithSource('tenant', tenant, 'env');
    } catch (error) {
      if (!(error instanceof CliFailure)) throw error;
      command.error(`error: ${error.message}`);
    }
  });
}

export function registerCliCommands(program: Command, dependencies: CliDependencies): void {
  const context = createCliContext(dependencies);
  registerTenantsCommands(program, context);
  registerApplyCommand(program, context);
  registerKeysCommands(program, context);
  registerGrantsCommands(program, context);
  registerCheckCommand(program, context);
  registerAuditLogCommand(program, context);
  registerChangesCommand(program, context);
  registerImportCommand(program, context);
  registerExportCommand(program, context);
  registerUsageCommand(program, context);
  registerRulesCommands(program, context);
  registerModelCommands(program, context);
  registerClusterCommands(program, context);
  registerSecretsCommand(program, context);
  registerCompletionCommand(program, context);
  fillTenant(program, dependencies.defaultTenant ?? (() => undefined));
  exitOnUsage(program, dependencies);
}
