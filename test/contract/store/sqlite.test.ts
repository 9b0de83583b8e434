// The SQLite adapter keeps the contract of the store port.

import { join } from 'node:path';
import { useDirectory } from '../../kit/directory.ts';
import { openStore } from '../../kit/store/store-directory.ts';
import { defineStoreContract } from './store-contract.ts';

const root = useDirectory();
let opened = 0;

defineStoreContract('sqlite', {
  open: async () => {
    opened += 1;
    const directory = join(root, String(opened));
    let store = await openStore(directory);
    return {
      store,
      reopen: async () => {
        await store.close();
        store = await openStore(directory);
        return store;
      },
      close: () => store.close(),
    };
  },
});
