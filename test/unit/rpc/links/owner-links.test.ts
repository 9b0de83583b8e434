// The links of a shard to owners, over a transport that does as it is told, on virtual time.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { FairTurns } from '../../../../src/core/async/turns.ts';
import { SHARD_ADDRESSES_MAX } from '../../../../src/core/limits.ts';
import { OwnerLinks } from '../../../../src/rpc/links/owner-links.ts';
import {
  FailureKind,
  Peer,
  type ReceivedCall,
  type ReceivedFrontMessage,
  type Reply,
  type ShardMessage,
} from '../../../../src/rpc/messages.ts';
import {
  decodeFrontMessage,
  decodeShardMessage,
  encodeFrontMessage,
  encodeShardMessage,
  OUTSTANDING_MAX,
} from '../../../../src/rpc/protocol.ts';
import type { ClientStreamHandlers } from '../../../../src/rpc/transport/transport.ts';
import type { FollowAnswer } from '../../../../src/shard/shard.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { CLUSTER_ID } from '../../../kit/store/store-fixtures.ts';
import { createTestCluster } from '../../../kit/test-cluster.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { silentLog } from '../harness.ts';

const OWNER = 'shard-1:8082';
const ANSWER: FollowAnswer = {
  epoch: 3,
  seq: 2 ** 40,
  nextBase: 2 ** 50,
  nowMs: 2 ** 40,
  appliedSeq: 7,
  commits: '[]',
  more: false,
};
const requestOf = (seq: number) => ({ tenantId: 'ten_1', epoch: 3, seq, advance: false });

/** The owner's end of a stream. */
class Stream {
  readonly address: string;
  readonly sent: ReceivedFrontMessage[] = [];
  cancelled = false;
  readonly #handlers: ClientStreamHandlers;

  constructor(address: string, handlers: ClientStreamHandlers) {
    this.address = address;
    this.#handlers = handlers;
  }

  say(message: ShardMessage): void {
    this.#handlers.onMessage(decodeShardMessage(encodeShardMessage(message)));
  }

  welcome(): void {
    this.say({
      welcome: { shardName: 'shard-1', slots: 4, clusterId: CLUSTER_ID },
      routes: {},
      pong: { id: 0, shardMs: 1 },
    });
  }

  pong(): void {
    this.say({ pong: { id: 1, shardMs: 1 } });
  }

  break(): void {
    this.#handlers.onError('broken');
  }

  get calls(): ReceivedCall[] {
    return this.sent.flatMap(({ calls }) => calls);
  }

  reply(call: ReceivedCall | undefined, result: Omit<Reply, 'id'> = { tenantCommits: ANSWER }): void {
    this.say({ replies: [{ ...result, id: call?.id ?? assert.fail() }] });
  }
}

function setUp(t: TestContext) {
  const clock = new VirtualClock();
  const metrics = createMetrics();
  const streams: Stream[] = [];
  const links = new OwnerLinks(
    {
      clock,
      turns: new FairTurns(clock),
      random: { bytes: (length) => new Uint8Array(length) },
      log: silentLog,
      metrics,
      cluster: createTestCluster(),
      openStream: (address, handlers) => {
        const stream = new Stream(address, handlers);
        streams.push(stream);
        return {
          write: (message) => {
            stream.sent.push(decodeFrontMessage(encodeFrontMessage(message)));
            return true;
          },
          cancel: () => {
            stream.cancelled = true;
          },
        };
      },
    },
    { name: 'shard-2', version: '1.2.3', slots: 4 },
  );
  t.after(() => links.close());
  const latest = (): Stream => streams.at(-1) ?? assert.fail();
  /** A link that is ready. */
  const connect = async (): Promise<Stream> => {
    const answer = links.follow(OWNER, requestOf(0));
    const stream = latest();
    stream.welcome();
    await clock.advance(0);
    stream.reply(stream.calls.at(-1));
    await answer;
    return stream;
  };
  return { clock, metrics, streams, links, latest, connect };
}

/** What a call ends with; undefined: it has not ended. */
function outcome(call: Promise<FollowAnswer>): { ended: unknown } {
  const noted: { ended: unknown } = { ended: undefined };
  call.then(
    (answer) => {
      noted.ended = answer;
    },
    (error) => {
      noted.ended = error.kind ?? error.code;
    },
  );
  return noted;
}

test('an owner is dialled at the first call, once, by a peer that says it is a shard', async (t) => {
  const { clock, streams, links } = setUp(t);
  assert.equal(streams.length, 0);
  const answers = [links.follow(OWNER, requestOf(1)), links.follow(OWNER, requestOf(2))];
  await clock.advance(0);
  const [stream = assert.fail()] = streams;
  assert.deepEqual(
    stream.sent.map(({ hello, calls }) => [hello, calls]),
    [[{ version: '1.2.3', name: 'shard-2', peer: Peer.PEER_SHARD, slots: 4, clusterId: CLUSTER_ID }, []]],
  );
  stream.welcome();
  await clock.advance(0);
  assert.deepEqual(
    stream.sent.slice(1).map(({ calls }) => calls.map(({ followTenant }) => followTenant)),
    [[1, 2].map((seq) => ({ ...requestOf(seq), usedKeys: [], usedAtMs: [] }))],
    'both go in one message, once the owner has sent its welcome',
  );
  for (const call of stream.calls) stream.reply(call);
  assert.deepEqual(await Promise.all(answers), [ANSWER, ANSWER]);
  assert.equal(streams.length, 1);
});

test('calls of one turn are one message, and each gets its own reply, in any order', async (t) => {
  const { clock, links, connect } = setUp(t);
  const stream = await connect();
  const sent = stream.sent.length;
  const answers = [1, 2, 3].map((seq) => links.follow(OWNER, requestOf(seq)));
  await clock.advance(0);
  assert.equal(stream.sent.length, sent + 1);
  const calls = stream.sent.at(-1)?.calls ?? assert.fail();
  for (const call of calls.toReversed()) {
    stream.reply(call, { tenantCommits: { ...ANSWER, seq: 10 * (call.followTenant?.seq ?? 0) } });
  }
  assert.deepEqual(
    (await Promise.all(answers)).map(({ seq }) => seq),
    [10, 20, 30],
  );
});

test("a call fails with the owner's failure or error, and with internal for a malformed reply", async (t) => {
  const { clock, links, connect } = setUp(t);
  const stream = await connect();
  const owner = { slot: 1, epoch: 4, incarnation: 'inc_1', address: 'shard-3:8082' };
  const fail = async (result: Omit<Reply, 'id'>, expected: object) => {
    const refused = assert.rejects(links.follow(OWNER, requestOf(1)), expected);
    await clock.advance(0);
    stream.reply(stream.calls.at(-1), result);
    await refused;
  };
  const wrongOwner = { kind: FailureKind.FAILURE_WRONG_OWNER, wrongOwner: owner };
  await fail({ failure: wrongOwner }, { kind: 'wrong-owner', owner });
  await fail({ failure: { kind: FailureKind.FAILURE_NOT_SERVING } }, { kind: 'not-serving' });
  const overloaded = { kind: FailureKind.FAILURE_ERROR, code: 'overloaded', message: 'Later.' };
  await fail({ failure: overloaded }, { code: 'overloaded', message: 'Later.' });
  await fail({ done: {} }, { code: 'internal' });
  await fail({ tenantCommits: { ...ANSWER, seq: -1 } }, { code: 'internal' });
});

test('a connection that is lost fails what waits, and an owner that restarts is found again', async (t) => {
  const { clock, streams, links, latest, connect } = setUp(t);
  const first = await connect();
  const sent = outcome(links.follow(OWNER, requestOf(1)));
  await clock.advance(0);
  const [lost] = first.calls.slice(-1);
  first.break();
  const early = outcome(links.follow(OWNER, requestOf(2)));
  await clock.advance(0);
  assert.equal(sent.ended, 'not-serving', 'it was sent, and no reply can come');
  assert.equal(early.ended, undefined, 'it was not sent, and waits for the next connection');
  await clock.advance(250);
  assert.equal(streams.length, 2);
  latest().welcome();
  await clock.advance(0);
  // A late reply of the first stream finds nobody.
  first.reply(lost);
  assert.deepEqual(
    latest().calls.map(({ followTenant }) => followTenant?.seq),
    [2],
    'nothing is sent twice',
  );
  latest().reply(latest().calls[0]);
  await clock.advance(0);
  assert.deepEqual(early.ended, ANSWER);
});

test('an owner that refuses every connection fails each call with the dial that it waits for', async (t) => {
  const { clock, streams, links, latest } = setUp(t);
  for (let dials = 1; dials <= 5; dials += 1) {
    const call = outcome(links.follow(OWNER, requestOf(dials)));
    await clock.advance(dials === 1 ? 0 : 250);
    assert.equal(call.ended, undefined);
    assert.equal(streams.length, dials);
    latest().break();
    await clock.advance(0);
    assert.equal(call.ended, 'not-serving');
  }
  assert.deepEqual(
    streams.flatMap(({ calls }) => calls),
    [],
  );
});

test('no call waits for more than 2 s of silence, before the welcome and after it', async (t) => {
  const { clock, links, connect } = setUp(t);
  const early = outcome(links.follow(OWNER, requestOf(1)));
  await clock.advance(2000);
  assert.equal(early.ended, 'not-serving', 'the host swallows everything');

  const stream = await connect();
  const waiting = outcome(links.follow(OWNER, requestOf(2)));
  for (let pongs = 0; pongs < 10; pongs += 1) {
    await clock.advance(1000);
    stream.pong();
  }
  assert.equal(waiting.ended, undefined, 'an owner that is there may take its time');
  await clock.advance(2000);
  assert.equal(waiting.ended, 'not-serving');
  assert.equal(stream.cancelled, true);
});

test('a link is closed after a minute without a call, and dialled anew at the next', async (t) => {
  const { clock, metrics, streams, links, connect } = setUp(t);
  const stream = await connect();
  const minute = async (calls: number) => {
    for (let second = 0; second < 60; second += 1) {
      if (second < calls) {
        const answer = links.follow(OWNER, requestOf(second));
        await clock.advance(0);
        stream.reply(stream.calls.at(-1));
        await answer;
      }
      await clock.advance(1000);
      if (!stream.cancelled) stream.pong();
    }
  };
  const connections = async () => (await metrics.ownerConnections.get()).values.map(({ value }) => value);
  await minute(60);
  await minute(30);
  assert.equal(stream.cancelled, false);
  assert.deepEqual(await connections(), [0, 1]);
  await minute(0);
  assert.equal(stream.cancelled, true);
  assert.deepEqual(await connections(), [0, 0]);
  assert.equal(clock.timers, 0);
  assert.equal(streams.length, 1);
  await connect();
  assert.equal(streams.length, 2);
});

test('what waits for one owner is bounded, before the connection and on it', async (t) => {
  const { clock, links, latest } = setUp(t);
  const early = Array.from({ length: OUTSTANDING_MAX }, (_, seq) => outcome(links.follow(OWNER, requestOf(seq))));
  await assert.rejects(links.follow(OWNER, requestOf(0)), { code: 'overloaded' });
  latest().welcome();
  await clock.advance(0);
  assert.equal(latest().calls.length, OUTSTANDING_MAX);
  await assert.rejects(links.follow(OWNER, requestOf(0)), { code: 'overloaded' });
  latest().reply(latest().calls[0]);
  const next = outcome(links.follow(OWNER, requestOf(0)));
  await clock.advance(0);
  assert.deepEqual(early[0]?.ended, ANSWER);
  assert.equal(next.ended, undefined);
  assert.equal(latest().calls.length, OUTSTANDING_MAX + 1);
});

test('links are bounded, and only an address is dialled', async (t) => {
  const { clock, streams, links } = setUp(t);
  for (const address of ['', 'shard-1', 'a b:1', 'shard-1:8082/x']) {
    await assert.rejects(links.follow(address, requestOf(0)), { kind: 'not-serving' }, address);
  }
  assert.equal(streams.length, 0);
  const calls = Array.from({ length: SHARD_ADDRESSES_MAX }, (_, index) =>
    outcome(links.follow(`shard-${index}:1`, requestOf(0))),
  );
  await assert.rejects(links.follow('one-more:1', requestOf(0)), { kind: 'not-serving' });
  assert.equal(streams.length, SHARD_ADDRESSES_MAX);
  links.close();
  await clock.advance(0);
  assert.ok(calls.every(({ ended }) => ended === 'not-serving'));
  assert.ok(streams.every(({ cancelled }) => cancelled));
  await assert.rejects(links.follow(OWNER, requestOf(0)), { kind: 'not-serving' });
  assert.equal(clock.timers, 0);
});
