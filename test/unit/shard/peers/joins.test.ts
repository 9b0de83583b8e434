// Joins at a shard: of the present rules with their revision, built once for each rule set, and dropped with the memory
// that they take.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRuleSet } from '../../../../src/rules/parse-rule-set.ts';
import { NO_RULES, type RuleSet, revisionOf } from '../../../../src/rules/rule-set.ts';
import { RulesText } from '../../../../src/rules/rules-text.ts';
import { attempt, type OpenSlot, openSlot, tuple } from '../tools.ts';

const textOf = (...elements: readonly string[]) => ({
  rules: [{ namespace: 'doc', name: 'can_read', any_of: elements }],
});
const rulesOf = (...elements: readonly string[]): RuleSet => parseRuleSet(textOf(...elements));
const FIRST_TEXT = textOf('owner');
const FIRST = rulesOf('owner');
const SECOND = rulesOf('viewer', 'can_read from parent');
const QUERY = { namespace: 'doc', name: 'can_read', deep: [] };

const write = (slot: OpenSlot, handle: number, ruleSet: RuleSet): Promise<void> =>
  slot.connection.writeRules(handle, attempt(), { rules: RulesText.of(ruleSet), ifMatch: undefined });

test('a join is that of the present rules, with their revision', async () => {
  const { slot, handle } = await openSlot();
  const read = async (name = 'can_read') => {
    const { revision, json } = await slot.connection.readJoin(handle, { ...QUERY, name });
    const join = JSON.parse(json);
    assert.equal(join.revision, revision);
    return { revision, relations: join.atoms.a.relations, ask: join.ask };
  };
  assert.deepEqual(await read('viewer'), { revision: revisionOf(NO_RULES), relations: ['viewer'], ask: [] });
  await assert.rejects(read(), { code: 'invalid-relation', message: /^"name" must be one of the names/ });
  await write(slot, handle, FIRST);
  assert.deepEqual(await read(), { revision: revisionOf(FIRST), relations: ['owner'], ask: [] });
  await write(slot, handle, SECOND);
  assert.deepEqual(await read(), { revision: revisionOf(SECOND), relations: ['viewer'], ask: ['can_read'] });
  await write(slot, handle, NO_RULES);
  await assert.rejects(read(), { code: 'invalid-relation' });
});

test('the join of a name that objects of the namespace cannot have is refused, with where they can', async () => {
  const { slot, handle } = await openSlot();
  await write(slot, handle, parseRuleSet({ ...FIRST_TEXT, relations: ['approver'] }));
  const read = (name: string) => slot.connection.readJoin(handle, { ...QUERY, namespace: 'dok', name });
  const message = /^"name" must be a name of dok, where no rule defines can_read: rules define it on doc\.$/;
  await assert.rejects(read('can_read'), { code: 'invalid-relation', message });
  const query = { subject: 'user:a', ...QUERY, namespace: 'dok', perhaps: false };
  const refused = slot.connection.readSets(handle, query);
  await assert.rejects(refused, { code: 'invalid-relation', message: /^"join\.name" must be a name of dok/ });
  // Whatever rules say, this can be granted there.
  for (const name of ['viewer', 'approver']) assert.ok((await read(name)).json.includes(`["${name}"]`));
});

test('a join is built once until the rules change, whatever is granted', async () => {
  const { slot, handle, tenantId } = await openSlot();
  await write(slot, handle, FIRST);
  const { rules } = slot.tenure.tenants.get(tenantId) ?? assert.fail();
  using _rules = await rules.pin();
  const join = await rules.joinOf(QUERY, 'name');
  await slot.connection.writeGrants(handle, attempt(), [{ ...tuple('user:a', 'doc:1'), revoke: false }]);
  assert.equal(await rules.joinOf({ ...QUERY }, 'name'), join);
  assert.notEqual(await rules.joinOf({ ...QUERY, deep: ['folder'] }, 'name'), join);
  await write(slot, handle, SECOND);
  const later = await rules.joinOf(QUERY, 'name');
  assert.notDeepEqual(later, join);
  assert.equal(await rules.joinOf(QUERY, 'name'), later);
});
