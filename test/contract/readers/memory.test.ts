// Over the memory store of the tests.

import { systemClock } from '../../../src/roles/process/system.ts';
import { MemoryStore } from '../../kit/store/memory-store.ts';
import { definePageSourceContract } from './page-source-contract.ts';

definePageSourceContract('memory', async () => {
  const store = new MemoryStore({ clock: systemClock });
  return { store, close: () => store.close() };
});
