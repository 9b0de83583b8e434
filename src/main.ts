#!/usr/bin/env node
// The command line: picks a role. The only file that reads the environment and the arguments.

import { Command, InvalidArgumentError } from 'commander';
import packageFile from '../package.json' with { type: 'json' };
import { registerCliCommands } from './cli/commands.ts';
import { readConfig } from './config/read-config.ts';
import { renderSettingsHelp } from './config/render-settings.ts';
import { describeFailure, runRole } from './roles/life-cycle.ts';
import { resolveOperatorTarget } from './roles/operator-target.ts';
import { systemClock, systemRandom } from './roles/system.ts';

const SHARDS_DEFAULT = 2;
const SHARDS_MAX = 16;

function parseShards(text: string): number {
  const shards = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (shards < 1 || shards > SHARDS_MAX) throw new InvalidArgumentError(`It must be a number from 1 to ${SHARDS_MAX}.`);
  return shards;
}

const { env, argv, stdin, stdout, stderr } = process;
const program = new Command('grantd')
  .description('Multi-tenant authorization: does this subject hold this relation on this object?')
  .version(packageFile.version)
  .showHelpAfterError('(add --help for the options)');

program
  .command('dev')
  .description('serve everything from one process, on an embedded store')
  .option('--shards <number>', `shards in this process, 1 to ${SHARDS_MAX}`, parseShards, SHARDS_DEFAULT)
  .action(async ({ shards }: { shards: number }) => {
    const config = readConfig('dev', env);
    // Loaded only here: the operator's commands start faster without the whole service in memory.
    const [{ startDev }, { createLog }] = await Promise.all([import('./roles/dev.ts'), import('./telemetry/log.ts')]);
    const log = createLog({ level: config.logLevel, pretty: stderr.isTTY });
    await runRole(log, (signal) =>
      startDev(
        { clock: systemClock, random: systemRandom, log, print: (text) => stdout.write(text) },
        { config, shards, version: packageFile.version, terminal: stdout.isTTY },
        signal,
      ),
    );
  });

registerCliCommands(program, {
  resolveTarget: () => resolveOperatorTarget(readConfig('cli', env)),
  stdin,
  stdout,
  stderr,
});

function addSettingsHelp(command: Command): void {
  command.addHelpText('after', renderSettingsHelp(command.name() === 'dev' ? 'dev' : 'cli'));
  command.commands.forEach(addSettingsHelp);
}
program.commands.forEach(addSettingsHelp);

try {
  await program.parseAsync(argv);
} catch (error) {
  stderr.write(`${describeFailure(error)}\n`);
  process.exit(1);
}
