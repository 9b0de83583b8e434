// The watch as a child of a shard: how it is started, and that it is there.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { keepWatched } from '../../../../src/roles/process/watcher-process.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

test('a watch that ends is started again, until the shard has nothing left to declare', async () => {
  const clock = new VirtualClock();
  const children: ChildProcess[] = [];
  const watcher = keepWatched({ clock, log: createLog({ level: 'silent', pretty: false }) }, () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    children.push(child);
    return child;
  });
  for (const count of [1, 2]) {
    assert.equal(children.length, count);
    const child = children.at(-1) ?? assert.fail();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await clock.advance(4999);
    assert.equal(children.length, count);
    await clock.advance(1);
  }
  const last = children.at(-1) ?? assert.fail();
  watcher.close();
  await once(last, 'exit');
  await clock.advance(10_000);
  assert.equal(children.length, 3);
});
