// Background loading of pages for all slots of a process: a few at a time, the lists of the slots in turn. Whoever adds
// a list ends it when it is of no use any more. A page that is loaded here is loaded as by a call that needs it.

/**
 * Loads in flight. More would not end sooner: each costs the process and the store the same time, which checks need as
 * well.
 */
const PRELOADS_AT_ONCE = 8;

/** Loads one page. Never rejects. */
export type Preload = () => Promise<void>;

export class Preloads {
  readonly #lists: Iterator<Preload>[] = [];
  #running = 0;

  add(list: Iterable<Preload>): void {
    this.#lists.push(list[Symbol.iterator]());
    this.#advance();
  }

  #advance(): void {
    while (this.#running < PRELOADS_AT_ONCE) {
      const list = this.#lists.shift();
      if (list === undefined) return;
      const { done, value } = list.next();
      if (done === true) continue;
      this.#lists.push(list);
      this.#running += 1;
      void value().finally(() => {
        this.#running -= 1;
        this.#advance();
      });
    }
  }
}
