// `npm run cluster`: a person starts a cluster, kills the shard in use while checks go on, ends the command, and finds
// nothing left.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { PORTS, portOf, takenPorts } from '../../../scripts/cluster/ports.ts';
import { missingCassandra } from '../../../tools/engines/cassandra.ts';
import { freePort } from '../../../tools/engines/free-port.ts';
import { DevProcess } from '../../kit/dev-process.ts';
import { waitFor } from '../../kit/wait-for.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const COMMAND = [process.execPath, join(ROOT, 'scripts', 'cluster.ts')] as const;
const START_MS_MAX = 240_000;

/** The first of as many free ports as a cluster has. */
async function freeRange(): Promise<number> {
  for (;;) {
    const first = Math.min(await freePort(), 30_000);
    const all = Array.from({ length: PORTS }, (_, index) => first + index);
    if ((await takenPorts(all)).length === 0) return first;
  }
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

const missing = await missingCassandra('the cluster on one machine');

describe('npm run cluster', { skip: missing ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'grantd-command-'));
  const running: DevProcess[] = [];
  const start = (args: readonly string[], stdin: 'pipe' | 'ignore' = 'ignore'): DevProcess => {
    const command = new DevProcess(args, { ...process.env, CI: '' }, COMMAND, stdin);
    running.push(command);
    return command;
  };
  afterEach(async () => {
    for (const each of running.splice(0)) if (!each.hasEnded) await each.stop('SIGKILL');
  });
  after(() => rmSync(folder, { recursive: true }));

  it('refuses ports that are taken and options that it does not know', async () => {
    const first = await freeRange();
    const other = createServer().listen(portOf(first, 'console'), '127.0.0.1');
    try {
      const refused = await start(['--port', String(first)]).ended;
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, new RegExp(`^cluster: Port ${portOf(first, 'console')} is taken, .* --port `));
    } finally {
      other.close();
    }
    for (const args of [['--shards', '0'], ['--fronts', 'x'], ['--nonsense'], ['--port', '80']]) {
      const { code, stderr } = await start(args).ended;
      assert.equal(code, 2, stderr);
      assert.match(stderr, /Usage: npm run cluster/);
    }
  });

  it('loses no check with the shard in use, starts it again, leaves no process behind, and goes on with what it kept', async () => {
    const first = await freeRange();
    const kept = join(folder, 'kept');
    const args = ['--checks', '--port', String(first), '--keep', kept, '--shards', '2'];
    const command = start(args, 'pipe');
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
    const restarted = new RegExp(`${shard} is starting again: pid (\\d+)`);
    await waitFor('its new start', () => restarted.test(command.stderr));
    pids.push(Number(restarted.exec(command.stderr)?.[1]));

    const { code, stdout, stderr } = await command.stop('SIGINT');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /In all: \d+ checks right, 0 failed\.\n$/);
    assert.deepEqual(pids.filter(isAlive), []);

    // What was kept is there again, with the same tenant and key.
    const again = start(args);
    await waitFor(
      'the cluster again',
      () => / [1-9]\d* right in all/.test(again.stdout) || again.hasEnded,
      START_MS_MAX,
      () => `${again.stdout}${again.stderr}`,
    );
    const keyOf = (text: string): string | undefined => /^ {2}Key +(\S+)$/m.exec(text)?.[1];
    assert.equal(keyOf(again.stdout), keyOf(stdout));
    const last = await again.stop('SIGINT');
    assert.equal(last.code, 0, last.stderr);
    assert.match(last.stdout, /checks right, 0 failed\.\n$/);
  });
});
