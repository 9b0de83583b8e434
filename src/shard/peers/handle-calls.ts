// The common part of tenant and operator calls on one connection: its handles, the owner of a tenant, reads and writes
// under a handle. Invariant: a call is validated when it arrives and again after its last await, so that an ended
// tenure never answers.

import { GrantdError } from '../../core/errors.ts';
import type { IdFactory } from '../../core/ids.ts';
import { slotOfTenant } from '../../core/slots.ts';
import { appendTraced, type Proposal } from '../log/append-batch.ts';
import { collectionOperation, withinOperation } from '../log/grant-collection.ts';
import type { Tenure } from '../log/tenure.ts';
import type { CollectedTuple, Decide, OperationResult } from '../log/write-decisions.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { Attempt } from '../shard.ts';
import { type Handle, HandleTable } from './handles.ts';
import type { Listing, ListingContext } from './listings.ts';

/** UTF-8 bytes of an encoded operation, without the strings of the request; a character takes at most 6 (an escape). */
const OPERATION_BYTES = 1024;
const BYTES_PER_CHARACTER = 6;

/** What the log must have room for. */
export type OperationSize = Pick<Proposal, 'bytesMax' | 'changesMax'>;

export interface HandleCallsDependencies extends ListingContext {
  readonly slots: number;
  readonly ids: IdFactory;
  /** The tenure that serves a slot; throws `wrong-owner` or `not-serving`. */
  readonly tenureOf: (slot: number) => Tenure;
  /** Deadline of a request: after that no front waits for its response. */
  readonly deadlineMs: number;
}

/** The tenant and actor of a write. */
interface Writer {
  readonly tenure: Tenure;
  readonly memory: { readonly tenantId: TenantMemory['tenantId'] };
  readonly actor: string;
}

export class HandleCalls {
  readonly handles: HandleTable;
  readonly #dependencies: HandleCallsDependencies;

  constructor(dependencies: HandleCallsDependencies) {
    this.#dependencies = dependencies;
    this.handles = new HandleTable(dependencies.clock);
  }

  tenureOf(tenantId: string): Tenure {
    return this.#dependencies.tenureOf(slotOfTenant(tenantId, this.#dependencies.slots));
  }

  /** Submits the only operation of a call. */
  submit(of: Writer, attempt: Attempt, characters: number, decide: Decide): Promise<OperationResult> {
    return appendTraced(1, () => this.enqueue(of, attempt, 0, characters, decide));
  }

  enqueue(of: Writer, attempt: Attempt, index: number, characters: number, decide: Decide): Promise<OperationResult> {
    const bytesMax = OPERATION_BYTES + BYTES_PER_CHARACTER * characters;
    return this.#enqueue(of, attempt, index, { bytesMax }, decide);
  }

  /** Submits the only operation of a call, which has many changes. */
  submitSized(of: Writer, attempt: Attempt, size: OperationSize, decide: Decide): Promise<OperationResult> {
    return appendTraced(1, () => this.#enqueue(of, attempt, 0, size, decide));
  }

  /** Collects grants that have expired, in operations of the system. */
  async collect(
    { tenure, memory }: Pick<Handle, 'tenure' | 'memory'>,
    { expiresAtMs }: Attempt,
    tuples: readonly CollectedTuple[],
  ): Promise<void> {
    const { ids } = this.#dependencies;
    for (let rest = tuples; rest.length > 0; ) {
      const count = withinOperation(rest.map(({ request }) => request)).length;
      const requestId = ids.create('req');
      await tenure.submit(collectionOperation(memory, rest.slice(0, count), { requestId, expiresAtMs }));
      rest = rest.slice(count);
    }
  }

  #enqueue(
    of: Writer,
    { requestId, expiresAtMs }: Attempt,
    index: number,
    size: OperationSize,
    decide: Decide,
  ): Promise<OperationResult> {
    const { tenantId } = of.memory;
    return of.tenure.submit({ tenantId, actor: of.actor, requestId, index, expiresAtMs, ...size, decide });
  }

  /**
   * A read under a handle. The handle is validated at the start and before the reply; the read is abandoned at its
   * deadline.
   */
  async read<Answer>(number: number, read: (listing: Listing) => Promise<Answer>): Promise<Answer> {
    const handle = this.handles.use(number);
    const answer = await read(this.listing(handle));
    this.handles.assertGood(handle);
    return answer;
  }

  listing(handle: Handle): Listing {
    const { clock, deadlineMs } = this.#dependencies;
    const untilMs = clock.monotonicMs() + deadlineMs;
    const assertWanted = (): void => {
      this.handles.assertGood(handle);
      if (clock.monotonicMs() >= untilMs)
        throw new GrantdError('unavailable', 'Reading the store took too long. Nothing was changed.');
    };
    return { tenure: handle.tenure, memory: handle.memory, assertWanted };
  }
}
