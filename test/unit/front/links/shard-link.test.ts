// What a link sends when, over a transport that does as it is told, on virtual time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { type Receiver, ShardLink } from '../../../../src/front/links/shard-link.ts';
import { MessageSpacing } from '../../../../src/rpc/links/gathering.ts';
import { Peer, type ReceivedFrontMessage, type ShardMessage } from '../../../../src/rpc/messages.ts';
import {
  decodeFrontMessage,
  decodeShardMessage,
  encodeFrontMessage,
  encodeShardMessage,
} from '../../../../src/rpc/protocol.ts';
import type { ClientStreamHandlers } from '../../../../src/rpc/transport/transport.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { CLUSTER_ID } from '../../../kit/store/store-fixtures.ts';
import { createTestCluster } from '../../../kit/test-cluster.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { silentLog } from '../../rpc/harness.ts';

const CHECK = { subject: 'user:a', relation: 1, object: 'doc:1', name: '', context: '' };

async function setUp() {
  const clock = new VirtualClock();
  const streams: { readonly handlers: ClientStreamHandlers; readonly sent: ReceivedFrontMessage[] }[] = [];
  const metrics = createMetrics();
  const link = new ShardLink(
    'shard-1:8082',
    { onWelcome: () => true, onRoutes() {}, onSettings() {}, onLost() {} },
    {
      clock,
      turns: new FairTurns(clock),
      random: { bytes: (length) => new Uint8Array(length) },
      log: silentLog,
      metrics,
      cluster: createTestCluster(),
      openStream: (_address, handlers) => {
        const sent: ReceivedFrontMessage[] = [];
        streams.push({ handlers, sent });
        return {
          write: (message) => {
            sent.push(decodeFrontMessage(encodeFrontMessage(message)));
            return true;
          },
          cancel() {},
        };
      },
    },
    {
      hello: () => ({ version: '', name: 'front', peer: Peer.PEER_FRONT, slots: 4 }),
      spacing: new MessageSpacing(clock),
    },
  );
  const stream = () => streams.at(-1) ?? assert.fail();
  const say = (message: ShardMessage): void =>
    stream().handlers.onMessage(decodeShardMessage(encodeShardMessage(message)));
  const heard: string[] = [];
  const receiver = (name: string): Receiver => ({
    onCheck: (authorized) => heard.push(`${name} ${authorized}`),
    onReply: () => heard.push(`${name} reply`),
    onFailure: (failure) => heard.push(`${name} ${'kind' in failure ? failure.kind : 'failed'}`),
  });
  /** Until the stream is ready. */
  const connect = async (): Promise<void> => {
    say({
      welcome: { shardName: 'shard-1', slots: 4, clusterId: CLUSTER_ID },
      routes: {},
      pong: { id: 0, shardMs: 1 },
    });
    await clock.advance(0);
    stream().sent.splice(0);
  };
  await connect();
  return {
    clock,
    link,
    heard,
    connect,
    say,
    broken: () => stream().handlers.onError('broken'),
    check: (name: string): number => link.check(receiver(name), 7, CHECK),
    call: (name: string): number => link.call(receiver(name), 7, { confirm: {} }),
    answer: (...ids: readonly number[]): void => say({ checkResults: { authorized: [...ids] } }),
    /** Checks and calls of each message. */
    sent: () => stream().sent.map(({ checks, calls }) => [checks?.ids ?? [], calls.map(({ id }) => id)]),
    messages: () => stream().sent,
  };
}

test('checks that come while one is unanswered leave with its answer, in one message', async () => {
  const { clock, check, answer, sent, heard } = await setUp();
  const first = check('first');
  await clock.advance(0);
  const others = [check('second'), check('third')];
  await clock.advance(0.5);
  assert.deepEqual(sent(), [[[first], []]]);
  answer(first);
  assert.deepEqual(sent(), [
    [[first], []],
    [others, []],
  ]);
  answer(...others);
  assert.deepEqual(heard, ['first true', 'second true', 'third true']);
});

test('a call leaves in its turn and takes along the checks that wait', async () => {
  const { clock, check, call, sent } = await setUp();
  const first = check('first');
  await clock.advance(0);
  const second = check('second');
  await clock.advance(0);
  assert.equal(sent().length, 1);
  const called = call('call');
  await clock.advance(0);
  assert.deepEqual(sent(), [
    [[first], []],
    [[second], [called]],
  ]);
  await clock.advance(5);
  assert.equal(sent().length, 2);
});

test('a call leaves at the end of its turn, not with an answer that comes in it', async () => {
  const { clock, check, call, answer, sent } = await setUp();
  const first = check('first');
  await clock.advance(0);
  const second = check('second');
  const called = call('call');
  answer(first);
  assert.equal(sent().length, 1);
  await clock.advance(0);
  assert.deepEqual(sent().at(-1), [[second], [called]]);
});

test('reports and pings leave at once while checks wait', async () => {
  const { clock, link, check, messages } = await setUp();
  await clock.advance(499.5);
  check('first');
  await clock.advance(0);
  check('second');
  messages().splice(0);
  assert.ok(link.report({}));
  assert.ok(messages().some(({ report }) => report !== null));
  await clock.advance(0.5);
  assert.ok(messages().some(({ ping }) => ping !== null));
  assert.ok(messages().every(({ checks }) => checks === null));
});

test('checks that wait when the stream breaks fail once, and are never sent', async () => {
  const { clock, check, heard, broken, connect, sent } = await setUp();
  check('first');
  await clock.advance(0);
  check('second');
  check('third');
  broken();
  assert.deepEqual(heard, ['first disconnected', 'second disconnected', 'third disconnected']);
  await clock.advance(500);
  await connect();
  await clock.advance(10);
  assert.deepEqual(sent(), []);
  // The last message over the old stream delays nothing.
  const id = check('fourth');
  await clock.advance(0);
  assert.deepEqual(sent(), [[[id], []]]);
  assert.equal(heard.length, 3);
});
