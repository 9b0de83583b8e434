// Suggests the name that was most likely meant, for messages about an unknown one.

/** More differences than this make another word, not a typing error; and so do more than a third of the letters. */
const DISTANCE_MAX = 4;
const LETTERS_PER_DIFFERENCE = 3;
/** No known name is longer, and comparing takes time that grows with the length. */
const LENGTH_MAX = 100;

const distanceMax = (name: string): number =>
  Math.min(DISTANCE_MAX, Math.max(1, Math.floor(name.length / LETTERS_PER_DIFFERENCE)));

/** Levenshtein's distance: insertions, deletions and replacements of one character. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** `expiresAt` and `expires_at` differ in style alone. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, '');

/** The nearest of `names`, the first of equals, or undefined if none is near. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > LENGTH_MAX) return undefined;
  const given = plain(name);
  let nearest: string | undefined;
  let distance = distanceMax(given) + 1;
  for (const candidate of names) {
    const difference = editDistance(given, plain(candidate));
    if (difference < distance) {
      nearest = candidate;
      distance = difference;
    }
  }
  return nearest;
}
