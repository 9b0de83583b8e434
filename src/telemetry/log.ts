// The log: pino, JSON lines on standard error, readable ones on a terminal. Secrets are redacted by field name, API
// keys anywhere in a line. Only debug level has one line per request. A call to the log neither throws nor waits.

import { type Logger, pino } from 'pino';
import type { prettyFactory } from 'pino-pretty';
import { withoutApiKeys } from '../core/api-keys.ts';
import type { LogLevel } from './choices.ts';
import { LogOutput } from './log-output.ts';

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

/** Lines that the logs of this thread have dropped, because their output did not take them. */
export const droppedLines = { count: 0 };

export function createLog(options: { readonly level: LogLevel; readonly pretty: false | typeof prettyFactory }): Log {
  const output = new LogOutput({
    onDropped: (lines) => {
      droppedLines.count += lines;
    },
    onRecovered: (loss) => log.error(loss, 'lines of the log were dropped; it is written again'),
  });
  const readable = options.pretty ? options.pretty({ ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' }) : undefined;
  const log = pino(
    {
      level: options.level,
      hooks: { streamWrite: withoutApiKeys },
      redact: { paths: REDACTED, censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => output.write(readable === undefined ? line : (readable(line) ?? line)) },
  );
  return log;
}

/** `pretty`: for a terminal. Other processes start without what makes lines readable. */
export async function openLog({ level, pretty }: { readonly level: LogLevel; readonly pretty: boolean }): Promise<Log> {
  return createLog({ level, pretty: pretty && (await import('./pretty.ts')).prettyFactory });
}
