// The load program of the comparison against a server that answers late, wrong or not at all. It accounts for what the
// server did: a late answer is late for all that were due meanwhile, and a wrong one ends the comparison.

import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Arrivals, LoadJob, LoadResult } from '../../../bench/compare/load-job.ts';
import { LoadProgram, NoAnswer, WrongAnswer } from '../../../bench/compare/load-program.ts';
import { installTool } from '../../../bench/compare/tools.ts';
import { reportMissing } from '../../../tools/engines/engine-script.ts';
import { findGo } from '../../../tools/engines/go.ts';
import { ROOT } from '../../kit/source-tree.ts';

/** What go.mod says. */
const GO_MINOR = 26;
const path = installTool('load');
if (path === undefined) reportMissing('the load program of the comparison', 'It needs Go and its modules.');
const go = path === undefined ? undefined : await findGo('the load program of the comparison', GO_MINOR);

const RIGHT = '{"authorized":true,"checked":1}';
const PER_SECOND = 500;
const SECONDS = 2;
const STALL_MS = 500;

describe('the load program', { skip: path === undefined }, () => {
  const program = new LoadProgram(path ?? '');
  let server: Server;
  let answer: (response: ServerResponse) => void;
  let job: Omit<LoadJob, 'mode'>;

  before(async () => {
    server = createServer((request, response) => request.resume().on('end', () => answer(response)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    job = {
      ...{ system: 'echo', protocol: 'http', operation: 'check', shape: 'wide', grants: 20_000, workers: 4 },
      ...{ address: `127.0.0.1:${port}`, warmUpSeconds: 0, seconds: SECONDS, processes: [process.pid] },
      ...{ perSecond: PER_SECOND, randomGaps: true, seed: 1 },
    };
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  beforeEach(() => {
    answer = (response) => response.end(RIGHT);
  });

  const arrive = (): Promise<LoadResult & { readonly arrivals: Arrivals }> => program.tryRate(job);

  it('sends the same requests for the same seed, and reports what it and the server took', async () => {
    const [first, second] = [await arrive(), await arrive()];
    assert.equal(first.arrivals.due, second.arrivals.due);
    assert.ok(Math.abs(first.arrivals.due - PER_SECOND * SECONDS) < 150, `${first.arrivals.due}`);
    assert.equal(first.arrivals.right, first.arrivals.due);
    assert.ok(first.cpuSeconds > 0 && first.loadCpuSeconds > 0 && first.memoryBytes > 0);
    const { p50Ms, p99Ms, maxMs, arrivals } = first;
    assert.ok(0 < p50Ms && p50Ms <= p99Ms && p99Ms <= arrivals.p999Ms && arrivals.p999Ms <= maxMs);
    assert.ok(0 < arrivals.lateP50Ms && arrivals.lateP50Ms <= arrivals.lateP99Ms);
  });

  it('counts a stall of the server for every request that was due during it', async () => {
    let answered = 0;
    let waiting: ServerResponse[] | undefined;
    answer = (response) => {
      answered += 1;
      if (answered === PER_SECOND / 2) {
        waiting = [];
        setTimeout(() => {
          for (const each of waiting ?? []) each.end(RIGHT);
          waiting = undefined;
        }, STALL_MS);
      }
      if (waiting === undefined) response.end(RIGHT);
      else waiting.push(response);
    };
    const { p99Ms, maxMs, arrivals } = await arrive();
    // A quarter of the requests were due in the stall, though only four could be sent.
    assert.ok(p99Ms > 0.8 * STALL_MS && maxMs >= 0.95 * STALL_MS, `${p99Ms} ${maxMs}`);
    assert.ok(arrivals.waited > 100, `${arrivals.waited}`);
    assert.equal(arrivals.right, arrivals.due);
  });

  it('says that a load is not borne if answers do not come', async () => {
    let answered = 0;
    answer = (response) => {
      answered += 1;
      if (answered % 10 > 0) response.end(RIGHT);
      else response.writeHead(503).end('{}');
    };
    const { arrivals, failed, firstFailed } = await arrive();
    assert.equal(arrivals.isBorne, false);
    assert.equal(arrivals.right + failed, arrivals.due);
    assert.match(firstFailed ?? '', /^status 503/);
    await assert.rejects(program.run({ ...job, mode: 'rate' }), NoAnswer);
  });

  it('expects of gates and conditions what the grants say, and never asks the same twice', async () => {
    await go?.run(['test', '-count=1', '.'], join(ROOT, 'bench', 'compare', 'load'));
  });

  it('ends the comparison at a wrong answer', async () => {
    answer = (response) => response.end('{"authorized":false,"checked":1}');
    await assert.rejects(arrive(), WrongAnswer);
  });
});
