// Counts the steps of evaluations, so that no expression takes longer than its bound, whatever its input. A step is
// at most half a microsecond of work: a node of an expression, an iteration, eight characters.

/** Steps of one evaluation: 10 ms at worst. */
export const EVALUATION_STEPS_MAX = 20_000;

/** Steps of reading or writing a time or an address, in an expression as in a context. */
export const TEXT_STEPS = 8;

/** Thrown by a meter that is exhausted; no operator of an expression can absorb it. */
export class TooManySteps extends Error {}

/**
 * The steps that all conditions of one check may take together. A caller that makes it larger than
 * `EVALUATION_STEPS_MAX` divides the evaluations over turns of the event loop.
 */
export class ConditionBudget {
  #remaining: number;
  readonly stepsMax: number;

  constructor(stepsMax: number) {
    this.stepsMax = stepsMax;
    this.#remaining = stepsMax;
  }

  get remaining(): number {
    return this.#remaining;
  }

  /** Steps taken so far. */
  get spent(): number {
    return this.stepsMax - this.#remaining;
  }

  take(steps: number): void {
    this.#remaining = Math.max(0, this.#remaining - steps);
  }
}

/** The steps of one evaluation. */
export class StepMeter {
  #remaining: number;

  constructor(steps: number) {
    this.#remaining = steps;
  }

  get remaining(): number {
    return this.#remaining;
  }

  /** Throws `TooManySteps`. */
  spend(steps: number): void {
    this.#remaining -= steps;
    if (this.#remaining < 0) throw new TooManySteps('The evaluation takes too many steps.');
  }
}
