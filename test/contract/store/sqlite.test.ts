// The SQLite adapter keeps the contract of the store port.

import { createTemporaryDirectory, openStore } from '../../kit/store/store-directory.ts';
import { defineStoreContract } from './store-contract.ts';

defineStoreContract('sqlite', {
  open: async () => {
    const directory = createTemporaryDirectory();
    let store = await openStore(directory.path);
    return {
      store,
      reopen: async () => {
        await store.close();
        store = await openStore(directory.path);
        return store;
      },
      close: async () => {
        await store.close();
        directory.remove();
      },
    };
  },
});
