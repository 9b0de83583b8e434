// What a tenure depends on: the ports and bounds of its shard, and the observers of its work; and what it leaves to the
// maintenance of its shard.

import type { Clock } from '../../core/async/clock.ts';
import type { IdFactory, TenantId } from '../../core/ids.ts';
import type { Store } from '../../store/store.ts';
import type { MemoryBudget } from '../memory/memory-budget.ts';
import type { PageLimits } from '../memory/page-limits.ts';
import type { WriteKind } from '../memory/write-memory.ts';
import type { AppenderPorts } from './appender-ports.ts';
import type { PreloadOutcome } from './hot-pages.ts';

export interface TenureDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly budget: MemoryBudget;
  readonly pageLimits: PageLimits;
  readonly segmentSize: number;
  /** How long operation ids are kept: twice the deadline. */
  readonly operationsKeptMs: number;
  /** Whether the owner's lease lets it answer now. */
  readonly leaseValid: () => boolean;
  readonly observeAppend: AppenderPorts['observe'];
  readonly observeState: (outcome: { readonly rows: number } | { readonly error: unknown }) => void;
  /** Called when writes of a slot wait for memory. */
  readonly observeWait: (slot: number, kind: WriteKind) => void;
  /** A slot's list of hot pages is stored at most this often. Default: once a minute. */
  readonly hotPagesWriteMs?: number | undefined;
  readonly observePreload: (outcome: PreloadOutcome) => void;
  /** The tenure ended unexpectedly. */
  readonly onLost: (reason: string) => void;
}

/** Rows that are no longer needed, as far as the tenure has found them. */
export interface Leftovers {
  /** Where the removal of deleted tenants' records continues; undefined: there are none. */
  deletedTenants: { readonly after: TenantId | undefined } | undefined;
  /** Not before this time, on the monotonic clock. */
  notBeforeMs: number;
}
