// How a world is written down for the peers, word for word. That they take it, and mean the same by it, the slow suite
// shows on the peers themselves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_RULES, type Rule } from '../../src/rules/rule-set.ts';
import { caseOf } from './cases.ts';
import { openfgaModel, storedAs } from './peers/openfga-model.ts';
import { spicedbRelation, spicedbSchema } from './peers/spicedb-schema.ts';
import { expressibleOf, type World } from './universe.ts';

const WORLD: World = {
  ruleSet: {
    ...NO_RULES,
    rules: [
      { namespace: 'folder', name: 'viewer', anyOf: [{ name: 'viewer', from: 'parent' }] },
      { namespace: 'folder', name: 'parent', anyOf: [{ name: 'owner', from: undefined }] },
      { namespace: 'folder', name: 'can_read', anyOf: [{ name: 'viewer', from: undefined }] },
    ],
    groups: true,
    public: ['user'],
  },
  grantable: [
    { namespace: 'group', relation: 'member', entities: ['user'], everyone: ['user'], groups: [] },
    { namespace: 'folder', relation: 'owner', entities: ['user'], everyone: [], groups: [] },
    {
      namespace: 'folder',
      relation: 'parent',
      entities: ['folder'],
      everyone: [],
      groups: [{ namespace: 'group', name: 'member' }],
    },
    { namespace: 'folder', relation: 'viewer', entities: ['user'], everyone: ['user'], groups: [] },
  ],
};

const SCHEMA = `definition user {
}

definition group {
  relation member_granted: user | user:*
  permission member = member_granted
}

definition folder {
  relation owner: user
  relation parent_entities: folder
  relation parent_others: group#member
  permission parent = parent_entities + parent_others + owner
  relation viewer_granted: user | user:*
  permission viewer = viewer_granted + parent_entities->viewer
  permission can_read = viewer
}

definition document {
}
`;

test('a world is a schema of SpiceDB', () => {
  assert.equal(spicedbSchema(WORLD), SCHEMA);
  assert.equal(spicedbRelation(WORLD, 'folder:1', 'parent', 'folder'), 'parent_entities');
  assert.equal(spicedbRelation(WORLD, 'group:1#member', 'parent', 'folder'), 'parent_others');
  assert.equal(spicedbRelation(WORLD, 'user:*', 'viewer', 'folder'), 'viewer_granted');
  assert.equal(spicedbRelation(WORLD, 'user:1', 'owner', 'folder'), 'owner');
});

test('a world is a model of OpenFGA', () => {
  const computed = (relation: string) => ({ computedUserset: { relation } });
  const types = (...each: readonly object[]) => ({ directly_related_user_types: each });
  const [user, everyone] = [{ type: 'user' }, { type: 'user', wildcard: {} }];
  assert.deepEqual(openfgaModel(WORLD), {
    schema_version: '1.1',
    type_definitions: [
      { type: 'user', relations: {}, metadata: { relations: {} } },
      {
        type: 'group',
        relations: { member: { this: {} } },
        metadata: { relations: { member: types(user, everyone) } },
      },
      {
        type: 'folder',
        relations: {
          owner: { this: {} },
          parent_entities: { this: {} },
          parent_others: { this: {} },
          parent: { union: { child: [computed('parent_others'), computed('parent_entities'), computed('owner')] } },
          viewer: {
            union: {
              child: [
                { this: {} },
                {
                  tupleToUserset: {
                    tupleset: { relation: 'parent_entities' },
                    computedUserset: { relation: 'viewer' },
                  },
                },
              ],
            },
          },
          can_read: computed('viewer'),
        },
        metadata: {
          relations: {
            owner: types(user),
            parent_entities: types({ type: 'folder' }),
            parent_others: types({ type: 'group', relation: 'member' }),
            viewer: types(user, everyone),
          },
        },
      },
      { type: 'document', relations: {}, metadata: { relations: {} } },
    ],
  });
  assert.equal(storedAs(WORLD, 'folder:1', 'parent', 'folder'), 'parent_entities');
  assert.equal(storedAs(WORLD, 'group:1#member', 'parent', 'folder'), 'parent_others');
  assert.equal(storedAs(WORLD, 'user:*', 'viewer', 'folder'), 'viewer');
});

test('what the peers cannot express is left out, and nothing else', () => {
  const { ruleSet, grantable } = WORLD;
  const withRules = (...rules: readonly Rule[]): World => ({ grantable, ruleSet: { ...ruleSet, rules } });
  const plain = (name: string, ...names: readonly string[]): Rule => ({
    namespace: 'folder',
    name,
    anyOf: names.map((each) => ({ name: each, from: undefined })),
  });
  const rulesOf = (world: World) => expressibleOf(world).ruleSet.rules.map(({ name, anyOf }) => [name, anyOf.length]);
  assert.deepEqual(expressibleOf(WORLD), WORLD);
  assert.deepEqual(rulesOf(withRules(plain('can_read', 'viewer', 'can_read'))), [['can_read', 1]], 'by itself');
  assert.deepEqual(
    rulesOf(withRules(plain('can_read', 'can_share'), plain('can_share', 'can_read'))),
    [],
    'in a circle',
  );
  assert.deepEqual(rulesOf(withRules(plain('can_read', 'editor'))), [], 'from what cannot be granted');
  const ofItsParents: Rule = { namespace: 'folder', name: 'can_read', anyOf: [{ name: 'can_read', from: 'parent' }] };
  assert.deepEqual(rulesOf(withRules(ofItsParents)), [], 'from nothing but itself on a parent');
});

test('a case follows from its seed alone', () => {
  assert.deepEqual(caseOf('1/17'), caseOf('1/17'));
  assert.notDeepEqual(caseOf('1/17'), caseOf('1/18'));
});
