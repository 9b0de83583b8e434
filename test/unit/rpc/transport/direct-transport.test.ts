// The transport within a process, where its contract cannot choose when the shard reads.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createDirectTransport } from '../../../../src/rpc/transport/direct-transport.ts';
import type { ServerStream } from '../../../../src/rpc/transport/transport.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const ADDRESS = 'shard:1';
/** 600 KB. */
const LARGE = {
  checks: { ids: [1], handles: [1], subjects: ['x'.repeat(600_000)], relations: [1 as const], objects: ['y'] },
};

it('tells a waiting front to go on, whatever short message it sent while the shard read nothing', async () => {
  let shard: ServerStream | undefined;
  let read = 0;
  let drained = 0;
  const accept = (stream: ServerStream): boolean => {
    shard = stream;
    stream.on('data', () => {
      read += 1;
      if (read === 2) stream.pause();
    });
    return true;
  };
  const stream = createDirectTransport(new Map([[ADDRESS, accept]]))(ADDRESS, {
    onMessage: () => {},
    onDrain: () => {
      drained += 1;
    },
    onError: () => {},
    onEnd: () => {},
  });
  assert.deepEqual([stream.write(LARGE), stream.write(LARGE), stream.write(LARGE)], [true, false, false]);
  await waitFor('the shard to pause', () => read === 2);
  // Less than the bound waits now, but the front has not been told.
  assert.equal(stream.write({ ping: { id: 1 } }), false);
  shard?.resume();
  await waitFor('the rest', () => read === 4);
  await waitFor('the word to go on', () => drained === 1);
  assert.equal(stream.write({ ping: { id: 2 } }), true);
  stream.cancel();
});
