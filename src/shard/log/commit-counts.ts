// How often each slot's state has changed at its owner, in memory that owner and readers of one process share. It
// spares a reader the question how far the log is, which otherwise goes before every answer.
//
// Linearizability. The owner raises the count of a slot in the synchronous step that makes a commit visible: before any
// acknowledgement or answer shows that commit, and with no answer to a reader in between. A reader notes the count
// before it asks the owner (`noted`), and applies the answer. Let it later find the same count for a call:
//   - Whatever was acknowledged, or seen by any read, before the call was counted before the call. The loads and stores
//     of Atomics have one order that agrees with time, so the reader has seen that count.
//   - It is the noted one, so the owner had made the commit visible (or was within that step) when the reader asked.
//     The answer came from a later step, so it had the commit, and the reader has applied it.
// If the count was raised in between, the reader asks again. A tenure that begins or ends raises it too, so the answers
// of a reader end with its owner's. Only an owner whose lease cannot end may be followed like this: the count says
// nothing of a lease, so the store must belong to the process alone.
//
// Grants that expire need no question: only the log decides that one has (slot-time.ts), and its entries are counted.
// Counts wrap around after 4 billion commits, and readers ask after some seconds anyway.

export interface CommitCounts {
  read(slot: number): number;
  /** To be called at the owner, in the step that makes the change visible. */
  raise(slot: number): void;
}

/** All that have the same memory share the counts. */
export function createCommitCounts(memory: SharedArrayBuffer): CommitCounts {
  const counts = new Int32Array(memory);
  return {
    read: (slot) => Atomics.load(counts, slot),
    raise: (slot) => {
      Atomics.add(counts, slot, 1);
    },
  };
}

export const commitCountsMemory = (slots: number): SharedArrayBuffer =>
  new SharedArrayBuffer(slots * Int32Array.BYTES_PER_ELEMENT);
