// Virtual time: one queue of events for everything that happens in a run, ordered by time and, at the same time, by a
// seeded draw. It keeps: one event at a time; every promise that an event settles is followed to its end before the
// next event begins; nothing outside the queue and the seed decides what comes next, so a run can be repeated exactly.

import type { SeededRandom } from './seeded-random.ts';

export interface ScheduledEvent {
  readonly atMs: number;
  readonly tie: number;
  readonly order: number;
  /** Undefined: cancelled. */
  run: (() => void) | undefined;
}

/** Steps that are handed to the event loop at once. Node settles all promises between two of them. */
const STEPS_AT_ONCE = 128;

const precedes = (left: ScheduledEvent, right: ScheduledEvent): boolean => {
  if (left.atMs !== right.atMs) return left.atMs < right.atMs;
  return left.tie === right.tie ? left.order < right.order : left.tie < right.tie;
};

export class Scheduler {
  #nowMs = 0;
  #order = 0;
  #events = 0;
  #hash = 0x811c9dc5;
  readonly #heap: ScheduledEvent[] = [];
  readonly #random: SeededRandom;
  /** What a synchronous step has thrown. */
  onThrown: (error: unknown) => void = () => {};

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Events that have happened. */
  get events(): number {
    return this.#events;
  }

  /** Over the times and order of all events until now, and whatever was mixed in. */
  get hash(): number {
    return this.#hash >>> 0;
  }

  mix(value: number): void {
    this.#hash = Math.imul(this.#hash ^ (value | 0), 0x01000193);
  }

  mixText(text: string): void {
    for (let index = 0; index < text.length; index += 1) this.mix(text.charCodeAt(index));
  }

  after(delayMs: number, run: () => void): ScheduledEvent {
    const event = { atMs: this.#nowMs + Math.max(0, delayMs), tie: this.#random.word(), order: this.#order, run };
    this.#order += 1;
    this.#push(event);
    return event;
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Runs events until the condition holds (asked between events), time is over or nothing is left. True: it holds. */
  runUntil(done: () => boolean, endMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      let over = false;
      const step = (): void => {
        if (over) return;
        const holds = done();
        const next = holds ? undefined : this.#take(endMs);
        if (next === undefined) {
          over = true;
          resolve(holds);
          return;
        }
        this.#run(next);
      };
      const batch = (): void => {
        if (over) return;
        for (let count = 0; count < STEPS_AT_ONCE; count += 1) setImmediate(step);
        setImmediate(batch);
      };
      setImmediate(batch);
    });
  }

  #run(event: ScheduledEvent): void {
    this.#nowMs = event.atMs;
    this.#events += 1;
    this.mix(event.atMs * 1000);
    this.mix(event.order);
    try {
      event.run?.();
    } catch (error) {
      this.onThrown(error);
    }
  }

  /** The next event that is not cancelled. */
  #take(endMs: number): ScheduledEvent | undefined {
    while (true) {
      const [first] = this.#heap;
      if (first === undefined || first.atMs > endMs) return undefined;
      this.#pop();
      if (first.run !== undefined) return first;
    }
  }

  #push(event: ScheduledEvent): void {
    const heap = this.#heap;
    let place = heap.length;
    heap.push(event);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !precedes(event, parent)) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let place = 0;
    while (true) {
      let below = 2 * place + 1;
      let child = heap[below];
      const right = heap[below + 1];
      if (child !== undefined && right !== undefined && precedes(right, child)) {
        below += 1;
        child = right;
      }
      if (child === undefined || !precedes(child, last)) break;
      heap[place] = child;
      place = below;
    }
    heap[place] = last;
  }
}
