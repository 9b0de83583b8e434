// Creations with an Idempotency-Key, and rotations of API keys.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashApiKey, parseApiKey } from '../../../../src/core/api-keys.ts';
import type { GrantdError } from '../../../../src/core/errors.ts';
import { isDerivedId } from '../../../../src/core/ids.ts';
import { contextFor, setStage } from '../harness.ts';

const KEY = { name: 'web', scopes: 1, expiresAtMs: undefined };

test('the id of the key follows from the tenant, the operator and the Idempotency-Key', async (t) => {
  const stage = await setStage(t, { front: { peer: 'console' } });
  const keyIdBy = async (operator: string, idempotencyKey: string) => {
    const session = await stage.front.operator.tenant(contextFor(), stage.tenantId, operator);
    return session.createKey(contextFor(), KEY, idempotencyKey).then(
      ({ record }) => record.keyId,
      (error: GrantdError) => error.code === 'already-created' && error.details.keyId,
    );
  };
  const keyId = await keyIdBy('ann', 'a');
  assert.equal(await keyIdBy('ann', 'a'), keyId);
  assert.notEqual(await keyIdBy('ann', 'b'), keyId);
  assert.notEqual(await keyIdBy('bob', 'a'), keyId);
});

test('API keys are rotated and identified', async (t) => {
  const stage = await setStage(t, { front: { peer: 'console' } });
  const session = await stage.front.operator.tenant(contextFor(), stage.tenantId, 'ann');
  const { record, text } = await session.createKey(contextFor(), KEY);
  const hour = { keyId: record.keyId, graceMs: 3_600_000 };
  const rotated = await session.rotateKey(contextFor(), hour, 'a');
  assert.ok(isDerivedId(rotated.key.keyId));
  assert.equal(parseApiKey(rotated.text)?.keyId, rotated.key.keyId, 'the text is that of the new key');
  const claim = { keyId: record.keyId, hash: hashApiKey(text) };
  assert.equal((await session.call('identifyKey', contextFor(), claim))?.matches, true);
  assert.equal((await session.call('identifyKey', contextFor(), { ...claim, hash: hashApiKey('x') }))?.matches, false);
});
