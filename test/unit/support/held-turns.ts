// Turns that never come by themselves: a test lets the work of a key go on.

import { Crowding, type Step, type Turns } from '../../../src/core/async/turns.ts';

export class HeldTurns implements Turns {
  readonly crowding = new Crowding();
  /** False: work runs at once. */
  holding = true;
  /** Whether the parser of Node's server is given the heads of requests at once, all the same. */
  readsHeads = true;
  #held: { readonly key: string; readonly step: Step }[] = [];

  get waiting(): number {
    return this.#held.length;
  }

  /** Of the work that waits, in the order in which it came. */
  get keys(): readonly string[] {
    return this.#held.map(({ key }) => key);
  }

  idle(): boolean {
    return !this.holding;
  }

  hasTime(): boolean {
    return !this.holding;
  }

  run(key: string, step: Step): void {
    // Without it nothing would be read that could wait under another key.
    if (this.readsHeads && key.startsWith('address ')) {
      while (step()) {
        // There is more.
      }
      return;
    }
    if (this.holding || step()) this.#held.push({ key, step });
  }

  atEnd(send: () => void): void {
    setImmediate(send);
  }

  /** One step of all that waits, or of what waits under one key. */
  release(only?: string): void {
    const due = this.#held;
    this.#held = [];
    for (const { key, step } of due) {
      if ((only !== undefined && key !== only) || step()) this.#held.push({ key, step });
    }
  }
}
