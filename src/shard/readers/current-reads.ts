// Reads of the state tables by a reader of a tenant. The tables may be ahead of what the reader has applied: it would
// mix two moments. So rows are used only once the reader has applied everything that they can contain, which is what
// the owner had committed when they had arrived. What was committed after the read began is put over them as at the
// owner: the reader's memory keeps every commit until it is told that the tables have it.

import type { StateReads } from '../../store/store.ts';

/** `caughtUp`: resolves once the reader has applied what the owner had committed when it was called. */
export function currentReads(store: StateReads, caughtUp: () => Promise<void>): StateReads {
  const current =
    <Parameters extends unknown[], Rows>(read: (...parameters: Parameters) => Promise<Rows>) =>
    async (...parameters: Parameters): Promise<Rows> => {
      const rows = await read.apply(store, parameters);
      await caughtUp();
      return rows;
    };
  return {
    readGrant: current(store.readGrant),
    listGrants: current(store.listGrants),
    listObjectGrants: current(store.listObjectGrants),
    listGrantsOfEach: current(store.listGrantsOfEach),
    listSubjects: current(store.listSubjects),
    listNamespaces: current(store.listNamespaces),
    readKey: current(store.readKey),
    listKeys: current(store.listKeys),
    readRules: current(store.readRules),
  };
}
