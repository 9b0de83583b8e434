// The life of the process: start a role, wait for a signal, stop the role in order within a time limit; or run a task
// to its end. A second signal ends the process at once. An uncaught error is logged and ends the process, because its
// state can no longer be trusted.

import type { Log } from '../../telemetry/log.ts';
import { collectStartGarbage } from './heap.ts';

export interface RunningRole {
  /** Ends everything in order. */
  stop(): Promise<void>;
}

/** A stop that takes longer is aborted; the log in the store lets the next start recover. */
const STOP_MS_MAX_DEFAULT = 30_000;
/** The interval of a timer that only keeps the process alive. */
const KEEP_ALIVE_MS = 60_000;

const endAtOnce = (signal: StopSignal): never => process.exit(SIGNAL_EXIT_CODES[signal]);

/** Lets signals end the process until a role or a task handles them. Process 1 of a container needs this. */
export function endOnSignals(): void {
  for (const signal of STOP_SIGNALS) process.on(signal, endAtOnce);
}

interface Supervision {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** The exit code that a shell expects of a process ended by the signal. */
  exitCode(): number;
}

/**
 * The reader of what a start prints may leave (`npm start | head`), and a disk may be full: a process that serves goes
 * on. The log has its own output.
 */
function ignoreLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** Handles the signals and uncaught errors of the process, once. */
function superviseProcess(log: Log): Supervision {
  const stopping = new AbortController();
  let exitCode = 1;
  for (const signal of STOP_SIGNALS) process.off(signal, endAtOnce);
  onStopSignals((signal) => {
    log.info({ signal }, 'stopping');
    exitCode = SIGNAL_EXIT_CODES[signal];
    stopping.abort();
  }, endAtOnce);
  const die = (error: unknown): void => {
    try {
      log.error({ err: error }, 'unhandled error; the process exits');
    } finally {
      process.exit(1);
    }
  };
  ignoreLostOutput();
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  return { signal: stopping.signal, exitCode: () => exitCode };
}

/**
 * Runs a role until a signal. Ends the process with 0 after a clean stop, with 1 if the stop takes longer than
 * `stopMsMax`, and with 130 if a person interrupted the start, because the requested role never started. A role that
 * serves before its start is over calls `onLoaded` before that: what follows the loading of the code stops the process
 * for a tenth of a second or more.
 */
export async function runRole(
  log: Log,
  start: (signal: AbortSignal, onLoaded: () => void) => Promise<RunningRole>,
  options: { readonly stopMsMax?: number } = {},
): Promise<never> {
  const { stopMsMax = STOP_MS_MAX_DEFAULT } = options;
  const { signal, exitCode } = superviseProcess(log);
  let started = false;
  let collected = false;
  const onLoaded = (): void => {
    if (!collected) collectStartGarbage();
    collected = true;
  };
  const stopAsked = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  signal.addEventListener('abort', () => {
    setTimeout(() => {
      log.error({ stopMsMax }, 'shutdown timed out; the process exits');
      process.exit(1);
    }, stopMsMax);
  });
  try {
    const role = await start(signal, onLoaded);
    started = !signal.aborted;
    if (started) onLoaded();
    await stopAsked;
    await role.stop();
  } catch (error) {
    // An aborted start has released everything: that is a clean stop too.
    if (!signal.aborted) throw error;
    if (error !== signal.reason) {
      log.error({ err: error }, 'the stop failed');
      process.exit(1);
    }
  }
  log.info('stopped');
  process.exit(!started && exitCode() === SIGNAL_EXIT_CODES.SIGINT ? exitCode() : 0);
}

/** Runs a task to its end, and ends the process with the task's exit code or with that of the signal. */
export async function runTask(log: Log, run: (signal: AbortSignal) => Promise<number>): Promise<never> {
  const { signal, exitCode } = superviseProcess(log);
  // The timers of the clock do not keep the process alive: a task that only waits would end as if it were done.
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

// ---- signals ----

export const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** 128 + the number of the signal, the convention of shells. */
export const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** A second interrupt within this time is the same one: npm forwards the SIGINT that the terminal has sent to both. */
const SAME_INTERRUPT_MS = 2000;

/** Calls `onAsked` at the first signal, `onInsisted` at each further one. */
export function onStopSignals(onAsked: (signal: StopSignal) => void, onInsisted: (signal: StopSignal) => void): void {
  let asked: { readonly signal: StopSignal; readonly atMs: number } | undefined;
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      const atMs = performance.now();
      if (asked === undefined) {
        asked = { signal, atMs };
        onAsked(signal);
        return;
      }
      const isSame = signal === 'SIGINT' && asked.signal === 'SIGINT' && atMs - asked.atMs < SAME_INTERRUPT_MS;
      if (!isSame) onInsisted(signal);
    });
  }
}
