// Runs jobs side by side, as many as the machine has processors for. Invariants: the weights of the running jobs never
// exceed the capacity, unless one job alone weighs more; and an exclusive job runs with nothing beside it, after the
// others.

export interface Job {
  readonly name: string;
  /** Processors that it keeps busy. */
  readonly weight: number;
  readonly exclusive?: boolean;
  /** Names of jobs that have to end first, whether or not they succeed. Names of no job count for nothing. */
  readonly after?: readonly string[];
  /** Reports its own failures. */
  run(): Promise<void>;
}

/** Sums of weights are not exact. */
const TOLERANCE = 1e-6;

/**
 * Starts the earliest job in the list that fits, again and again. Resolves when all have ended; once aborted, it starts
 * no more.
 */
export async function runJobs(jobs: readonly Job[], capacity: number, signal: AbortSignal): Promise<void> {
  const waiting = [...jobs.filter(({ exclusive }) => exclusive !== true), ...jobs.filter(({ exclusive }) => exclusive)];
  const running = new Map<Job, Promise<void>>();
  const load = (): number => [...running.keys()].reduce((sum, { weight }) => sum + weight, 0);
  const hasEnded = (name: string): boolean => ![...waiting, ...running.keys()].some((job) => job.name === name);
  const mayStart = ({ weight, exclusive, after = [] }: Job): boolean => {
    if (!after.every(hasEnded)) return false;
    if (running.size === 0) return true;
    const beside = [...running.keys()].some((job) => job.exclusive === true);
    return exclusive !== true && !beside && load() + weight <= capacity + TOLERANCE;
  };
  while (!signal.aborted || running.size > 0) {
    const index = signal.aborted ? -1 : waiting.findIndex(mayStart);
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next !== undefined)
      running.set(
        next,
        next.run().finally(() => running.delete(next)),
      );
    else if (running.size > 0) await Promise.race(running.values());
    else break;
  }
  if (!signal.aborted && waiting.length > 0) throw new Error(`${waiting[0]?.name} waits for itself.`);
}
