// How many slots a shard hands over at once: as many as their next owners take up promptly. It begins with few, adds one for
// each that was claimed soon, and goes back to half for each that was not: what limits the pace is the store, the successors,
// or this process, and the pause of each slot shows whichever it is. So a slow store makes a drain long, and no pause.

/** On its way at any pace. */
const HANDOVERS_MIN = 2;
/** Two owners that hand over to one new shard fill the openings that it begins at once (16). */
export const HANDOVERS_MAX = 8;
/** From the release to the claim, as the former owner sees it: on an idle machine 50 to 150 ms. */
const PROMPT_MS = 400;
const SLOW_MS = 1000;

export class HandoverPace {
  #limit = HANDOVERS_MIN;

  /** Handovers that may be under way now. */
  get limit(): number {
    return this.#limit;
  }

  /** A slot was claimed so long after its release, or given up then. */
  took(elapsedMs: number): void {
    if (elapsedMs <= PROMPT_MS) this.#limit = Math.min(this.#limit + 1, HANDOVERS_MAX);
    else if (elapsedMs > SLOW_MS) this.#limit = Math.max(Math.floor(this.#limit / 2), HANDOVERS_MIN);
  }
}
