// The links of a shard to its neighbours, over a transport that does as it is told, on virtual time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NeighbourLinks } from '../../../../src/rpc/links/neighbour-links.ts';
import { decodeShardMessage, encodeShardMessage } from '../../../../src/rpc/protocol.ts';
import type { ClientStreamHandlers } from '../../../../src/rpc/transport/transport.ts';
import { CLUSTER_ID } from '../../../kit/store/store-fixtures.ts';
import { createTestCluster } from '../../../kit/test-cluster.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';

const WELCOME = decodeShardMessage(
  encodeShardMessage({ welcome: { shardName: 'shard-1', slots: 4, clusterId: CLUSTER_ID } }),
);

function createLinks(address = 'b:1') {
  const clock = new VirtualClock();
  /** The last stream to each address; undefined: it was given up. */
  const streams = new Map<string, ClientStreamHandlers | undefined>();
  let broken = 0;
  const links = new NeighbourLinks(
    {
      clock,
      random: { bytes: (length) => new Uint8Array(length).fill(255) },
      cluster: createTestCluster(),
      openStream: (to, handlers) => {
        streams.set(to, handlers);
        return {
          write: () => true,
          cancel: () => {
            if (streams.get(to) === handlers) streams.set(to, undefined);
          },
        };
      },
      onBroken: () => {
        broken += 1;
      },
    },
    { address, name: 'shard-0', version: 'test', slots: 4 },
  );
  const linked = () => [...streams].filter(([, handlers]) => handlers !== undefined).map(([to]) => to);
  return { clock, links, streams, linked, broken: () => broken };
}

test('a link that was ready and breaks is one sign, however long its member stays away', async () => {
  const { clock, links, streams, broken } = createLinks();
  links.update(['a:1']);
  streams.get('a:1')?.onError('refused');
  await clock.advance(1000);
  assert.equal(broken(), 0, 'a link that was never ready says nothing');
  streams.get('a:1')?.onMessage(WELCOME);
  links.update(['a:1']);
  assert.equal(broken(), 0);
  streams.get('a:1')?.onEnd();
  assert.equal(broken(), 1);
  for (let tries = 0; tries < 5; tries += 1) {
    await clock.advance(250);
    streams.get('a:1')?.onError('refused');
  }
  assert.equal(broken(), 1);
  await clock.advance(250);
  streams.get('a:1')?.onMessage(WELCOME);
  streams.get('a:1')?.onError('reset');
  assert.equal(broken(), 2);
  links.close();
});

test('a member that has left is no neighbour: its link closes, and is no sign', () => {
  const { links, streams, linked, broken } = createLinks();
  links.update(['a:1', 'b:1', 'c:1']);
  assert.deepEqual(linked(), ['c:1', 'a:1'], 'a shard has no link to itself');
  streams.get('a:1')?.onMessage(WELCOME);
  links.update(['c:1']);
  assert.deepEqual(linked(), ['c:1']);
  links.close();
  assert.deepEqual(linked(), []);
  assert.equal(broken(), 0);
});

test('in a large cluster a shard has links to the 16 members that follow it in the ring of addresses', () => {
  const { links, linked } = createLinks('shard-30:1');
  links.update(Array.from({ length: 40 }, (_, index) => `shard-${String(index).padStart(2, '0')}:1`));
  assert.deepEqual(linked(), [
    ...Array.from({ length: 9 }, (_, index) => `shard-${31 + index}:1`),
    ...Array.from({ length: 7 }, (_, index) => `shard-0${index}:1`),
  ]);
  links.close();
});
