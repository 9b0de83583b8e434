// The log: pino, JSON lines on standard error, readable ones on a terminal. Secrets are redacted by field name, API
// keys anywhere in a line. Only debug level has one line per request.

import { createRequire } from 'node:module';
import { type Logger, pino } from 'pino';
import type { build } from 'pino-pretty';
import { withoutApiKeys } from '../core/api-keys.ts';
import type { LogLevel } from './choices.ts';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'> & {
  child(bindings: Record<string, unknown>): Log;
};

const REDACTED = [
  'key',
  'text',
  'token',
  'password',
  'authorization',
  'hash',
  '*.key',
  '*.token',
  '*.password',
  '*.authorization',
  '*.hash',
];

const require = createRequire(import.meta.url);

/** Only at a terminal: a process that nobody watches starts without it. */
const loadPretty = (): typeof build => require('pino-pretty').build;

export function createLog(options: { readonly level: LogLevel; readonly pretty: boolean }): Log {
  const stream = options.pretty
    ? loadPretty()({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' })
    : // Synchronous: an asynchronous write in flight at the end of the process could follow later lines.
      pino.destination({ dest: 2, sync: true });
  return pino(
    {
      level: options.level,
      hooks: { streamWrite: withoutApiKeys },
      redact: { paths: REDACTED, censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
}
