// A pipe as standard output or error would be, whose reader is the test: it takes what it likes, or leaves.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { useDirectory } from './directory.ts';

export interface StuckPipe {
  /** Where a writer finds it. */
  readonly path: string;
  /** What is in it now. */
  read(): string;
  /** The reader has gone. */
  leave(): void;
}

export function openStuckPipe(t: TestContext): StuckPipe {
  const path = join(useDirectory(), 'pipe');
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
    let text = '';
    try {
      for (let length = -1; length !== 0; ) {
        length = readSync(reader, bytes);
        text += bytes.toString('utf8', 0, length);
      }
    } catch {
      // Nothing is there now.
    }
    return text;
  };
  return { path, read, leave };
}
