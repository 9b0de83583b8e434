// A store as a program of a version that keeps no counts of grants uses it: it writes none, and checkpoints that know
// nothing of them.

import type { Store } from '../../../src/store/store.ts';
import { createGatedStore } from './store-gate.ts';

export function withoutCounts(store: Store): Store {
  return {
    ...createGatedStore(store, (_operation, _deadline, run) => run()),
    async writeState(writes, deadline) {
      const known = writes.filter(({ kind }) => kind !== 'grant-count');
      if (known.length > 0) await store.writeState(known, deadline);
    },
    writeCheckpoint: (slot, { seq, stamp }, deadline) => store.writeCheckpoint(slot, { seq, stamp }, deadline),
  };
}
