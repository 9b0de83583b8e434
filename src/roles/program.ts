// The command line: a command for each role, which is loaded only once it runs, and the operator's commands.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { exitOnUsage } from '../../packages/cli/src/failures.ts';
import { OutputWatch } from '../../packages/cli/src/output/standard-output.ts';
import { readConfig } from '../config/read-config.ts';
import type { Role } from '../config/setting.ts';
import { PROGRAM_VERSION } from '../core/program-version.ts';
import type { LogLevel } from '../telemetry/choices.ts';
import type { Log } from '../telemetry/log.ts';
import { createProgram, type ProgramProcess, parseProgram, wantsJson } from './command-line.ts';
import { fitHeap } from './process/heap.ts';
import { runRole, runTask } from './process/life-cycle.ts';
import { systemClock, systemRandom } from './process/system.ts';
import { describeTesting } from './testing-command.ts';

const SHARDS_DEFAULT = 2;
const SHARDS_MAX = 16;
const THREADS_MAX = 16;
/** A day: longer than any supervisor waits. */
const TIMEOUT_SECONDS_MAX = 86_400;
const SERVING_ROLES: readonly Role[] = ['dev', 'front', 'shard', 'console', 'migrate'];
const version = PROGRAM_VERSION;
const ports = { clock: systemClock, random: systemRandom };

interface DevCommandOptions {
  readonly shards: number;
  readonly threads: number;
  readonly acceptLoss?: boolean;
  readonly newClusterId?: boolean;
}

const countUpTo =
  (max: number) =>
  (text: string): number => {
    const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
    if (count < 1 || count > max) throw new InvalidArgumentError(`It must be a number from 1 to ${max}.`);
    return count;
  };

function parseTimeout(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > TIMEOUT_SECONDS_MAX) {
    throw new InvalidArgumentError(`It must be a number of seconds from 1 to ${TIMEOUT_SECONDS_MAX}.`);
  }
  return seconds;
}

function parsePid(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('It must be the ID of a process.');
  return Number(text);
}

function migrateTaskOf({ wait = false, newClusterId = false }: { wait?: boolean; newClusterId?: boolean }) {
  if (newClusterId) return 'new-cluster-id';
  return wait ? 'wait' : 'migrate';
}

/** The Node that npm runs on, from its user agent, if it is another one: that of the machine. */
function otherNodeOf({ npm_config_user_agent: agent = '' }: NodeJS.ProcessEnv): string | undefined {
  const found = /\bnode\/v(\d+\.\d+\.\d+)\b/.exec(agent)?.[1];
  return found === process.versions.node ? undefined : found;
}

/** The operator's commands start faster without the service in memory, so each role is imported where it runs. */
function registerRoles(program: Command, started: ProgramProcess): void {
  const { env, stdout, stderr } = started;
  const openLog = async (level: LogLevel): Promise<Log> =>
    (await import('../telemetry/log.ts')).openLog({ level, pretty: stderr.isTTY });

  program.commandsGroup('Servers:');
  program
    .command('dev')
    .description('run the whole service in one process, with an embedded store')
    .option('--shards <number>', `shards in this process, 1 to ${SHARDS_MAX}`, countUpTo(SHARDS_MAX), SHARDS_DEFAULT)
    .option(
      '--threads <number>',
      `threads that answer requests, 1 to ${THREADS_MAX}: at most one for each core`,
      countUpTo(THREADS_MAX),
      1,
    )
    .option('--accept-loss', 'start although the data directory lacks acknowledged writes; revocations may be undone')
    .option('--new-cluster-id', 'after a restore: give the cluster of the copy a new ID first')
    .action(async ({ shards, threads, acceptLoss = false, newClusterId = false }: DevCommandOptions) => {
      const config = readConfig('dev', env);
      fitHeap(started, config.pageCacheBytes, threads);
      // On a terminal the banner says enough; the log adds only problems.
      const logLevel = stderr.isTTY && !env.GRANTD_LOG_LEVEL ? 'warn' : config.logLevel;
      const [{ startDev }, log] = await Promise.all([import('./dev.ts'), openLog(logLevel)]);
      const start = (signal: AbortSignal) =>
        startDev(
          { ...ports, log, print: (text) => stdout.write(text) },
          {
            config,
            newClusterId,
            acceptLoss,
            shards,
            threads: { count: threads, environment: { ...env }, log: { level: logLevel, pretty: stderr.isTTY } },
            version,
            terminal: stdout.isTTY,
            machineNode: otherNodeOf(env),
          },
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
    .option('--watched', 'also run `grantd watch` beside it, in a process of its own that outlives a crash')
    .action(async ({ watched = false }: { watched?: boolean }) => {
      const config = readConfig('shard', env);
      fitHeap(started, config.pageCacheBytes);
      const [{ startShard }, { watcherOf }, log] = await Promise.all([
        import('./shard.ts'),
        import('./process/watcher-process.ts'),
        openLog(config.logLevel),
      ]);
      const startWatcher = watched ? watcherOf(started) : undefined;
      const start = (signal: AbortSignal, onLoaded: () => void) =>
        startShard({ ...ports, log }, { config, version, startWatcher, onLoaded }, signal);
      await runRole(log, start, { stopMsMax: config.shutdownSeconds * 1000 });
    });

  program
    .command('watch')
    .description('watch the shard of this machine or pod: once its process has ended, declare it dead at once')
    .option('--parent <pid>', 'only while this process, which has started the watch, runs', parsePid)
    .action(async ({ parent }: { parent?: number }) => {
      const config = readConfig('shard', env);
      const [{ runWatch }, log] = await Promise.all([import('./watch.ts'), openLog(config.logLevel)]);
      await runTask(log, (signal) => runWatch({ ...ports, log }, { config, parentPid: parent }, signal));
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

  describeTesting(program.command('testing'), started, version);

  program
    .command('migrate')
    .description('create or upgrade the schema in Cassandra for this version; safe to repeat')
    .option('--wait', 'change nothing; only wait until the schema fits this version')
    .addOption(
      new Option(
        '--new-cluster-id',
        'after a restore: only give the cluster of the copy a new ID; refuses while shards run on it',
      ).conflicts('wait'),
    )
    .option('--timeout <seconds>', 'give up after this many seconds with exit status 3 (default: never)', parseTimeout)
    .action(async ({ timeout, ...options }: { timeout?: number; wait?: boolean; newClusterId?: boolean }) => {
      const config = readConfig('migrate', env);
      const [{ runMigrate }, log] = await Promise.all([import('./migrate.ts'), openLog(config.logLevel)]);
      const output = new OutputWatch(stdout);
      await runTask(log, async (signal) => {
        const code = await runMigrate(
          { ...ports, log, print: (line) => stdout.write(`${line}\n`) },
          { config, task: migrateTaskOf(options), timeoutMs: timeout === undefined ? undefined : timeout * 1000 },
          signal,
        );
        await output.settled();
        const { failure } = output;
        if (failure === undefined || failure.code === 'EPIPE') return code;
        log.error({ reason: failure.message }, 'the output of the migration could not be written');
        return code || 1;
      });
    });
}

/** Parses the command line and runs the command, to its end or to the end of the process. */
export async function runProgram(started: ProgramProcess): Promise<void> {
  const program = createProgram(started, version);
  if (['testing', 'watch', ...SERVING_ROLES].some((name) => name === started.argv[2])) {
    const { stdout, stderr, exit } = started;
    registerRoles(program, started);
    exitOnUsage(program, { json: wantsJson(started), stdout, stderr, exit: (code) => exit(code) });
  } else {
    // A process that serves would hold them in memory for as long as it runs.
    const [{ registerServiceCommands }, { registerSecretsCommand }] = await Promise.all([
      import('./service-commands.ts'),
      import('../../packages/cli/src/commands/secrets.ts'),
    ]);
    const openShard = async () => (await import('./embedded.ts')).openEmbeddedShard(ports);
    registerServiceCommands(program, started, { version, openShard, others: [registerSecretsCommand] });
    // Help begins with what is used most.
    registerRoles(program, started);
  }
  await parseProgram(program, started, (name) => {
    if (name === 'testing') return undefined;
    // It has the settings of the shard that it watches.
    return name === 'watch' ? 'shard' : (SERVING_ROLES.find((role) => role === name) ?? 'cli');
  });
}
