// The difference of two texts by lines: the fewest that were removed and added, as long as that is found at once.

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/**
 * Lines of the one that changed, times those of the other: they are compared each with each, in a few milliseconds. Of
 * more, all are removed and added.
 */
const PAIRS_MAX = 500_000;

const linesOf = (text: string): readonly string[] => text.replace(/\r?\n$/, '').split(/\r?\n/);

/** By line of `from` and of `to`, in one row after the other: how many lines both have in common from there on. */
function commonBehind(from: readonly string[], to: readonly string[]): Uint16Array {
  const width = to.length + 1;
  const common = new Uint16Array((from.length + 1) * width);
  for (let i = from.length - 1; i >= 0; i -= 1) {
    for (let j = to.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      common[at] =
        from[i] === to[j] ? (common[at + width + 1] ?? 0) + 1 : Math.max(common[at + width] ?? 0, common[at + 1] ?? 0);
    }
  }
  return common;
}

function diffBetween(from: readonly string[], to: readonly string[]): readonly DiffLine[] {
  const removed = (text: string): DiffLine => ({ kind: 'removed', text });
  const added = (text: string): DiffLine => ({ kind: 'added', text });
  if (from.length * to.length > PAIRS_MAX) return [...from.map(removed), ...to.map(added)];
  const common = commonBehind(from, to);
  const width = to.length + 1;
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < from.length && j < to.length) {
    const at = i * width + j;
    const [old = '', current = ''] = [from[i], to[j]];
    if (old === current) {
      lines.push({ kind: 'same', text: old });
      [i, j] = [i + 1, j + 1];
    } else if ((common[at + width] ?? 0) >= (common[at + 1] ?? 0)) {
      lines.push(removed(old));
      i += 1;
    } else {
      lines.push(added(current));
      j += 1;
    }
  }
  return [...lines, ...from.slice(i).map(removed), ...to.slice(j).map(added)];
}

/** Every line of both, in order. A line break at the end, and its kind, make no difference. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [from, to] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(from.length, to.length);
  let [start, end] = [0, 0];
  while (start < shorter && from[start] === to[start]) start += 1;
  while (end < shorter - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...from.slice(0, start).map(same),
    ...diffBetween(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...to.slice(to.length - end).map(same),
  ];
}
