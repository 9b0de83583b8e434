// The control of an attack: the same victim and the same service, next to processes that only burn the processor time
// that the attacker and the store took, in the same steps of time. What a check then takes is what the machine alone
// costs it.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { readCpuSeconds } from '../server/resource-use.ts';

const STEP_MS = 100;
const PROGRAM = join(import.meta.dirname, 'burner-process.ts');

export interface BurnJob {
  readonly stepMs: number;
  /** How much processor time must be used by the end of each step, since the start. */
  readonly cpuSeconds: readonly number[];
}

interface Load {
  readonly pid: number;
  /** How many processors it can use at the same time. */
  readonly threads: number;
  readonly cpuSeconds: number[];
}

function readOrLast({ pid, cpuSeconds }: Load): number {
  try {
    return readCpuSeconds(pid);
  } catch {
    // It has ended.
    return cpuSeconds.at(-1) ?? 0;
  }
}

/** The processor time of the attacker and of the store's processes, from its creation until it is stopped. */
export class LoadRecording {
  readonly #startMs = performance.now();
  readonly #loads: readonly Load[];
  readonly #timer: NodeJS.Timeout;

  constructor(attacker: number, store: readonly number[]) {
    const loadOf = (pid: number, threads: number): Load => ({ pid, threads, cpuSeconds: [readCpuSeconds(pid)] });
    this.#loads = [loadOf(attacker, 1), ...store.map((pid) => loadOf(pid, availableParallelism()))];
    this.#timer = setInterval(() => this.#sample(), STEP_MS);
  }

  #sample(): void {
    const steps = (performance.now() - this.#startMs) / STEP_MS;
    for (const load of this.#loads) {
      const now = readOrLast(load);
      // Several if this process woke late.
      while (load.cpuSeconds.length <= steps) load.cpuSeconds.push(now);
    }
  }

  /** A job for each burner. */
  stop(): readonly BurnJob[] {
    clearInterval(this.#timer);
    return this.#loads.flatMap(({ threads, cpuSeconds: [first = 0, ...further] }) => {
      const job = { stepMs: STEP_MS, cpuSeconds: further.map((seconds) => (seconds - first) / threads) };
      return Array.from({ length: threads }, () => job);
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Starts a process for each job. The returned function lets them burn, and resolves when the last has ended. */
export async function prepareBurners(jobs: readonly BurnJob[]): Promise<() => Promise<void>> {
  const burners = await Promise.all(
    jobs.map(async (job) => {
      const child = fork(PROGRAM);
      await once(child, 'message');
      return { child, job };
    }),
  );
  return async () => {
    const ends = burners.map(({ child, job }) => {
      child.send(job);
      return once(child, 'exit');
    });
    await Promise.all(ends);
  };
}
