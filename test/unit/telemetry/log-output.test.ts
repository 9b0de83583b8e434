// The log on its way to standard error: nothing throws, nothing waits, and what comes out is whole and in order.

import assert from 'node:assert/strict';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { LOG_BYTES_MAX, LogOutput } from '../../../src/telemetry/log-output.ts';
import { useDirectory } from '../../kit/directory.ts';
import { openStuckPipe } from '../../kit/stuck-pipe.ts';
import { waitFor } from '../../kit/wait-for.ts';

const LINE = (index: number): string => `${JSON.stringify({ index, text: 'x'.repeat(1000) })}\n`;

/** An output to `descriptor`, with what it says of itself. */
function outputTo(t: TestContext, descriptor: number) {
  const said = { dropped: 0, recovered: [] as { readonly lines: number }[] };
  const output = new LogOutput(
    {
      onDropped: (lines) => {
        said.dropped += lines;
      },
      onRecovered: (loss) => said.recovered.push(loss),
    },
    { descriptor },
  );
  t.after(() => {
    output.end();
    closeSync(descriptor);
  });
  return { output, said };
}

function openPipe(t: TestContext) {
  const pipe = openStuckPipe(t);
  return { ...outputTo(t, openSync(pipe.path, constants.O_WRONLY)), ...pipe };
}

describe('the output of the log', () => {
  it('is in the file as soon as a line is written', (t) => {
    const path = join(useDirectory(), 'log');
    const { output } = outputTo(t, openSync(path, 'a'));
    for (let index = 0; index < 3; index += 1) output.write(LINE(index));
    assert.equal(readFileSync(path, 'utf8'), LINE(0) + LINE(1) + LINE(2));
  });

  it('waits for a reader that is stuck without holding anybody up, drops what is too much, and says so', async (t) => {
    const { output, said, read } = openPipe(t);
    const written = 3000;
    // More than the pipe and the buffer hold: this returns although nobody reads.
    for (let index = 0; index < written; index += 1) output.write(LINE(index));
    assert.ok(said.dropped > 0);
    assert.ok(said.dropped > written - (2 * LOG_BYTES_MAX) / LINE(0).length, 'the buffer is bounded');
    assert.deepEqual(said.recovered, []);
    let received = '';
    await waitFor('all that was kept', () => {
      received += read();
      return said.recovered.length > 0;
    });
    received += read();
    const kept = Array.from({ length: written - said.dropped }, (_, index) => LINE(index)).join('');
    assert.equal(received, kept, 'whole lines in their order, from the first one on');
    assert.deepEqual(
      said.recovered.map(({ lines }) => lines),
      [said.dropped],
    );
    output.write(LINE(7));
    assert.equal(read(), LINE(7));
  });

  it('writes what waits when the process ends, as far as somebody reads', (t) => {
    const { output, read } = openPipe(t);
    let lines = 0;
    for (; lines < 100; lines += 1) output.write(LINE(lines));
    let received = read();
    output.end();
    received += read();
    assert.ok(received.length > 64 * 1024);
    assert.ok(
      Array.from({ length: lines }, (_, index) => LINE(index))
        .join('')
        .startsWith(received),
    );
  });

  it('throws nothing where the disk is full or the reader has left, and counts what it drops', (t) => {
    const full = outputTo(t, openSync('/dev/full', 'w'));
    const left = openPipe(t);
    left.leave();
    for (const { output, said } of [full, left]) {
      for (let index = 0; index < 3000; index += 1) output.write(LINE(index));
      assert.ok(said.dropped >= 3000 - LOG_BYTES_MAX / 1000);
      output.end();
    }
  });
});
