// New grants, each acknowledged when it is durable: CPU time of the service per grant, including its write-behind, as a
// multiple of a bare echo's per request in the same round, and how many grants share one fsync. A separate run counts
// the fsyncs at the system call and measures nothing else.
// Without strace, the store's synchronous commits are not visible from outside, so only the appends to the log are
// counted.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figure } from '../figure.ts';
import type { LoadJob, LoadResult } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { startEcho } from '../server/echo-process.ts';
import { readCpuSeconds } from '../server/resource-use.ts';
import { median } from '../statistics.ts';
import { type LoadedService, startLoadedService } from './loaded-service.ts';
import { measureSide, type Side } from './turns.ts';

const CPU_RATIO_MAX = 6;
const GRANTS_PER_FSYNC_MIN = 20;
const GRANTS_PER_ROUND = 20_000;
const GRANTS_PER_ROUND_QUICK = 5_000;

/** Each round creates different grants. */
function grantsJob({ data, access, url }: LoadedService, round: number, grants: number): LoadJob {
  return {
    url,
    key: access.key,
    path: '/v1/grants',
    expectedStatus: 201,
    connections: CONNECTIONS,
    requests: Array.from({ length: grants }, (_, index) => ({
      body: JSON.stringify(data.newGrant(round * grants + index)),
      expectedStart: '{"grant_id":"grt_',
    })),
    mode: { kind: 'each-once' },
  };
}

interface Round extends LoadResult {
  readonly cpuMicros: number;
  readonly echoCpuMicros: number;
  readonly acknowledgedCpuMicros: number;
  readonly operationsPerAppend: number;
}

async function measure(context: BenchContext, loaded: LoadedService, echo: Side, job: LoadJob): Promise<Round> {
  const { service } = loaded;
  const { durationMs } = context;
  const { cpuMicros: echoCpuMicros } = await measureSide(context, echo, { kind: 'saturate', durationMs });
  const metricsBefore = await service.readMetrics();
  const before = readCpuSeconds(service.pid);
  const result = await context.client.run(job);
  const acknowledged = readCpuSeconds(service.pid);
  await service.waitForCheckpoint();
  const drained = readCpuSeconds(service.pid);
  const metrics = await service.readMetrics();
  const counted = (name: string): number => metrics(name) - metricsBefore(name);
  return {
    ...result,
    echoCpuMicros,
    cpuMicros: ((drained - before) * 1e6) / result.answered,
    acknowledgedCpuMicros: ((acknowledged - before) * 1e6) / result.answered,
    operationsPerAppend:
      counted('grantd_append_batch_operations_sum') / counted('grantd_append_batch_operations_count'),
  };
}

const hasStrace = (): boolean => spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;

/** Trace lines that begin a call: if another thread interrupts a call, it is resumed on a line of its own. */
const countFsyncs = (path: string): number =>
  existsSync(path) ? [...readFileSync(path, 'latin1').matchAll(/\bf(?:data)?sync\(/g)].length : 0;

async function measureFsyncs(context: BenchContext, grants: number): Promise<readonly Figure[]> {
  if (!hasStrace()) {
    context.progress('strace is missing: fsyncs are not counted');
    return [];
  }
  const trace = join(context.createDirectory(), 'fsyncs');
  // The filter in the kernel lets every other call run at full speed.
  const under = ['strace', '-f', '--seccomp-bpf', '-qq', '-e', 'trace=fsync,fdatasync', '-o', trace, '-D'];
  const loaded = await startLoadedService(context, { under });
  try {
    context.progress('counting fsyncs');
    await context.client.run(grantsJob(loaded, 0, grants));
    const before = countFsyncs(trace);
    const { answered } = await context.client.run(grantsJob(loaded, 1, grants));
    const fsyncs = countFsyncs(trace) - before;
    await loaded.service.waitForCheckpoint();
    return [
      {
        name: 'grants per fsync',
        value: answered / fsyncs,
        unit: 'grants',
        target: { kind: 'at least', value: GRANTS_PER_FSYNC_MIN },
      },
    ];
  } finally {
    await loaded.service.stop();
  }
}

async function measureRounds(context: BenchContext, grants: number): Promise<readonly Round[]> {
  const loaded = await startLoadedService(context);
  const echo = await startEcho();
  const { service, access, data } = loaded;
  const echoSide: Side = {
    name: 'echo',
    pids: [echo.pid],
    job: {
      url: echo.url,
      key: access.key,
      path: '/v1/grants',
      expectedStatus: 200,
      connections: CONNECTIONS,
      requests: [{ body: JSON.stringify(data.question(0).tuple), expectedStart: '{"authorized":true,' }],
    },
  };
  const rounds: Round[] = [];
  try {
    // Until the code of both is compiled.
    await measure(context, loaded, echoSide, grantsJob(loaded, 0, grants));
    for (let round = 1; round <= context.rounds; round += 1) {
      context.progress(`round ${round} of ${context.rounds}`);
      rounds.push(await measure(context, loaded, echoSide, grantsJob(loaded, round, grants)));
    }
  } finally {
    echo.close();
    await service.stop();
  }
  return rounds;
}

export const grantsScenario: Scenario = {
  name: 'grants',
  summary: `new grants: CPU per durable grant ≤ ${CPU_RATIO_MAX} × a bare echo's per request, ≥ ${GRANTS_PER_FSYNC_MIN} grants per fsync`,
  async run(context) {
    const grants = context.quick ? GRANTS_PER_ROUND_QUICK : GRANTS_PER_ROUND;
    const rounds = await measureRounds(context, grants);
    const figure = (name: string, unit: string, of: (round: Round) => number): Figure => ({
      name,
      unit,
      value: median(rounds.map(of)),
      rounds: rounds.map(of),
    });
    return [
      {
        ...figure('CPU per grant ÷ the echo’s per request', '×', (round) => round.cpuMicros / round.echoCpuMicros),
        target: { kind: 'at most', value: CPU_RATIO_MAX },
      },
      figure('CPU per grant, write-behind included', 'µs', (round) => round.cpuMicros),
      figure('CPU per request of the echo', 'µs', (round) => round.echoCpuMicros),
      figure('CPU per grant until the last answer', 'µs', (round) => round.acknowledgedCpuMicros),
      figure('grants per append', 'grants', (round) => round.operationsPerAppend),
      ...(await measureFsyncs(context, grants)),
      figure('acknowledged grants', '/s', (round) => round.answered / round.seconds),
      figure('p50', 'ms', (round) => round.latencyMs.p50),
      figure('p99', 'ms', (round) => round.latencyMs.p99),
    ];
  },
};
