// Where a tenant is: tenant → slot by hash, slot → shard by rendezvous hashing among the members, seq → segment of the
// log. All three are fixed for the life of a cluster; their test vectors are in test/unit/core.

import { createHash } from 'node:crypto';

/** Virtual shards of a cluster, unless `migrate` was given another number. */
export const SLOTS_DEFAULT = 256;
export const SLOTS_MAX = 4096;

/**
 * Entries per log segment (a partition of the log), K. Small enough to read at once, large enough to keep trimming
 * cheap.
 */
export const SEGMENT_SIZE_DEFAULT = 256;

/** Buckets that share the subjects of one tenant. */
export const SUBJECT_BUCKETS = 16;

/** The first 8 bytes, big-endian, of SHA-256 over the UTF-8 text. */
export function hashText(text: string): bigint {
  return createHash('sha256').update(text, 'utf8').digest().readBigUInt64BE(0);
}

/** 0 to `slots` − 1. */
export function slotOfTenant(tenantId: string, slots: number): number {
  return Number(hashText(tenantId) % BigInt(slots));
}

/** 0 to 15. */
export function bucketOfSubject(subject: string): number {
  return Number(hashText(subject) % BigInt(SUBJECT_BUCKETS));
}

export function segmentOf(seq: number, segmentSize: number): number {
  return Math.floor(seq / segmentSize);
}

/**
 * The weight of a shard for a slot: the first 8 bytes of SHA-256 over (length of the name in bytes as u32, name, slot
 * as u32).
 */
export function rendezvousWeight(shardName: string, slot: number): bigint {
  const name = Buffer.from(shardName, 'utf8');
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(name.length);
  const suffix = Buffer.alloc(4);
  suffix.writeUInt32BE(slot);
  return createHash('sha256').update(prefix).update(name).update(suffix).digest().readBigUInt64BE(0);
}

/**
 * The shards by decreasing weight for a slot; the first is its wanted owner. In a tie the smaller name wins. If one
 * shard is added or removed, only the slots that it wins or loses move (Thaler and Ravishankar, 1998).
 */
export function rankShards(shardNames: readonly string[], slot: number): string[] {
  return shardNames
    .map((name) => ({ name, weight: rendezvousWeight(name, slot) }))
    .sort((left, right) =>
      left.weight === right.weight ? (left.name < right.name ? -1 : 1) : left.weight > right.weight ? -1 : 1,
    )
    .map(({ name }) => name);
}
