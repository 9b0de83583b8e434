// The one service of a process has two shards, and every tenant has a reader: the shard that does not own it. A key
// that reads for the first time first makes a check again and again until its reader answers, so what the tests then
// read under it is the reader's answer. At the end, each operation that reads has been answered by a reader.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { BUILT_IN_PLANS } from '../../../src/core/plans.ts';
import { type Answer, type CallOptions, call } from '../../kit/http-client.ts';
import { type HttpService, startHttpService } from '../../kit/http-service.ts';
import { waitFor } from '../../kit/wait-for.ts';
import { startOneServiceBy } from './one-service.ts';

const READS: readonly string[] = [
  'POST /v1/check',
  'POST /v1/check/bulk',
  'GET /v1/objects',
  'POST /v1/objects',
  'GET /v1/subjects',
  'POST /v1/subjects',
  'POST /access/v1/evaluation',
  'POST /access/v1/evaluations',
  'POST /access/v1/search/subject',
  'POST /access/v1/search/resource',
  'POST /access/v1/search/action',
];
const CHECK = { subject: 'user:nobody', relation: 'viewer', object: 'doc:nowhere' };
const READER_CALLS = /^grantd_reader_calls_total\{.*\} (\d+)$/gm;

const plans = Object.fromEntries(
  Array.from(BUILT_IN_PLANS.values(), ({ name, requests = null, windowSeconds }) => [
    name,
    { requests, window_seconds: windowSeconds, readers: 1 },
  ]),
);

/** By operation: answers that came from a reader. */
const answered = new Map(READS.map((operation) => [operation, 0]));

async function startWithReaders(): Promise<HttpService> {
  const service = await startHttpService({ GRANTD_PLANS: JSON.stringify(plans) }, ['--shards', '2']);
  const warm = new Map<string, Promise<void>>();

  async function readerCalls(): Promise<number> {
    const { text } = await call(service.opsUrl, { method: 'GET', path: '/metrics' });
    return [...text.matchAll(READER_CALLS)].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  /** A key that may not check, or no longer, needs no reader. */
  async function warmUp(key: string): Promise<void> {
    const before = await readerCalls();
    await waitFor('an answer of a reader', async () => {
      const { status } = await service.send({ method: 'POST', path: '/v1/check', key, body: CHECK });
      return status !== 200 || (await readerCalls()) > before;
    });
  }

  async function send(options: CallOptions): Promise<Answer> {
    const { method, path, key } = options;
    const operation = `${method} ${path.split('?', 1)[0]}`;
    if (!READS.includes(operation)) return service.send(options);
    if (key !== undefined) {
      const warming = warm.get(key) ?? warmUp(key);
      warm.set(key, warming);
      await warming;
    }
    const before = await readerCalls();
    const answer = await service.send(options);
    if (answer.status === 200) answered.set(operation, (answered.get(operation) ?? 0) + (await readerCalls()) - before);
    return answer;
  }

  return { ...service, send };
}

startOneServiceBy(startWithReaders);
after(() =>
  assert.deepEqual(
    [...answered].filter(([, count]) => count === 0),
    [],
    JSON.stringify([...answered]),
  ),
);
