// Where a tenant lives. The vectors were computed outside this program (Python's hashlib) and must never change: a
// cluster's data lies where they say.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  bucketOfSubject,
  hashText,
  rankShards,
  rendezvousWeight,
  SLOTS_DEFAULT,
  SUBJECT_BUCKETS,
  segmentOf,
  slotOfTenant,
} from '../../../src/core/slots.ts';
import { anyCharacter } from '../support/any-character.ts';

const shardNames = fc.uniqueArray(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 8,
});

describe('the hash of a text', () => {
  it('is the first 16 hexadecimal digits of SHA-256', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const hex = createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex').slice(0, 16);
        assert.equal(hashText(text), BigInt(`0x${hex}`));
      }),
    );
  });
});

describe('slotOfTenant', () => {
  it('has these vectors', () => {
    for (const [tenantId, slots, slot] of [
      ['ten_01jd0000000000000000000000', 256, 38],
      ['ten_01jd0000000000000000000000', 1, 0],
      ['ten_01jd0000000000000000000000', 1000, 526],
      ['ten_01jd0000000000000000000000', 4096, 1062],
      ['ten_7zzzzzzzzzzzzzzzzzzzzzzzzz', 256, 214],
      ['ten_7zzzzzzzzzzzzzzzzzzzzzzzzz', 1000, 478],
      ['ten_7zzzzzzzzzzzzzzzzzzzzzzzzz', 4096, 982],
    ] as const) {
      assert.equal(slotOfTenant(tenantId, slots), slot);
    }
  });

  it('stays in range and spreads tenants evenly', () => {
    const counts = new Array<number>(16).fill(0);
    for (let index = 0; index < 16_000; index += 1) {
      const slot = slotOfTenant(`ten_${index}`, 16);
      counts[slot] = (counts[slot] ?? 0) + 1;
    }
    assert.equal(counts.length, 16);
    for (const count of counts) assert.ok(count > 850 && count < 1150, String(count));
  });
});

describe('bucketOfSubject', () => {
  it('has these vectors and stays below 16', () => {
    assert.equal(SUBJECT_BUCKETS, 16);
    assert.equal(bucketOfSubject('user:ada'), 5);
    assert.equal(bucketOfSubject('dokument:größe'), 3);
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const bucket = bucketOfSubject(text);
        assert.ok(Number.isInteger(bucket) && bucket >= 0 && bucket < 16);
      }),
    );
  });
});

describe('segmentOf', () => {
  it('is the whole quotient', () => {
    assert.deepEqual(
      [1, 255, 256, 511, 512].map((seq) => segmentOf(seq, 256)),
      [0, 0, 1, 1, 2],
    );
  });
});

describe('rendezvous', () => {
  it('has these rankings', () => {
    const names = ['dev-1', 'dev-2', 'shard-0', 'shard-1', 'größe'];
    for (const [slot, ranking] of [
      [0, ['shard-1', 'dev-2', 'shard-0', 'dev-1', 'größe']],
      [1, ['shard-0', 'shard-1', 'größe', 'dev-2', 'dev-1']],
      [2, ['shard-0', 'shard-1', 'dev-2', 'dev-1', 'größe']],
      [100, ['shard-1', 'größe', 'dev-2', 'shard-0', 'dev-1']],
      [255, ['shard-1', 'dev-2', 'dev-1', 'shard-0', 'größe']],
    ] as const) {
      assert.deepEqual(rankShards(names, slot), ranking);
    }
  });

  it('weighs by the bytes of name and slot, the name length-prefixed', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.nat(4095), (name, slot) => {
        const bytes = Buffer.from(name, 'utf8');
        const input = Buffer.alloc(8 + bytes.length);
        input.writeUInt32BE(bytes.length, 0);
        bytes.copy(input, 4);
        input.writeUInt32BE(slot, 4 + bytes.length);
        const digest = createHash('sha256').update(input).digest('hex');
        assert.equal(rendezvousWeight(name, slot), BigInt(`0x${digest.slice(0, 16)}`));
      }),
    );
  });

  it('does not depend on the order of the members, and leaves their list alone', () => {
    fc.assert(
      fc.property(shardNames, fc.nat(255), (names, slot) => {
        const before = [...names];
        assert.deepEqual(rankShards(names, slot), rankShards([...names].reverse(), slot));
        assert.deepEqual(names, before);
        assert.deepEqual([...rankShards(names, slot)].sort(), [...names].sort());
      }),
    );
  });

  it('moves only the share of a member that comes or goes', () => {
    fc.assert(
      fc.property(
        shardNames,
        fc.string({ unit: anyCharacter, minLength: 13, maxLength: 16 }),
        fc.nat(255),
        (names, newcomer, slot) => {
          const [owner] = rankShards(names, slot);
          const [ownerWithNewcomer] = rankShards([...names, newcomer], slot);
          assert.ok(ownerWithNewcomer === owner || ownerWithNewcomer === newcomer);
          const ranking = rankShards([...names, newcomer], slot);
          assert.deepEqual(
            ranking.filter((name) => name !== newcomer),
            rankShards(names, slot),
          );
        },
      ),
    );
  });

  it('gives each member about its share', () => {
    const names = ['shard-0', 'shard-1', 'shard-2', 'shard-3'];
    const counts = new Map(names.map((name) => [name, 0]));
    for (let slot = 0; slot < SLOTS_DEFAULT; slot += 1) {
      const [owner = ''] = rankShards(names, slot);
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    for (const count of counts.values()) assert.ok(count > 40 && count < 90, String(count));
  });
});
