// A mirror in a file of SQLite.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { SqliteDatabase } from '../../../packages/sync/src/sqlite-database.ts';
import { useDirectory } from '../../kit/directory.ts';
import { defineMirrorContract } from './mirror-contract.ts';

describe('a mirror in SQLite', () => {
  const directory = useDirectory();
  const file = (): string => join(directory, 'mirror.db');
  defineMirrorContract({
    open: async () => new SqliteDatabase(file()),
    clear: async () => {
      for (const suffix of ['', '-wal', '-shm', '-sync']) rmSync(`${file()}${suffix}`, { force: true });
    },
  });
});
