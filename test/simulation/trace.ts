// The readable trace of a run: who did what, when, in virtual time. Kept only where somebody wants to read it.

import type { Scheduler } from './scheduler.ts';

export class Trace {
  readonly #scheduler: Scheduler;
  readonly #write: ((line: string) => void) | undefined;

  constructor(scheduler: Scheduler, write: ((line: string) => void) | undefined) {
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
