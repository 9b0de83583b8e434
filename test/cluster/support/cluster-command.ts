// `npm run cluster`: a person starts a cluster, kills the shard in use while checks go on, ends the command, and finds
// nothing left but what was to be kept.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PORTS, takenPorts } from '../../../scripts/cluster/ports.ts';
import { freePort } from '../../../tools/engines/free-port.ts';
import { DevProcess } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const START_MS_MAX = 600_000;

/** The command as a process. */
export const startCommand = (args: readonly string[]): DevProcess =>
  new DevProcess(args, { ...process.env, CI: '' }, [process.execPath, join(ROOT, 'scripts', 'cluster.ts')], 'pipe');

/** The first of as many free ports as a cluster has. */
export async function freeRange(): Promise<number> {
  for (;;) {
    const first = Math.min(await freePort(), 30_000);
    const all = Array.from({ length: PORTS }, (_, index) => first + index);
    if ((await takenPorts(all)).length === 0) return first;
  }
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** Uses a cluster, and starts it once more, with what was kept. */
export async function useCluster(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'grantd-command-'));
  const running: DevProcess[] = [];
  try {
    const first = await freeRange();
    const kept = join(folder, 'kept');
    const args = ['--checks', '--port', String(first), '--keep', kept, '--shards', '2'];
    const command = startCommand(args);
    running.push(command);
    const told = (pattern: RegExp): RegExpExecArray | null => pattern.exec(command.stdout);
    await waitFor(
      'the cluster',
      () => told(/The cluster is ready\.[\s\S]*\d+ failed/) !== null || command.hasEnded,
      START_MS_MAX,
      () => `${command.stdout}${command.stderr}`,
    );
    assert.equal(command.hasEnded, false, command.stderr);
    const pids: number[] = [...command.stdout.matchAll(/^ {4}(?:shard|front|console)\S* +(\d+)$/gm)].map(([, pid]) =>
      Number(pid),
    );
    assert.equal(pids.length, 5);
    const [, pid = '', shard = ''] = told(/kill -9 (\d+) {4}# (shard-\d), which serves the demo tenant/) ?? [];
    const right = (): number => Number([...command.stdout.matchAll(/ (\d+) right in all/g)].at(-1)?.[1]);
    const before = right();
    process.kill(Number(pid), 'SIGKILL');
    await waitFor('word of it', () => command.stderr.includes(`${shard} has ended (SIGKILL)`));
    // Several times what may have been in flight: these were answered by the next owner.
    await waitFor(
      'checks after it',
      () => right() > before + 200,
      START_MS_MAX,
      () => command.stdout,
    );
    command.child.stdin?.write('\n');
    const restarted = new RegExp(`${shard} is restarting: pid (\\d+)`);
    await waitFor('its new start', () => restarted.test(command.stderr));
    pids.push(Number(restarted.exec(command.stderr)?.[1]));

    // As npm does: it passes on what the terminal has sent to both.
    command.child.kill('SIGINT');
    const { code, stdout, stderr } = await command.stop('SIGINT');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /In all: \d+ checks right, 0 failed\.\n$/);
    assert.deepEqual(pids.filter(isAlive), []);
    assert.ok(existsSync(join(kept, 'demo.json')));
    // What was kept is there again, with the same tenant and key.
    const next = startCommand(args);
    running.push(next);
    await waitFor(
      'the cluster again',
      () => / [1-9]\d* right in all/.test(next.stdout) || next.hasEnded,
      START_MS_MAX,
      () => `${next.stdout}${next.stderr}`,
    );
    const keyOf = (text: string): string | undefined => /^ {2}Key +(\S+)$/m.exec(text)?.[1];
    assert.equal(keyOf(next.stdout), keyOf(stdout));
    const last = await next.stop('SIGINT');
    assert.equal(last.code, 0, last.stderr);
    assert.match(last.stdout, /checks right, 0 failed\.\n$/);
  } finally {
    for (const each of running) if (!each.hasEnded) await each.stop('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}
