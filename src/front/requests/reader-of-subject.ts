// Which of its readers answers for a subject or object: rendezvous hashing, so that if a reader comes or goes, only its
// own subjects move. It is the same in every front, so that each reader has pages of its own subjects only.

import { hashWith } from '../../core/structures/string-map.ts';

const FACTOR = 0x01000193;

/** By the name of its shard. */
export const seedOfReader = (shardName: string): number => hashWith(0, FACTOR, shardName);

/**
 * Every bit of the result depends on every bit of the hash (the finalizer of MurmurHash3). Without it, the order of the
 * readers is nearly the same for all texts that differ only at their end.
 */
function mixed(hash: number): number {
  let mix = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}

/** Undefined: there is no reader. */
export function chooseReader<Reader extends { readonly seed: number }>(
  readers: readonly Reader[],
  entity: string,
): Reader | undefined {
  if (readers.length < 2) return readers[0];
  let best: Reader | undefined;
  let bestWeight = -1;
  for (const reader of readers) {
    const weight = mixed(hashWith(reader.seed, FACTOR, entity));
    if (weight <= bestWeight) continue;
    best = reader;
    bestWeight = weight;
  }
  return best;
}
