// Types at the owner of a tenant: what they do not allow is refused, in the order of the log.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BulkWriteResult, GrantResult } from '../../../../src/shard/shard.ts';
import { grantOf, RuledSlot, relationOf } from '../evaluation/ruled-slot.ts';
import { waitFor } from '../tools.ts';

const CONDITIONS = ['open', 'trial'].map((name) => ({
  name,
  parameters: { zone: 'string' },
  expression: 'zone == ""',
}));

const rulesOf = (...subjects: readonly string[]) => ({
  relations: ['assignee'],
  conditions: CONDITIONS,
  types: [
    { namespace: 'doc', relation: 'viewer', subjects },
    { namespace: 'doc', relation: 'assignee', subjects: ['team'] },
  ],
  rules: [],
});
const RULES = rulesOf('user', 'team#member', 'user with open');
const UNTYPED = { ...RULES, types: [] };

interface Terms {
  readonly condition?: string | null;
  readonly expiresAtMs?: number | null;
}

const tupleOf = (text: string) => {
  const { subject, relation, object } = grantOf(text);
  return { subject, relation: relationOf(relation), object };
};

async function write({ slot, handle }: RuledSlot, text: string, terms: Terms = {}, revoke = false): Promise<string> {
  const writes = [{ ...tupleOf(text), ...terms, revoke }];
  const [result] = await slot.connection.writeGrants(handle, slot.attempt(), writes);
  return outcomeOf(result ?? assert.fail());
}

const outcomeOf = (result: GrantResult | BulkWriteResult): string =>
  result.kind === 'refused' ? result.code : result.kind;

const bulk = ({ slot, handle }: RuledSlot, grants: readonly string[], revocations: readonly string[] = []) =>
  slot.connection.writeBulk(handle, slot.attempt(), {
    grants: grants.map(tupleOf),
    revocations: revocations.map(tupleOf),
    preconditions: [],
  });

test('a grant of a type that is not allowed is refused, whoever owns the slot; revocations are not', async () => {
  const ruled = await RuledSlot.open(UNTYPED, [grantOf('team:1 viewer doc:0')]);
  await ruled.setRules(RULES);
  for (const cold of [false, true]) {
    if (cold) await ruled.goCold();
    const at = cold ? 'doc:2' : 'doc:1';
    assert.equal(await write(ruled, `user:a viewer ${at}`), 'created');
    assert.equal(await write(ruled, `team:1#member viewer ${at}`), 'created');
    assert.equal(await write(ruled, `team:1#admin viewer ${at}`), 'type-not-allowed');
    assert.equal(await write(ruled, `user:* viewer ${at}`), 'type-not-allowed');
    assert.equal(await write(ruled, `user:a assignee ${at}`), 'type-not-allowed');
    assert.equal(await write(ruled, `team:1 assignee ${at}`), 'created');
    assert.equal(await write(ruled, `team:1 editor ${at}`), 'created', 'without a type, all are allowed');
    assert.equal(await write(ruled, 'team:1 viewer folder:1'), cold ? 'exists' : 'created');
    assert.equal(await ruled.check(`user:* viewer ${at}`), false);
  }
  assert.equal(await write(ruled, 'team:1 viewer doc:0'), 'type-not-allowed', 'it would be confirmed');
  assert.equal(await ruled.check('team:1 viewer doc:0'), true);
  assert.equal(await write(ruled, 'team:1 viewer doc:0', {}, true), 'revoked');
});

test('a bulk write is refused as a whole, by its first grant of another type', async () => {
  const ruled = await RuledSlot.open(UNTYPED, [grantOf('team:1 viewer doc:0')]);
  await ruled.setRules(RULES);
  assert.deepEqual(await bulk(ruled, ['user:a viewer doc:1', 'user:* viewer doc:1', 'team:1 viewer doc:1']), {
    kind: 'refused',
    code: 'type-not-allowed',
    message:
      '"grants[1].subject" is of the type "user:*", to which "viewer" is not granted on objects of "doc"; allowed: "user", "team#member", "user with open".',
  });
  assert.equal(await ruled.check('user:a viewer doc:1'), false);
  assert.equal(outcomeOf(await bulk(ruled, ['user:a viewer doc:1'], ['team:1 viewer doc:0'])), 'written');
});

test('what counts is the condition that the grant has after the write', async () => {
  const ruled = await RuledSlot.open(rulesOf('user', 'user with open', 'team with open'));
  const grant = 'user:a viewer doc:1';
  const condition = 'open {"zone":"CET"}';
  assert.equal(await write(ruled, grant, { condition: 'trial' }), 'type-not-allowed');
  assert.equal(await write(ruled, grant, { condition }), 'created');
  await ruled.setRules(rulesOf('user with open', 'team with open'));
  assert.equal(await write(ruled, grant), 'exists', 'it keeps its condition');
  assert.equal(await write(ruled, grant, { condition: null }), 'type-not-allowed');
  assert.equal(await write(ruled, 'user:b viewer doc:1'), 'type-not-allowed');
  assert.equal(outcomeOf(await bulk(ruled, [grant])), 'written');
  assert.equal(outcomeOf(await bulk(ruled, [grant, 'team:1 viewer doc:1'])), 'type-not-allowed');
  await ruled.setRules(rulesOf('user'));
  assert.equal(await write(ruled, grant), 'type-not-allowed');
  assert.equal(await write(ruled, grant, { condition: null }), 'changed');
});

test('the types of the turn decide, not those of the call', async () => {
  for (const [present, next, expected] of [
    [RULES, UNTYPED, 'created'],
    [UNTYPED, RULES, 'type-not-allowed'],
    [{ rules: [] }, RULES, 'type-not-allowed'],
  ] as const) {
    for (const together of [true, false]) {
      const ruled = await RuledSlot.open(present);
      const { faults, tenure } = ruled.slot;
      faults.turn('hold', ['append']);
      // What follows is decided in one batch, or while the rules are being appended.
      const before = together ? write(ruled, 'user:z viewer doc:9') : undefined;
      if (together) await waitFor(() => faults.heldCalls() === 1);
      const rules = ruled.setRules(next);
      await waitFor(() => (together ? tenure.queueLength === 1 : faults.heldCalls() === 1));
      const outcome = write(ruled, 'user:* viewer doc:1');
      await waitFor(() => tenure.queueLength === (together ? 2 : 1));
      faults.restore(['append']);
      await Promise.all([before, rules]);
      assert.equal(await outcome, expected, `${together}`);
    }
  }
});

test('while the rules cannot be read, nothing is granted, and revocations go on', async () => {
  const ruled = await RuledSlot.open(UNTYPED, [grantOf('user:a viewer doc:1')]);
  await ruled.setRules(RULES);
  await ruled.goCold();
  ruled.slot.faults.turn('fail-before', ['readRules']);
  await assert.rejects(write(ruled, 'user:* viewer doc:1'));
  assert.equal(await write(ruled, 'user:a viewer doc:1', {}, true), 'revoked');
  ruled.slot.faults.restore(['readRules']);
  assert.equal(await write(ruled, 'user:* viewer doc:1'), 'type-not-allowed');
});
