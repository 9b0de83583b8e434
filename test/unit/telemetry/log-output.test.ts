// The log on its way to standard error: nothing throws, nothing waits, and what comes out is whole and in order.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { LOG_BYTES_MAX, LogOutput } from '../../../src/telemetry/log-output.ts';
import { createTemporaryDirectory } from '../../kit/store/store-directory.ts';
import { waitFor } from '../../kit/wait-for.ts';

function makeDirectory(t: TestContext): string {
  const directory = createTemporaryDirectory();
  t.after(() => directory.remove());
  return directory.path;
}

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

/** A pipe as standard error would be, and what its reader takes. */
function openPipe(t: TestContext) {
  const path = join(makeDirectory(t), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let open = true;
  const leave = (): void => {
    if (open) closeSync(reader);
    open = false;
  };
  t.after(leave);
  const bytes = Buffer.alloc(64 * 1024);
  const read = (): string => {
    try {
      return bytes.toString('utf8', 0, readSync(reader, bytes));
    } catch {
      return '';
    }
  };
  return { ...outputTo(t, openSync(path, constants.O_WRONLY)), read, leave };
}

describe('the output of the log', () => {
  it('is in the file as soon as a line is written', (t) => {
    const path = join(makeDirectory(t), 'log');
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
