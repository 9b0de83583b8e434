// How checks and calls are cut into messages.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Outbox } from '../../../../src/front/links/outbox.ts';
import { NAMED, type SingleCheck } from '../../../../src/rpc/calls/checks.ts';
import type { FrontMessage } from '../../../../src/rpc/messages.ts';
import { BATCH_BYTES_MAX, CHECKS_PER_MESSAGE_MAX } from '../../../../src/rpc/protocol.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';

function drain(outbox: Outbox): FrontMessage[] {
  const messages: FrontMessage[] = [];
  for (;;) {
    const message = outbox.next();
    if (message === undefined) return messages;
    messages.push(message);
  }
}

const checkOf = (subject = '', relation = 1, object = ''): SingleCheck => ({
  subject,
  relation,
  object,
  name: '',
  context: '',
});

test('what gathers is one message, and nothing is none', () => {
  const outbox = new Outbox(createMetrics());
  assert.deepEqual(drain(outbox), []);
  outbox.addCheck(1, 7, checkOf('user:a', 6, 'doc:1'));
  outbox.addCall({ id: 2, handle: 7, confirm: {} });
  outbox.addCheck(3, 7, checkOf('user:b', 1, 'doc:2'));
  assert.deepEqual(drain(outbox), [
    {
      checks: {
        ids: [1, 3],
        handles: [7, 7],
        subjects: ['user:a', 'user:b'],
        relations: [6, 1],
        objects: ['doc:1', 'doc:2'],
        names: [],
        contexts: [],
      },
      calls: [{ id: 2, handle: 7, confirm: {} }],
    },
  ]);
  assert.deepEqual(drain(outbox), []);
});

test('messages are cut by number and by size, in order, without loss', () => {
  const outbox = new Outbox(createMetrics());
  const count = 2 * CHECKS_PER_MESSAGE_MAX + 1;
  for (let id = 1; id <= count; id += 1) outbox.addCheck(id, 1, checkOf());
  const ids = drain(outbox).map(({ checks }) => checks?.ids ?? []);
  assert.deepEqual(
    ids.map(({ length }) => length),
    [CHECKS_PER_MESSAGE_MAX, CHECKS_PER_MESSAGE_MAX, 1],
  );
  assert.deepEqual(
    ids.flat(),
    Array.from({ length: count }, (_, index) => index + 1),
  );

  const text = 'x'.repeat(BATCH_BYTES_MAX / 12);
  for (let id = 1; id <= 9; id += 1) outbox.addCall({ id, handle: 1, createNamespace: { name: text } });
  const calls = drain(outbox).map((message) => message.calls?.map(({ id }) => id));
  assert.deepEqual(calls, [
    [1, 2, 3],
    [4, 5, 6],
    [7, 8, 9],
  ]);
});

test('it is full above its bound, until that is sent or given up', () => {
  const outbox = new Outbox(createMetrics());
  const fill = (): void => {
    let id = 0;
    while (!outbox.full) {
      id += 1;
      outbox.addCall({ id, handle: 1, createNamespace: { name: 'x'.repeat(1_000_000) } });
      assert.ok(id < 100);
    }
  };
  fill();
  drain(outbox);
  assert.equal(outbox.full, false);
  fill();
  outbox.clear();
  assert.equal(outbox.full, false);
  assert.deepEqual(drain(outbox), []);
});

test('a check that is traced says so in the message that it travels in, and no other does', () => {
  const outbox = new Outbox(createMetrics());
  for (let id = 1; id <= CHECKS_PER_MESSAGE_MAX; id += 1) outbox.addCheck(id, 1, checkOf(), id === 3 ? 'a' : undefined);
  outbox.addCheck(CHECKS_PER_MESSAGE_MAX + 1, 1, checkOf());
  outbox.addCheck(CHECKS_PER_MESSAGE_MAX + 2, 1, checkOf(), 'b');
  const [first, second] = drain(outbox);
  assert.deepEqual(first?.checks?.traced, [{ index: 2, traceparent: 'a' }]);
  assert.deepEqual(second?.checks?.traced, [{ index: 1, traceparent: 'b' }]);
});

test('the names and contexts of named checks follow each other, without those of the others', () => {
  const outbox = new Outbox(createMetrics());
  outbox.addCheck(1, 1, { ...checkOf('user:a', NAMED, 'doc:1'), name: 'can_read' });
  outbox.addCheck(2, 1, checkOf('user:b', 6, 'doc:2'));
  outbox.addCheck(3, 1, { ...checkOf('user:c', NAMED, 'doc:3'), name: 'viewer', context: '{"hour":9}' });
  const [message] = drain(outbox);
  assert.deepEqual(message?.checks?.relations, [NAMED, 6, NAMED]);
  assert.deepEqual(message.checks.names, ['can_read', 'viewer']);
  assert.deepEqual(message.checks.contexts, ['', '{"hour":9}']);
});

test('checks go before calls, and calls take turns by handle', () => {
  const outbox = new Outbox(createMetrics());
  const name = 'x'.repeat(BATCH_BYTES_MAX / 6);
  for (let id = 1; id <= 6; id += 1) outbox.addCall({ id, handle: 1, createNamespace: { name } });
  outbox.addCall({ id: 7, handle: 2, confirm: {} });
  outbox.addCheck(8, 3, checkOf('user:a', 6, 'doc:1'));
  outbox.addCall({ id: 9, handle: 1, confirm: {} });
  const messages = drain(outbox);
  assert.deepEqual(messages[0]?.checks?.ids, [8]);
  assert.deepEqual(
    messages.map((message) => message.calls?.map(({ id }) => id)),
    [[1, 7], [2], [3], [4], [5], [6, 9]],
  );
});

test('a call that is longer than a message otherwise is goes, alone among calls', () => {
  const outbox = new Outbox(createMetrics());
  outbox.addCall({ id: 1, handle: 1, createNamespace: { name: 'x'.repeat(BATCH_BYTES_MAX) } });
  outbox.addCheck(2, 1, checkOf('user:a', 6, 'doc:1'));
  outbox.addCall({ id: 3, handle: 1, confirm: {} });
  const messages = drain(outbox);
  assert.deepEqual(
    messages.map(({ checks, calls }) => [...(checks?.ids ?? []), ...(calls ?? []).map(({ id }) => id)]),
    [[2, 1], [3]],
  );
});
