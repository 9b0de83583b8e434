// Work that is done in short steps of the event loop: at each `yield`, a step may end.

export type Steps<Result> = Generator<void, Result>;

/** Ends a step once it has done so much. */
export class StepSize {
  readonly #max: number;
  #done = 0;

  constructor(max: number) {
    this.#max = max;
  }

  *add(work: number): Steps<void> {
    this.#done += work;
    if (this.#done < this.#max) return;
    this.#done = 0;
    yield;
  }
}

/** All in one step. */
export function complete<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Before each step it takes a turn. */
export async function inTurns<Result>(steps: Steps<Result>, turn: () => Promise<unknown>): Promise<Result> {
  for (;;) {
    await turn();
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
