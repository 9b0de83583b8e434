// A process whose output nobody takes: a full disk, a reader that is stuck, one that has left. It answers on, ends as
// it is told to, and says afterwards what its log lacks.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { CLIENT_REQUEST_ID_LENGTH_MAX } from '../../../src/core/text/header-fields.ts';
import { DevProcess, MAIN, readDevFacts, testEnvironment } from '../../kit/dev-process.ts';
import { useDirectory } from '../../kit/directory.ts';
import { call } from '../../kit/http-client.ts';
import { openStuckPipe } from '../../kit/stuck-pipe.ts';
import { waitFor } from '../../kit/wait-for.ts';

const START_MS_MAX = 120_000;
/** Each has a line at debug level, with the longest id that a client may give it. */
const REQUESTS = 1000;
const HEADERS = { 'x-request-id': 'x'.repeat(CLIENT_REQUEST_ID_LENGTH_MAX) };
const IN_FLIGHT = 50;

/** A process whose output the shell sends elsewhere, once it serves. */
async function start(t: TestContext, redirection: string, ...args: readonly string[]) {
  const directory = useDirectory();
  const script = `exec "$0" "$@" ${redirection}`;
  const environment = { ...testEnvironment(directory), GRANTD_LOG_LEVEL: 'debug' };
  const command = ['bash', '--norc', '-c', script, process.execPath, MAIN] as const;
  const grantd = new DevProcess(['dev', ...args], environment, [...command]);
  t.after(() => grantd.stop('SIGKILL'));
  const isReady = async (): Promise<boolean> => {
    if (!existsSync(join(directory, 'dev.json'))) return false;
    try {
      return (await fetch(`${readDevFacts(directory).ops_url}/readyz`)).ok;
    } catch {
      return false;
    }
  };
  await waitFor('the process to serve', async () => grantd.hasEnded || (await isReady()), START_MS_MAX);
  assert.ok(!grantd.hasEnded, grantd.stderr);
  return { grantd, directory };
}

async function droppedIn(directory: string): Promise<number> {
  const text = await (await fetch(`${readDevFacts(directory).ops_url}/metrics`)).text();
  return Number(/^grantd_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
}

/** Asks until the log of some thread has dropped a line; each request is answered meanwhile. Resolves to how many. */
async function askUntilDropped(directory: string): Promise<number> {
  const { base_url: url, key } = readDevFacts(directory);
  const check = { subject: 'user:ada', relation: 'viewer', object: 'document:plan' };
  let dropped = 0;
  await waitFor('a dropped line', async () => {
    for (let asked = 0; asked < REQUESTS; asked += IN_FLIGHT) {
      const answers = await Promise.all(
        Array.from({ length: IN_FLIGHT }, () =>
          call(url, { method: 'POST', path: '/v1/check', key, body: check, headers: HEADERS }),
        ),
      );
      for (const { status } of answers) assert.ok(status === 200 || status === 429, `${status}`);
    }
    dropped = await droppedIn(directory);
    return dropped > 0;
  });
  return dropped;
}

describe('a process', () => {
  it('starts and answers with a log on a full disk, counts what is lost, and ends', async (t) => {
    const { grantd, directory } = await start(t, '2>/dev/full');
    await askUntilDropped(directory);
    const { code, signal } = await grantd.stop();
    assert.deepEqual([code, signal], [0, null]);
  });

  for (const threads of [1, 2]) {
    it(`with ${threads} threads answers while nobody reads its log, which then is whole lines and says what it lacks`, async (t) => {
      const pipe = openStuckPipe(t);
      const { grantd, directory } = await start(t, `2>'${pipe.path}'`, '--threads', String(threads));
      const dropped = await askUntilDropped(directory);

      let log = '';
      const read = (): void => {
        log += pipe.read();
      };
      const loss = /"lines":(\d+),"reason":"[^"]*EAGAIN[^"]*","msg":"lines of the log were dropped/g;
      const said = (): number => [...log.matchAll(loss)].reduce((sum, [, lines]) => sum + Number(lines), 0);
      await waitFor('the word of what was dropped', () => {
        read();
        return said() >= dropped;
      });
      const stopping = grantd.stop();
      await waitFor('the last line', () => {
        read();
        return log.endsWith('"msg":"stopped"}\n');
      });
      const { code } = await stopping;
      assert.equal(code, 0);
      for (const line of log.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line).msg, 'string', line);
    });
  }

  it('ends although its log is stuck', async (t) => {
    const { path } = openStuckPipe(t);
    const { grantd, directory } = await start(t, `2>'${path}'`);
    await askUntilDropped(directory);
    const { code, signal } = await grantd.stop();
    assert.deepEqual([code, signal], [0, null]);
  });

  it('goes on if the reader of its banner leaves, and leaves no sign of a crash', async (t) => {
    const { grantd, directory } = await start(t, '> >(true)');
    assert.ok(existsSync(join(directory, 'grantd.pid')));
    const { code, signal } = await grantd.stop();
    assert.deepEqual([code, signal], [0, null]);
    assert.ok(!existsSync(join(directory, 'grantd.pid')));
  });
});
