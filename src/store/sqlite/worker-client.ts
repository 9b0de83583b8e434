// The main side of one worker thread. The calls of one turn of the event loop travel as one message. Calls in flight
// are bounded; a call beyond the bound is refused with `overloaded` before it does anything. A call whose deadline
// passes fails with `unavailable`, and its late result is dropped, but it counts until the worker has replied. If a
// worker dies, it is started again, and its calls in flight fail with `unavailable`.

import { Worker } from 'node:worker_threads';
import { assert } from '../../core/assert.ts';
import type { Clock, Timer } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DeadlineMs } from '../store.ts';
import { StoreTrouble } from '../store-adapter.ts';
import { directoryError } from './data-directory.ts';
import type {
  CallMap,
  Failure,
  FromWorker,
  Reply,
  Request,
  ToWorker,
  WorkerSettings,
  WriterFindings,
} from './messages.ts';
import { Damage, describeError } from './sqlite-errors.ts';

/** Calls in flight per worker: a few seconds of work for a slow disk. */
const CALLS_MAX = 8192;
/** Characters of text in flight per worker, roughly; a single larger call is allowed when it is alone. */
const WEIGHT_MAX = 128 * 1024 * 1024;
/** A deadline further away than this is checked again after this time. */
const SWEEP_INTERVAL_MAX_MS = 3_600_000;
const RESTART_DELAY_MS = 1000;
/** A lasting failure is logged again after this time. */
const FAILURE_LOG_INTERVAL_MS = 10_000;
/** How long closing waits for the worker to finish its current work. */
const CLOSE_TIMEOUT_MS = 10_000;

interface CallInFlight {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: GrantdError) => void;
  readonly deadline: DeadlineMs;
  readonly weight: number;
  expired: boolean;
}

export interface WorkerClientDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A thread's allocations die with their message; a larger young generation would only be memory that is never returned.
 */
const YOUNG_GENERATION_MIB = 8;

export class WorkerClient<Each extends CallMap> {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #settings: Omit<WorkerSettings, 'isFirst'>;
  readonly #damage: Damage;
  readonly #calls = new Map<number, CallInFlight>();
  #worker: Worker | undefined;
  #outbox: Request[] = [];
  #weight = 0;
  #lastId = 0;
  #closed = false;
  #isFirst = true;
  #sweep: { readonly atMs: number; readonly timer: Timer } | undefined;
  #failing: { readonly reason: string; readonly loggedAtMs: number } | undefined;

  constructor(dependencies: WorkerClientDependencies, settings: Omit<WorkerSettings, 'isFirst'>) {
    this.#clock = dependencies.clock;
    this.#log = dependencies.log.child({ store: settings.mode });
    this.#settings = settings;
    this.#damage = new Damage(settings.damage);
  }

  /**
   * Resolves when the worker is ready, with what it found (only the writer looks). Rejects if the database
   * cannot be used.
   */
  start(): Promise<WriterFindings> {
    const worker = new Worker(new URL('./worker/worker.ts', import.meta.url), {
      name: `grantd-store-${this.#settings.mode}`,
      workerData: { ...this.#settings, isFirst: this.#isFirst } satisfies WorkerSettings,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB },
    });
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'replies') {
          this.#take(message.replies);
        } else if (message.kind === 'ready') {
          this.#worker = worker;
          this.#isFirst = false;
          // The store was closed while the worker was being restarted.
          if (this.#closed) worker.postMessage({ kind: 'close' } satisfies ToWorker);
          resolve(message.found);
        } else {
          reject(directoryError(this.#settings.directory, message.message, new Error(message.cause)));
        }
      });
      worker.on('error', (error) => this.#log.error({ err: error }, 'SQLite worker thread failed'));
      worker.on('exit', () => {
        reject(directoryError(this.#settings.directory, 'the SQLite worker thread exited'));
        if (this.#worker === worker) this.#onExit();
      });
    });
  }

  /** `weight`: the characters of text that the call carries, roughly. */
  call<Name extends keyof Each & string>(
    name: Name,
    args: Each[Name]['args'],
    deadline: DeadlineMs,
    weight = 0,
  ): Promise<Each[Name]['result']> {
    return this.#send(name, args, deadline, weight);
  }

  /** The call as a method of the port, which takes the deadline as its last argument. */
  forward<Name extends keyof Each & string>(
    name: Name,
  ): (...args: readonly [...Each[Name]['args'], DeadlineMs]) => Promise<Each[Name]['result']> {
    return (...args) => {
      const deadline: unknown = args.at(-1);
      assert(typeof deadline === 'number', 'a call of the port ends with its deadline');
      return this.#send(name, args.slice(0, -1), deadline, 0);
    };
  }

  #send<Name extends keyof Each & string>(
    name: Name,
    args: readonly unknown[],
    deadline: DeadlineMs,
    weight: number,
  ): Promise<Each[Name]['result']> {
    if (this.#closed) return Promise.reject(new GrantdError('unavailable', 'The store is closed.'));
    if (deadline <= this.#clock.monotonicMs()) {
      return Promise.reject(new GrantdError('unavailable', 'The deadline passed before the call reached the store.'));
    }
    if (this.#worker === undefined) {
      return Promise.reject(new GrantdError('unavailable', 'The store is restarting.'));
    }
    const heavy = this.#calls.size > 0 && this.#weight + weight > WEIGHT_MAX;
    if (this.#calls.size >= CALLS_MAX || heavy) {
      return Promise.reject(new GrantdError('overloaded', 'The store has more work than it can handle.'));
    }
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#calls.set(this.#lastId, { resolve, reject, deadline, weight, expired: false });
      this.#weight += weight;
      this.#outbox.push({ id: this.#lastId, name, args });
      if (this.#outbox.length === 1) this.#clock.setImmediate(() => this.#flush());
      this.#scheduleSweep(deadline);
    });
  }

  /** Lets earlier calls finish, then ends the thread. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    this.#flush();
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    const timer = this.#clock.setTimer(() => void worker.terminate(), CLOSE_TIMEOUT_MS);
    worker.postMessage({ kind: 'close' } satisfies ToWorker);
    await exited;
    timer.cancel();
    this.#sweep?.timer.cancel();
  }

  #flush(): void {
    const requests = this.#outbox;
    if (requests.length === 0) return;
    this.#outbox = [];
    this.#worker?.postMessage({ kind: 'calls', requests } satisfies ToWorker);
  }

  #take(replies: readonly Reply[]): void {
    for (const reply of replies) {
      const call = this.#calls.get(reply.id);
      if (call === undefined) continue;
      this.#calls.delete(reply.id);
      this.#weight -= call.weight;
      if ('failure' in reply) {
        this.#noteFailure(reply.failure);
        if (!call.expired) call.reject(unavailable(reply.failure));
      } else {
        if (this.#failing !== undefined) this.#noteRecovery();
        if (!call.expired) call.resolve(reply.result);
      }
    }
  }

  /**
   * One timer for the earliest deadline; when it fires, all overdue calls fail and the timer is set for the next
   * deadline.
   */
  #scheduleSweep(atMs: number): void {
    if (this.#sweep !== undefined && this.#sweep.atMs <= atMs) return;
    this.#sweep?.timer.cancel();
    const delayMs = Math.min(Math.max(0, atMs - this.#clock.monotonicMs()), SWEEP_INTERVAL_MAX_MS);
    this.#sweep = { atMs, timer: this.#clock.setTimer(() => this.#rejectExpired(), delayMs) };
  }

  #rejectExpired(): void {
    this.#sweep = undefined;
    const nowMs = this.#clock.monotonicMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const call of this.#calls.values()) {
      if (call.expired) continue;
      if (call.deadline > nowMs) {
        nextMs = Math.min(nextMs, call.deadline);
        continue;
      }
      call.expired = true;
      call.reject(new GrantdError('unavailable', 'The store did not respond in time; the outcome is not known.'));
    }
    if (nextMs !== Number.POSITIVE_INFINITY) this.#scheduleSweep(nextMs);
  }

  #onExit(): void {
    this.#worker = undefined;
    this.#outbox = [];
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#weight = 0;
    for (const call of calls) {
      if (!call.expired) call.reject(unavailable({ reason: 'the SQLite worker thread exited', message: '' }));
    }
    if (!this.#closed) this.#restartLater();
  }

  #restartLater(): void {
    this.#log.error('SQLite worker thread exited; restarting it');
    this.#clock.setTimer(() => {
      if (this.#closed) return;
      this.start().catch((error: unknown) => {
        this.#log.error({ reason: describeError(error) }, 'cannot start a SQLite worker thread');
        this.#restartLater();
      });
    }, RESTART_DELAY_MS);
  }

  #noteFailure(failure: Failure): void {
    // The store logs damage, once for all threads.
    if (this.#damage.reason !== undefined) return;
    const nowMs = this.#clock.monotonicMs();
    const known = this.#failing?.reason === failure.reason ? this.#failing.loggedAtMs : Number.NEGATIVE_INFINITY;
    if (nowMs - known < FAILURE_LOG_INTERVAL_MS) return;
    this.#failing = { reason: failure.reason, loggedAtMs: nowMs };
    this.#log.error({ reason: failure.reason, cause: failure.message }, `the store is failing: ${failure.reason}`);
  }

  #noteRecovery(): void {
    this.#log.info({ reason: this.#failing?.reason }, 'the store has recovered');
    this.#failing = undefined;
  }
}

function unavailable(failure: Failure): GrantdError {
  return new GrantdError('unavailable', 'The store failed; the outcome of a write is not known.', {
    cause: new StoreTrouble(failure.reason, failure.message),
  });
}
