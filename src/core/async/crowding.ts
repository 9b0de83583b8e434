// For whom work had to wait: the time that the steps of each key took after they had waited for their turn, over the
// last ten seconds. Nothing waits while there is time, so a key with a large share has more work than the event loop
// does beside the others. Bounded: windows of a few seconds, each with so many keys.

/** From this share on, a key has more work than the event loop has time. */
export const CROWDED_SHARE_MIN = 0.25;

const WINDOW_MS = 2000;
/** The present one, and four before it. */
const WINDOWS = 5;
/** Of one window. A key with a large share is among the first ones. */
const KEYS_MAX = 1000;

interface Window {
  readonly startedMs: number;
  readonly spentMs: Map<string, number>;
}

export class Crowding {
  /** The present one is the last. */
  #windows: Window[] = [];

  /** `ms`: of steps of the key that have waited. `nowMs`: on the monotonic clock, as in `shares`. */
  add(key: string, ms: number, nowMs: number): void {
    let window = this.#windows.at(-1);
    if (window === undefined || nowMs - window.startedMs >= WINDOW_MS) {
      window = { startedMs: nowMs - (nowMs % WINDOW_MS), spentMs: new Map() };
      this.#windows = [...this.#windows.slice(1 - WINDOWS), window];
    }
    const before = window.spentMs.get(key);
    if (before === undefined && window.spentMs.size >= KEYS_MAX) return;
    window.spentMs.set(key, (before ?? 0) + ms);
  }

  /** The share of the last ten seconds, 0 to 1, that each key took after it had waited. */
  shares(nowMs: number): ReadonlyMap<string, number> {
    const spentMs = new Map<string, number>();
    for (const window of this.#windows) {
      if (nowMs - window.startedMs >= WINDOWS * WINDOW_MS) continue;
      for (const [key, ms] of window.spentMs) spentMs.set(key, (spentMs.get(key) ?? 0) + ms);
    }
    for (const [key, ms] of spentMs) spentMs.set(key, Math.min(1, ms / (WINDOWS * WINDOW_MS)));
    return spentMs;
  }
}

/** The key with the largest share; undefined: none of them had to wait. */
export function busiestOf(
  shares: ReadonlyMap<string, number>,
): { readonly key: string; readonly share: number } | undefined {
  let busiest: { readonly key: string; readonly share: number } | undefined;
  for (const [key, share] of shares) if (share > (busiest?.share ?? 0)) busiest = { key, share };
  return busiest;
}
