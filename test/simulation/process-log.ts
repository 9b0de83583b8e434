// The log of a simulated process: into the trace of the run, where there is one.

import type { Log } from '../../src/telemetry/log.ts';
import type { Trace } from './trace.ts';

function textOf(parts: readonly unknown[]): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      return JSON.stringify(part, (_key, value: unknown) =>
        value instanceof Error ? `${value.name}: ${value.message}` : value,
      );
    })
    .join(' ');
}

export function createProcessLog(name: string, trace: Trace): Log {
  const at =
    (level: string) =>
    (...parts: readonly unknown[]): void => {
      if (trace.on) trace.note(name, `[${level}] ${textOf(parts)}`);
    };
  const log: Log = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    isLevelEnabled: () => false,
    child: () => log,
  };
  return log;
}
