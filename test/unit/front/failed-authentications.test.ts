// Failed authentications of clients that share one address, over HTTP and a real front: what a dead key, a guesser and
// a fault of an owner cost the others there.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createApiKey } from '../../../src/core/api-keys.ts';
import { GrantdError } from '../../../src/core/errors.ts';
import { createFailureLimiter } from '../../../src/front/limits/failure-limiter.ts';
import { systemClock, systemRandom } from '../../../src/roles/process/system.ts';
import { ShardFailure } from '../../../src/shard/shard.ts';
import { call } from '../../kit/http-client.ts';
import { ids, listenApi, setStage } from './harness.ts';

const TUPLE = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;

const violatedBy = ({ json }: { readonly json: unknown }): unknown =>
  (json as { readonly 'violated-policies'?: unknown })['violated-policies'];

async function startService(t: TestContext) {
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const { front, shard, world, key } = await setStage(t, { clock });
  const url = await listenApi(t, front, { clock, failureLimiter: createFailureLimiter({ clock }) });
  const ask = (each: string) => call(url, { method: 'POST', path: '/v1/check', key: each, body: TUPLE });
  const statusOf = async (each: string): Promise<number> => (await ask(each)).status;
  const tally = async (each: string, times: number): Promise<Record<number, number>> => {
    const counts: Record<number, number> = {};
    for (let time = 0; time < times; time += 1) {
      const status = await statusOf(each);
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  };
  const newKey = async (): Promise<string> => world.createKey(await world.createTenant([...shard.epochs.keys()]));
  /** A key that no tenant has. */
  const forged = (): string => createApiKey({ tenantId: ids.create('ten'), keyId: ids.create('key') }, systemRandom);
  /** The owner refuses every key from here on: also those that have handles. */
  const fault = (): void => {
    shard.onCheck = () => {
      throw new ShardFailure('handle-unknown', 'The handle is unknown.');
    };
    shard.onCall = (name) => {
      if (name === 'authenticate') throw new GrantdError('unauthorized', 'The API key is not valid.');
    };
  };
  const mend = (): void => {
    shard.onCheck = undefined;
    shard.onCall = undefined;
  };
  const pass = (ms: number): void => {
    aheadMs += ms;
  };
  return { shard, key, ask, statusOf, tally, newKey, forged, fault, mend, pass };
}

test('a client that goes on with a dead key is refused alone, and costs its owner ten questions a minute', async (t) => {
  const { shard, ask, statusOf, tally, newKey, forged, pass } = await startService(t);
  const dead = forged();
  assert.deepEqual(await tally(dead, 300), { 401: 10, 429: 290 });
  assert.equal(shard.count('authenticate'), 10);
  const refused = await ask(dead);
  assert.deepEqual(violatedBy(refused), ['key:failures']);
  assert.equal(refused.headers['ratelimit-policy'], '"key:failures";q=10;w=60');
  // Of other tenants at the same address, never seen before.
  for (let count = 0; count < 5; count += 1) assert.equal(await statusOf(await newKey()), 200);
  pass(60_000);
  assert.deepEqual(await tally(dead, 30), { 401: 10, 429: 20 });
});

test('an address that guesses keys is refused, and no dead key raises its limit', async (t) => {
  const { shard, key, ask, statusOf, newKey, forged } = await startService(t);
  assert.equal(await statusOf(key), 200);
  const asked = shard.count('authenticate');
  for (let count = 0; count < 60; count += 1) assert.equal(await statusOf(forged()), 401);
  for (let count = 0; count < 20; count += 1) assert.equal(await statusOf(forged()), 429);
  assert.equal(shard.count('authenticate') - asked, 60);
  const unseen = await newKey();
  assert.deepEqual(violatedBy(await ask(unseen)), ['address:failures']);
  assert.equal(await statusOf(key), 200, 'a known key works from anywhere');
});

test('keys that an owner refused by a fault work again as soon as it has ended, wherever their limit is', async (t) => {
  const { key, statusOf, tally, newKey, forged, fault, mend, pass } = await startService(t);
  const others = await Promise.all([newKey(), newKey(), newKey()]);
  for (const each of [key, ...others]) assert.equal(await statusOf(each), 200);
  fault();
  for (const each of [key, ...others]) await tally(each, 30);
  // The address has used up its limit as well.
  for (let count = 0; count < 60; count += 1) await statusOf(forged());
  pass(20_000);
  mend();
  for (const each of [key, ...others]) assert.equal(await statusOf(each), 200);
  assert.equal(await statusOf(forged()), 429, 'others of the address are still refused');
});
