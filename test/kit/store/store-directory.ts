// SQLite stores, and a log that remembers.

import { systemClock } from '../../../src/roles/process/system.ts';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from '../../../src/store/sqlite/sqlite-store.ts';
import type { Log } from '../../../src/telemetry/log.ts';
import { META } from './store-fixtures.ts';

/** The lines that were logged, as `level: message`, with their fields behind. */
export interface RecordingLog extends Log {
  readonly lines: string[];
}

export function createRecordingLog(): RecordingLog {
  const lines: string[] = [];
  const write =
    (level: string) =>
    (...parts: unknown[]): void => {
      const text = parts.filter((part) => typeof part === 'string').join(' ');
      lines.push(`${level}: ${text} ${JSON.stringify(parts.filter((part) => typeof part === 'object'))}`);
    };
  const log: RecordingLog = {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    isLevelEnabled: () => true,
    child: () => log,
  };
  return log;
}

export function openStore(directory: string, options: Partial<SqliteStoreOptions> = {}): Promise<SqliteStore> {
  return openSqliteStore({ directory, slots: META.slots, clock: systemClock, log: createRecordingLog(), ...options });
}
