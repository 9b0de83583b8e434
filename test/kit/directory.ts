// A folder of its own below the system's temporary one, for the tests around or for one test.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** Ends with the tests around. What still writes into it has to end in a hook before. */
export function useDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'grantd-'));
  after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
