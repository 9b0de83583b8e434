// The server of a shard, before peers that keep to the protocol and peers that do not.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { parseApiKey } from '../../../../src/core/api-keys.ts';
import { needsHandle } from '../../../../src/rpc/calls/define-call.ts';
import { CALLS } from '../../../../src/rpc/calls/table.ts';
import { FailureKind, type FrontMessage, type ReceivedReply } from '../../../../src/rpc/messages.ts';
import { encodeFrontMessage, OUTSTANDING_MAX } from '../../../../src/rpc/protocol.ts';
import { MALFORMED_PARTS } from '../../../../src/rpc/serving/peer-stream.ts';
import { createMetrics, type Metrics } from '../../../../src/telemetry/metrics.ts';
import { ScriptedShard, ShardWorld } from '../../../kit/scripted-shard.ts';
import { createRecordingLog } from '../../../kit/store/store-directory.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { until } from '../../front/harness.ts';
import { brokenRequests, ROWS } from '../calls/rows.ts';
import { CONSOLE_HELLO, HELLO, listen, openStream, RawClient, rawMessage, SHARD_HELLO } from '../harness.ts';

const world = await ShardWorld.start();
after(() => world.stop());
const tenantId = await world.createTenant();
const key = await world.createKey(tenantId);
const claimOf = (text: string) => ({ ...(parseApiKey(text) ?? assert.fail()), key: text });
const authenticate = claimOf(key);
const othersClaim = claimOf(await world.createKey(await world.createTenant()));

function createShard(): ScriptedShard {
  world.owners.clear();
  const shard = new ScriptedShard(world);
  shard.own([0, 1, 2, 3]);
  return shard;
}

test('welcomes, says what it serves, and says what changes', async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  const askedAtMs = performance.now();
  const { next, stream } = openStream(t, server.address, { ...HELLO, ping: { id: 9 } });
  const first = await next((message) => message);
  assert.equal(first.welcome?.version, '1.2.3');
  assert.equal(first.welcome?.slots, 4);
  assert.deepEqual(first.routes?.slots, [0, 1, 2, 3]);
  assert.deepEqual(first.routes?.epochs, [1, 1, 1, 1]);
  assert.equal(first.pong?.id, 9);
  const { shardMs = 0 } = first.pong ?? {};
  assert.ok(shardMs >= askedAtMs && shardMs <= performance.now(), `${shardMs}`);
  shard.release([1]);
  shard.own([2]);
  const routes = await next((message) => message.routes);
  assert.deepEqual(
    [routes.isChange, routes.slots, routes.epochs, routes.removed, routes.sameMembers],
    [true, [2], [2], [1], true],
  );
  stream.end();
  await until(() => shard.connections.size === 0);
});

test('the checks of a message that memory decides are answered in one message', async (t) => {
  const shard = createShard();
  await world.grant(tenantId, 'user:ann viewer doc:1');
  const server = await listen(t, () => shard);
  const { next, reply, stream } = openStream(t, server.address, { ...HELLO, calls: [{ id: 1, authenticate }] });
  const handle = (await reply(1)).handle?.handle ?? assert.fail();
  const slow = Promise.withResolvers<boolean>();
  shard.onCheck = (_, object) => (object === 'doc:slow' ? slow.promise : undefined);
  const askedAtMs = Date.now();
  stream.write({
    checks: {
      ids: [5, 6, 7, 8],
      handles: [handle, handle, handle, 99],
      subjects: ['user:ann', 'user:ann', 'user:ann', 'user:ann'],
      relations: [6, 6, 6, 6],
      objects: ['doc:1', 'doc:slow', 'doc:2', 'doc:1'],
    },
  });
  const results = await next(({ checkResults }) => checkResults);
  assert.deepEqual([results.authorized, results.denied], [[5], [7]]);
  assert.deepEqual(
    results.failed.map(({ id, failure }) => [id, failure?.kind]),
    [[8, FailureKind.FAILURE_HANDLE_UNKNOWN]],
  );
  assert.ok(results.checkedAtMs >= askedAtMs && results.checkedAtMs <= Date.now(), `${results.checkedAtMs}`);
  slow.resolve(true);
  assert.deepEqual((await next(({ checkResults }) => checkResults)).authorized, [6]);
});

test('a stream that comes before the shard is up is refused as unavailable', async (t) => {
  const server = await listen(t, () => undefined);
  assert.equal((await openStream(t, server.address, HELLO).ended).code, status.UNAVAILABLE);
});

test('without TLS a peer is no console and no shard because it says so, unless the server is told to believe it', async (t) => {
  for (const unprovenPeers of [false, true]) {
    const shard = createShard();
    const server = await listen(t, () => shard, { unprovenPeers });
    const { reply } = openStream(t, server.address, { ...CONSOLE_HELLO, calls: [{ id: 1, listMembers: {} }] });
    const { failure, members } = await reply(1);
    if (unprovenPeers) assert.ok(members);
    else assert.equal(failure?.code, 'insufficient-scope');
    const followTenant = { tenantId, epoch: 0, seq: 0, advance: false };
    const follower = openStream(t, server.address, { ...SHARD_HELLO, calls: [{ id: 1, followTenant }] });
    assert.equal((await follower.reply(1)).failure?.code === 'insufficient-scope', !unprovenPeers);
    assert.equal(shard.count('followTenant'), unprovenPeers ? 1 : 0);
  }
});

test('a peer of an unknown kind is refused', async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  for (const peer of [0, 4] as const) {
    const { ended } = openStream(t, server.address, {
      hello: { name: 'test', peer: peer as 0, version: '0', slots: 0 },
    });
    assert.match((await ended).details, /does not name the kind of peer/);
  }
});

const OPERATOR_CALLS = {
  authenticateOperator: { tenantId: 'a', operator: 'b' },
  createTenant: { tenantId: 'a', name: 'b', plan: 'free', operator: 'c' },
  updateTenant: { tenantId: 'a', operator: 'b' },
  readTenant: { tenantId: 'a' },
  listTenants: { limit: 1 },
  listSubjects: { limit: 1 },
  listAuditLog: { tenantId: 'a', limit: 1 },
  exportGrants: { limit: 1 },
  listSlots: {},
  repairTime: { slot: 0, dryRun: false },
  listMembers: {},
};

test("a front gets no further with the operator's calls than a refusal", async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  const calls = Object.entries(OPERATOR_CALLS).map(([name, body], index) => ({
    id: index + 1,
    handle: 1,
    attempt: { requestId: 'req_1', expiresAtMs: 1e12 },
    [name]: body,
  }));
  const { reply, stream } = openStream(t, server.address, HELLO);
  for (const call of calls) {
    stream.write({ calls: [call] });
    assert.equal((await reply(call.id)).failure?.code, 'insufficient-scope');
  }
  assert.deepEqual([...shard.counts.keys()], []);
});

test('a claim that is refused or breaks the protocol leaves nothing of its key in a message or the log', async (t) => {
  const shard = createShard();
  const log = createRecordingLog();
  const server = await listen(t, () => shard, { log });
  const wrong = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
  const refused = openStream(t, server.address, {
    ...HELLO,
    calls: [{ id: 1, authenticate: { ...authenticate, key: wrong } }],
  });
  const { failure } = await refused.reply(1);
  assert.equal(failure?.code, 'unauthorized');
  const broken = [
    { ...authenticate, key: `${wrong}x` },
    { ...authenticate, key: wrong, tenantId: wrong.repeat(5) },
    { ...authenticate, key: wrong, keyId: wrong.repeat(5) },
  ];
  const said = [JSON.stringify(failure)];
  for (const claim of broken) {
    const { reply } = openStream(t, server.address, { ...HELLO, calls: [{ id: 1, authenticate: claim }] });
    const answer = await reply(1);
    assert.equal(answer.failure?.code, 'internal');
    said.push(JSON.stringify(answer));
  }
  assert.equal(log.lines.length, broken.length);
  for (const text of [...said, ...log.lines]) assert.ok(!text.includes(wrong.slice(4, 40)), text);
});

const check = { ids: [1], handles: [1], subjects: ['user:a'], relations: [6], objects: ['doc:1'] } as const;
const columns = (change: object): FrontMessage => ({ checks: { ...structuredClone(check), ...change } as never });
const call = (body: object): FrontMessage => ({ calls: [{ id: 1, handle: 1, ...body } as never] });
const write = { revoke: false, subject: 'user:a', relation: 6, object: 'doc:1' };
const usage = { minute: 1, slots: [0], tenantIds: ['a'], requests: [1], refused: [0], checks: [0] };
const attempt = { requestId: 'req_1', expiresAtMs: 1e12 };

/** Nothing that a client says decides about these. */
const BROKEN_FRAMING: readonly (readonly [string, FrontMessage])[] = [
  ['a second hello', HELLO],
  ['a column too short', columns({ subjects: [] })],
  ['a column too long', columns({ handles: [1, 2] })],
  ['no objects', columns({ objects: [] })],
  ['no relations', columns({ relations: [] })],
  ['relation 0', columns({ relations: [0] })],
  ['more traced checks than checks', columns({ traced: [0, 1, 2].map((index) => ({ index, traceparent: '' })) })],
  [
    '10,001 checks',
    {
      checks: {
        ids: new Array(10_001).fill(1),
        handles: new Array(10_001).fill(1),
        subjects: new Array(10_001).fill('a:b'),
        relations: new Array(10_001).fill(6),
        objects: new Array(10_001).fill('a:b'),
      },
    },
  ],
];

for (const [name, message] of BROKEN_FRAMING) {
  test(`broken framing ends the stream: ${name}`, async (t) => {
    const shard = createShard();
    const server = await listen(t, () => shard);
    const { ended, stream } = openStream(t, server.address, CONSOLE_HELLO);
    stream.write(message);
    const { code, details } = await ended;
    assert.equal(code, status.INVALID_ARGUMENT, details);
    await until(() => shard.connections.size === 0);
  });
}

/** The name under which it is counted: of the call, or of the part of the message. */
function countedAs({ checks, calls }: FrontMessage): string {
  if (checks) return 'check';
  if (calls === undefined) return 'report';
  return Object.keys(calls[0] ?? {}).find((field) => Object.hasOwn(CALLS, field)) ?? 'unknown';
}

const MALFORMED: readonly (readonly [string, FrontMessage])[] = [
  ['relation 10', columns({ relations: [10] })],
  ['handle 0', columns({ handles: [0] })],
  ['an identifier of 700 characters', columns({ subjects: ['a'.repeat(700)] })],
  ['a call without a request', call({})],
  ['a call without its handle', { calls: [{ id: 1, confirm: {} }] }],
  ['a write without an attempt', call({ writeGrants: { writes: [write] } })],
  [
    'an attempt without a request id',
    call({ attempt: { ...attempt, requestId: '' }, writeGrants: { writes: [write] } }),
  ],
  [
    'an expiry that is no number',
    call({ attempt: { ...attempt, expiresAtMs: Number.NaN }, createNamespace: { name: 'a' } }),
  ],
  ['a report whose columns differ', { report: { usage: { ...usage, requests: [] } } }],
  ['201 problems in a report', { report: { problems: new Array(201).fill({ code: 'overloaded' }) } }],
  ['a long text of a problem', { report: { problems: [{ detail: 'a'.repeat(301) }] } }],
  ['2,001 names in a report', { report: { asked: [{ names: new Array(2000).fill('a') }, { names: ['a'] }] } }],
  ['2,001 tenants without a name in a report', { report: { asked: new Array(2001).fill({ tenantId: 'a' }) } }],
  ['4,097 slots in a report', { report: { awaited: new Array(4097).fill(0) } }],
  ['a text that is no name in a report', { report: { asked: [{ names: ['a b'] }] } }],
  [
    '1,001 tenants in a report',
    {
      report: {
        usage: {
          slots: new Array(1001).fill(0),
          tenantIds: new Array(1001).fill('a'),
          requests: new Array(1001).fill(1),
          refused: new Array(1001).fill(0),
          checks: new Array(1001).fill(0),
        },
      },
    },
  ],
];

async function malformedIn({ malformedCalls }: Metrics): Promise<ReadonlyMap<string, number>> {
  const { values } = await malformedCalls.get();
  return new Map(values.flatMap(({ labels, value }) => (value === 0 ? [] : [[`${labels.call}`, value]])));
}

for (const [name, message] of MALFORMED) {
  test(`what breaks the protocol within a message fails alone, and is counted and logged once: ${name}`, async (t) => {
    const shard = createShard();
    const log = createRecordingLog();
    const metrics = createMetrics();
    const server = await listen(t, () => shard, { log, metrics });
    const { messages, next, reply, stream } = openStream(t, server.address, {
      ...CONSOLE_HELLO,
      calls: [{ id: 7, authenticate }],
    });
    const handle = (await reply(7)).handle?.handle ?? assert.fail();
    stream.write(message);
    // In the same message as others: those are answered.
    stream.write({
      checks: {
        ids: [2, 1, 3],
        handles: [handle, 0, handle],
        subjects: ['user:a', 'user:a', 'user:b'],
        relations: [6, 6, 6],
        objects: ['doc:1', 'doc:1', 'doc:1'],
      },
      calls: [
        { id: 1, handle, listKeys: { limit: 0 } },
        { id: 4, handle, confirm: {} },
      ],
    });
    assert.ok((await reply(4)).done);
    stream.write({ ping: { id: 5 } });
    await next(({ pong }) => (pong?.id === 5 ? true : undefined));
    const replies = messages.flatMap((each) => [...each.replies, ...(each.checkResults?.failed ?? [])]);
    const denied = messages.flatMap(({ checkResults }) => checkResults?.denied ?? []);
    assert.deepEqual(denied, [2, 3]);
    const refused = replies.filter(({ failure }) => failure);
    const answered = message.checks || message.calls ? 1 : 0;
    assert.deepEqual(
      refused.map(({ id, failure }) => [id, failure?.kind, failure?.code]),
      Array.from({ length: 2 + answered }, () => [1, FailureKind.FAILURE_ERROR, 'internal']),
    );
    assert.deepEqual(Object.fromEntries(shard.counts), { authenticate: 1, confirm: 1, check: 2 });
    const counted = new Map<string, number>();
    for (const call of [countedAs(message), 'check', 'listKeys']) counted.set(call, (counted.get(call) ?? 0) + 1);
    assert.deepEqual(await malformedIn(metrics), counted);
    assert.equal((await metrics.malformedCalls.get()).values.length, MALFORMED_PARTS.length, 'all began at 0');
    for (const [index, call] of [countedAs(message), 'check', 'listKeys'].entries()) {
      assert.match(log.lines[index] ?? '', new RegExp(`^error: a peer sent a malformed call .*"call":"${call}"`));
    }
    assert.equal(log.lines.length, 3);
    assert.equal(shard.connections.size, 1);
  });
}

for (const [peer, hello] of [['shard', SHARD_HELLO] as const, ['console', CONSOLE_HELLO] as const]) {
  test(`whatever is broken in a call of a ${peer}, it is refused alone, and the stream serves its other tenants`, async (t) => {
    const shard = createShard();
    const metrics = createMetrics();
    const server = await listen(t, () => shard, { metrics });
    const claims = [authenticate, othersClaim];
    const { next, stream } = openStream(t, server.address, {
      ...hello,
      calls: claims.map((claim, id) => ({ id, authenticate: claim })),
    });
    const replies = new Map<number, ReceivedReply>();
    const replied = (...ids: readonly number[]) =>
      next((message) => {
        for (const each of message.replies) replies.set(each.id, each);
        return ids.every((id) => replies.has(id)) ? ids.map((id) => replies.get(id)) : undefined;
      });
    const [own = 0, others = 0] = (await replied(0, 1)).map((reply) => reply?.handle?.handle);
    const counted = new Map<string, number>();
    let id = 2;
    for (const row of ROWS.filter(({ call: { access } }) => (access === 'shard') === (peer === 'shard'))) {
      for (const [constraint, wire] of brokenRequests(row)) {
        const broken = { id, handle: needsHandle(row.call.access) ? own : 0, attempt, [row.name]: wire };
        stream.write({ calls: [broken, { id: id + 1, handle: others, confirm: {} }] });
        const [refused, canary] = await replied(id, id + 1);
        const { kind, code } = refused?.failure ?? {};
        assert.deepEqual([kind, code], [FailureKind.FAILURE_ERROR, 'internal'], `${row.name}: ${constraint}`);
        assert.ok(canary?.done, `${row.name}: ${constraint}`);
        counted.set(row.name, (counted.get(row.name) ?? 0) + 1);
        id += 2;
      }
    }
    assert.deepEqual(await malformedIn(metrics), counted);
    assert.deepEqual(Object.fromEntries(shard.counts), { authenticate: 2, confirm: id / 2 - 1 });
    assert.equal(shard.connections.size, 1);
  });
}

test('bytes that are no message end their stream, and no other', async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  const other = openStream(t, server.address, { ...HELLO, calls: [{ id: 1, authenticate }] });
  const handle = (await other.reply(1)).handle?.handle ?? assert.fail();
  const whole = encodeFrontMessage({ calls: [{ id: 2, handle: 1, attempt, writeGrants: { writes: [write] } }] });
  const cut = [1, 2, 9, whole.length - 1].map((length) => whole.subarray(0, length));
  for (const bytes of [...cut, Buffer.alloc(20, 0xff), Buffer.from('no message')]) {
    const { ended, next, stream } = openStream(t, server.address, rawMessage(encodeFrontMessage(HELLO)), RawClient);
    await next(({ welcome }) => welcome);
    stream.write(rawMessage(bytes));
    assert.equal((await ended).code, status.INTERNAL, bytes.toString('hex'));
  }
  await until(() => shard.connections.size === 1);
  other.stream.write({ calls: [{ id: 2, handle, confirm: {} }] });
  assert.ok((await other.reply(2)).done);
});

test('a reader whose position of a tenant is malformed asks the owner itself', async (t) => {
  const shard = createShard();
  const metrics = createMetrics();
  const server = await listen(t, () => shard, { metrics });
  const { reply, stream } = openStream(t, server.address, { ...HELLO, calls: [{ id: 1, authenticate }] });
  const handle = (await reply(1)).handle?.handle ?? assert.fail();
  const position = { tenantId, epoch: 1, seq: 1, nextBase: 1, nowMs: 1 };
  stream.write({ positions: [position], calls: [{ id: 2, handle, confirm: {} }] });
  assert.ok((await reply(2)).done);
  assert.deepEqual(shard.positions, new Map([[tenantId, position]]));
  stream.write({ positions: [position, { ...position, seq: 2 ** 60 }], calls: [{ id: 3, handle, confirm: {} }] });
  assert.ok((await reply(3)).done);
  assert.deepEqual(shard.positions, new Map());
  assert.deepEqual(await malformedIn(metrics), new Map([['position', 1]]));
});

test('a stream that does not begin with a proper hello is ended', async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  for (const first of [
    { ping: { id: 1 } },
    { hello: { name: 'x' } },
    { hello: { name: 'x', peer: 1, slots: 5 } },
  ] as const) {
    assert.equal((await openStream(t, server.address, first).ended).code, status.INVALID_ARGUMENT);
  }
  assert.equal(shard.connections.size, 0);
});

test('a message above 4 MiB is refused', async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  const { ended, stream } = openStream(t, server.address, HELLO);
  stream.write({ calls: [{ id: 1, createNamespace: { name: 'a'.repeat(5 * 1024 * 1024) } }] });
  assert.equal((await ended).code, status.RESOURCE_EXHAUSTED);
});

test('calls beyond the bound of a stream are refused as overloaded', async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  const { next, stream } = openStream(t, server.address, HELLO);
  const held: (() => void)[] = [];
  shard.onCall = () => new Promise<void>((resolve) => held.push(resolve));
  // Both ends share this event loop: all calls at once would hold it until either end took the other for gone.
  const perMessage = 500;
  for (let from = 1; from <= OUTSTANDING_MAX; from += perMessage) {
    stream.write({ calls: Array.from({ length: perMessage }, (_, index) => ({ id: from + index, authenticate })) });
    await waitFor('the calls to arrive', () => held.length === from + perMessage - 1);
  }
  stream.write({ calls: [{ id: 77_777, authenticate }] });
  const refused = await next(({ replies }) => replies.find(({ failure }) => failure));
  assert.equal(refused.id, 77_777);
  assert.equal(refused.failure?.code, 'overloaded');
  let answered = 0;
  while (answered < OUTSTANDING_MAX) {
    for (const release of held.splice(0, perMessage)) release();
    answered += await next(({ replies }) => replies.length || undefined);
  }
  assert.equal(answered, OUTSTANDING_MAX);
});

test('a peer that does not read its answers is not read either', async (t) => {
  const shard = createShard();
  const grant = { grantId: 'grt_1', createdAtMs: 1, subject: `user:${'x'.repeat(200)}`, relation: 'viewer' } as const;
  const items = Array.from({ length: 1000 }, (_, index) => ({ ...grant, object: `doc:${'x'.repeat(200)}${index}` }));
  shard.answers.exportGrants = async () => ({ items, nextCursor: undefined, feedCursor: '' });
  const server = await listen(t, () => shard);
  const { reply, stream } = openStream(t, server.address, {
    ...CONSOLE_HELLO,
    calls: [{ id: 1, authenticateOperator: { tenantId, operator: 'ann' } }],
  });
  const handle = (await reply(1)).handle?.handle ?? assert.fail();
  stream.pause();
  // Few enough that a busy machine encodes all before either end takes the other for gone.
  const calls = 80;
  for (let id = 2; id < 2 + calls; id += 1) stream.write({ calls: [{ id, handle, exportGrants: { limit: 1000 } }] });
  // Each answer has some 400 kB: the server stops after some forty calls. Round trips of another peer show
  // that it had the time to take more.
  const other = openStream(t, server.address, HELLO);
  let pings = 0;
  let seen = -1;
  while (seen !== shard.count('exportGrants')) {
    seen = shard.count('exportGrants');
    for (const last = pings + 200; pings < last; ) {
      pings += 1;
      other.stream.write({ ping: { id: pings } });
      await other.next(({ pong }) => (pong?.id === pings ? true : undefined));
    }
  }
  assert.ok(seen < calls, `${seen} of ${calls} were taken`);
  // One answer each turn: to decode all at once would hold the event loop until either end took the other for gone.
  stream.on('data', () => {
    stream.pause();
    setImmediate(() => stream.resume());
  });
  stream.resume();
  await reply(1 + calls);
  assert.equal(shard.count('exportGrants'), calls);
});

test('an answer too large for a message fails its call alone', async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  const { reply, stream } = openStream(t, server.address, { ...HELLO, calls: [{ id: 1, authenticate }] });
  const handle = (await reply(1)).handle?.handle ?? assert.fail();
  // Few and long, so that a busy machine has them encoded before either end takes the other for gone.
  const namespaces = Array.from({ length: 100 }, () => ({ name: 'n'.repeat(50_000), createdAtMs: 1 }));
  shard.answers.listNamespaces = async () => namespaces;
  stream.write({ calls: [{ id: 2, handle, listNamespaces: {} }] });
  assert.equal((await reply(2)).failure?.code, 'internal');
  stream.write({ calls: [{ id: 3, handle, confirm: {} }] });
  assert.ok((await reply(3)).done);
});

test('a report of a front is taken in as it is said, with what it asks in the same message', async (t) => {
  const shard = createShard();
  const server = await listen(t, () => shard);
  const load = { elapsedMs: 2000, checks: 3, failures: 1, latencies: [0, 2, 1] };
  const asked = [{ slot: 0, tenantId: 'a', names: ['can_read', 'can_edit'] }];
  const awaited = [3, 0, 4_000_000_000];
  const report = { load, usage: { ...usage, checks: [7] }, asked, awaited };
  const { reply } = openStream(t, server.address, { ...HELLO, calls: [{ id: 1, authenticate }], report });
  assert.ok((await reply(1)).handle);
  assert.deepEqual(shard.reports, [
    {
      ...{ load, problems: [], asked, awaited },
      usage: [{ slot: 0, tenantId: 'a', minute: 1, requests: 1, refused: 0, checks: 7 }],
    },
  ]);
});
