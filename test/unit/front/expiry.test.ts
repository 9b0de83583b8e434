// Grants that expire, at a front whose shards are of several versions.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GrantRequest } from '../../../src/shard/shard.ts';
import { FakeShard } from '../../kit/fake-shard.ts';
import { contextFor, serve, setStage, until } from './harness.ts';

const TUPLE = { subject: 'user:ann', relation: 'viewer', revoke: false } as const;

test('a grant that expires is refused while a shard would make one that never expires of it', async (t) => {
  const stage = await setStage(t);
  const session = await stage.session();
  const write = (of: GrantRequest) => session.writeGrants(contextFor(), [of]);
  const expiresAtMs = Date.now() + 1_000_000;
  assert.equal((await write({ ...TUPLE, object: 'doc:1', expiresAtMs }))[0]?.kind, 'created');
  // A shard of an earlier version joins.
  const old = new FakeShard(stage.world, 'shard-old');
  old.expiry = false;
  const { address } = await serve(t, old);
  stage.shard.members = [{ shardName: 'shard-old', address }];
  stage.shard.changed();
  const isRefused = () =>
    write({ ...TUPLE, object: 'doc:2', expiresAtMs }).then(
      () => false,
      () => true,
    );
  await until(isRefused, 'the refusal');
  const refusal = { code: 'unavailable', message: /shard of an earlier version/ };
  await assert.rejects(write({ ...TUPLE, object: 'doc:2', expiresAtMs }), refusal);
  await assert.rejects(write({ ...TUPLE, object: 'doc:1', expiresAtMs: null }), refusal);
  assert.equal((await write({ ...TUPLE, object: 'doc:3' }))[0]?.kind, 'created');
  const bulk = (expiry: Pick<GrantRequest, 'expiresAtMs'>) =>
    session.writeBulk(contextFor(), {
      grants: [{ subject: 'user:ann', relation: 'viewer', object: 'doc:4', ...expiry }],
      revocations: [],
      conditions: [],
    });
  await assert.rejects(bulk({ expiresAtMs }), refusal);
  await assert.rejects(bulk({ expiresAtMs: null }), refusal);
  assert.equal((await bulk({})).kind, 'written');
});
