// Runs the load program, a process for each job. A wrong answer ends the comparison: figures of wrong answers are worth
// nothing. That a system does not answer is its own matter: it is told, and the others go on.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { LoadJob, LoadResult } from './load-job.ts';

/** Beyond the time that a job says of itself; the program waits 20 s for late answers. */
const REST_SECONDS = 60;

/** A system that answered a question wrongly. */
export class WrongAnswer extends Error {}
/** A system that did not answer, or not in time. */
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
