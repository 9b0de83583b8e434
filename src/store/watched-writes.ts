// Watches the writes of a store: whether the last one that ended has succeeded. While none succeeds, checks are still
// answered from memory, so a process stays ready, and says why writes fail.

import { GrantdError } from '../core/errors.ts';
import type { Store } from './store.ts';
import { StoreTrouble } from './store-adapter.ts';

export interface WatchedWrites {
  readonly store: Store;
  /** Why the last write failed; undefined: it has succeeded, or there was none. */
  failing(): string | undefined;
}

const reasonOf = (error: unknown): string => {
  const { cause, message } = GrantdError.from(error);
  return cause instanceof StoreTrouble ? cause.reason : message;
};

/** Too much work at once is no trouble of the store. */
const isTrouble = (error: unknown): boolean => GrantdError.from(error).code === 'unavailable';

export function watchWrites(store: Store): WatchedWrites {
  let reason: string | undefined;

  /** Call it like the method of the store. */
  function watch<Args extends unknown[], Result>(
    call: (...args: Args) => Promise<Result>,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => {
      try {
        const result = await call.apply(store, args);
        reason = undefined;
        return result;
      } catch (error) {
        if (isTrouble(error)) reason = reasonOf(error);
        throw error;
      }
    };
  }

  // What the log of a slot, its owner and its state are written with, and the heartbeats of a cluster.
  const watched: Store = {
    ...store,
    append: watch(store.append),
    claimSlot: watch(store.claimSlot),
    releaseSlot: watch(store.releaseSlot),
    writeHeartbeat: watch(store.writeHeartbeat),
    writeState: watch(store.writeState),
    writeCheckpoint: watch(store.writeCheckpoint),
  };
  return { store: watched, failing: () => reason };
}
