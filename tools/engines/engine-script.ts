// Shell scripts that fetch, build or start what a test needs and npm does not have. One that lives as long as its
// standard input is an ObedientScript: it says "ready …" once, and then obeys one line at a time, each answered with
// "done" or a line that says otherwise. It ends when this process ends, however it ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The status with which a script ends where what it needs cannot be had. */
const STATUS_MISSING = 3;

export interface ScriptOptions {
  /** Laid over that of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Where what a test needs cannot be had, and `CI` is set. */
class EngineMissing extends Error {}

function start(script: string, args: readonly string[], { environment }: ScriptOptions = {}): ChildProcess {
  // In a session of its own: an interrupt at the terminal is for the test, which then ends the script.
  return spawn('bash', [script, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
}

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });

function statusOf(script: string, args: readonly string[]): Promise<number | null> {
  const child = start(script, args);
  child.stdin?.end();
  child.stdout?.resume();
  return ended(child);
}

/** Rejects where it does not end well. */
export async function runScript(script: string, args: readonly string[]): Promise<void> {
  const status = await statusOf(script, args);
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} ended with status ${status}.`);
}

/** Says loudly that something is not tested, and why; throws where `CI` is set. Returns the reason. */
export function reportMissing(what: string, reason: string): string {
  if (process.env.CI !== undefined) throw new EngineMissing(reason);
  console.error(`\nNOT TESTED: ${what}. ${reason}\n`);
  return reason;
}

/**
 * Undefined where the script went well; the reason where what it needs cannot be had, which is then said loudly and is
 * a failure where CI is set. For the head of a test file: its suites are skipped for that reason.
 */
export async function missingFor(
  what: string,
  reason: string,
  script: string,
  args: readonly string[],
): Promise<string | undefined> {
  const status = await statusOf(script, args);
  if (status === 0) return undefined;
  if (status !== STATUS_MISSING) throw new Error(`${script} ${args.join(' ')} ended with status ${status}.`);
  return reportMissing(what, reason);
}

/** The lines of a stream, each taken once, in their order. */
async function* linesOf(stream: Readable): AsyncGenerator<string, undefined> {
  yield* createInterface({ input: stream });
}

export class ObedientScript {
  readonly #child: ChildProcess;
  readonly #exit: Promise<number | null>;
  readonly #lines: AsyncGenerator<string, undefined>;
  readonly #name: string;
  #last: Promise<unknown> = Promise.resolve();
  /** The words after "ready". */
  readonly facts: readonly string[];

  static async start(
    name: string,
    script: string,
    args: readonly string[],
    options?: ScriptOptions,
  ): Promise<ObedientScript> {
    const child = start(script, args, options);
    if (child.stdout === null) throw new Error('The script has pipes.');
    const lines = linesOf(child.stdout);
    const exit = ended(child);
    const { value = '' } = await lines.next();
    const [word, ...facts] = value.split(' ');
    if (word !== 'ready') throw new Error(`${name} did not start; its last words stand above.`);
    return new ObedientScript(name, child, exit, lines, facts);
  }

  private constructor(
    name: string,
    child: ChildProcess,
    exit: Promise<number | null>,
    lines: AsyncGenerator<string, undefined>,
    facts: readonly string[],
  ) {
    this.#name = name;
    this.#child = child;
    this.#exit = exit;
    this.#lines = lines;
    this.facts = facts;
    // It may end before it is told to.
    child.stdin?.on('error', () => {});
  }

  /** One at a time, in the order of the calls. */
  tell(...words: readonly string[]): Promise<void> {
    const obeyed = async (): Promise<void> => {
      this.#child.stdin?.write(`${words.join(' ')}\n`);
      const { value = 'it ended; its last words stand above' } = await this.#lines.next();
      if (value !== 'done') throw new Error(`${this.#name}: ${value}`);
    };
    const done = this.#last.then(obeyed, obeyed);
    this.#last = done;
    return done;
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#exit;
  }
}
