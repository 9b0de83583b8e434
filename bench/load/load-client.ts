// The benchmark's side of the load process. A job with a wrong answer fails: figures of wrong answers are worthless.

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { FromLoadProcess, LoadJob, LoadResult } from './load-job.ts';

export class LoadClient {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'load-process.ts'), { serialization: 'advanced' });
  }

  run(job: LoadJob): Promise<LoadResult> {
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error('The load process ended.'));
      this.#child.once('exit', onExit);
      this.#child.once('message', (message: FromLoadProcess) => {
        this.#child.removeListener('exit', onExit);
        if (message.kind === 'failed') reject(new Error(`The load failed: ${message.message}`));
        else if (message.result.wrong > 0) {
          reject(new Error(`${message.result.wrong} wrong answers; the first: ${message.result.firstWrong}`));
        } else resolve(message.result);
      });
      this.#child.send(job);
    });
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
