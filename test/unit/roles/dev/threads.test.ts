// How the main thread hears of the end of another one: at its start, while it serves, and when it was asked to.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ThreadSettings } from '../../../../src/roles/dev/thread-messages.ts';
import { startThreads } from '../../../../src/roles/dev/threads.ts';
import { createMetrics } from '../../../../src/telemetry/metrics.ts';
import { META } from '../../../kit/store/store-fixtures.ts';

const SETTINGS: ThreadSettings = {
  number: 2,
  threads: 2,
  environment: {},
  log: { level: 'silent', pretty: false },
  version: '0.0.0',
  httpAddress: '127.0.0.1:0',
  baseUrl: 'http://127.0.0.1',
  meta: META,
  damage: new SharedArrayBuffer(4),
  shardAddresses: [],
  commitCounts: new SharedArrayBuffer(4),
  pageCacheBytes: 1024 * 1024,
};

/** A thread that runs this, with its line to the main thread as `port`. */
async function start(code: string) {
  const lost = Promise.withResolvers<Error>();
  const metrics = createMetrics();
  await using parts = new AsyncDisposableStack();
  const source = `import { parentPort as port } from 'node:worker_threads';\n${code}`;
  const entry = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const takeCount = (): never => assert.fail('nothing is counted');
  const dependencies = { shards: new Map(), takeCount, metrics, onLost: (error: Error) => lost.resolve(error) };
  const threads = await startThreads(dependencies, [SETTINGS], parts, entry);
  const running = parts.move();
  return { threads, metrics, lost: lost.promise, stop: () => running.disposeAsync() };
}

const READY = "port.postMessage({ kind: 'ready' });";

describe('a further thread', () => {
  it('that cannot start says why', async () => {
    const refusal = "port.on('message', () => process.exit(0)); port.postMessage({ kind: 'refused', message: 'No.' });";
    await assert.rejects(start(refusal), { name: 'StartError', message: 'No.' });
    await assert.rejects(start("throw new Error('a defect');"), /a defect/);
    await assert.rejects(start('process.exit(3);'), /The thread 2 ended with code 3/);
  });

  it('that fails while it serves is reported with its error', async () => {
    const { lost } = await start(`${READY} setTimeout(() => { throw new Error('a defect'); }, 5);`);
    assert.match((await lost).message, /a defect/);
  });

  it('that ends while it serves is reported', async () => {
    const { lost } = await start(`${READY} setTimeout(() => process.exit(0), 5);`);
    assert.match((await lost).message, /The thread 2 ended with code 0/);
  });

  it('adds its metrics, and ends when it is asked to', async () => {
    const { threads, metrics, lost, stop } = await start(`
      const values = [{ value: 5, labels: { result: 'hit' } }];
      const metric = { name: 'grantd_page_lookups_total', help: 'h', type: 'counter', values, aggregator: 'sum' };
      const messages = [];
      port.on('message', (message) => {
        messages.push(message.kind);
        if (message.kind === 'read-metrics') port.postMessage({ kind: 'metrics', id: message.id, metrics: [metric] });
        if (message.kind === 'stop') process.exit(messages.includes('drain') ? 0 : 1);
      });
      ${READY}`);
    metrics.pageLookups.inc({ result: 'hit' }, 2);
    assert.match(await metrics.render(), /^grantd_page_lookups_total\{result="hit"\} 7$/m);
    threads.drain();
    await stop();
    assert.equal(await Promise.race([lost, 'nothing lost']), 'nothing lost');
  });
});
