// Over SQLite.

import { useDirectory } from '../../kit/directory.ts';
import { openStore } from '../../kit/store/store-directory.ts';
import { PAIR_META } from '../support/reader-pair.ts';
import { definePageSourceContract } from './page-source-contract.ts';

const directory = useDirectory();

definePageSourceContract('sqlite', async () => {
  const store = await openStore(directory, { slots: PAIR_META.slots });
  return { store, close: () => store.close() };
});
