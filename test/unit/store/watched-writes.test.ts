// The watch over the writes of a store: the reason while the last one has failed, and none once one succeeds.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { GrantdError } from '../../../src/core/errors.ts';
import type { Store } from '../../../src/store/store.ts';
import { StoreTrouble } from '../../../src/store/store-adapter.ts';
import { watchWrites } from '../../../src/store/store-decorators.ts';
import { createRecord, soon } from '../../kit/store/store-fixtures.ts';

it('names why the last write has failed, until one succeeds; refusals of too much work and reads say nothing', async () => {
  let failure: GrantdError | undefined;
  const call = () => (failure === undefined ? Promise.resolve({ kind: 'appended' }) : Promise.reject(failure));
  const { store, failing } = watchWrites({ append: call, readRecord: call } as unknown as Store);
  const append = () => store.append(createRecord(1, 1), soon()).catch((error: unknown) => error);
  await append();
  assert.equal(failing(), undefined);
  failure = new GrantdError('overloaded', 'Too much.');
  assert.equal(await append(), failure);
  assert.equal(failing(), undefined);
  failure = new GrantdError('unavailable', 'It failed.', { cause: new StoreTrouble('the disk is full', 'code 13') });
  await store.readRecord(1, 1, soon()).catch(() => {});
  assert.equal(failing(), undefined);
  assert.equal(await append(), failure);
  assert.equal(failing(), 'the disk is full');
  failure = undefined;
  await append();
  assert.equal(failing(), undefined);
});
