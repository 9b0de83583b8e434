// A memory store as a version uses it that keeps neither counts of grants nor grants by object: it writes none, and
// checkpoints that know nothing of them. Nor does it list grants by object.

import { GrantdError } from '../../../src/core/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { createGatedStore } from './store-gate.ts';
import { bySubjectAlone } from './store-tables.ts';

export function withoutCounts(store: Store): Store {
  return {
    ...createGatedStore(store, (_operation, _deadline, run) => run()),
    async writeState(writes, deadline) {
      const known = writes.filter(({ kind }) => kind !== 'grant-count' && kind !== 'object-grant');
      for (const write of known) if (write.kind === 'grant') bySubjectAlone.add(write);
      if (known.length > 0) await store.writeState(known, deadline);
    },
    listObjectGrants: () => Promise.reject(new GrantdError('unavailable', 'This version has no grants by object.')),
    writeCheckpoint: (slot, { seq, stamp }, deadline) => store.writeCheckpoint(slot, { seq, stamp }, deadline),
  };
}
