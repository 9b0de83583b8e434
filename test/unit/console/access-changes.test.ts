// What a revocation would change, against the definition of what rules mean: nothing that is said may be wrong, and
// where nothing is said to be open, nothing may be missing.

import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { type AccessChange, type AccessChanges, accessChanges } from '../../../packages/console/src/access-changes.ts';
import type { WithoutGrants } from '../../../src/core/call-context.ts';
import type { Grant } from '../../../src/core/tuples.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { parseRuleSet } from '../../../src/rules/parse-rule-set.ts';
import type { RuleSet } from '../../../src/rules/rule-set.ts';
import { namesToAsk } from '../../../src/rules/rules-text.ts';
import type { NaiveGrant } from '../../kit/naive-rules.ts';
import { ScriptedOperator } from '../../kit/scripted-operator.ts';
import { type CaseKind, type RandomCase, randomCase, randomOf } from '../rules/random-rules.ts';
import { conditionText, Definition, grantOf, relationOf } from '../shard/evaluation/ruled-slot.ts';

const context = { requestId: 'req_x', deadlineMs: Number.MAX_VALUE };
const KINDS: readonly CaseKind[] = ['union', 'conditions', 'whole'];
const CASES = 12;

const operator = new ScriptedOperator(systemClock, systemRandom);
test.after(() => operator.stop());

const matches = ({ subject, relation, object }: WithoutGrants, grant: NaiveGrant): boolean =>
  (subject ?? grant.subject) === grant.subject &&
  (relation ?? grant.relation) === grant.relation &&
  (object ?? grant.object) === grant.object;

/** A tenant with these grants, of which some would be revoked. */
async function changesOf(
  ruleSet: RuleSet,
  grants: readonly NaiveGrant[],
  without: WithoutGrants,
): Promise<AccessChanges> {
  const { tenantId } = await operator.createTenant(context, { name: 'Acme', plan: 'unlimited', operator: 'test' });
  const session = await operator.tenant(context, tenantId, 'test');
  await session.call('writeRules', context, { ruleSet, ifMatch: undefined });
  const writes = grants.map(({ subject, relation, object, condition }) => ({
    ...{ subject, relation: relationOf(relation), object, revoke: false },
    condition: condition === undefined ? null : conditionText(condition),
  }));
  await session.call('writeGrants', context, writes);
  const revoked = grants.filter((grant) => matches(without, grant)) as readonly Pick<
    Grant,
    'subject' | 'relation' | 'object'
  >[];
  const of = { session, clock: systemClock, context: () => context, ruleSet };
  return accessChanges(of, { without, grants: revoked, isCut: false });
}

const textsOf = (changes: readonly AccessChange[]): string[] =>
  changes.flatMap(({ subject, name, objects }) => objects.map((object) => `${subject} ${name} ${object}`));

function drawWithout(grants: readonly NaiveGrant[], random: (count: number) => number): WithoutGrants {
  const { subject = '', relation = '', object = '' } = grants[random(grants.length)] ?? {};
  return [{ subject, relation: relationOf(relation), object }, { subject }, { object }][random(3)] ?? { subject };
}

/** By the definition: what holds before and not after, and the reverse. */
function defined(of: RandomCase, without: WithoutGrants) {
  const [before, after] = [of.grants, of.grants.filter((grant) => !matches(without, grant))].map(
    (grants) => new Definition(of.ruleSet, grants),
  );
  assert.ok(before !== undefined && after !== undefined);
  const lost: string[] = [];
  const gained: string[] = [];
  for (const subject of of.subjects) {
    for (const relation of namesToAsk(of.ruleSet)) {
      for (const object of new Set([...of.objects, subject])) {
        const question = { subject, relation, object };
        const [had, has] = [before.truthOf(question), after.truthOf(question)];
        if (had === true && has !== true) lost.push(`${subject} ${relation} ${object}`);
        if (had !== true && has === true) gained.push(`${subject} ${relation} ${object}`);
      }
    }
  }
  return { lost, gained };
}

for (const kind of KINDS) {
  test(`a revocation under random rules: ${kind}`, async () => {
    let complete = 0;
    let losses = 0;
    for (let seed = 1; seed <= CASES; seed += 1) {
      const of = randomCase(seed, kind);
      if (of.grants.length === 0) continue;
      const without = drawWithout(of.grants, randomOf(seed));
      const said = await changesOf(of.ruleSet, of.grants, without);
      const real = defined(of, without);
      const what = `seed ${seed}, without ${JSON.stringify(without)}, open: ${[...said.open].join()}`;
      const known = new Set(of.subjects);
      const inUniverse = (text: string): boolean => known.has(text.split(' ')[0] ?? '');
      for (const [claimed, true_] of [
        [textsOf(said.lost), real.lost],
        [textsOf(said.gained), real.gained],
      ] as const) {
        const wrong = claimed.filter((text) => inUniverse(text) && !true_.includes(text));
        assert.deepEqual(wrong, [], `nothing is said that is not so: ${what}`);
        const missed = true_.filter((text) => !claimed.includes(text));
        if (said.open.size === 0) assert.deepEqual(missed, [], `nothing is missing: ${what}`);
      }
      if (said.open.size === 0) complete += 1;
      losses += real.lost.length;
    }
    assert.ok(losses > 0 && complete > 0, `some revocations are known completely, and take something: ${complete}`);
  });
}

describe('a revocation of a team', () => {
  const rules = {
    rules: [
      { namespace: 'document', name: 'can_read', any_of: ['viewer', 'viewer from parent'] },
      { namespace: 'document', name: 'can_sign', any_of: [{ all_of: ['can_read'], but_not: ['guest'] }] },
    ],
    groups: true,
    public: ['user'],
  };
  const team = ['user:ada member team:eng', 'user:bob member team:eng', 'team:eng#member viewer folder:1'];
  const children = ['folder:1 parent document:1', 'folder:1 parent document:2'];
  const said = async (grants: readonly string[], revoked: string, changed: object = {}) => {
    const { subject, relation, object } = grantOf(revoked);
    const without = { subject, relation: relationOf(relation), object };
    const changes = await changesOf(parseRuleSet({ ...rules, ...changed }), grants.map(grantOf), without);
    return { lost: textsOf(changes.lost), gained: textsOf(changes.gained), open: [...changes.open] };
  };
  const lossOf = (subject: string): string[] => [
    ...['document:1', 'document:2'].map((object) => `${subject} can_read ${object}`),
    `${subject} viewer folder:1`,
  ];

  it('names the members and the documents, but for those who hold them otherwise', async () => {
    const unions = { rules: rules.rules.slice(0, 1) };
    const { lost, gained, open } = await said(
      [...team, ...children, 'user:bob viewer folder:1'],
      'team:eng#member viewer folder:1',
      unions,
    );
    assert.deepEqual(lost, [...lossOf('team:eng#member'), ...lossOf('user:ada')]);
    assert.deepEqual([gained, open], [[], []]);
  });

  it('is known to take nothing where everything is held otherwise', async () => {
    const grants = ['user:ada viewer document:1', 'user:ada viewer folder:1', 'folder:1 parent document:1'];
    const { lost, open } = await said([...grants, 'user:ada member team:eng'], 'user:ada member team:eng');
    assert.deepEqual([lost, open], [['user:ada member team:eng'], []]);
  });

  it('takes from those who hold a name on a parent', async () => {
    const unions = { rules: rules.rules.slice(0, 1) };
    const { lost, open } = await said([...team, ...children], 'folder:1 parent document:2', unions);
    const readers = ['folder:1#viewer', 'team:eng#member', 'user:ada', 'user:bob'].map(
      (subject) => `${subject} can_read document:2`,
    );
    assert.deepEqual([lost, open], [['folder:1 parent document:2', ...readers], []]);
  });

  it('gives where a rule takes away, and does not claim to know everyone', async () => {
    const grants = ['user:ada viewer document:1', 'user:ada guest document:1', 'user:* viewer document:1'];
    const single = await said(grants, 'user:ada guest document:1');
    assert.deepEqual(single, {
      lost: ['user:ada guest document:1'],
      gained: ['user:ada can_sign document:1'],
      open: [],
    });
    const { open } = await said(grants, 'user:* viewer document:1');
    assert.deepEqual(open, ['everyone']);
    const nested = await said([...team, 'team:eng#member guest document:1'], 'team:eng#member guest document:1');
    assert.deepEqual(nested.open, ['gates']);
  });

  it('says that it is not all, where it is not', async () => {
    const members = Array.from({ length: 60 }, (_, index) => `user:${index} member team:eng`);
    const unions = { rules: rules.rules.slice(0, 1) };
    const many = await said([...members, 'team:eng#member viewer folder:1'], 'team:eng#member viewer folder:1', unions);
    assert.deepEqual(many.open, ['subjects']);
    assert.ok(many.lost.length > 40);
    const conditions = [{ name: 'late', parameters: { hour: 'int' }, expression: 'hour > 20' }];
    const { tenantId } = await operator.createTenant(context, { name: 'Acme', plan: 'unlimited', operator: 'test' });
    const session = await operator.tenant(context, tenantId, 'test');
    const ruleSet = parseRuleSet({ ...rules, conditions });
    await session.call('writeRules', context, { ruleSet, ifMatch: undefined });
    const grant = { subject: 'user:ada', relation: 'viewer', object: 'document:1' } as const;
    await session.call('writeGrants', context, [{ ...grant, condition: 'late', revoke: false }]);
    const of = { session, clock: systemClock, context: () => context, ruleSet };
    const conditional = await accessChanges(of, { without: grant, grants: [grant], isCut: false });
    assert.deepEqual([conditional.lost, [...conditional.open]], [[], ['context']]);
  });
});
