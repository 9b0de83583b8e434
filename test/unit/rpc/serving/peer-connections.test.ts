// Connections to the port of a shard that say nothing, or are too many.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Timer } from '../../../../src/core/async/clock.ts';
import { splitAddress } from '../../../../src/core/text/addresses.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import { HELLO_MS_MAX } from '../../../../src/rpc/serving/peer-connections.ts';
import { listenShardServer } from '../../../../src/rpc/serving/server.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { ScriptedShard, ShardWorld } from '../../../kit/scripted-shard.ts';
import { waitFor } from '../../../kit/wait-for.ts';
import { HELLO, openStream, silentLog } from '../harness.ts';

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0';

/** Whether by an end or a reset. */
const closed = (socket: Socket): Promise<void> =>
  socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once('close', () => resolve()));

/** A server whose time for a hello passes when the test says so. */
async function start(t: TestContext, connectionsMax?: number) {
  const world = await ShardWorld.start();
  t.after(() => world.stop());
  const shard = new ScriptedShard(world);
  const timers = new Set<() => void>();
  const setTimer = (run: () => void, delayMs: number): Timer => {
    if (delayMs !== HELLO_MS_MAX) return systemClock.setTimer(run, delayMs);
    timers.add(run);
    return { cancel: () => void timers.delete(run) };
  };
  const metrics = createMetrics();
  const server = await listenShardServer(
    { shard: () => shard, clock: { ...systemClock, setTimer }, log: silentLog, metrics },
    { address: '127.0.0.1:0', unprovenPeers: true, ...(connectionsMax === undefined ? {} : { connectionsMax }) },
  );
  t.after(() => server.close());
  const { host, port } = splitAddress(server.address);
  const open = async (bytes = ''): Promise<Socket> => {
    const socket = connect(port, host);
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'connect');
    socket.write(bytes, 'latin1');
    return socket;
  };
  /** How many connections it has reached. */
  const pass = (): number => {
    const due = [...timers];
    timers.clear();
    for (const run of due) run();
    return due.length;
  };
  const dropped = async (reason: string): Promise<number> => {
    const { values } = await metrics.connectionsDropped.get();
    return values.find(({ labels }) => labels.server === 'shard' && labels.reason === reason)?.value ?? 0;
  };
  return { server, timers, open, pass, dropped };
}

test('a connection that says nothing ends, whatever it has begun; a peer that said its hello stays', async (t) => {
  const { server, open, pass, dropped } = await start(t);
  const peer = openStream(t, server.address, HELLO);
  await peer.next(({ welcome }) => welcome);
  const mute = openStream(t, server.address);
  mute.stream.write({});
  const wordless = openStream(t, server.address);
  const silent = [await open(), await open(PREFACE.slice(0, 10)), await open(PREFACE), await open('\x16\x03\x01')];
  // Whenever a connection comes, its time passes soon. One that is no HTTP/2, or answers no ping, may end before that.
  let stalled = 0;
  const passing = setInterval(() => {
    stalled += pass();
  }, 10);
  t.after(() => clearInterval(passing));
  await Promise.all([...silent.map(closed), mute.ended, wordless.ended]);
  clearInterval(passing);
  assert.ok(stalled >= 2);
  assert.equal(await dropped('stalled'), stalled);
  peer.stream.write({ ping: { id: 7 } });
  assert.equal((await peer.next(({ pong }) => pong)).id, 7);
});

test('beyond the bound a new connection takes the place of the silent one that came first, and of no peer', async (t) => {
  const { server, timers, open, dropped } = await start(t, 3);
  const peers = [openStream(t, server.address, HELLO), openStream(t, server.address, HELLO)];
  for (const { next } of peers) await next(({ welcome }) => welcome);
  for (let count = 0; count < 20; count += 1) {
    const silent = await open();
    await waitFor('its place', () => timers.size === 1);
    const ended = closed(silent);
    await open();
    await ended;
  }
  assert.ok((await dropped('idle')) >= 20);
  const third = openStream(t, server.address, HELLO);
  await third.next(({ welcome }) => welcome);
  assert.equal((await open()).destroyed, false);
  await waitFor('the refusal', async () => (await dropped('full')) > 0);
  for (const { stream, next } of [...peers, third]) {
    stream.write({ ping: { id: 9 } });
    assert.equal((await next(({ pong }) => pong)).id, 9);
  }
});

test('a server that closes ends the connections that have said nothing', async (t) => {
  const { server, timers, open } = await start(t);
  const silent = [await open(), await open('\x16\x03\x01')];
  await waitFor('both to be known', () => timers.size === silent.length);
  await Promise.all([server.close(), ...silent.map(closed)]);
  assert.equal(timers.size, 0);
});
