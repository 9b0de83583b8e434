// Runs test files one after another in this process, so that the program is loaded once for all of them. Each file is a
// suite with its path as its name; after it, a test fails if the file leaves anything to the next one.

import { join } from 'node:path';
import { describe, test } from 'node:test';
import { watchLeftovers } from './leftovers.ts';
import { ROOT } from './suites.ts';

export const LEAVES_NOTHING = 'leaves nothing behind in its process';

/** @public The files that start these processes are written by run-files.ts and call it. */
export async function runTogether(paths: readonly string[], timeoutMs: number): Promise<void> {
  // The globals of node:test itself exist once a test has run.
  await test('starts', () => {});
  // Libraries import it as a module, which opens the standard input for good.
  await import('node:process');
  // Tests may wait for timers that keep no process alive.
  const awake = setInterval(() => {}, timeoutMs);
  for (const path of paths) {
    const leftovers = watchLeftovers();
    // It loads the file, and its tests start when that is done.
    void describe(path, { timeout: timeoutMs }, async () => {
      await import(join(ROOT, path));
    });
    await test(LEAVES_NOTHING, async () => {
      const left = await leftovers();
      if (left.length > 0) throw new Error(`It left: ${left.join('; ')}.`);
    });
  }
  clearInterval(awake);
}
