// Decisions on standard output: whole lines, and nobody waits for a reader that stalls.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../src/roles/process/system.ts';
import { createDecisionOutput, decisionLine } from '../../../src/telemetry/decision-output.ts';
import { useDirectory } from '../../kit/directory.ts';
import { openStuckPipe } from '../../kit/stuck-pipe.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { decision } from './decisions.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SOURCE = '/grantd/test';
const BATCH = Array.from({ length: 500 }, (_, index) => decision(index));
const LINES = BATCH.map((each) => decisionLine(each, SOURCE)).join('');

/** The output into a pipe. */
function openPipe(t: TestContext) {
  const { path, read, leave } = openStuckPipe(t);
  const writer = openSync(path, constants.O_WRONLY);
  const output = createDecisionOutput({ clock: systemClock }, { source: SOURCE, descriptor: writer });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= output.close();
    return closing;
  };
  t.after(async () => {
    await close();
    leave();
    closeSync(writer);
  });
  return { output, read, closeReader: leave, close };
}

describe('decisions on standard output', () => {
  it('are whole lines in order, in a file', async (t) => {
    const path = join(useDirectory(), 'decisions');
    const descriptor = openSync(path, 'a');
    t.after(() => closeSync(descriptor));
    const output = createDecisionOutput({ clock: systemClock }, { source: SOURCE, descriptor });
    await output.deliver(BATCH);
    await output.deliver(BATCH.slice(0, 1));
    await output.close();
    assert.equal(readFileSync(path, 'utf8'), LINES + decisionLine(decision(0), SOURCE));
  });

  it('arrive whole at a reader that stalls, while the process goes on', async (t) => {
    const { output, read } = openPipe(t);
    let delivered = false;
    const delivery = output.deliver(BATCH).then(() => {
      delivered = true;
    });
    // More than a pipe holds: nothing ends before somebody reads, and nothing else waits for that.
    let turns = 0;
    await waitFor('turns of the event loop', () => {
      turns += 1;
      return turns > 20;
    });
    assert.equal(delivered, false);
    let received = '';
    await waitFor('the rest', () => {
      received += read();
      return received.length >= LINES.length;
    });
    await delivery;
    assert.equal(received, LINES);
  });

  it('are given up when the output is closed, or the reader has gone away', async (t) => {
    const stalled = openPipe(t);
    const delivery = stalled.output.deliver(BATCH);
    await stalled.close();
    await assert.rejects(delivery);
    const abandoned = openPipe(t);
    abandoned.closeReader();
    await assert.rejects(abandoned.output.deliver(BATCH), { code: 'EPIPE' });
  });

  it('begin with a line of their own where the disk has cut the one before', () => {
    const path = join(useDirectory(), 'decisions');
    const modules = [
      'src/telemetry/decision-output.ts',
      'src/roles/process/system.ts',
      'test/unit/telemetry/decisions.ts',
    ];
    const [output, system, decisions] = modules.map((each) => JSON.stringify(join(ROOT, each)));
    const program = `
      import { openSync, truncateSync } from 'node:fs';
      import { createDecisionOutput } from ${output};
      import { systemClock } from ${system};
      import { decision } from ${decisions};
      const path = ${JSON.stringify(path)};
      const output = createDecisionOutput({ clock: systemClock }, { source: 'x', descriptor: openSync(path, 'a') });
      await output.deliver(Array.from({ length: 100 }, (_, index) => decision(index))).catch(() => {});
      truncateSync(path, 2100);
      await output.deliver([decision(0)]);`;
    // The limit of a file is as a disk that is full in the middle of a line.
    const script = 'ulimit -f 4; exec "$0" --input-type=module --eval "$1"';
    execFileSync('bash', ['--norc', '-c', script, process.execPath, program]);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const [cut, last] = lines.splice(-2);
    for (const line of [...lines, last ?? '']) assert.equal(typeof JSON.parse(line).id, 'string');
    assert.throws(() => JSON.parse(cut ?? ''));
  });
});
