// What every transport between a shard and its peers keeps, as either end sees it.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Peer, type ReceivedShardMessage } from '../../../src/rpc/messages.ts';
import { CHECKS_PER_MESSAGE_MAX } from '../../../src/rpc/protocol.ts';
import type { ShardServer } from '../../../src/rpc/serving/server.ts';
import type { ClientStream, OpenStream } from '../../../src/rpc/transport/transport.ts';
import { FOLLOWED_BYTES_MAX, ShardFailure } from '../../../src/shard/shard.ts';
import { ScriptedShard, ShardWorld } from '../../kit/scripted-shard.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { listen } from '../../unit/rpc/harness.ts';
import { openOwnerLinks } from './links.ts';

const HELLO = { hello: { name: 'contract', peer: Peer.PEER_FRONT, version: '0', slots: 0 } };
const PINGS = 20;
/** More than any transport takes at once. */
const LARGE_MESSAGES = 24;

class Front {
  readonly messages: ReceivedShardMessage[] = [];
  readonly endings: string[] = [];
  drained = 0;
  readonly stream: ClientStream;

  constructor(openStream: OpenStream, address: string) {
    this.stream = openStream(address, {
      onMessage: (message) => this.messages.push(message),
      onDrain: () => {
        this.drained += 1;
      },
      onError: (text) => this.endings.push(`error: ${text}`),
      onEnd: () => this.endings.push('end'),
    });
  }

  /** Nothing is heard within the call that opens or sends. */
  static open(t: TestContext, openStream: OpenStream, address: string): Front {
    const front = new Front(openStream, address);
    t.after(() => front.stream.cancel());
    front.stream.write(HELLO);
    assert.deepEqual([front.messages.length, front.endings.length], [0, 0]);
    return front;
  }

  welcomed(): Promise<void> {
    return waitFor('the welcome', () => this.messages.some(({ welcome }) => welcome !== null));
  }

  pongs(): number[] {
    return this.messages.flatMap(({ pong }) => (pong === null ? [] : [pong.id]));
  }
}

async function createShard(t: TestContext): Promise<ScriptedShard> {
  const world = await ShardWorld.start();
  t.after(() => world.stop());
  const shard = new ScriptedShard(world);
  shard.own([0, 1, 2, 3]);
  return shard;
}

/** 600 KB. */
function largeMessage(firstId: number) {
  const ids = Array.from({ length: CHECKS_PER_MESSAGE_MAX / 10 }, (_, index) => firstId + index);
  return {
    checks: {
      ids,
      handles: ids.map(() => 1),
      subjects: ids.map(() => 'x'.repeat(300)),
      relations: ids.map(() => 6 as const),
      objects: ids.map(() => 'y'.repeat(300)),
    },
  };
}

export function defineTransportContract(name: string, connect: (server: ShardServer) => OpenStream): void {
  describe(`the transport ${name}`, () => {
    it('brings every message once, in order, and none within the call that sends it', async (t) => {
      const shard = await createShard(t);
      const server = await listen(t, () => shard);
      const front = Front.open(t, connect(server), server.address);
      await front.welcomed();
      for (let id = 1; id <= PINGS; id += 1) {
        const heard = front.messages.length;
        front.stream.write({ ping: { id } });
        assert.equal(front.messages.length, heard);
        // The shard answers the last of those that come together.
        await waitFor('the pong', () => front.pongs().includes(id));
      }
      assert.deepEqual(
        front.pongs(),
        Array.from({ length: PINGS }, (_, index) => index + 1),
      );
      assert.deepEqual(front.endings, []);
    });

    it('tells a front that the shard is not up', async (t) => {
      const server = await listen(t, () => undefined);
      const front = Front.open(t, connect(server), server.address);
      await waitFor('the refusal', () => front.endings.length > 0);
      assert.match(front.endings[0] ?? '', /^error: .*The shard is not up\./);
      assert.equal(front.messages.length, 0);
    });

    it('tells a front that nobody is at the address', async (t) => {
      const server = await listen(t, () => undefined);
      const openStream = connect(server);
      await server.close();
      const front = Front.open(t, openStream, server.address);
      await waitFor('the refusal', () => front.endings.length > 0);
      assert.match(front.endings[0] ?? '', /^error: /);
    });

    it('ends a stream that breaks the protocol, and says why', async (t) => {
      const shard = await createShard(t);
      const server = await listen(t, () => shard);
      const front = Front.open(t, connect(server), server.address);
      await front.welcomed();
      front.stream.write(HELLO);
      await waitFor('the end', () => front.endings.length > 0);
      assert.match(front.endings[0] ?? '', /^error: .*The peer sent a second hello\./);
      await waitFor('the shard to let go', () => shard.connections.size === 0);
    });

    it('ends in order where the shard closes', async (t) => {
      const shard = await createShard(t);
      const server = await listen(t, () => shard);
      const front = Front.open(t, connect(server), server.address);
      await front.welcomed();
      await server.close();
      await waitFor('the end', () => front.endings.length > 0);
      // After its end a stream reports nothing more that counts.
      assert.equal(front.endings[0], 'end');
      await waitFor('the shard to let go', () => shard.connections.size === 0);
    });

    it('lets the shard know that a front has gone', async (t) => {
      const shard = await createShard(t);
      const server = await listen(t, () => shard);
      const front = Front.open(t, connect(server), server.address);
      await front.welcomed();
      assert.equal(shard.connections.size, 1);
      front.stream.cancel();
      front.stream.cancel();
      await waitFor('the shard to let go', () => shard.connections.size === 0);
    });

    it('tells a front to wait while more is on the way than it takes, loses none of it, and tells it when to go on', async (t) => {
      const shard = await createShard(t);
      const server = await listen(t, () => shard);
      const front = Front.open(t, connect(server), server.address);
      await front.welcomed();
      let sent = 0;
      const mayGoOn = Array.from({ length: LARGE_MESSAGES }, () => {
        const message = largeMessage(sent);
        sent += message.checks.ids.length;
        return front.stream.write(message);
      });
      assert.ok(mayGoOn.includes(false), 'the stream has a bound');
      const failed = () => front.messages.flatMap(({ checkResults }) => checkResults?.failed ?? []);
      // The handle is unknown: every check fails, and each of them once.
      await waitFor('the answers', () => failed().length >= sent);
      assert.deepEqual(
        new Set(failed().map(({ id }) => id)),
        new Set(Array.from({ length: sent }, (_, index) => index)),
      );
      assert.equal(failed().length, sent);
      await waitFor('the word to go on', () => front.drained > 0);
      assert.deepEqual(front.endings, []);
    });

    it('carries the calls of another shard, and tells it why it gets no answer', async (t) => {
      const shard = await createShard(t);
      const server = await listen(t, () => shard);
      const links = openOwnerLinks(t, connect(server));
      const request = { tenantId: 'ten_1', epoch: 0, seq: 2 ** 40, advance: true };
      const answer = {
        epoch: 1,
        seq: 2 ** 41,
        nextBase: 2 ** 52,
        nowMs: 0,
        appliedSeq: 0,
        commits: 'ü'.repeat(FOLLOWED_BYTES_MAX / 2),
        more: true,
      };
      shard.answers.followTenant = async (asked) => {
        assert.deepEqual(asked, request);
        return answer;
      };
      assert.deepEqual(await links.follow(server.address, request), answer);
      assert.equal(shard.connections.size, 1);

      const owner = { slot: 1, epoch: 2, incarnation: 'inc_1', address: 'shard-9:1' };
      shard.answers.followTenant = () => Promise.reject(new ShardFailure('wrong-owner', 'Not mine.', owner));
      await assert.rejects(links.follow(server.address, request), { kind: 'wrong-owner', owner });

      await server.close();
      await assert.rejects(links.follow(server.address, request), { kind: 'not-serving' });
      await waitFor('the shard to let go', () => shard.connections.size === 0);
    });

    it('tells a front to go on although it has sent a short message while it waits', async (t) => {
      const shard = await createShard(t);
      const server = await listen(t, () => shard);
      const front = Front.open(t, connect(server), server.address);
      await front.welcomed();
      let sent = 0;
      let mayGoOn = true;
      while (mayGoOn) {
        const message = largeMessage(sent);
        sent += message.checks.ids.length;
        mayGoOn = front.stream.write(message);
      }
      // As the pings of a front, which wait for nothing.
      while (front.drained === 0) {
        front.stream.write({ ping: { id: 7 } });
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.deepEqual(front.endings, []);
    });
  });
}
