// What the appender needs of its tenure, and what it hands over.

import type { Clock } from '../../core/async/clock.ts';
import type { IdFactory } from '../../core/ids.ts';
import type { LogStore } from '../../store/store.ts';
import type { HeldBytes } from '../memory/write-memory.ts';
import type { Entry } from './entries.ts';
import type { OperationMemory } from './idempotency/cache.ts';

export interface CommittedEntry extends Entry {
  readonly seq: number;
}

export interface AppenderPorts {
  readonly log: LogStore;
  readonly clock: Clock;
  readonly ids: IdFactory;
  readonly operations: OperationMemory;
  /** Bytes held by the queues of all slots. */
  readonly queue: HeldBytes;
  /** Takes a committed entry into memory, synchronously. */
  readonly commit: (entry: CommittedEntry) => void;
  /** Resolves when writes may be decided: operation ids are restored, and the memory for writes has capacity. */
  readonly waitForCapacity: () => Promise<void>;
  /** Whether the owner's lease lets it answer now. */
  readonly leaseValid: () => boolean;
  /** The tenure has ended: the log contains an entry of another owner, or this program has a defect. */
  readonly lost: (reason: string) => void;
  readonly observe: (append: {
    readonly outcome: 'committed' | 'lost' | 'unknown';
    readonly seconds: number;
    readonly operations: number;
    /** Grants whose expiry the entry tells. */
    readonly expired: number;
  }) => void;
}
