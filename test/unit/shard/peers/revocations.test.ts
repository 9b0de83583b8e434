// Revocations by a filter: every grant that matches at one moment, up to a bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tuple } from '../../../../src/core/tuples.ts';
import type { GrantFilter } from '../../../../src/shard/shard.ts';
import { attempt, type OpenSlot, openSlot, type SlotOptions, tuple } from '../tools.ts';

const ofSubject = (subject: string): GrantFilter => ({ of: { subject }, relation: undefined });
const ofObject = (object: string): GrantFilter => ({ of: { object }, relation: undefined });

const grantAll = (slot: OpenSlot, handle: number, tuples: readonly Tuple[]) =>
  slot.connection.writeGrants(
    handle,
    attempt(),
    tuples.map((each) => ({ ...each, revoke: false })),
  );

const SIZES = [
  { name: 'from memory', options: {} },
  { name: 'too large for memory', options: { pageLimits: { rowsMax: 5 } } },
] satisfies { name: string; options: SlotOptions }[];

for (const { name, options } of SIZES) {
  test(`the grants of a subject, or on an object, are revoked and no others: ${name}`, async () => {
    const { slot, handle } = await openSlot(options);
    const objects = Array.from({ length: 20 }, (_, index) => `doc:${index}`);
    await grantAll(slot, handle, [...objects.map((object) => tuple('user:a', object)), tuple('user:b', 'doc:1')]);
    assert.deepEqual(await slot.connection.revokeGrants(handle, attempt(), ofSubject('user:a')), {
      revoked: 20,
      complete: true,
    });
    assert.deepEqual(await slot.list(handle, 'user:a'), []);
    assert.deepEqual(await slot.list(handle, 'user:b'), ['doc:1']);
    assert.deepEqual(await slot.connection.revokeGrants(handle, attempt(), ofObject('doc:1')), {
      revoked: 1,
      complete: true,
    });
    assert.deepEqual(await slot.connection.revokeGrants(handle, attempt(), ofObject('doc:1')), {
      revoked: 0,
      complete: true,
    });
    slot.kill();
  });
}
