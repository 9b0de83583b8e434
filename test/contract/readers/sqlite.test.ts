// Over SQLite.

import { createTemporaryDirectory, openStore } from '../../kit/store/store-directory.ts';
import { PAIR_META } from '../support/reader-pair.ts';
import { definePageSourceContract } from './page-source-contract.ts';

definePageSourceContract('sqlite', async () => {
  const directory = createTemporaryDirectory();
  const store = await openStore(directory.path, { slots: PAIR_META.slots });
  return {
    store,
    close: async () => {
      await store.close();
      directory.remove();
    },
  };
});
