// Creations with an Idempotency-Key, at a front whose shards are of several versions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashApiKey, parseApiKey } from '../../../../src/core/api-keys.ts';
import { isDerivedId } from '../../../../src/core/ids.ts';
import { FakeShard } from '../../../kit/fake-shard.ts';
import { contextFor, serve, setStage, until } from '../harness.ts';

const KEY = { name: 'web', scopes: 1, expiresAtMs: undefined };
const TENANT = { name: 'Acme', plan: 'free', operator: 'ann' };

test('they wait until all shards know them, since another owner would replace an API key', async (t) => {
  const stage = await setStage(t, { front: { peer: 'console' } });
  const { operator } = stage.front;
  const session = await operator.tenant(contextFor(), stage.tenant.record.tenantId, 'ann');
  const { record } = await session.createKey(contextFor(), KEY, 'a');
  assert.ok(isDerivedId(record.keyId));
  const old = new FakeShard(stage.world, 'shard-old');
  old.creations = false;
  const { address } = await serve(t, old);
  stage.shard.members = [{ shardName: 'shard-old', address }];
  stage.shard.changed();
  const isRefused = () =>
    session.createKey(contextFor(), KEY, 'b').then(
      () => false,
      () => true,
    );
  await until(isRefused, 'the refusal');
  const refusal = { code: 'unavailable', message: /shard of an earlier version/ };
  await assert.rejects(session.createKey(contextFor(), KEY, 'a'), refusal);
  await assert.rejects(operator.createTenant(contextFor(), TENANT, 'a'), refusal);
  // Without one, everything goes on.
  await session.createKey(contextFor(), KEY);
  await operator.createTenant(contextFor(), TENANT);
});

test('the id of the key follows from the tenant, the operator and the Idempotency-Key', async (t) => {
  const stage = await setStage(t, { front: { peer: 'console' } });
  const keyIdBy = async (operator: string, idempotencyKey: string) => {
    const session = await stage.front.operator.tenant(contextFor(), stage.tenant.record.tenantId, operator);
    return (await session.createKey(contextFor(), KEY, idempotencyKey)).record.keyId;
  };
  const keyId = await keyIdBy('ann', 'a');
  assert.equal(await keyIdBy('ann', 'a'), keyId);
  assert.notEqual(await keyIdBy('ann', 'b'), keyId);
  assert.notEqual(await keyIdBy('bob', 'a'), keyId);
});

test('API keys are rotated and identified once all shards know how', async (t) => {
  const stage = await setStage(t, { front: { peer: 'console' } });
  const session = await stage.front.operator.tenant(contextFor(), stage.tenant.record.tenantId, 'ann');
  const { record, text } = await session.createKey(contextFor(), KEY);
  const hour = { keyId: record.keyId, graceMs: 3_600_000 };
  const rotated = await session.rotateKey(contextFor(), hour, 'a');
  assert.ok(isDerivedId(rotated.key.keyId));
  assert.equal(parseApiKey(rotated.text)?.keyId, rotated.key.keyId, 'the text is that of the new key');
  const claim = { keyId: record.keyId, hash: hashApiKey(text) };
  assert.equal((await session.identifyKey(contextFor(), claim))?.matches, true);
  assert.equal((await session.identifyKey(contextFor(), { ...claim, hash: hashApiKey('x') }))?.matches, false);
  const old = new FakeShard(stage.world, 'shard-old');
  old.rotations = false;
  const { address } = await serve(t, old);
  stage.shard.members = [{ shardName: 'shard-old', address }];
  stage.shard.changed();
  const isRefused = () =>
    session.rotateKey(contextFor(), { ...hour, keyId: rotated.key.keyId }).then(
      () => false,
      ({ code }) => code === 'unavailable',
    );
  await until(isRefused, 'the refusal');
  await assert.rejects(session.identifyKey(contextFor(), claim), { code: 'unavailable', message: /earlier version/ });
});
