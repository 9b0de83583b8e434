// Which tenant asks: by the Pareto principle. The load of the tenants, each by its rank, is that of values with a
// Pareto distribution of that shape, which go as (rank / count)^(-1 / shape). Imports nothing.

/** The shape with which a fifth of the tenants have four fifths of the load is 1.16. `random` is from 0 to below 1. */
export function paretoIndex(count: number, shape: number, random: number): number {
  // The share of the load that the busiest `x` of all tenants have is x^(1 - 1 / shape); this is its inverse.
  return Math.min(count - 1, Math.floor(count * random ** (1 / (1 - 1 / shape))));
}
