// The echo as a process of its own, which ends with the benchmark.

import { fork } from 'node:child_process';
import { join } from 'node:path';

export interface EchoProcess {
  readonly url: string;
  readonly pid: number;
  close(): void;
}

export function startEcho(): Promise<EchoProcess> {
  const child = fork(join(import.meta.dirname, 'echo-server.ts'));
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('The echo ended.')));
    child.once('message', ({ url }: { readonly url: string }) => {
      resolve({
        url,
        pid: child.pid ?? 0,
        close() {
          if (child.connected) child.disconnect();
        },
      });
    });
  });
}
