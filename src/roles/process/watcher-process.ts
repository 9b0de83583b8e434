// The watch (roles/watch.ts) as a child of the shard that it watches. It outlives the shard by as long as a declaration
// takes, and is started again if it ends before. Where the end of one process ends all of them (a container, a unit of
// systemd with its default KillMode), it runs beside the shard instead.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../core/async/clock.ts';
import type { Log } from '../../telemetry/log.ts';
import { HEAP_OPTION, type ProcessStart } from './heap.ts';

const RESTART_MS = 5000;

/** Starts the watch of the shard that listens at `address`, as the same user, with the same settings and output. */
export type StartWatcher = (address: string) => ChildProcess;

/** `started`: how the process of the shard was started. */
export const watcherOf =
  ({ argv, env, execArgv, execPath }: ProcessStart): StartWatcher =>
  (address) =>
    spawn(
      execPath,
      [...execArgv.filter((option) => !HEAP_OPTION.test(option)), argv[1] ?? '', 'watch', '--parent', `${process.pid}`],
      {
        env: { ...env, GRANTD_RPC_ADDRESS: address },
        stdio: ['ignore', 'inherit', 'inherit'],
        // What is sent to the group of the shard, such as the interrupt of a terminal, is not for the watch.
        detached: true,
      },
    );

/** Keeps a watch running until closed: nothing is left to declare then. */
export function keepWatched({ clock, log }: { readonly clock: Clock; readonly log: Log }, start: () => ChildProcess) {
  let closed = false;
  let child: ChildProcess | undefined;
  const launch = (): void => {
    if (closed) return;
    child = start();
    child.unref();
    const onEnd = (reason: unknown): void => {
      if (closed) return;
      log.warn({ reason }, 'the watch of this shard has ended; starting it again in 5 s');
      clock.setTimer(launch, RESTART_MS);
    };
    child.once('exit', (code, signal) => onEnd(signal ?? code));
    child.once('error', onEnd);
  };
  launch();
  return {
    close() {
      closed = true;
      child?.kill('SIGKILL');
    },
  };
}
