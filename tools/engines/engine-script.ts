// Runs shell scripts that download, build or start programs that tests need and npm does not have. A script that lives
// as long as its standard input is an ObedientScript: it prints "ready …" once, and then executes one line at a time,
// each confirmed with "done" or a line that says otherwise. It ends when this process ends, however it ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The exit status of a script whose dependencies are unavailable. */
const STATUS_MISSING = 3;

export interface ScriptOptions {
  /** Added to that of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Thrown if a program that a test needs is unavailable and `CI` is set. */
class EngineMissing extends Error {}

function start(script: string, args: readonly string[], { environment }: ScriptOptions = {}): ChildProcess {
  // In a session of its own: an interrupt at the terminal goes only to the test, which then ends the script.
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

/** Runs an installer. Resolves to false if its dependencies are unavailable; rejects if it fails otherwise. */
export async function provide(script: string, args: readonly string[]): Promise<boolean> {
  const status = await statusOf(script, args);
  if (status !== 0 && status !== STATUS_MISSING) {
    throw new Error(`${script} ${args.join(' ')} ended with status ${status}.`);
  }
  return status === 0;
}

/** Rejects if it fails. */
export async function runScript(script: string, args: readonly string[]): Promise<void> {
  const status = await statusOf(script, args);
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} ended with status ${status}.`);
}

/** Prints prominently that something is not tested, and why; throws if `CI` is set. Returns the reason. */
export function reportMissing(what: string, reason: string): string {
  if (process.env.CI !== undefined) throw new EngineMissing(reason);
  console.error(`\nNOT TESTED: ${what}. ${reason}\n`);
  return reason;
}

/**
 * Undefined if the script succeeded; if its dependencies are unavailable, the reason, which it also prints prominently
 * and which is a failure if CI is set. For the head of a test file: its suites are skipped for that reason.
 */
export async function missingFor(
  what: string,
  reason: string,
  script: string,
  args: readonly string[],
): Promise<string | undefined> {
  return (await provide(script, args)) ? undefined : reportMissing(what, reason);
}

/** The lines of a stream, each consumed once, in order. */
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
    if (word !== 'ready') throw new Error(`${name} did not start; see its last output above.`);
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
    // It may end before it gets a command.
    child.stdin?.on('error', () => {});
  }

  /** Executes one command after another, in the order of the calls. Rejects if it fails. */
  command(...words: readonly string[]): Promise<void> {
    const obeyed = async (): Promise<void> => {
      this.#child.stdin?.write(`${words.join(' ')}\n`);
      const { value = 'it ended; see its last output above' } = await this.#lines.next();
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
