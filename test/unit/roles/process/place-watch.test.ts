// The watch of a place, with real sockets and a real process there, on virtual time.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { watchPlace } from '../../../../src/roles/process/place-watch.ts';
import { listenOnceFree } from '../../../../src/roles/process/start-error.ts';
import { systemClock } from '../../../../src/roles/process/system.ts';
import type { HeldPlace } from '../../../../src/shard/ownership/predecessors.ts';
import { createLog } from '../../../../src/telemetry/log.ts';
import { freePorts } from '../../../../tools/engines/free-port.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { waitFor } from '../../../kit/wait-for.ts';

const log = createLog({ level: 'silent', pretty: false });

/** Listens at the port and names each connection. At SIGUSR2 it closes its listener and keeps its connections. */
const INHABITANT = `
const server = require('node:net').createServer((socket) => {
  socket.on('error', () => {});
  console.log('connected');
});
server.listen(Number(process.argv[1]), '127.0.0.1', () => console.log('listening'));
process.on('SIGUSR2', () => { server.close(); setInterval(() => {}, 1000); console.log('closed'); });
`;
/** Each moves the clock by more than a connection is kept. */
const ROUNDS = 5;
const ROUND_MS = 5000;
/** Less than a connection is kept. */
const CONNECTED_MS = 1000;

async function listens(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  const socket = connect(Number(port), host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

describe('the watch of a place', () => {
  let clock: VirtualClock;
  let port: number;
  let address: string;
  let ending: AbortController;
  let proofs: HeldPlace[];
  let watching: Promise<void>;
  let inhabitants: ChildProcess[];
  let settles: (held: HeldPlace) => Promise<boolean>;

  /** The watch moves on meanwhile. */
  const reach = (what: string, condition: () => boolean, stepMs = 20): Promise<void> =>
    waitFor(what, async () => {
      await clock.advance(stepMs);
      return condition();
    });
  const inhabit = async () => {
    const child = spawn(process.execPath, ['-e', INHABITANT, `${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    inhabitants.push(child);
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const says = (word: string, stepMs = 20): Promise<void> => reach(word, () => said.includes(word), stepMs);
    await says('listening');
    return { child, says };
  };
  const startWatch = (isAbandoned?: () => boolean): void => {
    watching = watchPlace(clock, {
      address,
      signal: ending.signal,
      isAbandoned,
      onVacant: async (held) => {
        proofs.push(held);
        return settles(held);
      },
    });
  };

  beforeEach(async () => {
    clock = new VirtualClock();
    [port = 0] = await freePorts(1);
    address = `127.0.0.1:${port}`;
    ending = new AbortController();
    proofs = [];
    inhabitants = [];
    settles = async () => true;
  });

  afterEach(async () => {
    ending.abort();
    for (const child of inhabitants) child.kill('SIGKILL');
    await clock.advance(0);
    await watching;
  });

  it('proves that a process that was killed is gone, and goes on with the next one', async () => {
    startWatch();
    for (const count of [1, 2]) {
      const inhabitant = await inhabit();
      await inhabitant.says('connected');
      assert.equal(proofs.length, count - 1);
      inhabitant.child.kill('SIGKILL');
      await reach('the proof', () => proofs.length === count);
      await reach('the release', () => proofs.every((held) => !held.isHeld()));
      assert.equal(await listens(address), false, 'it lets go');
    }
  });

  it('takes no process that is stopped for one that has ended', async () => {
    startWatch();
    const inhabitant = await inhabit();
    await inhabitant.says('connected');
    inhabitant.child.kill('SIGSTOP');
    // The next connections reach a process that accepts nothing.
    for (let round = 0; round < ROUNDS; round += 1) await clock.advance(ROUND_MS);
    assert.equal(proofs.length, 0);
    inhabitant.child.kill('SIGKILL');
    await reach('the proof', () => proofs.length === 1);
  });

  it('takes no process that breaks its connection for one that has ended', async () => {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => sockets.add(socket.on('error', () => {})));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    startWatch();
    for (let breaks = 0; breaks < 5; breaks += 1) {
      await reach('a connection', () => sockets.size > 0);
      for (const socket of sockets) socket.resetAndDestroy();
      sockets.clear();
    }
    await reach('a connection', () => sockets.size > 0);
    assert.equal(proofs.length, 0);
    // A shard closes its listener last: see the invariant of the watch.
    server.close();
    for (const socket of sockets) socket.destroy();
    await reach('the proof', () => proofs.length === 1);
  });

  it('keeps its hands off while a process that has closed its listener still has its connection', async () => {
    const inhabitant = await inhabit();
    startWatch();
    await inhabitant.says('connected', 0);
    inhabitant.child.kill('SIGUSR2');
    await inhabitant.says('closed', 0);
    await clock.advance(CONNECTED_MS);
    assert.equal(proofs.length, 0);
  });

  it('accepts nobody while it holds the place, and a shard that starts waits for it', async () => {
    const { promise: allowed, resolve: allow } = Promise.withResolvers<void>();
    settles = async (held) => {
      await allowed;
      assert.equal(held.isHeld(), true);
      held.release();
      assert.equal(held.isHeld(), false);
      return true;
    };
    startWatch();
    const inhabitant = await inhabit();
    await inhabitant.says('connected');
    inhabitant.child.kill('SIGKILL');
    await reach('the proof', () => proofs.length === 1);
    const caller = connect(port, '127.0.0.1');
    caller.on('error', () => {});
    await once(caller, 'close');
    let tries = 0;
    const listening = listenOnceFree({ clock: systemClock, log }, address, async () => {
      tries += 1;
      if (tries === 3) allow();
      const server = createServer();
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return server;
    });
    const server = await listening;
    assert.ok(tries >= 3);
    await new Promise((resolve) => server.close(resolve));
  });

  it('tries again while the store does not say who was there', async () => {
    settles = async () => proofs.length > 1;
    startWatch();
    const inhabitant = await inhabit();
    await inhabitant.says('connected');
    inhabitant.child.kill('SIGKILL');
    await reach('the proof', () => proofs.length === 2);
  });

  it('ends with the proof if it is for one process alone, or once another one has the place', async () => {
    const inhabitant = await inhabit();
    const isGone = () => inhabitant.child.signalCode !== null;
    startWatch(isGone);
    await inhabitant.says('connected');
    inhabitant.child.kill('SIGKILL');
    await reach('its end', isGone);
    await reach('the proof', () => proofs.length === 1);
    await clock.advance(ROUND_MS);
    await watching;
    await inhabit();
    startWatch(isGone);
    await watching;
    assert.equal(proofs.length, 1);
  });

  it('takes no last look for a proof: told to end, it leaves a process that is there alone', async () => {
    startWatch();
    const inhabitant = await inhabit();
    await inhabitant.says('connected');
    inhabitant.child.kill('SIGSTOP');
    ending.abort();
    await watching;
    assert.equal(proofs.length, 0);
  });
});
