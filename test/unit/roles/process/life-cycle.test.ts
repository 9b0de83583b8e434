// The end of a process by an error that nothing has caught, whatever takes its log.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';

const SRC = join(import.meta.dirname, '..', '..', '..', '..', 'src');
/** A role that fails once it runs. */
const PROGRAM = `
  import { runRole } from ${JSON.stringify(join(SRC, 'roles', 'process', 'life-cycle.ts'))};
  import { createLog } from ${JSON.stringify(join(SRC, 'telemetry', 'log.ts'))};
  const log = createLog({ level: 'info', pretty: false });
  await runRole(log, async () => {
    log.info('serving');
    setImmediate(() => {
      throw new Error('broken');
    });
    return { stop: async () => {} };
  });`;

describe('an error that nothing has caught', () => {
  it('is the last line of the log, and the process ends with 1', () => {
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      encoding: 'utf8',
    });
    assert.equal(status, 1, stderr);
    const lines = stderr.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg),
      ['serving', 'unhandled error; the process exits'],
    );
    assert.match(lines[1] ?? '', /Error: broken/);
  });

  it('ends the process with 1 also if the disk of the log is full', () => {
    const full = openSync('/dev/full', 'w');
    const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      stdio: ['ignore', 'ignore', full],
    });
    closeSync(full);
    assert.deepEqual([status, signal], [1, null]);
  });
});

/** Serves at once, and after a while writes what was collected in full, and stops itself. */
const COLLECTING = `
  import { PerformanceObserver, constants } from 'node:perf_hooks';
  import { runRole } from ${JSON.stringify(join(SRC, 'roles', 'process', 'life-cycle.ts'))};
  import { createLog } from ${JSON.stringify(join(SRC, 'telemetry', 'log.ts'))};
  const log = createLog({ level: 'info', pretty: false });
  const settled = () => new Promise((resolve) => setTimeout(resolve, 50));
  // Signals alone keep no process alive.
  setInterval(() => {}, 1000);
  let forced = 0;
  const isForced = ({ detail: { kind, flags } }) =>
    kind === constants.NODE_PERFORMANCE_GC_MAJOR && flags !== constants.NODE_PERFORMANCE_GC_FLAGS_NO;
  const observer = new PerformanceObserver((list) => (forced += list.getEntries().filter(isForced).length));
  observer.observe({ entryTypes: ['gc'] });
  await runRole(log, async (signal, onLoaded) => {
    if (CALLED) onLoaded();
    await settled();
    log.info(forced > 0 ? 'collected' : 'not collected');
    forced = 0;
    settled().then(() => {
      log.info(forced > 0 ? 'collected' : 'not collected');
      process.kill(process.pid, 'SIGTERM');
    });
    return { stop: async () => {} };
  });`;

describe('the garbage of a start', () => {
  const messages = (isCalled: boolean): string[] => {
    const program = COLLECTING.replace('CALLED', String(isCalled));
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
    const lines = stderr.trim().split('\n');
    return lines.map((line) => JSON.parse(line).msg).filter((message) => /collected/.test(message));
  };

  it('is collected when the role says so, and not again once it serves', () => {
    assert.deepEqual(messages(true), ['collected', 'not collected']);
  });

  it('is collected at the end of the start otherwise', () => {
    assert.deepEqual(messages(false), ['not collected', 'collected']);
  });
});
