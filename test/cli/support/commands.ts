// Commands of the operator against the service in a data directory: as processes of their own, and within the test.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BARE_ENVIRONMENT } from '../../kit/bare-environment.ts';
import { MAIN, readDevFacts } from '../../kit/dev-process.ts';
import { runCli } from '../../unit/cli/cli-run.ts';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly result: Promise<CommandResult>;
}

/** `stdin` undefined: it stays open. The command finds its service by the data directory, and by nothing else. */
export function startCommand(directory: string, args: readonly string[], stdin?: string): RunningCommand {
  const env = { ...BARE_ENVIRONMENT, GRANTD_DATA_DIR: directory };
  const child = spawn(process.execPath, [MAIN, ...args], { env, stdio: 'pipe' });
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

/** Within this process: for what the command does, where its process adds nothing. */
export function runCommand(directory: string, args: readonly string[], stdin = ''): Promise<CommandResult> {
  const { console_url: url, operator_token: token } = readDevFacts(directory);
  return runCli(args, { target: { url, token }, stdin });
}
