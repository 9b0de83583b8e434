// The life of the process: start a role, wait for a signal, stop it in order within a bound; or run a task to its end.
// A second signal ends at once. An error that nobody caught is logged and ends the process: its state is not to be
// trusted.

import { ConfigError } from '../../config/read-config.ts';
import type { Log } from '../../telemetry/log.ts';
import { StartError } from './start-error.ts';

export interface RunningRole {
  /** Ends everything in order. */
  stop(): Promise<void>;
}

/** A stop that takes longer is given up; the log of the store makes the next start whole. */
const STOP_MS_MAX_DEFAULT = 30_000;
/** A timer that is only there to keep the process alive. */
const KEEP_ALIVE_MS = 60_000;

/** 128 + the number of the signal, as shells have it. */
const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const endAtOnce = (signal: (typeof SIGNALS)[number]): never => process.exit(SIGNAL_EXIT_CODES[signal]);

/** Signals end the process until a role or a task takes them over. Process 1 of a container has to ask for that. */
export function endOnSignals(): void {
  for (const signal of SIGNALS) process.on(signal, endAtOnce);
}

/** What to tell the person at the terminal of an error that ended a command. */
export function describeFailure(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError) return `grantd: ${error.message}`;
  if (error instanceof Error && error.name === 'GrantdError') return `grantd: ${error.message}`;
  return `grantd: unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

interface Supervision {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** What a shell expects of a process that the signal ended. */
  exitCode(): number;
}

/** Takes over the signals and the uncaught errors of the process, once. */
function superviseProcess(log: Log): Supervision {
  const stopping = new AbortController();
  let exitCode = 1;
  for (const signal of SIGNALS) {
    process.off(signal, endAtOnce);
    process.on(signal, () => {
      if (stopping.signal.aborted) endAtOnce(signal);
      log.info({ signal }, 'stopping');
      exitCode = SIGNAL_EXIT_CODES[signal];
      stopping.abort();
    });
  }
  const die = (error: unknown): void => {
    log.error({ err: error }, 'unhandled error; the process exits');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  return { signal: stopping.signal, exitCode: () => exitCode };
}

/**
 * Runs a role until a signal; ends the process with 0 after a clean stop, with 1 where it takes longer than
 * `stopMsMax`, and with 130 where a person interrupted the start: what they asked for did not come to be.
 */
export async function runRole(
  log: Log,
  start: (signal: AbortSignal) => Promise<RunningRole>,
  options: { readonly stopMsMax?: number } = {},
): Promise<never> {
  const { stopMsMax = STOP_MS_MAX_DEFAULT } = options;
  const { signal, exitCode } = superviseProcess(log);
  let started = false;
  const stopAsked = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  signal.addEventListener('abort', () => {
    setTimeout(() => {
      log.error({ stopMsMax }, 'shutdown timed out; the process exits');
      process.exit(1);
    }, stopMsMax);
  });
  try {
    const role = await start(signal);
    started = !signal.aborted;
    await stopAsked;
    await role.stop();
  } catch (error) {
    // A start that was told to stop has let go of everything; that is a clean stop too.
    if (!signal.aborted) throw error;
    if (error !== signal.reason) {
      log.error({ err: error }, 'the stop failed');
      process.exit(1);
    }
  }
  log.info('stopped');
  process.exit(!started && exitCode() === SIGNAL_EXIT_CODES.SIGINT ? exitCode() : 0);
}

/** Runs a task to its end; ends the process with the code it resolves to, or with that of the signal that ended it. */
export async function runTask(log: Log, run: (signal: AbortSignal) => Promise<number>): Promise<never> {
  const { signal, exitCode } = superviseProcess(log);
  // The timers of the clock do not: a task that only waits would end as if it were done.
  const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS);
  try {
    process.exit(await run(signal));
  } catch (error) {
    if (signal.aborted) process.exit(exitCode());
    throw error;
  } finally {
    clearInterval(keepAlive);
  }
}
