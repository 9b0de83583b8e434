// Every error crosses the wire and comes back as what it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { ERROR_CATALOGUE, type ErrorCode, GrantdError, isErrorCode } from '../../../src/core/errors.ts';
import type { Failure, ReceivedFailure } from '../../../src/rpc/messages.ts';
import { fromWireFailure, isUnexpected, toStreamStatus, toWireFailure } from '../../../src/rpc/status-mapping.ts';
import { WireViolation } from '../../../src/rpc/wire-violation.ts';
import { ShardFailure } from '../../../src/shard/shard.ts';

const received = (failure: Failure): ReceivedFailure =>
  ({ kind: 0, code: '', message: '', wrongOwner: null, ...failure }) as ReceivedFailure;

test('every code of the catalogue', () => {
  for (const code of Object.keys(ERROR_CATALOGUE).filter(isErrorCode)) {
    const back = fromWireFailure(received(toWireFailure(new GrantdError(code, `About ${code}.`))));
    assert.ok(back instanceof GrantdError);
    assert.deepEqual([back.code, back.message], [code, `About ${code}.`]);
    assert.equal(toStreamStatus(back).code, ERROR_CATALOGUE[code].grpcStatus);
  }
});

test('every failure of a shard', () => {
  const owner = { slot: 3, epoch: 7, incarnation: 'inc_1', address: '127.0.0.1:1' };
  for (const kind of ['wrong-owner', 'not-serving', 'handle-unknown', 'expired', 'undecided'] as const) {
    const failure = new ShardFailure(kind, 'Why.', kind === 'wrong-owner' ? owner : undefined);
    const back = fromWireFailure(received(toWireFailure(failure)));
    assert.ok(back instanceof ShardFailure);
    assert.deepEqual([back.kind, back.owner], [kind, failure.owner]);
    assert.equal(isUnexpected(failure), false);
  }
});

test('an unknown error crosses as internal, without its text', () => {
  const failure = toWireFailure(new Error('secret'));
  assert.equal(failure.code, 'internal');
  assert.equal(failure.message?.includes('secret'), false);
  assert.equal(isUnexpected(new Error('secret')), true);
  assert.equal(toStreamStatus(new Error('secret')).code, status.INTERNAL);
  assert.equal(toStreamStatus(new Error('secret')).details.includes('secret'), false);
});

test('what is not known here never turns into an answer', () => {
  for (const failure of [
    { kind: 1, code: 'brand-new' },
    { kind: 99 as 1 },
    { kind: 0 },
    { kind: 1, code: '__proto__' },
  ] as const) {
    const back = fromWireFailure(received(failure));
    assert.ok(back instanceof GrantdError);
    assert.equal(back.code satisfies ErrorCode, 'internal');
  }
});

test('a violation within one call is a final failure of it, which says nothing of the value', () => {
  const back = fromWireFailure(received(toWireFailure(new WireViolation('The name of a key is longer than 512.'))));
  assert.ok(back instanceof GrantdError);
  assert.deepEqual(
    [back.code, back.retryable, back.message],
    ['internal', false, 'The shard could not read the call.'],
  );
  assert.equal(isUnexpected(new WireViolation('Logged by its stream.')), false);
});

test('a violation that ends a stream is an invalid argument', () => {
  assert.deepEqual(toStreamStatus(new WireViolation('Columns.')), {
    code: status.INVALID_ARGUMENT,
    details: 'Columns.',
  });
});
