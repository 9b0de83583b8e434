// Bounds of a proof: however many grants it rests on and however large the values that their conditions saw, it stays
// within its bytes, shows each context once, and says where something was left out.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallContext, parseCallContext } from '../../../../src/core/call-context.ts';
import { isJsonObject, type JsonObject, objectsIn } from '../../../../src/core/json-members.ts';
import { PROOF_BYTES_MAX } from '../../../../src/core/limits.ts';
import { grantOf, RuledSlot, relationOf } from './ruled-slot.ts';

const RULES = {
  groups: true,
  conditions: [{ name: 'c', parameters: { big: 'string' }, expression: 'big != ""' }],
  rules: [{ namespace: 'doc', name: 'x', any_of: [{ all_of: ['all of viewer from parent'] }] }],
};

/** `doc:d` has so many parents, each shared with a team that the subject is in through so many others. */
function grantsOf(parents: number, chain: number): readonly string[] {
  const member = Array.from({ length: chain }, (_, at) =>
    at === 0 ? 'user:u member team:g0' : `team:g${at - 1}#member member team:g${at}`,
  );
  const shares = Array.from({ length: parents }, (_, at) => [
    `folder:f${at} parent doc:d`,
    `team:g${chain - 1}#member viewer folder:f${at}`,
  ]);
  return [...member, ...shares.flat()];
}

async function explain(parents: number, chain: number, call: CallContext) {
  const ruled = await RuledSlot.open(RULES);
  const writes = grantsOf(parents, chain).map((text) => {
    const { subject, relation, object } = grantOf(text);
    return { subject, relation: relationOf(relation), object, revoke: false, condition: 'c' };
  });
  for (let start = 0; start < writes.length; start += 1000) {
    await ruled.slot.connection.writeGrants(ruled.handle, ruled.slot.attempt(), writes.slice(start, start + 1000));
  }
  const { authorized, because, proofs } = await ruled.named([grantOf('user:u x doc:d')], true, false, call);
  assert.deepEqual(authorized, [true]);
  const proof: unknown = JSON.parse(proofs[0] ?? '');
  assert.ok(isJsonObject(proof));
  return { because: because[0] ?? [], text: proofs[0] ?? '', proof };
}

const isCut = ({ cut, gate, all_of: all }: JsonObject): boolean =>
  cut === true || [...objectsIn([gate]), ...objectsIn(all)].some(isCut);

test('a proof of thousands of grants under a large context stays within its bytes, and says what it lacks', async () => {
  const context = { big: 'b'.repeat(31_000) };
  const { because, text, proof } = await explain(199, 23, parseCallContext({ context }));
  assert.ok(Buffer.byteLength(text) <= PROOF_BYTES_MAX, `${text.length} characters`);
  assert.equal(text.split(context.big).length - 1, 1, 'the context stands in it once');
  assert.ok(isCut(proof));
  assert.ok(because.length > 0 && because.length <= 23 + 2 * 199);
});

test('a small proof is whole, and only the first grant with a condition has what it saw', async () => {
  const { because, text, proof } = await explain(2, 3, parseCallContext({ context: { big: 'b' } }));
  assert.equal(isCut(proof), false);
  assert.equal(because.length, 3 + 2 * 2);
  assert.equal(text.split('"condition_saw"').length - 1, 1);
});

test('a gate with more parents than a proof may show lists some of them', async () => {
  const { text, proof } = await explain(3000, 1, parseCallContext({ context: { big: 'b' } }));
  assert.ok(Buffer.byteLength(text) <= PROOF_BYTES_MAX, `${text.length} characters`);
  assert.ok(isCut(proof));
  const shown = text.split('"name":"viewer"').length - 1;
  assert.ok(shown > 100, `${shown} parents are shown`);
});
