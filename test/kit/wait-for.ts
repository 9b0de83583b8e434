// Waiting for a condition, within a bound.

/** So long it is looked at again with each turn of the event loop: most of what is waited for is about to come. */
const NEAR_MS = 10;
const POLL_MS = 25;
/** Ten times what the slowest condition takes on a busy machine: only what never comes waits so long. */
const BOUND_MS_DEFAULT = 120_000;

/** Fails after the bound with what was waited for, and what `explain` knows about it. */
export async function waitFor(
  what: string,
  condition: () => boolean | Promise<boolean>,
  boundMs = BOUND_MS_DEFAULT,
  explain: () => string = () => '',
): Promise<void> {
  const startMs = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > boundMs) throw new Error(`Waited in vain for ${what}. ${explain()}`);
    await new Promise((resolve) => (waitedMs < NEAR_MS ? setImmediate(resolve) : setTimeout(resolve, POLL_MS)));
  }
}

/** Lets a load run on: the time is the test's input here, and no condition stands for it. */
export function letRun(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
