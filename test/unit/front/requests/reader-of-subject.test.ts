// Subjects that hardly differ are shared evenly, and stay where they are when another reader goes: judged by counts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseReader, seedOfReader } from '../../../../src/front/requests/reader-of-subject.ts';

const SUBJECTS = Array.from({ length: 3000 }, (_, index) => `user:u-${String(index + 1).padStart(9, '0')}`);

const readersNamed = (...names: string[]) => names.map((name) => ({ name, seed: seedOfReader(name) }));

const choices = (readers: ReturnType<typeof readersNamed>): (string | undefined)[] =>
  SUBJECTS.map((subject) => chooseReader(readers, subject)?.name);

/** As a StatefulSet and a Deployment name them, and as little apart as two names can be. */
const SHARDS = [
  ['grantd-shard-0', 'grantd-shard-1', 'grantd-shard-2'],
  ['grantd-shard-8', 'grantd-shard-9', 'grantd-shard-10'],
  ['shard-7d9fb5c6d-x2x4k', 'shard-7d9fb5c6d-m8b7q', 'shard-7d9fb5c6d-9tn5c'],
  ['a', 'b', 'c'],
];

describe('the choice of a reader', () => {
  for (const names of SHARDS) {
    it(`shares subjects that differ in their number among ${names.join(', ')}`, () => {
      const counts = Map.groupBy(choices(readersNamed(...names)), (name) => name);
      for (const name of names) {
        const { length } = counts.get(name) ?? [];
        assert.ok(length >= 800 && length <= 1200, `${name} has ${length} of ${SUBJECTS.length} subjects`);
      }
    });

    it(`moves only the subjects of the one that goes of ${names.join(', ')}`, () => {
      const readers = readersNamed(...names);
      const before = choices(readers);
      for (const gone of readers) {
        const after = choices(readers.filter((reader) => reader !== gone));
        const moved = SUBJECTS.filter((_, index) => before[index] !== gone.name && before[index] !== after[index]);
        assert.deepEqual(moved, [], `without ${gone.name}`);
      }
    });
  }

  it('depends on the readers alone and not on their order', () => {
    const readers = readersNamed('grantd-shard-0', 'grantd-shard-1', 'grantd-shard-2');
    assert.deepEqual(choices(readers.toReversed()), choices(readers));
  });

  it('is the only reader, or none', () => {
    const [reader] = readersNamed('grantd-shard-0');
    assert.equal(chooseReader(reader === undefined ? [] : [reader], 'user:ada'), reader);
    assert.equal(chooseReader([], 'user:ada'), undefined);
  });
});
