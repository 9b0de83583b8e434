// The tenants that this shard reads for beside their owners. Invariants: their number is bounded; one that no front has
// used for a while is dropped; a tenant has one reader at a time, and callers that come while it begins share it.

import type { Timer } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { TenantId } from '../../core/ids.ts';
import { slotOfTenant } from '../../core/slots.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { type FollowAnswer, type ReaderStatus, ShardFailure } from '../shard.ts';
import { type ReaderDependencies, ReaderTallies, TenantReader } from './tenant-reader.ts';

/** Readers are for large tenants: of these, no process has more than some tens. */
const READERS_MAX = 1000;
/** Readers in use ask their owners this often at least. */
const SWEEP_MS = 1000;
/** What an operator gets of each shard. */
const READERS_LISTED_MAX = 100;

export interface ReadersDependencies extends ReaderDependencies {
  readonly slots: number;
  /** Where this shard believes the owner of a slot to be: host:port; empty or undefined: unknown. */
  readonly ownerOf: (slot: number) => string | undefined;
  readonly metrics: Metrics;
}

export class Readers {
  readonly #dependencies: ReadersDependencies;
  readonly #readers = new Map<TenantId, TenantReader>();
  readonly #beginning = new Map<TenantId, Promise<TenantReader>>();
  readonly #tallies: ReaderTallies;
  #sweep: Timer | undefined;
  #closed = false;

  constructor(dependencies: ReadersDependencies) {
    this.#dependencies = dependencies;
    this.#tallies = new ReaderTallies(dependencies.metrics, READERS_MAX);
  }

  report(): void {
    this.#dependencies.metrics.readerTenants.inc(this.#readers.size);
    this.#tallies.report();
  }

  /** The busiest ones. */
  list(): readonly ReaderStatus[] {
    return Array.from(this.#readers.values(), ({ tenantId, slot, epoch, lastSeq: position, tally }) => {
      const { calls, readIndexes, handedOver, begun } = tally;
      return { tenantId, slot, epoch, position, calls, readIndexes, handedOver, begun };
    })
      .sort((left, right) => right.calls - left.calls)
      .slice(0, READERS_LISTED_MAX);
  }

  /** The reader of a tenant, which begins if need be. Rejects as the owner does. */
  async open(tenantId: TenantId): Promise<TenantReader> {
    const reader = this.#readers.get(tenantId);
    if (reader !== undefined) return reader;
    let beginning = this.#beginning.get(tenantId);
    if (beginning === undefined) {
      beginning = this.#begin(tenantId).finally(() => this.#beginning.delete(tenantId));
      this.#beginning.set(tenantId, beginning);
    }
    return beginning;
  }

  async #begin(tenantId: TenantId): Promise<TenantReader> {
    if (this.#closed) throw new ShardFailure('not-serving', 'The shard is stopping.');
    if (this.#beginning.size >= READERS_MAX) {
      throw new GrantdError('overloaded', 'The shard begins to read for too many tenants.');
    }
    if (this.#readers.size + this.#beginning.size >= READERS_MAX) this.#endLeastUsed();
    const { slots, ownerOf } = this.#dependencies;
    const slot = slotOfTenant(tenantId, slots);
    const address = ownerOf(slot);
    if (address === undefined || address === '') {
      throw new ShardFailure('not-serving', `The owner of slot ${slot} is not known.`);
    }
    const { answer, address: answeredBy } = await this.#askForBeginning(tenantId, address);
    if (this.#closed) throw new ShardFailure('not-serving', 'The shard is stopping.');
    const reader: TenantReader = new TenantReader(
      { tenantId, slot, address: answeredBy, tally: this.#tallies.begin(tenantId) },
      answer,
      this.#dependencies,
      () => {
        if (this.#readers.get(tenantId) === reader) this.#readers.delete(tenantId);
      },
    );
    this.#readers.set(tenantId, reader);
    this.#sweep ??= this.#dependencies.clock.setTimer(() => this.#look(), SWEEP_MS);
    return reader;
  }

  /** Otherwise each further tenant would be refused for as long as these are used at all. */
  #endLeastUsed(): void {
    let least: TenantReader | undefined;
    for (const reader of this.#readers.values()) {
      if (least === undefined || reader.usedAtMs < least.usedAtMs) least = reader;
    }
    least?.end('displaced');
  }

  /** What this shard knows of owners may be some seconds old: then the one that was asked names the right one. */
  async #askForBeginning(
    tenantId: TenantId,
    address: string,
  ): Promise<{ readonly answer: FollowAnswer; readonly address: string }> {
    const { owners } = this.#dependencies;
    const question = { tenantId, epoch: 0, seq: 0, advance: false };
    try {
      return { answer: await owners.follow(address, question), address };
    } catch (error) {
      const named = error instanceof ShardFailure && error.kind === 'wrong-owner' ? error.owner?.address : undefined;
      if (named === undefined || named === '' || named === address) throw error;
      return { answer: await owners.follow(named, question), address: named };
    }
  }

  #look(): void {
    this.#sweep = undefined;
    const { clock, readerLimits } = this.#dependencies;
    const nowMs = clock.monotonicMs();
    for (const reader of [...this.#readers.values()]) {
      if (nowMs - reader.usedAtMs > readerLimits.idleMs) reader.end('idle');
      else reader.keepUp();
    }
    if (this.#readers.size > 0) this.#sweep = clock.setTimer(() => this.#look(), SWEEP_MS);
  }

  /** Ends all, for good. */
  close(): void {
    this.#closed = true;
    this.#sweep?.cancel();
    for (const reader of [...this.#readers.values()]) reader.end('stopping');
  }
}
