// Rules, at a front whose shards are of several versions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_RULES, parseRuleSet } from '../../../src/rules/rule-set.ts';
import { FakeShard } from '../../kit/fake-shard.ts';
import { contextFor, serve, setStage, until } from './harness.ts';

const RULES = parseRuleSet({ rules: [{ namespace: 'doc', name: 'can_read', any_of: ['viewer'] }], groups: true });
const REQUEST = { ruleSet: RULES, ifMatch: undefined };

test('rules can only be set, or tried, while all shards know them; reading them goes on', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  await session.writeRules(contextFor(), REQUEST);
  assert.deepEqual(await session.readRules(contextFor()), RULES);
  // A shard of an earlier version joins.
  const old = new FakeShard(stage.world, 'shard-old');
  old.rules = false;
  const { address } = await serve(t, old);
  stage.shard.members = [{ shardName: 'shard-old', address }];
  stage.shard.changed();
  const isRefused = () =>
    session.writeRules(contextFor(), REQUEST).then(
      () => false,
      () => true,
    );
  await until(isRefused, 'the refusal');
  const refusal = { code: 'unavailable', message: /shard of an earlier version/ };
  await assert.rejects(session.writeRules(contextFor(), { ...REQUEST, ruleSet: NO_RULES }), refusal);
  await assert.rejects(session.previewRules(contextFor(), REQUEST), refusal);
  assert.deepEqual(await session.readRules(contextFor()), RULES);
  assert.equal(old.counts.get('readRules'), undefined);
});

test('a tenant whose owner does not know rules has none, and that owner is not asked', async (t) => {
  const stage = await setStage(t, { rules: false });
  const session = await stage.session();
  assert.deepEqual(await session.readRules(contextFor()), NO_RULES);
  await assert.rejects(session.writeRules(contextFor(), REQUEST), { code: 'unavailable' });
  assert.equal(stage.shard.counts.get('readRules'), undefined);
});
