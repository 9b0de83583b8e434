// Processes many items, a bounded number of them at a time.

/** Resolves when all are done; rejects with the first failure. */
export async function forEachAtATime<Item>(
  items: Iterable<Item>,
  inFlight: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = Iterator.from(items);
  const runInTurn = async (): Promise<void> => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await run(next.value);
  };
  await Promise.all(Array.from({ length: inFlight }, runInTurn));
}
