// Whether two lists hold the same items in the same order.

export function equalLists<Item>(
  left: readonly Item[],
  right: readonly Item[],
  equal: (left: Item, right: Item) => boolean = Object.is,
): boolean {
  if (left.length !== right.length) return false;
  for (const [index, item] of left.entries()) {
    const other = right[index];
    if (other === undefined || !equal(item, other)) return false;
  }
  return true;
}
