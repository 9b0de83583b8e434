// A whole service in a process of its own, on free ports and a directory of its own, and the commands beside it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const MAIN = new URL('../../../src/main.ts', import.meta.url).pathname;
const START_MS_MAX = 120_000;
const STOP_MS_MAX = 60_000;
const POLL_MS = 20;

export interface DevFile {
  readonly base_url: string;
  readonly ops_url: string;
  readonly console_url: string;
  readonly operator_token: string;
}

export interface DevProcess {
  readonly dev: DevFile;
  stop(): Promise<void>;
}

/** Nothing of the surroundings but the path: settings of whoever runs the tests stay outside. */
const environment = (directory: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  GRANTD_DATA_DIR: directory,
});

async function waitFor<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
  const giveUpMs = performance.now() + START_MS_MAX;
  for (;;) {
    const value = await look().catch(() => undefined);
    if (value !== undefined) return value;
    if (performance.now() > giveUpMs) throw new Error(`${what} did not come within ${START_MS_MAX} ms.`);
    await pause(POLL_MS);
  }
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await exited;
  clearTimeout(kill);
}

/** `consoleUrl`: where the operator's API has to be; without it, on a free port. */
export async function startDev(directory: string, consoleUrl?: string): Promise<DevProcess> {
  const child = spawn(process.execPath, [MAIN, 'dev'], {
    env: {
      ...environment(directory),
      GRANTD_HTTP_ADDRESS: '127.0.0.1:0',
      GRANTD_OPS_ADDRESS: '127.0.0.1:0',
      GRANTD_CONSOLE_ADDRESS: consoleUrl === undefined ? '127.0.0.1:0' : new URL(consoleUrl).host,
      GRANTD_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`The service ended with ${code}:\n${errors}`);
  });
  // It is looked at only during the start.
  gone.catch(() => {});
  const ready = (): Promise<DevFile> =>
    waitFor<DevFile>('readiness', async () => {
      // Read each time: until it has started, the file of an earlier run may stand there.
      const dev: DevFile = JSON.parse(await readFile(join(directory, 'dev.json'), 'utf8'));
      return (await fetch(`${dev.ops_url}/readyz`)).ok ? dev : undefined;
    });
  try {
    return { dev: await Promise.race([ready(), gone]), stop: () => stopProcess(child) };
  } catch (error) {
    await stopProcess(child);
    throw error;
  }
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly result: Promise<CommandResult>;
}

/** A command of the operator in a process of its own. `stdin` undefined: it stays open. */
export function startCommand(directory: string, args: readonly string[], stdin?: string): RunningCommand {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environment(directory), stdio: 'pipe' });
  if (stdin !== undefined) child.stdin.end(stdin);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const result = once(child, 'close').then(([code]) => ({
    code,
    stdout: Buffer.concat(stdout).toString('utf8'),
    stderr: Buffer.concat(stderr).toString('utf8'),
  }));
  return { child, result };
}

export function runCommand(directory: string, args: readonly string[], stdin = ''): Promise<CommandResult> {
  return startCommand(directory, args, stdin).result;
}

export { waitFor };
