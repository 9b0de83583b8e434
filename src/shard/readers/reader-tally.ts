// What the readers of a shard have done: counts for the metrics, and for the operator by tenant. They outlive the
// readers themselves, which end at whatever goes wrong.

import { GrantdError } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { CallName } from '../shard.ts';
import { ShardFailure } from '../shard.ts';

/** `check`: a single one. `bulk`: several checks, or checks by name. */
export type ReaderCallKind = 'check' | 'bulk' | 'listing';

export const kindOf = (name: CallName): ReaderCallKind =>
  name === 'checkBulk' || name === 'checkNamed' ? 'bulk' : 'listing';

export type ReaderEnd =
  | 'idle'
  /** The shard reads for as many tenants as it may, and another one came. */
  | 'displaced'
  | 'stopping'
  /** The owner did not answer in time, or may not answer under its lease. */
  | 'owner-unreachable'
  /** Another shard owns the slot now. */
  | 'owner-moved'
  /** The owner is the same shard in another epoch. */
  | 'epoch'
  /** The owner no longer keeps what the reader lacks. */
  | 'commits-missing'
  | 'failed';

/** Why the owner's answer, or its absence, ends a reader. */
export function endedBy(error: unknown): ReaderEnd {
  if (error instanceof GrantdError) return error.code === 'cursor-too-old' ? 'commits-missing' : 'failed';
  if (!(error instanceof ShardFailure)) return 'failed';
  if (error.kind === 'not-serving') return 'owner-unreachable';
  if (error.kind === 'wrong-owner') return 'owner-moved';
  return error.kind === 'handle-unknown' ? 'epoch' : 'failed';
}

/** Of one tenant at this shard, since the shard started to read for it. */
export class ReaderTally {
  /** Calls that were answered. */
  calls = 0;
  /** Questions to the owner for entries that it lacked. */
  readIndexes = 0;
  /** How often a reader of the tenant began. */
  begun = 0;
  /** Calls that waited when a reader ended: fronts make them at the owner. */
  handedOver = 0;
  readonly #all: ReaderTallies;

  constructor(all: ReaderTallies) {
    this.#all = all;
  }

  answers(kind: ReaderCallKind): void {
    this.calls += 1;
    this.#all.calls[kind] += 1;
  }

  /** `waiting`: calls, and reads of the store, that it covers. */
  confirms(waiting: number): void {
    this.readIndexes += 1;
    this.#all.metrics.readIndexCalls.observe(waiting);
  }

  /** `entries`: of the log, between what the reader had and what the owner answered. */
  catchesUp(entries: number): void {
    this.#all.metrics.readIndexLagEntries.observe(entries);
  }

  ends(reason: ReaderEnd, waiting: number): void {
    this.handedOver += waiting;
    this.#all.metrics.readersEnded.inc({ reason });
  }
}

export class ReaderTallies {
  readonly metrics: Metrics;
  /** Since the metrics were last read. */
  readonly calls: Record<ReaderCallKind, number> = { check: 0, bulk: 0, listing: 0 };
  readonly #max: number;
  /** The tenant that began last is at the end. */
  readonly #tallies = new Map<TenantId, ReaderTally>();

  /** `max`: tenants whose counts are kept. */
  constructor(metrics: Metrics, max: number) {
    this.metrics = metrics;
    this.#max = max;
  }

  /** For a reader that begins. */
  begin(tenantId: TenantId): ReaderTally {
    const tally = this.#tallies.get(tenantId) ?? new ReaderTally(this);
    this.#tallies.delete(tenantId);
    this.#tallies.set(tenantId, tally);
    tally.begun += 1;
    const [oldest] = this.#tallies.keys();
    if (this.#tallies.size > this.#max && oldest !== undefined) this.#tallies.delete(oldest);
    return tally;
  }

  report(): void {
    for (const kind of ['check', 'bulk', 'listing'] as const) {
      this.metrics.readerCalls.inc({ kind }, this.calls[kind]);
      this.calls[kind] = 0;
    }
  }
}
