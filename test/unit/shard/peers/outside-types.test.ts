// Rules with stricter types and the grants that are stored: rules that exclude some are refused with their number, as
// of the moment of the write, whatever is written meanwhile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { GrantdError } from '../../../../src/core/errors.ts';
import { SubjectTypes } from '../../../../src/rules/allowed-grants.ts';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import type { RulesRequest } from '../../../../src/rules/rules-writes.ts';
import { demandNoneOutside } from '../../../../src/shard/log/outside-grants.ts';
import { readAll } from '../../../kit/store/read-all.ts';
import { grantOf, RuledSlot, relationOf } from '../evaluation/ruled-slot.ts';
import { numbered, tuple, waitFor } from '../tools.ts';

const typed = (viewers: readonly string[] | undefined, assignees?: readonly string[]) => ({
  relations: ['assignee'],
  types: [
    ...(viewers === undefined ? [] : [{ namespace: 'doc', relation: 'viewer', subjects: viewers }]),
    ...(assignees === undefined ? [] : [{ namespace: 'doc', relation: 'assignee', subjects: assignees }]),
  ],
  rules: [],
});

const put = ({ slot, handle }: RuledSlot, rules: object, more: Partial<RulesRequest> = {}) =>
  slot.connection.writeRules(handle, slot.attempt(), {
    rules: RulesText.of(parseRuleSet(rules)),
    ifMatch: undefined,
    ...more,
  });
const preview = ({ slot, handle }: RuledSlot, rules: object, more: Partial<RulesRequest> = {}) =>
  slot.connection.previewRules(handle, { rules: RulesText.of(parseRuleSet(rules)), ifMatch: undefined, ...more });
const typesOf = async ({ slot, handle }: RuledSlot) => (await slot.connection.readRules(handle)).ruleSet.types;

async function refusal(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    const { code, message } = error as GrantdError;
    assert.equal(code, 'grants-outside-types');
    return message;
  }
  return assert.fail('The rules were written.');
}

test('types that exclude stored grants are refused with their number and some of them, unless these are kept', async () => {
  const ruled = await RuledSlot.open(typed(undefined), [
    grantOf('user:a viewer doc:1'),
    grantOf('team:1 viewer doc:1'),
    grantOf('user:* viewer doc:2'),
    grantOf('team:1 editor doc:1'),
    grantOf('team:1 viewer folder:1'),
  ]);
  for (const cold of [false, true]) {
    if (cold) await ruled.goCold();
    const message = await refusal(put(ruled, typed(['user'])));
    assert.match(message, /^The types exclude 2 stored grants: team:1 viewer doc:1, user:\* viewer doc:2\. /);
    assert.equal(await refusal(preview(ruled, typed(['user']))), message, 'a dry run says the same');
    assert.deepEqual(await typesOf(ruled), []);
  }
  const kept = { outsideTypes: 'keep' } as const;
  assert.equal((await preview(ruled, typed(['user']), kept)).outsideTypes, 2);
  await put(ruled, typed(['user']), kept);
  assert.equal(await ruled.check('team:1 viewer doc:1'), true);
  await put(ruled, { ...typed(['user']), groups: true });
  await put(ruled, typed(['user', 'team']));
  assert.match(await refusal(put(ruled, typed(['user']))), /exclude 2 stored grants/, 'they were stricter before');
  await ruled.write([grantOf('team:1 viewer doc:1'), grantOf('user:* viewer doc:2')], true);
  await put(ruled, typed(['user']));
});

test('only grants of relations whose types become stricter are read and counted', async () => {
  const ruled = await RuledSlot.open(typed(['user', 'team']), [
    grantOf('user:a viewer doc:1'),
    grantOf('team:1 assignee doc:1'),
  ]);
  const { faults } = ruled.slot;
  const reads = (): number => faults.calls('listSubjects');
  const before = reads();
  await put(ruled, typed(['user', 'team', 'user:*']));
  await put(ruled, { ...typed(['user', 'team']), groups: true });
  await put(ruled, typed(undefined));
  assert.ok(reads() > before, 'one of them was narrower than the one before');
  const from = reads();
  await put(ruled, typed(undefined, ['team', 'user']));
  assert.ok(reads() > from);
  const later = reads();
  await put(ruled, typed(undefined, ['team', 'user', 'group']));
  await put(ruled, { ...typed(undefined, ['team', 'user', 'group']), public: ['user'] });
  await put(ruled, typed(undefined));
  assert.equal(reads(), later, 'nothing became stricter');
  assert.match(await refusal(put(ruled, typed(['user'], ['user']))), /exclude 1 stored grant: team:1 assignee doc:1\./);
  await ruled.write([grantOf('team:1 assignee doc:1')], true);
  await put(ruled, typed(['user'], ['user']));
});

test('all of them are counted, and ten are listed', async () => {
  const ruled = await RuledSlot.open(typed(undefined), []);
  const { slot, handle } = ruled;
  await slot.writeAll(
    handle,
    numbered(2500, 'team:').map((subject) => tuple(subject, 'doc:1')),
  );
  const message = await refusal(put(ruled, typed(['user'])));
  assert.match(message, /^The types exclude 2,500 stored grants: .* and 2,490 more\. /);
  assert.equal(message.split(' viewer doc:1').length - 1, 10);
});

test('what is granted or revoked while the grants are read counts', async () => {
  for (const [first, then, revoke, isRefused] of [
    ['user:a viewer doc:1', 'team:1 viewer doc:1', false, true],
    ['team:1 viewer doc:1', 'team:1 viewer doc:1', true, false],
    ['user:a viewer doc:1', 'team:1 editor doc:1', false, false],
  ] as const) {
    const ruled = await RuledSlot.open(typed(undefined), [grantOf(first)]);
    const { faults } = ruled.slot;
    faults.turn('hold', ['listSubjects']);
    const written = put(ruled, typed(['user']));
    const outcome = written.then(
      () => 'written',
      ({ code }: GrantdError) => code,
    );
    await waitFor(() => faults.heldCalls() > 0);
    await ruled.write([grantOf(then)], revoke);
    faults.restore(['listSubjects']);
    assert.equal(await outcome, isRefused ? 'grants-outside-types' : 'written', then);
  }
});

test('a grant of the same entry that is decided before the rules counts', async () => {
  const ruled = await RuledSlot.open(typed(undefined), [grantOf('user:a viewer doc:1')]);
  const [, refused] = await ruled.slot.inOneEntry(
    () => ruled.write([grantOf('user:b viewer doc:2')]),
    () => ruled.write([grantOf('team:1 viewer doc:1')]),
    () => refusal(put(ruled, typed(['user']))),
  );
  assert.match(await refused, /exclude 1 stored grant: team:1 viewer doc:1\./);
});

test('rules that change while the grants are read have them read again', async () => {
  const ruled = await RuledSlot.open(typed(['user', 'team'], ['user', 'team']), [
    grantOf('team:1 viewer doc:1'),
    grantOf('user:1 assignee doc:1'),
  ]);
  const { faults } = ruled.slot;
  faults.turn('hold', ['listSubjects']);
  const refused = refusal(
    put(ruled, typed(['user', 'team'], ['user'])).then(() => put(ruled, typed(['user'], ['user']))),
  );
  await waitFor(() => faults.heldCalls() > 0);
  await put(ruled, typed(['user', 'team'], ['user', 'team', 'group']));
  faults.restore(['listSubjects']);
  assert.match(await refused, /exclude 1 stored grant: team:1 viewer doc:1\./);
  assert.deepEqual(await typesOf(ruled), parseRuleSet(typed(['user', 'team'], ['user'])).types);
});

test('a store that cannot be read decides nothing', async () => {
  const ruled = await RuledSlot.open(typed(undefined), [grantOf('team:1 viewer doc:1')]);
  const { faults } = ruled.slot;
  faults.turn('fail-before', ['listSubjects']);
  await assert.rejects(put(ruled, typed(['user'])), { kind: 'not-serving' });
  faults.restore(['listSubjects']);
  assert.deepEqual(await typesOf(ruled), []);
});

test('rules whose time does not suffice to read the grants are refused, to be sent again', async () => {
  const ruled = await RuledSlot.open(typed(undefined), [grantOf('user:a viewer doc:1')]);
  const { slot, handle } = ruled;
  const ruleSet = parseRuleSet(typed(['user']));
  const late = { ...slot.attempt(), expiresAtMs: slot.clock.monotonicMs() + 2500 };
  await assert.rejects(slot.connection.writeRules(handle, late, { rules: RulesText.of(ruleSet), ifMatch: undefined }), {
    code: 'unavailable',
  });
  assert.deepEqual(await typesOf(ruled), []);
});

test('of more grants than a call can read, none may be excluded', () => {
  assert.doesNotThrow(() => demandNoneOutside([], 0, undefined));
  assert.throws(() => demandNoneOutside([], 0, 60_000), {
    code: 'grants-outside-types',
    message: / 60,000 .*others may/,
  });
  const grant = { ...tuple('team:1', 'doc:1'), grantId: 'grt_1', createdAtMs: 1 };
  assert.throws(() => demandNoneOutside([grant], 1, 60_000), {
    message: /^The types exclude at least 1 stored grant: /,
  });
});

const SUBJECTS = ['user:a', 'user:*', 'team:1', 'team:1#member'];
const kinds = fc.option(fc.subarray(['user', 'user:*', 'team', 'team#member'], { minLength: 1 }), { nil: undefined });
const call = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      subject: fc.constantFrom(...SUBJECTS),
      relation: fc.constantFrom('viewer', 'assignee'),
      object: fc.constantFrom('doc:1', 'doc:2'),
      revoke: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ viewers: kinds, assignees: kinds }) },
);

test('no stored grant is ever outside the types, whatever is written at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(call, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 12 }),
      async (rounds) => {
        const ruled = await RuledSlot.open(typed(undefined), []);
        const { slot, handle } = ruled;
        for (const round of rounds) {
          await Promise.allSettled(
            round.map(async (each) => {
              if ('viewers' in each) return put(ruled, typed(each.viewers, each.assignees));
              const write = { ...each, relation: relationOf(each.relation) };
              return slot.connection.writeGrants(handle, slot.attempt(), [write]);
            }),
          );
          const types = new SubjectTypes((await slot.connection.readRules(handle)).ruleSet);
          const grants = await readAll((cursor) => slot.operator.exportGrants(handle, { limit: 100, cursor }));
          assert.deepEqual(
            grants.filter((grant) => !types.allows(grant)),
            [],
          );
        }
        slot.kill();
      },
    ),
    { numRuns: 60 },
  );
});
