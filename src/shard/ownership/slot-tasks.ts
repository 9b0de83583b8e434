// The work of a shard on its slots, a few at a time: openings, releases and handovers, as the plan wants them. It
// keeps: one task at a time on a slot; no more of a kind in flight than its bound; a slot whose task failed waits
// before the plan may name it again, twice as long after each failure.
//
// A plan replaces the tasks of the one before that have not begun: each round plans with what it knows by then.

import { backoffMs } from '../../core/async/backoff.ts';
import type { Clock } from '../../core/async/clock.ts';

/**
 * Openings (and releases that hand nothing over) in flight. An opening mostly waits for the store (its claim, its
 * checkpoint, the end of its log), so several share that wait; but each also replays entries on the one thread that
 * serves the other slots, so all slots of a dead shard at once would be too many.
 */
export const OPENINGS_MAX = 16;
/**
 * Longer than a hiccup of the store, and far shorter than a request's deadline: one failure costs a client only a wait.
 */
export const BACKOFF_MS_FIRST = 500;
/**
 * Slots that cannot be opened cost the store little by then, and are served within this time after the cause has gone.
 */
export const BACKOFF_MS_MAX = 30_000;

export interface SlotTask {
  readonly slot: number;
  /** A handover to another shard is `moving`; anything else is `opening`. */
  readonly kind: 'opening' | 'moving';
  readonly run: () => Promise<void>;
}

export interface SlotTasksPorts {
  readonly clock: Clock;
  /** How many handovers may be in flight now. */
  readonly movingMax: () => number;
  readonly onFailed: (failure: { readonly slot: number; readonly error: unknown; readonly retryInMs: number }) => void;
}

const BACKOFF = { firstMs: BACKOFF_MS_FIRST, maxMs: BACKOFF_MS_MAX };

interface Pause {
  readonly untilMs: number;
  /** Tries in a row that have failed. */
  readonly failures: number;
}

export class SlotTasks {
  readonly #ports: SlotTasksPorts;
  #planned: readonly SlotTask[] = [];
  readonly #inFlight = new Map<number, Promise<void>>();
  readonly #counts: Record<SlotTask['kind'], number> = { opening: 0, moving: 0 };
  readonly #backoffs = new Map<number, Pause>();
  #failures = 0;

  constructor(ports: SlotTasksPorts) {
    this.#ports = ports;
  }

  /** Tasks that failed so far. */
  get failures(): number {
    return this.#failures;
  }

  /** Handovers in flight. */
  get moving(): number {
    return this.#counts.moving;
  }

  /** Slots that no plan should name now: they are worked on, or wait after a failure. */
  busySlots(): ReadonlySet<number> {
    const nowMs = this.#ports.clock.monotonicMs();
    const busy = new Set(this.#inFlight.keys());
    for (const [slot, { untilMs }] of this.#backoffs) if (nowMs < untilMs) busy.add(slot);
    return busy;
  }

  /** Replaces what has not begun, and begins as much as the bounds allow: the rest as these end. */
  plan(tasks: readonly SlotTask[]): void {
    this.#planned = tasks;
    this.#begin();
  }

  /** Begins nothing more. What is in flight goes on. */
  clear(): void {
    this.#planned = [];
  }

  /** Begins nothing more, and no slot waits for its former failures. */
  reset(): void {
    this.clear();
    this.#backoffs.clear();
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight.values());
  }

  #begin(): void {
    const deferred: SlotTask[] = [];
    for (const task of this.#planned) {
      if (this.#inFlight.has(task.slot)) continue;
      if (this.#counts[task.kind] >= this.#maxOf(task.kind)) {
        deferred.push(task);
        continue;
      }
      this.#counts[task.kind] += 1;
      this.#inFlight.set(
        task.slot,
        this.#run(task).finally(() => this.#end(task)),
      );
    }
    this.#planned = deferred;
  }

  #maxOf(kind: SlotTask['kind']): number {
    return kind === 'moving' ? this.#ports.movingMax() : OPENINGS_MAX;
  }

  /** Never rejects. */
  async #run({ slot, run }: SlotTask): Promise<void> {
    try {
      await run();
      this.#backoffs.delete(slot);
    } catch (error) {
      this.#fail(slot, error);
    }
  }

  #end({ slot, kind }: SlotTask): void {
    this.#inFlight.delete(slot);
    this.#counts[kind] -= 1;
    this.#begin();
  }

  #fail(slot: number, error: unknown): void {
    const failures = this.#backoffs.get(slot)?.failures ?? 0;
    const delayMs = backoffMs(BACKOFF, failures);
    this.#backoffs.set(slot, { untilMs: this.#ports.clock.monotonicMs() + delayMs, failures: failures + 1 });
    this.#failures += 1;
    this.#ports.onFailed({ slot, error, retryInMs: delayMs });
  }
}
