// The life of the process: start a role, wait for a signal, stop it in order within a bound. A second signal ends at
// once. An error that nobody caught is logged and ends the process: its state is not to be trusted.

import { ConfigError } from '../config/read-config.ts';
import type { Log } from '../telemetry/log.ts';
import { StartError } from './start-error.ts';

export interface RunningRole {
  /** Ends everything in order. */
  stop(): Promise<void>;
}

/** A stop that takes longer is given up; the log makes the next start whole. */
const STOP_MS_MAX = 30_000;

/** 128 + the number of the signal, as shells have it. */
const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** What to tell the person at the terminal of an error that ended a command. */
export function describeFailure(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError) return `grantd: ${error.message}`;
  if (error instanceof Error && error.name === 'GrantdError') return `grantd: ${error.message}`;
  return `grantd: unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

/** Runs a role until a signal; ends the process with 0 after a clean stop. */
export async function runRole(log: Log, start: (signal: AbortSignal) => Promise<RunningRole>): Promise<never> {
  const stopping = new AbortController();
  const stopAsked = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(SIGNAL_EXIT_CODES[signal]);
      log.info({ signal }, 'stopping');
      stopping.abort();
    });
  }
  const die = (error: unknown): void => {
    log.error({ err: error }, 'an error was not handled; the process ends');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);

  stopping.signal.addEventListener('abort', () => {
    setTimeout(() => {
      log.error({ stopMsMax: STOP_MS_MAX }, 'the stop took too long and was given up');
      process.exit(1);
    }, STOP_MS_MAX);
  });
  try {
    const role = await start(stopping.signal);
    await stopAsked;
    await role.stop();
  } catch (error) {
    // A start that was told to stop has let go of everything; that is a clean stop too.
    if (!stopping.signal.aborted) throw error;
    if (error !== stopping.signal.reason) {
      log.error({ err: error }, 'the stop failed');
      process.exit(1);
    }
  }
  log.info('stopped');
  process.exit(0);
}
