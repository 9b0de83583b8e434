// Runs the load program, a process for each job. A wrong answer ends the comparison, because figures of wrong answers
// are worthless. If a system does not answer, that is reported, and the others continue.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Arrivals, LoadJob, LoadResult } from './load-job.ts';

/** In addition to the duration of a job; the program waits 20 s for late answers. */
const REST_SECONDS = 60;

/**
 * The load shares the processors with what it measures. At a fixed rate it does not wait for them, as if it were on a
 * machine of its own: it is sent when it is due, and an answer is seen when it comes. (Where processes are scheduled by
 * groups, as on most desktops and servers, a lower nice value would change nothing.)
 */
const REAL_TIME = ['chrt', '--rr', '1'] as const;

/** A system gave a wrong answer. */
export class WrongAnswer extends Error {}
/** A system did not answer, or not in time. */
export class NoAnswer extends Error {}

export class LoadProgram {
  readonly #path: string;
  /** Whether loads at a fixed rate have real-time priority. Only root may give it. */
  readonly isRealTime: boolean;

  constructor(path: string) {
    this.#path = path;
    const [program, ...flags] = REAL_TIME;
    this.isRealTime = spawnSync(program, [...flags, 'true']).status === 0;
  }

  /** Every request must have its right answer. */
  async run(job: LoadJob): Promise<LoadResult> {
    const result = await this.#start(job);
    const { answered, failed, firstFailed, arrivals: { due, right } = { due: 0, right: 0 } } = result;
    if (failed > 0) throw new NoAnswer(`${failed} requests without an answer; the first: ${firstFailed}`);
    if (due > right) throw new NoAnswer(`${due - right} requests were not answered in time.`);
    if (answered === 0) throw new NoAnswer('No answer came in the time measured.');
    return result;
  }

  /** Sends at a rate that the system may not bear: requests may be without an answer, but no answer may be wrong. */
  async tryRate(job: Omit<LoadJob, 'mode'>): Promise<LoadResult & { readonly arrivals: Arrivals }> {
    const { arrivals, ...result } = await this.#start({ ...job, mode: 'rate' });
    if (arrivals === undefined) throw new Error('The load program has not said what became of the requests.');
    return { ...result, arrivals };
  }

  /** Runs the program. A wrong answer is an error here. */
  async #start(job: LoadJob): Promise<LoadResult> {
    const bound = AbortSignal.timeout(((job.warmUpSeconds ?? 0) + job.seconds + REST_SECONDS) * 1000);
    const command = job.mode === 'rate' && this.isRealTime ? [...REAL_TIME, this.#path] : [this.#path];
    const [program = '', ...flags] = command;
    const child = spawn(program, flags, { signal: bound, killSignal: 'SIGKILL' });
    const ended = once(child, 'close');
    child.stdin.end(JSON.stringify(job));
    const [found, said, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]).catch(
      (error) => {
        if (!bound.aborted) throw error;
        throw new NoAnswer('The load did not end in time.');
      },
    );
    if (status !== 0) throw new NoAnswer(said.trim());
    const result: LoadResult = JSON.parse(found);
    if (result.wrong > 0) throw new WrongAnswer(`${result.wrong} wrong answers; the first: ${result.firstWrong}`);
    return result;
  }
}
