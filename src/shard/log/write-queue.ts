// The operations that wait for an append, by tenant. Invariants: operations of one tenant keep their order; tenants
// take turns, so none waits for more than one operation of each other tenant; what waits is bounded for each tenant and
// for the slot.

import type { TenantId } from '../../core/ids.ts';
import { type Proposal, type QueuedProposal, weightOf } from './append-batch.ts';

/** Waiting operations of a slot, and the weight of those of one tenant. */
const OPERATIONS_MAX = 50_000;
const TENANT_WEIGHT_MAX = 10_000;

interface TenantQueue {
  readonly waiting: QueuedProposal[];
  weight: number;
}

export class WriteQueue {
  readonly #queues = new Map<TenantId, TenantQueue>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Whether an operation of the tenant may wait. */
  accepts({ tenantId }: Proposal): boolean {
    if (this.#length >= OPERATIONS_MAX) return false;
    return (this.#queues.get(tenantId)?.weight ?? 0) < TENANT_WEIGHT_MAX;
  }

  add(waiting: QueuedProposal): void {
    const { tenantId } = waiting;
    const queue = this.#queues.get(tenantId);
    if (queue === undefined) this.#queues.set(tenantId, { waiting: [waiting], weight: weightOf(waiting) });
    else {
      queue.waiting.push(waiting);
      queue.weight += weightOf(waiting);
    }
    this.#length += 1;
  }

  /**
   * Takes the oldest operation of each tenant in turn, until none waits or `fits` rejects one. The tenant of that one
   * goes first next time.
   */
  *inTurn(fits: (next: QueuedProposal) => boolean): Generator<QueuedProposal> {
    while (this.#length > 0) {
      for (const [tenantId, queue] of this.#queues) {
        const [next] = queue.waiting;
        if (next === undefined) {
          this.#queues.delete(tenantId);
          continue;
        }
        if (!fits(next)) {
          this.#putFirst(tenantId, queue);
          return;
        }
        queue.waiting.shift();
        queue.weight -= weightOf(next);
        this.#length -= 1;
        yield next;
      }
    }
  }

  #putFirst(tenantId: TenantId, queue: TenantQueue): void {
    this.#queues.delete(tenantId);
    const rest = [...this.#queues];
    this.#queues.clear();
    this.#queues.set(tenantId, queue);
    for (const [id, each] of rest) this.#queues.set(id, each);
  }

  /** Removes all operations and returns them. */
  clear(): readonly QueuedProposal[] {
    const removed = Array.from(this.#queues.values(), ({ waiting }) => waiting).flat();
    this.#queues.clear();
    this.#length = 0;
    return removed;
  }
}
