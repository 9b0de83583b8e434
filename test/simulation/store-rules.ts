// The rules that the rows of the store keep at every moment, whichever process writes them and whatever its clocks say.
// They are judged where a write takes effect, so that a broken one is told at once, and not only where it comes to harm
// a client: no slot is claimed from a member that is not dead, the checkpoint of a slot never goes back, nothing beyond
// it is trimmed, and nothing is trimmed whose operation ids a new owner has to know.

import type { LogRecord, Store } from '../../src/store/store.ts';
import type { MemoryStore } from '../kit/store/memory-store.ts';
import { createGatedStore } from '../kit/store/store-gate.ts';
import type { Scheduler } from './scheduler.ts';
import { WALL_START_MS } from './simulated-process.ts';

/** Monotonic clocks of the simulation run up to three thousandths fast. */
const CLOCK_TOLERANCE = 0.99;

/** By how much two clocks that are compared are known less well. */
const SAMPLE_MS_MAX = 3000;

export interface StoreRulesOptions {
  readonly segmentSize: number;
  readonly operationsKeptMs: number;
  /** How far the time of a log may be ahead of the world. Infinite: by any time. */
  readonly clockSkewMsMax: number;
}

export class StoreRules {
  /** The store, under the rules. */
  readonly store: Store;
  readonly #memory: MemoryStore;
  readonly #scheduler: Scheduler;
  readonly #options: StoreRulesOptions;
  readonly #report: (failure: string) => void;
  /** By entry id: its operations were decided before. */
  readonly #sentAtMs = new Map<string, number>();

  constructor(
    memory: MemoryStore,
    scheduler: Scheduler,
    options: StoreRulesOptions,
    report: (failure: string) => void,
  ) {
    this.#memory = memory;
    this.#scheduler = scheduler;
    this.#options = options;
    this.#report = report;
    this.store = {
      ...createGatedStore(memory, (_operation, _deadline, run) => run()),
      claimSlot: async (claim, deadline) => {
        const outcome = await memory.claimSlot(claim, deadline);
        if (outcome.applied) this.#judgeClaim(claim.slot, claim.owner, claim.expected?.owner);
        return outcome;
      },
      writeCheckpoint: async (slot, checkpoint, deadline) => {
        const before = this.#checkpointOf(slot);
        await memory.writeCheckpoint(slot, checkpoint, deadline);
        this.#judgeCheckpoint(slot, before, checkpoint.seq);
      },
      recordFirst: async (row, deadline) => {
        const outcome = await memory.recordFirst(row, deadline);
        if (outcome.applied) this.#judgeFirst(row.slot, row.first);
        return outcome;
      },
      removeSegment: (slot, segment, deadline) => {
        this.#judgeRemoval(slot, segment);
        return memory.removeSegment(slot, segment, deadline);
      },
    };
  }

  /** A process sends an append. What it carries was decided before, however late it takes effect. */
  sent(record: LogRecord): void {
    const { entryId } = record;
    this.#judgeTime(record);
    if (!this.#sentAtMs.has(entryId)) this.#sentAtMs.set(entryId, this.#scheduler.nowMs);
  }

  /** The clocks of the others, by which an owner judges its own, are a little off too. */
  #judgeTime({ slot, seq, body }: LogRecord): void {
    const { clockSkewMsMax } = this.#options;
    if (clockSkewMsMax === Number.POSITIVE_INFINITY) return;
    const { base = 0 }: { readonly base?: number } = JSON.parse(body);
    const aheadMs = base / 1000 - (WALL_START_MS + this.#scheduler.nowMs);
    if (aheadMs <= clockSkewMsMax + SAMPLE_MS_MAX) return;
    this.#report(`the log of slot ${slot} is ${Math.round(aheadMs)} ms ahead of the world at seq ${seq}`);
  }

  #judgeClaim(slot: number, owner: string, before: string | undefined): void {
    if (before === undefined || before === owner) return;
    const state = this.#memory.memberOf(before)?.state ?? 'dead';
    if (state !== 'dead') this.#report(`slot ${slot} is claimed from ${before}, which is ${state}`);
  }

  #checkpointOf(slot: number): number {
    return this.#memory.checkpointOf(slot)?.seq ?? 0;
  }

  #judgeCheckpoint(slot: number, before: number, written: number): void {
    const seq = this.#checkpointOf(slot);
    if (seq < before) this.#report(`the checkpoint of slot ${slot} is set back from seq ${before} to ${seq}`);
    else if (seq < written) this.#report(`a checkpoint of slot ${slot} at seq ${written} leaves the one at ${seq}`);
  }

  #judgeFirst(slot: number, first: number): void {
    const seq = this.#checkpointOf(slot);
    if (first > seq + 1) this.#report(`slot ${slot} is trimmed to seq ${first} over its checkpoint at seq ${seq}`);
  }

  #judgeRemoval(slot: number, segment: number): void {
    const { segmentSize, operationsKeptMs } = this.#options;
    for (const seq of this.#memory.seqsOf(slot)) {
      if (Math.floor(seq / segmentSize) !== segment) continue;
      const ageMs = this.#scheduler.nowMs - this.#sentAtOf(slot, seq);
      if (ageMs >= CLOCK_TOLERANCE * operationsKeptMs) continue;
      this.#report(
        `seq ${seq} of slot ${slot} is trimmed ${Math.round(ageMs)} ms after it was sent, and its operations may be repeated for ${operationsKeptMs} ms`,
      );
      return;
    }
  }

  #sentAtOf(slot: number, seq: number): number {
    const entryId = this.#memory.recordOf(slot, seq)?.entryId ?? '';
    return this.#sentAtMs.get(entryId) ?? Number.NEGATIVE_INFINITY;
  }
}
