// One connected peer: its handles, and reads and writes under them. Invariant: a call is validated when it arrives and
// again after its last await, so that an ended tenure never answers.

import { GrantdError } from '../../core/errors.ts';
import { slotOfTenant } from '../../core/slots.ts';
import type { MemberRow, SlotRow, Store } from '../../store/store.ts';
import { collectionOperation, withinOperation } from '../log/grant-collection.ts';
import type { Lookups } from '../log/hot-pages.ts';
import type { Tenure } from '../log/tenure.ts';
import type { CollectedTuple, Decide, DecideContext, OperationResult } from '../log/write-decisions.ts';
import { appendTraced, type Proposal } from '../log/write-queue.ts';
import type { TenantMemory } from '../memory/tenant-memory.ts';
import type { FollowParts } from '../readers/follow-tenant.ts';
import type { Readers } from '../readers/readers.ts';
import {
  type AnswerOf,
  type Attempt,
  type BusiestTenant,
  type CallerOf,
  type CallName,
  type Expectation,
  type ExpectedSlot,
  type HandedOverSlot,
  NO_POSITIONS,
  type RequestOf,
  type SlotsReport,
  type UnderHandle,
} from '../shard.ts';
import { KeptAuditLog } from './audit-log-rows.ts';
import { FeedWaits } from './feed-waits.ts';
import { type Handle, type HandleBudget, HandleTable } from './handles.ts';
import type { Listing, ListingContext } from './listings.ts';
import type { LoadWindow } from './load.ts';

/** UTF-8 bytes of an encoded operation, without the strings of the request; a character takes at most 6 (an escape). */
const OPERATION_BYTES = 1024;
const BYTES_PER_CHARACTER = 6;

/** What the log must have room for. */
export type OperationSize = Pick<Proposal, 'bytesMax' | 'changesMax'>;

/** The size of an operation with one change. `characters`: in the strings of the request. */
export const sizeOf = (characters: number): OperationSize => ({
  bytesMax: OPERATION_BYTES + BYTES_PER_CHARACTER * characters,
});

/** The parts of the shard that serve its peers. */
export interface ShardParts extends ListingContext, DecideContext, FollowParts {
  readonly store: Store;
  readonly segmentSize: number;
  /** Deadline of a request: after that no front waits for its response. */
  readonly deadlineMs: number;
  /** By slot. */
  readonly tenures: () => ReadonlyMap<number, Tenure>;
  readonly lookups: Lookups;
  /** Shared by all peers. */
  readonly handleBudget: HandleBudget;
  /** Readers here for tenants that other shards own. */
  readonly readers: Pick<Readers, 'open' | 'list'>;
  /** Takes slots that other shards hand over. Undefined: this one owns none. */
  readonly handovers?:
    | {
        expect(slot: ExpectedSlot): Promise<Expectation>;
        take(slot: HandedOverSlot): Promise<undefined>;
      }
    | undefined;
  /** Requests wait for these slots: those that this shard opens come first. Undefined: this one owns none. */
  readonly openFirst?: ((slots: readonly number[]) => void) | undefined;
  readonly members: () => Promise<readonly MemberRow[]>;
  /** The load from each front. */
  readonly loads: () => Iterable<LoadWindow>;
  readonly busiest: () => BusiestTenant | undefined;
  /** What the shard knows apart from its own slots. */
  readonly report: () => Omit<SlotsReport, 'owned' | 'owners' | 'readers'> & { readonly rows: readonly SlotRow[] };
}

export type Handler<Name extends CallName> = (
  peer: Peer,
  by: CallerOf<Name>,
  request: RequestOf<Name>,
) => Promise<AnswerOf<Name>>;

/** Serves a call that reads under a handle. */
export type ReadHandler<Name extends CallName> = (
  shard: ShardParts,
  listing: Listing,
  request: RequestOf<Name>,
) => Promise<AnswerOf<Name>>;

/** The tenant and actor of a write. */
interface Writer {
  readonly tenure: Pick<Tenure, 'submit'>;
  readonly memory: { readonly tenantId: TenantMemory['tenantId'] };
  readonly actor: string;
}

export class Peer {
  readonly shard: ShardParts;
  readonly handles: HandleTable;
  readonly waits: FeedWaits;
  readonly kept: KeptAuditLog;
  /** Positions of the tenants whose calls this shard answers as a reader now. */
  positions = NO_POSITIONS;

  constructor(shard: ShardParts) {
    this.shard = shard;
    this.handles = new HandleTable(shard.clock, shard.readersOf, shard.handleBudget);
    this.waits = new FeedWaits(shard.clock);
    this.kept = new KeptAuditLog(shard);
  }

  tenureOf(tenantId: string): Tenure {
    return this.shard.tenureOf(slotOfTenant(tenantId, this.shard.slots));
  }

  /** Submits the only operation of a call. */
  submit(of: Writer, attempt: Attempt, size: OperationSize, decide: Decide): Promise<OperationResult> {
    return appendTraced(1, () => this.enqueue(of, attempt, 0, size, decide));
  }

  enqueue(
    of: Writer,
    { requestId, expiresAtMs }: Attempt,
    index: number,
    size: OperationSize,
    decide: Decide,
  ): Promise<OperationResult> {
    const { tenantId } = of.memory;
    return of.tenure.submit({ tenantId, actor: of.actor, requestId, index, expiresAtMs, ...size, decide });
  }

  /** Collects grants that have expired, in operations of the system. */
  async collect(
    { tenure, memory }: Pick<Handle, 'tenure' | 'memory'>,
    { expiresAtMs }: Attempt,
    tuples: readonly CollectedTuple[],
  ): Promise<void> {
    const { ids } = this.shard;
    for (let rest = tuples; rest.length > 0; ) {
      const count = withinOperation(rest.map(({ request }) => request)).length;
      const requestId = ids.create('req');
      await tenure.submit(collectionOperation(memory, rest.slice(0, count), { requestId, expiresAtMs }));
      rest = rest.slice(count);
    }
  }

  /**
   * A read under a handle. The handle is validated at the start and before the reply; the read is abandoned at its
   * deadline.
   */
  async read<Answer>(by: UnderHandle, read: (listing: Listing) => Promise<Answer>): Promise<Answer> {
    const handle = this.handles.use(by.handle);
    const answer = await read(this.listing(handle));
    this.handles.assertGood(handle);
    return answer;
  }

  listing(handle: Handle): Listing {
    const { clock, deadlineMs } = this.shard;
    const untilMs = clock.monotonicMs() + deadlineMs;
    const assertWanted = (): void => {
      this.handles.assertGood(handle);
      if (clock.monotonicMs() >= untilMs)
        throw new GrantdError('unavailable', 'Reading the store took too long. Nothing was changed.');
    };
    return { tenure: handle.tenure, memory: handle.memory, assertWanted };
  }
}
