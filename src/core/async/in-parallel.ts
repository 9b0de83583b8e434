// Processes many items, a bounded number of them at a time.

/**
 * Resolves when all items are done. After the first failure it starts no further item, and rejects once those in flight
 * have ended.
 */
export async function inParallel<Item>(
  items: readonly Item[],
  atOnceMax: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failure: { readonly error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (failure === undefined) {
      const item = items[next];
      if (item === undefined) return;
      next += 1;
      try {
        await work(item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, worker));
  if (failure !== undefined) throw failure.error;
}
