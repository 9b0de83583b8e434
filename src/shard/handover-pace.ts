// How many slots a shard hands over at once. To one that joins, as many as it takes up promptly: it begins with few, adds
// one for each that was claimed soon, and goes back to half for each that was not, since a new process, the store or this
// one may be what is slow. A shard that leaves has only so long: it goes at the full pace, and what it would not hand over in
// time would wait for its lease to end, all at once.

const HANDOVERS_MIN = 2;
/** Two owners that hand over to one new shard fill the openings that it begins at once (16). */
export const HANDOVERS_MAX = 8;
/** From the release to the claim, as the former owner sees it: on an idle machine 50 to 150 ms. */
const PROMPT_MS = 400;
const SLOW_MS = 1000;

export class HandoverPace {
  #limit = HANDOVERS_MIN;

  /** Handovers that may be in flight now. */
  limit({ leaves }: { readonly leaves: boolean }): number {
    return leaves ? HANDOVERS_MAX : this.#limit;
  }

  /** A slot was claimed so long after its release, or given up then. */
  took(elapsedMs: number): void {
    if (elapsedMs <= PROMPT_MS) this.#limit = Math.min(this.#limit + 1, HANDOVERS_MAX);
    else if (elapsedMs > SLOW_MS) this.#limit = Math.max(Math.floor(this.#limit / 2), HANDOVERS_MIN);
  }
}
