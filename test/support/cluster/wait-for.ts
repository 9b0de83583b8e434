// Waiting for a condition, within a bound.

const POLL_MS = 25;

/** Fails after the bound with what was waited for, and what `explain` knows about it. */
export async function waitFor(
  what: string,
  condition: () => boolean | Promise<boolean>,
  boundMs = 30_000,
  explain: () => string = () => '',
): Promise<void> {
  const endMs = performance.now() + boundMs;
  while (!(await condition())) {
    if (performance.now() > endMs) throw new Error(`Waited in vain for ${what}. ${explain()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Lets a load run on: the time is the test's input here, and no condition stands for it. */
export function letRun(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}
