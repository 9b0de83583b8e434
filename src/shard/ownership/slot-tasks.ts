// Runs the tasks of a shard on its slots: openings, releases and handovers, as planned. Invariant: one task at a time
// per slot; no more tasks of a kind in flight than its bound; a slot whose task failed waits before a plan may name it
// again, twice as long after each failure.
//
// A new plan replaces all tasks of the previous one that have not started, so that each round acts on current
// knowledge.

import { backoffMs, type Clock } from '../../core/async/clock.ts';

/**
 * Openings in flight, including releases without a successor. An opening mostly waits for the store (its claim, its
 * checkpoint, the end of its log), so several share that wait. But each also replays entries on the thread that serves
 * the other slots, so opening all slots of a dead shard at once would be too many.
 */
export const OPENINGS_MAX = 16;
/**
 * Longer than a hiccup of the store, and far shorter than a request's deadline: one failure costs a client only a wait.
 */
export const BACKOFF_MS_FIRST = 500;
/**
 * Slots that cannot be opened then cost the store little. Once the cause has gone, they are served within this time.
 */
export const BACKOFF_MS_MAX = 30_000;

export interface SlotTask {
  readonly slot: number;
  /**
   * `moving`: a handover to another shard. `unawaited`: the opening of a slot that no request waits for. `opening`: any
   * other task.
   */
  readonly kind: 'opening' | 'unawaited' | 'moving';
  readonly run: () => Promise<void>;
}

export interface SlotTasksPorts {
  readonly clock: Clock;
  /** Current maximum of handovers in flight. */
  readonly movingMax: () => number;
  /** Current maximum of openings in flight before one of a slot that no request waits for begins. */
  readonly unawaitedMax: () => number;
  readonly onFailed: (failure: { readonly slot: number; readonly error: unknown; readonly retryInMs: number }) => void;
}

const BACKOFF = { firstMs: BACKOFF_MS_FIRST, maxMs: BACKOFF_MS_MAX };

interface Pause {
  readonly untilMs: number;
  /** Consecutive failed attempts. */
  readonly failures: number;
}

export class SlotTasks {
  readonly #ports: SlotTasksPorts;
  #planned: readonly SlotTask[] = [];
  readonly #inFlight = new Map<number, Promise<void>>();
  readonly #counts: Record<SlotTask['kind'], number> = { opening: 0, unawaited: 0, moving: 0 };
  readonly #backoffs = new Map<number, Pause>();
  #failures = 0;
  #firstFailure: unknown;

  constructor(ports: SlotTasksPorts) {
    this.#ports = ports;
  }

  /** Number of tasks that have failed so far. */
  get failures(): number {
    return this.#failures;
  }

  get firstFailure(): unknown {
    return this.#firstFailure;
  }

  get moving(): number {
    return this.#counts.moving;
  }

  /** Slots that a plan should not name now: they have a task in flight, or wait after a failure. */
  busySlots(): ReadonlySet<number> {
    const nowMs = this.#ports.clock.monotonicMs();
    const busy = new Set(this.#inFlight.keys());
    for (const [slot, { untilMs }] of this.#backoffs) if (nowMs < untilMs) busy.add(slot);
    return busy;
  }

  /** Replaces the tasks that have not started, and starts as many as the bounds allow. The rest start as these end. */
  plan(tasks: readonly SlotTask[]): void {
    this.#planned = tasks;
    this.#begin();
  }

  /** Starts no further task. Tasks in flight continue. */
  clear(): void {
    this.#planned = [];
  }

  /** Starts no further task, and ends all waits after failures. */
  reset(): void {
    this.clear();
    this.#backoffs.clear();
  }

  /** Resolves when no task is in flight. */
  async idle(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight.values());
  }

  #begin(): void {
    const deferred: SlotTask[] = [];
    for (const task of this.#planned) {
      if (this.#inFlight.has(task.slot)) continue;
      if (!this.#hasRoom(task.kind)) {
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

  #hasRoom(kind: SlotTask['kind']): boolean {
    const { opening, unawaited, moving } = this.#counts;
    if (kind === 'moving') return moving < this.#ports.movingMax();
    return opening + unawaited < (kind === 'opening' ? OPENINGS_MAX : this.#ports.unawaitedMax());
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
    if (this.#failures === 0) this.#firstFailure = error;
    this.#failures += 1;
    this.#ports.onFailed({ slot, error, retryInMs: delayMs });
  }
}
