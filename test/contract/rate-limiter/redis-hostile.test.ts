// A Redis that is none, or whose connection somebody else answers: whatever it sends, a front takes little memory and
// goes on with its share of the limits.

import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { ReplyGuard } from '../../../src/front/limits/redis-replies.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { newTenant, planOf } from './limiter-contract.ts';
import { openLimiterFront } from './redis-fronts.ts';

const LIMIT = 60;
/** Longer than any test takes: the limit is that of one window. */
const WINDOW_SECONDS = 600;
const PLAN = planOf(LIMIT, WINDOW_SECONDS);
const LEFT_MS = WINDOW_SECONDS * 1000;
const MIB = 'x'.repeat(1024 * 1024);

type Answer = string | ((socket: Socket) => void);

/** The commands that have arrived whole, each as its words, and what is left. */
function commandsIn(text: string): { readonly commands: string[][]; readonly rest: string } {
  const commands: string[][] = [];
  let rest = text;
  for (;;) {
    const head = /^\*(\d+)\r\n/.exec(rest);
    if (head === null) return { commands, rest };
    let at = head[0].length;
    const words: string[] = [];
    for (let count = Number(head[1]); count > 0; count -= 1) {
      const length = /^\$(\d+)\r\n/.exec(rest.slice(at));
      if (length === null) return { commands, rest };
      at += length[0].length;
      words.push(rest.slice(at, at + Number(length[1])));
      at += Number(length[1]) + 2;
    }
    if (at > rest.length) return { commands, rest };
    commands.push(words);
    rest = rest.slice(at);
  }
}

interface Hostile {
  readonly counts?: Answer;
  readonly heartbeats?: Answer;
  /** At the start of a connection. */
  readonly start?: Answer;
  /** Of a cluster, or of a sentinel, about itself. */
  readonly description?: Answer;
}

/** Answers as a Redis does, but for what is hostile. */
async function startHostile(t: TestContext, hostile: Hostile, scheme = 'redis', path = '') {
  const sockets = new Set<Socket>();
  const answerTo = ([name = '', script = '']: string[]): Answer => {
    const lower = name.toLowerCase();
    if (lower === 'hello') return '-NOPROTO sorry\r\n';
    if (lower === 'sentinel' || lower === 'cluster') return hostile.description ?? '*0\r\n';
    if (lower === 'info') return hostile.start ?? '$21\r\nredis_version:7.0.0\r\n\r\n';
    if (lower === 'eval' && script.includes('zcard')) return hostile.heartbeats ?? ':1\r\n';
    if (lower === 'eval' || lower === 'evalsha') return hostile.counts ?? `*2\r\n:1\r\n:${LEFT_MS}\r\n`;
    return '+OK\r\n';
  };
  /** Of the connection that took most. */
  let sentBytes = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sentBytes = Math.max(sentBytes, socket.bytesWritten - socket.writableLength);
      sockets.delete(socket);
    });
    let text = '';
    socket.on('data', (bytes) => {
      const { commands, rest } = commandsIn(text + bytes.toString('latin1'));
      text = rest;
      for (const command of commands) {
        const answer = answerTo(command);
        if (typeof answer === 'string') socket.write(answer);
        else answer(socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `${scheme}://127.0.0.1:${port}${path}`;
  const front = await openLimiterFront({ GRANTD_REDIS_URL: url }, (close) => t.after(close));
  /** What is on its way when a connection ends is a few buffers of sockets. */
  const assertFewBytes = async (): Promise<void> => {
    await waitFor('the end of a flood', () => sentBytes > 0);
    assert.ok(sentBytes < 16 * 1024 * 1024, `${sentBytes} bytes`);
  };
  return { front, assertFewBytes };
}

/** Sends as fast as it is read, without an end. */
const flood =
  (start: string, piece: string): Answer =>
  (socket) => {
    socket.write(start);
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece));
      socket.once('drain', more);
    };
    more();
  };

const OVERSIZED: [string, Answer][] = [
  ['a string of 512 MiB', flood('$536870912\r\n', MIB)],
  ['a string without an end', flood('+', MIB)],
  ['an error of many MiB', flood('-ERR ', MIB)],
  ['an array of 30 million', flood('*30000000\r\n', MIB)],
  ['an array of more than there is', flood('*99999999999999999999\r\n', MIB)],
  ['many nested arrays', flood('', '*1\r\n'.repeat(50_000))],
  ['a map of nested arrays', flood('%10000000\r\n', '*1\r\n'.repeat(50_000))],
  ['pushes that nobody asked for', flood('', '>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n'.repeat(10_000))],
  ['no protocol at all', flood('', 'HTTP/1.1 200 OK\r\n\r\n')],
];

const WRONG: [string, string][] = [
  ['a negative count', `*2\r\n:-1\r\n:${LEFT_MS}\r\n`],
  ['a count of nothing', `*2\r\n:0\r\n:${LEFT_MS}\r\n`],
  ['a negative time', '*2\r\n:1\r\n:-99999999\r\n'],
  ['a time beyond the window', `*2\r\n:1\r\n:${LEFT_MS + 1}\r\n`],
  ['more than was ever asked', `*2\r\n:999999999999999\r\n:${LEFT_MS}\r\n`],
  ['text', '*2\r\n$1\r\nx\r\n$1\r\ny\r\n'],
  ['fractions', '*2\r\n$1\r\n1\r\n$3\r\n1.5\r\n'],
  ['nothing', '*-1\r\n'],
  ['an empty array', '*0\r\n'],
  ['a number', ':5\r\n'],
  ['lists', '*2\r\n*0\r\n*0\r\n'],
];

// One after another: the floods of several would keep this process busy for longer than a front waits for a reply.
describe('a hostile Redis', () => {
  for (const [what, counts] of [...OVERSIZED, ...WRONG]) {
    it(`that counts with ${what} is lost, and the limit holds`, async (t) => {
      const { front, assertFewBytes } = await startHostile(t, { counts });
      await waitFor('Redis', () => front.lines.some((line) => line.includes('limits are shared')));
      const tenant = newTenant();
      let allowed = 0;
      const consume = async (): Promise<void> => {
        if ((await front.limiter.consume(tenant, PLAN))?.allowed) allowed += 1;
      };
      for (let count = 0; count < 3 * LIMIT; count += 1) await consume();
      // On a slow machine, a front may lose Redis by a timeout, and read an answer only once it is back.
      const isRefused = async (): Promise<boolean> => {
        await consume();
        await front.limiter.consume(newTenant(), PLAN);
        return (await front.value('grantd_redis_failures_total', { reason: 'invalid' })) > 0;
      };
      await waitFor('the answer to be refused', isRefused, undefined, () => front.lines.join('\n'));
      assert.equal(await front.value('grantd_redis_lost'), 1);
      assert.ok(front.lines.every((line) => line.length < 1000));
      if (typeof counts !== 'string') await assertFewBytes();
      await consume();
      assert.equal(allowed, LIMIT);
      assert.equal(await front.value('grantd_redis_lost'), 1, 'it is not trusted again at its next heartbeat');
    });
  }

  for (const [what, heartbeats] of [
    ...OVERSIZED.slice(0, 4),
    ['a negative number', ':-5\r\n'] as const,
    ['no number', '$3\r\nabc\r\n'] as const,
    ['more fronts than there can be', ':99999999\r\n'] as const,
  ] as const) {
    it(`that answers a heartbeat with ${what} is never used`, async (t) => {
      const { front, assertFewBytes } = await startHostile(t, { heartbeats });
      await waitFor('the loss', async () => (await front.value('grantd_redis_lost')) === 1);
      assert.equal((await front.limiter.consume(newTenant(), PLAN))?.remaining, LIMIT - 1);
      assert.equal(await front.value('grantd_rate_limit_decisions_total', { source: 'redis' }), 0);
      if (typeof heartbeats !== 'string') await assertFewBytes();
    });
  }

  const FLOOD = flood('$536870912\r\n', MIB);
  for (const [what, hostile, scheme, path] of [
    ['that floods a connection from its start', { start: FLOOD }, 'redis', ''],
    ['whose sentinel floods', { description: FLOOD }, 'redis+sentinel', '/master'],
    ['that describes a cluster by a flood', { description: FLOOD }, 'redis+cluster', ''],
  ] as const) {
    it(`${what} is never used`, async (t) => {
      const { front, assertFewBytes } = await startHostile(t, hostile, scheme, path);
      await waitFor('the loss', async () => (await front.value('grantd_redis_lost')) === 1);
      assert.equal((await front.limiter.consume(newTenant(), PLAN))?.allowed, true);
      await assertFewBytes();
    });
  }
});

describe('the guard of replies', () => {
  const honest =
    '+OK\r\n-ERR no\r\n:42\r\n$5\r\na\r\nb\r\r\n$-1\r\n$0\r\n\r\n*0\r\n*-1\r\n*2\r\n:1\r\n*2\r\n$1\r\nx\r\n_\r\n' +
    '%1\r\n+key\r\n~2\r\n#t\r\n,1.5\r\n=5\r\ntxt:a\r\n(123\r\n!3\r\nERR\r\n';

  it('lets every honest reply pass, however it is cut, and any number of them', () => {
    const bytes = Buffer.from(honest, 'latin1');
    for (let size = 1; size <= bytes.length; size += 1) {
      // Its bound is that of one reply.
      const guard = new ReplyGuard(40);
      for (let round = 0; round < 3; round += 1) {
        for (let at = 0; at < bytes.length; at += size) guard.take(bytes.subarray(at, at + size));
      }
    }
  });

  it('refuses a reply at the header that announces too much', () => {
    for (const header of ['$1001\r\n', '*400\r\n', '%200\r\n', '*2\r\n$998\r\n', '$1e3\r\n', '$-2\r\n', '>1\r\n']) {
      assert.throws(() => new ReplyGuard(1000).take(Buffer.from(header)), /Redis/, header);
    }
    new ReplyGuard(1000).take(Buffer.from('$990\r\n'));
  });
});
