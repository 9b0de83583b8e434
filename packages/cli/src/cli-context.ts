// The context of every command, and the frame in which it runs: failures go to standard error in a few lines and set
// the exit code. Output that could not be written is a failure of every command; a reader that closes the pipe
// (`grantd … | head`) is one only of commands that need it.

import type { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type ConnectionDependencies, type Connections, createConnections } from './connections.ts';
import type { EmbeddedShard } from './embedded-tenant.ts';
import { CliFailure, EXIT, renderFailure } from './failures.ts';
import type { JsonRecord } from './output/json-view.ts';
import { escapeControls } from './output/plain-text.ts';
import { type Column, renderTable } from './output/render.ts';
import { OutputWatch } from './output/standard-output.ts';

export interface CliDependencies extends ConnectionDependencies {
  readonly version: string;
  /**
   * Whether errors go to standard error as JSON. Known in advance, because usage errors come before options are parsed.
   */
  readonly json?: boolean;
  /** For commands that try a model without a service. */
  readonly openShard?: () => Promise<EmbeddedShard>;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** Whether standard output is discarded. By default it is not. */
  readonly isDiscarded?: () => boolean;
  /** By default the time of this machine. */
  readonly nowMs?: () => number;
  /** Takes the exit code of a finished command. By default it sets that of this process. */
  readonly setExitCode?: (code: number) => void;
  /** Ends the process at once, after a usage error or help. By default it ends this process. */
  readonly exit?: (code: number) => never;
  /**
   * Calls `listener` at an interruption (SIGINT), until the returned function is called. By default of this process.
   */
  readonly onInterrupt?: (listener: () => void) => () => void;
  /** Resolves to true after the time, or to false once the signal aborts. By default it uses this process's clock. */
  readonly pause?: (delayMs: number, signal: AbortSignal) => Promise<boolean>;
}

interface ActionOptions {
  /** It fails, too, if the reader of its output leaves or there is none: what it prints is nowhere else. */
  readonly needsReader?: boolean;
  /** Its exit code if output is lost (default: 1), if 1 is one of its answers. */
  readonly lostCode?: number;
}

export interface CliContext extends Connections {
  readonly stdin: CliDependencies['stdin'];
  readonly stdout: CliDependencies['stdout'];
  readonly stderr: CliDependencies['stderr'];
  /** To standard output, with a line end. */
  print(text: string): void;
  /** Data for programs that a command writes to standard output itself: as it is, but escaped on a terminal. */
  dataOf(text: string): string;
  /** To standard error, with a line end. */
  note(text: string): void;
  /** To standard error, for people or as JSON. */
  reportFailure(failure: CliFailure): void;
  /** A table: in full for programs, cut to the width of the terminal for people. */
  tableOf(records: readonly JsonRecord[], columns: readonly Column[]): string;
  nowMs(): number;
  /** A new shard in this process, to be closed. */
  openShard(): Promise<EmbeddedShard>;
  /** Runs with a signal that aborts at an interruption (SIGINT). */
  untilInterrupted<Result>(run: (interrupted: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Runs with a signal that aborts once standard output takes no more, or its reader closes it. */
  untilClosed<Result>(run: (closed: AbortSignal) => Promise<Result>): Promise<Result>;
  pause(delayMs: number, signal: AbortSignal): Promise<boolean>;
  /**
   * The action of a command. `run` resolves to its exit code (undefined: 0) or throws a CliFailure. Any other error is
   * a defect and passes on to the caller that parses the command line.
   */
  action<Parameters extends readonly unknown[]>(
    run: (...parameters: Parameters) => Promise<number | undefined>,
    options?: ActionOptions,
  ): (...parameters: Parameters) => Promise<void>;
}

function listenForInterrupt(listener: () => void): () => void {
  process.once('SIGINT', listener);
  return () => {
    process.removeListener('SIGINT', listener);
  };
}

async function pauseHere(delayMs: number, signal: AbortSignal): Promise<boolean> {
  try {
    await setTimeout(delayMs, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

async function refuseShard(): Promise<never> {
  throw new CliFailure(
    'This package has no shard, so that it stays small. Run "grantd model test" from a checkout or the image of grantd.',
    EXIT.usage,
  );
}

export function createCliContext(dependencies: CliDependencies): CliContext {
  const { stdin, stdout, stderr, onInterrupt = listenForInterrupt } = dependencies;
  const setExitCode =
    dependencies.setExitCode ??
    ((code: number) => {
      process.exitCode = code;
    });
  const note = (text: string): void => {
    stderr.write(`${escapeControls(text)}\n`);
  };
  const reportFailure = (failure: CliFailure): void => note(renderFailure(failure, dependencies.json === true));
  const output = new OutputWatch(stdout);
  const messages = new OutputWatch(stderr);
  return {
    stdin,
    stdout,
    stderr,
    print(text) {
      stdout.write(`${escapeControls(text)}\n`);
    },
    dataOf: (text) => (stdout.isTTY ? escapeControls(text) : text),
    note,
    reportFailure,
    tableOf: (records, columns) => renderTable(records, columns, stdout.isTTY ? stdout.columns : undefined),
    nowMs: dependencies.nowMs ?? Date.now,
    ...createConnections(dependencies, (warning) => note(`Warning: ${warning}`)),
    openShard: dependencies.openShard ?? refuseShard,
    async untilInterrupted(run) {
      const interruption = new AbortController();
      const stopListening = onInterrupt(() => interruption.abort());
      try {
        return await run(interruption.signal);
      } finally {
        stopListening();
      }
    },
    async untilClosed(run) {
      const closed = new AbortController();
      const close = (): void => closed.abort();
      stdout.once('error', close);
      stdout.once('close', close);
      if (output.failure !== undefined) close();
      try {
        return await run(closed.signal);
      } finally {
        stdout.removeListener('error', close);
        stdout.removeListener('close', close);
      }
    },
    pause: dependencies.pause ?? pauseHere,
    action(run, { needsReader = false, lostCode = EXIT.failed } = {}) {
      return async (...parameters) => {
        try {
          if (needsReader && dependencies.isDiscarded?.()) throw new CliFailure(NOBODY_READS, EXIT.usage);
          const code = await run(...parameters);
          await output.settled();
          const failure = lossOf(output, needsReader);
          if (failure !== undefined) throw new CliFailure(failure, lostCode);
          // A message that was lost may have said that something is wrong.
          if (lossOf(messages, false) !== undefined) setExitCode(lostCode);
          else if (code !== undefined) setExitCode(code);
        } catch (error) {
          if (!(error instanceof CliFailure)) throw error;
          reportFailure(error);
          setExitCode(error.exitCode);
        }
      };
    },
  };
}

const NOBODY_READS =
  'Standard output is closed or discarded, and what this command prints is nowhere else. Send it to a file or a pipe.';

/** Why output is lost; undefined: it is not. */
function lossOf(watch: OutputWatch, needsReader: boolean): string | undefined {
  const { failure } = watch;
  if (failure === undefined) return undefined;
  if (failure.code !== 'EPIPE') return `The output is incomplete: it cannot be written (${failure.message}).`;
  return needsReader ? 'The output is incomplete: its reader has left.' : undefined;
}
