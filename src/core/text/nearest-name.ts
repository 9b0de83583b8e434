// Suggests the name that was most likely meant, for messages about an unknown one.

/** More differences than this make another word, not a typing error; and so do more than a third of the letters. */
const DISTANCE_MAX = 4;
const LETTERS_PER_DIFFERENCE = 3;
/** No known name is longer, and comparing takes time that grows with the length. */
const LENGTH_MAX = 100;

const distanceMax = (name: string): number =>
  Math.min(DISTANCE_MAX, Math.max(1, Math.floor(name.length / LETTERS_PER_DIFFERENCE)));

/** Levenshtein's distance: insertions, deletions and replacements of one character. Above `max`, some value above. */
function editDistance(left: string, right: string, max: number): number {
  if (Math.abs(left.length - right.length) > max) return max + 1;
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current: number[] = [];
    let least = row;
    current[0] = row;
    // Further from the diagonal, more characters are inserted or deleted than `max`.
    const last = Math.min(right.length, row + max);
    for (let column = Math.max(1, row - max); column <= last; column += 1) {
      const replaced = (previous[column - 1] ?? max + 1) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const distance = Math.min(replaced, (previous[column] ?? max + 1) + 1, (current[column - 1] ?? max + 1) + 1);
      current[column] = distance;
      least = Math.min(least, distance);
    }
    if (least > max) return max + 1;
    previous = current;
  }
  return previous[right.length] ?? max + 1;
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
    const difference = editDistance(given, plain(candidate), distance - 1);
    if (difference < distance) {
      nearest = candidate;
      distance = difference;
    }
  }
  return nearest;
}
