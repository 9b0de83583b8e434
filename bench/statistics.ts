// The few statistics that the figures need.

/** By nearest rank; the values must be ascending. */
export function percentile(ascending: ArrayLike<number>, fraction: number): number {
  const index = Math.min(ascending.length - 1, Math.max(0, Math.ceil(ascending.length * fraction) - 1));
  return ascending[index] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  const ascending = values.toSorted((left, right) => left - right);
  const middle = Math.floor(ascending.length / 2);
  if (ascending.length % 2 === 1) return ascending[middle] ?? Number.NaN;
  return ((ascending[middle - 1] ?? Number.NaN) + (ascending[middle] ?? Number.NaN)) / 2;
}

/** The line with the least squares through points; `slope` is not a number unless two of them differ in x. */
export function fitLine(points: readonly { readonly x: number; readonly y: number }[]): {
  readonly slope: number;
  readonly intercept: number;
} {
  const mean = (of: (point: { x: number; y: number }) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [meanX, meanY] = [mean(({ x }) => x), mean(({ y }) => y)];
  const slope = mean(({ x, y }) => (x - meanX) * (y - meanY)) / mean(({ x }) => (x - meanX) ** 2);
  return { slope, intercept: meanY - slope * meanX };
}
