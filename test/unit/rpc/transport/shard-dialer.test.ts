// The dial of a front to one shard, over a transport that does as it is told, on virtual time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeFrontMessage,
  decodeShardMessage,
  encodeFrontMessage,
  encodeShardMessage,
} from '../../../../src/rpc/protocol.ts';
import { dialShard } from '../../../../src/rpc/transport/shard-dialer.ts';
import type { ClientStreamHandlers, OpenStream } from '../../../../src/rpc/transport/transport.ts';
import { CLUSTER_ID } from '../../../kit/store/store-fixtures.ts';
import { createTestCluster } from '../../../kit/test-cluster.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const WELCOME = decodeShardMessage(
  encodeShardMessage({ welcome: { shardName: 'shard-0', slots: 4, clusterId: CLUSTER_ID } }),
);

function dial() {
  const clock = new VirtualClock();
  const opened: { readonly atMs: number; readonly handlers: ClientStreamHandlers; cancelled: boolean }[] = [];
  const events: string[] = [];
  const openStream: OpenStream = (_, handlers) => {
    const stream = { atMs: clock.monotonicMs(), handlers, cancelled: false };
    opened.push(stream);
    return {
      write: () => true,
      cancel: () => {
        stream.cancelled = true;
      },
    };
  };
  const connection = dialShard(
    'a:1',
    {
      onReady: ({ shardName }) => events.push(`ready ${shardName}`),
      onMessage: () => events.push('message'),
      onDrain: () => events.push('drain'),
      onClosed: (reason) => events.push(reason),
    },
    {
      clock,
      random: { bytes: (length) => new Uint8Array(length).fill(255) },
      cluster: createTestCluster(),
      hello: () => ({}),
      openStream,
    },
  );
  return { clock, opened, events, connection };
}

test('a host that swallows everything is dialled again at least every 2 s, for as long as it takes', async () => {
  const { clock, opened, connection } = dial();
  await clock.advance(61_000);
  const gapsMs = opened.slice(1).map(({ atMs }, index) => atMs - (opened[index]?.atMs ?? 0));
  assert.ok(gapsMs.length >= 29);
  assert.ok(Math.max(...gapsMs) <= 2000, `${Math.max(...gapsMs)}`);
  assert.ok(opened.slice(0, -1).every(({ cancelled }) => cancelled));
  // The host is back: the very next dial finds it.
  const last = opened.at(-1);
  last?.handlers.onMessage(WELCOME);
  await clock.advance(10_000);
  assert.equal(opened.at(-1), last);
  connection.close();
  assert.equal(last?.cancelled, true);
});

test('a host that refuses is dialled again after 50 to 250 ms', async () => {
  const { clock, opened } = dial();
  for (let tries = 1; tries <= 10; tries += 1) {
    assert.equal(opened.length, tries);
    opened.at(-1)?.handlers.onError('refused');
    await clock.advance(250);
  }
});

test('nothing of a stream that was given up is reported', async () => {
  const { clock, opened, events, connection } = dial();
  const [first] = opened;
  first?.handlers.onMessage(WELCOME);
  assert.deepEqual(events, ['ready shard-0', 'message']);
  connection.reset('silent');
  first?.handlers.onMessage(WELCOME);
  first?.handlers.onDrain();
  first?.handlers.onError('cancelled');
  first?.handlers.onEnd();
  assert.deepEqual(events, ['ready shard-0', 'message', 'silent']);
  assert.equal(connection.send({ ping: { id: 1 } }), false, 'nothing is sent before the next welcome');
  await clock.advance(500);
  assert.equal(opened.length, 2);
});

test('messages keep their meaning over their bytes', () => {
  const front = decodeFrontMessage(encodeFrontMessage({ checks: { ids: [7], handles: [1], subjects: ['a:ü'] } }));
  assert.deepEqual([front.checks?.ids, front.checks?.subjects, front.hello], [[7], ['a:ü'], null]);
  const shard = decodeShardMessage(encodeShardMessage({ pong: { id: 3, shardMs: 1.5 } }));
  assert.deepEqual([shard.pong, shard.welcome, shard.replies], [{ id: 3, shardMs: 1.5 }, null, []]);
});
