// The command line: a command for each role, which is loaded only once it runs, and the operator's commands.

import { Command, InvalidArgumentError } from 'commander';
import packageFile from '../../package.json' with { type: 'json' };
import { CliFailure, EXIT, exitOnUsage, renderFailure } from '../cli/failures.ts';
import { ConfigError, readConfig, renderSettingsHelp } from '../config/read-config.ts';
import type { Role } from '../config/setting.ts';
import type { CliConfig } from '../config/settings.ts';
import type { LogLevel } from '../telemetry/choices.ts';
import type { Log } from '../telemetry/log.ts';
import { resolveOperatorTarget } from './dev/dev-file.ts';
import { fitHeap, type ProcessStart } from './process/heap.ts';
import { describeFailure, runRole, runTask } from './process/life-cycle.ts';
import { StartError } from './process/start-error.ts';
import { systemClock, systemRandom } from './process/system.ts';

const SHARDS_DEFAULT = 2;
const SHARDS_MAX = 16;
/** A day: longer than any supervisor waits. */
const TIMEOUT_SECONDS_MAX = 86_400;
const SERVING_ROLES: readonly Role[] = ['dev', 'front', 'shard', 'console', 'migrate'];
const version = packageFile.version;
const ports = { clock: systemClock, random: systemRandom };

/** The parts of `node:process` that the program uses. */
export type ProgramProcess = ProcessStart & Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'exit' | 'exitCode'>;

function parseShards(text: string): number {
  const shards = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (shards < 1 || shards > SHARDS_MAX) throw new InvalidArgumentError(`It must be a number from 1 to ${SHARDS_MAX}.`);
  return shards;
}

function parseTimeout(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > TIMEOUT_SECONDS_MAX) {
    throw new InvalidArgumentError(`It must be a number of seconds from 1 to ${TIMEOUT_SECONDS_MAX}.`);
  }
  return seconds;
}

/** The Node that npm runs on, from its user agent, if it is another one: that of the machine. */
function otherNodeOf({ npm_config_user_agent: agent = '' }: NodeJS.ProcessEnv): string | undefined {
  const found = /\bnode\/v(\d+\.\d+\.\d+)\b/.exec(agent)?.[1];
  return found === process.versions.node ? undefined : found;
}

/** The operator's commands start faster without the service in memory, so each role is imported where it runs. */
function registerRoles(program: Command, started: ProgramProcess): void {
  const { env, stdout, stderr } = started;
  const openLog = async (level: LogLevel): Promise<Log> => {
    const { createLog } = await import('../telemetry/log.ts');
    return createLog({ level, pretty: stderr.isTTY });
  };

  program
    .command('dev')
    .description('run the whole service in one process, with an embedded store')
    .option('--shards <number>', `shards in this process, 1 to ${SHARDS_MAX}`, parseShards, SHARDS_DEFAULT)
    .action(async ({ shards }: { shards: number }) => {
      const config = readConfig('dev', env);
      fitHeap(started, config.pageCacheBytes);
      // On a terminal the banner says enough; the log adds only problems.
      const logLevel = stderr.isTTY && !env.GRANTD_LOG_LEVEL ? 'warn' : config.logLevel;
      const [{ startDev }, log] = await Promise.all([import('./dev.ts'), openLog(logLevel)]);
      const start = (signal: AbortSignal) =>
        startDev(
          { ...ports, log, print: (text) => stdout.write(text) },
          { config, shards, version, terminal: stdout.isTTY, machineNode: otherNodeOf(env) },
          signal,
        );
      await runRole(log, start, { stopMsMax: config.shutdownSeconds * 1000 });
    });

  program
    .command('front')
    .description('run a front: serve the public API of a cluster')
    .action(async () => {
      const config = readConfig('front', env);
      const [{ startFront }, log] = await Promise.all([import('./front.ts'), openLog(config.logLevel)]);
      await runRole(log, () => startFront({ ...ports, log }, { config, version }), {
        stopMsMax: config.shutdownSeconds * 1000,
      });
    });

  program
    .command('shard')
    .description('run a shard: own some of the slots of a cluster, with Cassandra as store')
    .action(async () => {
      const config = readConfig('shard', env);
      fitHeap(started, config.pageCacheBytes);
      const [{ startShard }, log] = await Promise.all([import('./shard.ts'), openLog(config.logLevel)]);
      await runRole(log, (signal) => startShard({ ...ports, log }, { config, version }, signal), {
        stopMsMax: config.shutdownSeconds * 1000,
      });
    });

  program
    .command('console')
    .description("run a console: serve the console and the operator's API of a cluster")
    .action(async () => {
      const config = readConfig('console', env);
      const [{ startConsole }, log] = await Promise.all([import('./console.ts'), openLog(config.logLevel)]);
      await runRole(log, () => startConsole({ ...ports, log }, { config, version }), {
        stopMsMax: config.shutdownSeconds * 1000,
      });
    });

  program
    .command('migrate')
    .description('create or upgrade the schema in Cassandra for this version; safe to repeat')
    .option('--wait', 'change nothing; only wait until the schema fits this version')
    .option('--timeout <seconds>', 'give up after this many seconds with exit status 3 (default: never)', parseTimeout)
    .action(async ({ wait = false, timeout }: { wait?: boolean; timeout?: number }) => {
      const config = readConfig('migrate', env);
      const [{ runMigrate }, log] = await Promise.all([import('./migrate.ts'), openLog(config.logLevel)]);
      await runTask(log, (signal) =>
        runMigrate(
          { ...ports, log, print: (line) => stdout.write(`${line}\n`) },
          { config, wait, timeoutMs: timeout === undefined ? undefined : timeout * 1000 },
          signal,
        ),
      );
    });
}

function addSettingsHelp(command: Command): void {
  command.addHelpText('after', renderSettingsHelp(SERVING_ROLES.find((role) => role === command.name()) ?? 'cli'));
  command.commands.forEach(addSettingsHelp);
}

/** Parses the command line and runs the command, to its end or to the end of the process. */
export async function runProgram(started: ProgramProcess): Promise<void> {
  const { env, argv, stdin, stdout, stderr } = started;
  const program = new Command('grantd')
    .description('Multi-tenant authorization: does this subject hold this relation on this object?')
    .version(version)
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .showHelpAfterError('(add --help for the options)');
  registerRoles(program, started);

  /** For the operator's commands: a wrong setting is a usage error, a service that is not found is a failure. */
  const fromCliConfig = <Value>(look: (config: CliConfig) => Value): Value => {
    try {
      return look(readConfig('cli', env));
    } catch (error) {
      if (error instanceof ConfigError) throw new CliFailure(error.message, EXIT.usage, { cause: error });
      if (error instanceof StartError) throw new CliFailure(error.message, EXIT.failed, { cause: error });
      throw error;
    }
  };
  /** Everything after `--` is data. */
  const options = argv.slice(2, argv.includes('--') ? argv.indexOf('--') : undefined);
  const json = options.includes('--json');
  const exit = (code: number): never => started.exit(code);
  if (SERVING_ROLES.some((role) => role === argv[2])) {
    exitOnUsage(program, { json, stderr, exit });
  } else {
    // A process that serves would hold them in memory for as long as it runs.
    const { registerCliCommands } = await import('../cli/commands.ts');
    registerCliCommands(program, {
      resolveTarget: () => fromCliConfig(resolveOperatorTarget),
      openShard: async () => (await import('./embedded.ts')).openEmbeddedShard(ports),
      defaultTenant: () => fromCliConfig(({ tenant }) => tenant),
      json,
      stdin,
      stdout,
      stderr,
      exit,
      setExitCode: (code) => {
        started.exitCode = code;
      },
    });
  }
  program.commands.forEach(addSettingsHelp);

  try {
    await program.parseAsync(argv);
  } catch (error) {
    stderr.write(`${json ? renderFailure(new CliFailure(describeFailure(error)), true) : describeFailure(error)}\n`);
    started.exit(1);
  }
}
