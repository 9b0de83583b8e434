// The benchmark's side of the process of followers.

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { FollowJob, FollowResult, FromFollowProcess } from './follow-job.ts';

export class FollowClient {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'follow-process.ts'), { serialization: 'advanced' });
  }

  run(job: FollowJob): Promise<FollowResult> {
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error('The process of followers ended.'));
      this.#child.once('exit', onExit);
      this.#child.once('message', (message: FromFollowProcess) => {
        this.#child.removeListener('exit', onExit);
        if (message.kind === 'failed') reject(new Error(`Following failed: ${message.message}`));
        else resolve(message.result);
      });
      this.#child.send(job);
    });
  }

  close(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
