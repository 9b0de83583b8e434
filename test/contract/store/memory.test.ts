// The memory store of the tests keeps the contract that the real ones keep.

import { systemClock } from '../../../src/roles/process/system.ts';
import { delayedStore } from '../../kit/store/faulty-store.ts';
import { MemoryStore } from '../../kit/store/memory-store.ts';
import { defineStoreContract } from './store-contract.ts';

defineStoreContract('memory', {
  open: async () => {
    const store = new MemoryStore({ clock: systemClock });
    return { store, close: () => store.close() };
  },
});

defineStoreContract('memory, whose removals leave tombstones', {
  open: async () => {
    const store = new MemoryStore({ clock: systemClock, shadows: true });
    return { store, removalShadows: true, close: () => store.close() };
  },
});

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

defineStoreContract('memory, every call late', {
  open: async () => {
    const store = new MemoryStore({ clock: systemClock, delay: turn });
    return { store, close: () => store.close() };
  },
});

defineStoreContract('memory, behind the faulty store without faults', {
  open: async () => {
    const { store } = delayedStore(new MemoryStore({ clock: systemClock }), systemClock);
    return { store, close: () => store.close() };
  },
});
