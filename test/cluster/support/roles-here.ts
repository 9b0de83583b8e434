// Roles within the process of the test, for what a role does; how its process lives and ends, only a process shows.

import assert from 'node:assert/strict';
import { type Environment, readConfig } from '../../../src/config/read-config.ts';
import type { Clock } from '../../../src/core/async/clock.ts';
import { startConsole } from '../../../src/roles/console.ts';
import { startDev } from '../../../src/roles/dev.ts';
import { startFront } from '../../../src/roles/front.ts';
import { type MigrateOptions, runMigrate } from '../../../src/roles/migrate.ts';
import type { RunningRole } from '../../../src/roles/process/life-cycle.ts';
import { describeFailure } from '../../../src/roles/process/start-error.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { startShard } from '../../../src/roles/shard.ts';
import { createRecordingLog, type RecordingLog } from '../../kit/store/store-directory.ts';

const ports = { clock: systemClock, random: systemRandom };
const version = '0.0.0';

type RoleName = 'dev' | 'front' | 'console' | 'shard';

/** Starts a role from its settings, as the program does. What it logs goes to `log`; `dev` has one shard. */
export async function startHere(
  role: RoleName,
  environment: Environment,
  log: RecordingLog = createRecordingLog(),
  signal: AbortSignal = new AbortController().signal,
): Promise<RunningRole> {
  const dependencies = { ...ports, log };
  switch (role) {
    case 'dev': {
      const options = { shards: 1, newClusterId: false, terminal: false, machineNode: undefined, version };
      const threads = { count: 1, environment, log: { level: 'silent', pretty: false } } as const;
      const config = readConfig(role, environment);
      return startDev({ ...dependencies, print: () => {} }, { ...options, config, threads }, signal);
    }
    case 'front':
      return startFront(dependencies, { config: readConfig(role, environment), version });
    case 'console':
      return startConsole(dependencies, { config: readConfig(role, environment), version });
    case 'shard':
      return startShard(dependencies, { config: readConfig(role, environment), version }, signal);
  }
}

/** Runs `grantd migrate`. Resolves to its exit code and what it prints; rejects where the start is refused. */
export async function migrateHere(
  environment: Environment,
  options: {
    readonly task?: MigrateOptions['task'];
    readonly timeoutMs?: number;
    readonly onPrint?: (line: string) => void;
    readonly clock?: Clock;
  } = {},
): Promise<{ readonly code: number; readonly stdout: string }> {
  const { task = 'migrate', timeoutMs, onPrint, clock = systemClock } = options;
  const lines: string[] = [];
  const print = (line: string): void => {
    lines.push(line);
    onPrint?.(line);
  };
  const dependencies = { ...ports, clock, log: createRecordingLog(), print };
  const config = readConfig('migrate', environment);
  const code = await runMigrate(dependencies, { config, task, timeoutMs }, new AbortController().signal);
  return { code, stdout: lines.join('\n') };
}

/** The message with which the process of a role that cannot start would end: never a stack. */
export async function refusalOf(role: RoleName | 'migrate', environment: Environment): Promise<string> {
  const starting = role === 'migrate' ? migrateHere(environment) : startHere(role, environment);
  const failure: unknown = await starting.then(
    async (started) => {
      if ('stop' in started) await started.stop();
      assert.fail(`grantd ${role} has started`);
    },
    (error: unknown) => error,
  );
  const message = describeFailure(failure);
  assert.match(message, /^grantd: (?!unexpected error)/);
  return message;
}
