// The readable trace of a run: who did what, when, in virtual time. Kept only where somebody wants to read it. Whoever
// sees that something is wrong says so here.

import type { Scheduler } from './scheduler.ts';

export class Trace {
  readonly #scheduler: Scheduler;
  readonly #write: ((line: string) => void) | undefined;
  /** The run has failed. */
  readonly fail: (failure: string) => void;

  constructor(
    scheduler: Scheduler,
    write: ((line: string) => void) | undefined,
    onFailure: (failure: string) => void = () => {},
  ) {
    this.fail = onFailure;
    this.#scheduler = scheduler;
    this.#write = write;
  }

  get on(): boolean {
    return this.#write !== undefined;
  }

  /** Part of what the run is known by. */
  add(who: string, what: string): void {
    this.#scheduler.mixText(what);
    this.note(who, what);
  }

  /** For the reader alone. */
  note(who: string, what: string): void {
    this.#write?.(`${(this.#scheduler.nowMs / 1000).toFixed(4).padStart(9)} ${who.padEnd(10)} ${what}`);
  }
}
