// `grantd rules …`: the rules of a tenant.

import type { Command } from 'commander';
import type { CliContext } from '../cli-context.ts';
import { registerRulesConvertCommand } from './rules-convert.ts';

export function registerRulesCommands(program: Command, context: CliContext): void {
  const rules = program.command('rules').description('work with rules: relations that follow from others');
  registerRulesConvertCommand(rules, context);
}
