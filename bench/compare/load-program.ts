// Runs the load program, a process for each job. A wrong answer ends the comparison, because figures of wrong answers
// are worthless. If a system does not answer, that is reported, and the others continue.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { LoadJob, LoadResult } from './load-job.ts';

/** In addition to the duration of a job; the program waits 20 s for late answers. */
const REST_SECONDS = 60;

/** A system gave a wrong answer. */
export class WrongAnswer extends Error {}
/** A system did not answer, or not in time. */
export class NoAnswer extends Error {}

export class LoadProgram {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async run(job: LoadJob): Promise<LoadResult> {
    const bound = AbortSignal.timeout(((job.warmUpSeconds ?? 0) + job.seconds + REST_SECONDS) * 1000);
    const child = spawn(this.#path, { stdio: ['pipe', 'pipe', 'pipe'], signal: bound, killSignal: 'SIGKILL' });
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
    if (result.failed > 0)
      throw new NoAnswer(`${result.failed} requests without an answer; the first: ${result.firstFailed}`);
    if (result.answered === 0) throw new NoAnswer('No answer came in the time measured.');
    return result;
  }
}
