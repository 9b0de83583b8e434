// What the way from a front process to a shard process costs: the same checks of the same shard, in turns through the
// front in its own process and through a front process. No store takes part: all pages are in memory.

import { join } from 'node:path';
import { freePorts } from '../../tools/engines/free-port.ts';
import type { Figure } from '../figure.ts';
import type { LoadJob } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { answersOk, BackgroundProcess } from '../server/background-process.ts';
import { PLANS } from '../server/grantd-process.ts';
import { readMetric } from '../server/metrics-text.ts';
import { median } from '../statistics.ts';
import { startLoadedService } from './loaded-service.ts';
import { measureInTurns, type Round, type Side } from './turns.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const CPU_RATIO_MAX = 1.4;
const QUESTIONS = 50_000;
/** Until the code of all processes is fully compiled. */
const WARM_UP_MS = 4000;
const START_SECONDS_MAX = 30;
/** Of the slower side's throughput. */
const FIXED_RATE_SHARES = [0.5, 0.1];

interface FrontProcess {
  readonly pid: number;
  readonly url: string;
  /** Messages to the shard so far, and the checks in them. */
  readBatches(): Promise<{ readonly messages: number; readonly checks: number }>;
  stop(): Promise<void>;
}

async function startFront(context: BenchContext, shardAddress: string): Promise<FrontProcess> {
  const [port, opsPort] = await freePorts(2);
  const program = new BackgroundProcess({
    name: 'grantd front',
    command: [process.execPath, MAIN, 'front'],
    environment: {
      GRANTD_DISCOVERY: `static:${shardAddress}`,
      GRANTD_BASE_URL: 'http://127.0.0.1',
      GRANTD_HTTP_ADDRESS: `127.0.0.1:${port}`,
      GRANTD_OPS_ADDRESS: `127.0.0.1:${opsPort}`,
      GRANTD_PLANS: PLANS,
      GRANTD_DRAIN_SECONDS: '0',
    },
    logFile: join(context.createDirectory(), 'front.log'),
  });
  await program.waitUntil(() => answersOk(`http://127.0.0.1:${opsPort}/readyz`), START_SECONDS_MAX);
  return {
    pid: program.pid,
    url: `http://127.0.0.1:${port}`,
    async readBatches() {
      const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
      return {
        messages: readMetric(text, 'grantd_stream_batch_checks_count'),
        checks: readMetric(text, 'grantd_stream_batch_checks_sum'),
      };
    },
    stop: () => program.stop(),
  };
}

type Pair = readonly [Round, Round];

function figuresOf(sides: readonly [Side, Side], pairs: readonly Pair[], mode: string): readonly Figure[] {
  const ratio = (name: string, of: (round: Round) => number): Figure => ({
    name: `${name}, ${sides[1].name} ÷ ${sides[0].name}, ${mode}`,
    unit: '×',
    value: median(pairs.map(([, two]) => of(two))) / median(pairs.map(([one]) => of(one))),
    rounds: pairs.map(([one, two]) => of(two) / of(one)),
  });
  const both = (name: string, unit: string, of: (round: Round) => number): readonly Figure[] =>
    sides.map((side, index) => {
      const values = pairs.map((pair) => of(index === 0 ? pair[0] : pair[1]));
      return { name: `${name}, ${side.name}, ${mode}`, unit, value: median(values), rounds: values };
    });
  return [
    ratio('CPU per check', ({ cpuMicros }) => cpuMicros),
    ...both('CPU per check', 'µs', ({ cpuMicros }) => cpuMicros),
    ratio('p99', ({ latencyMs }) => latencyMs.p99),
    ...both('p99', 'ms', ({ latencyMs }) => latencyMs.p99),
    ...both('p50', 'ms', ({ latencyMs }) => latencyMs.p50),
    ...both('throughput', '/s', ({ answered, seconds }) => answered / seconds),
  ];
}

async function measure(
  context: BenchContext,
  sides: readonly [Side, Side],
  front: FrontProcess,
  mode: LoadJob['mode'],
  name: string,
): Promise<{ readonly pairs: readonly Pair[]; readonly figures: readonly Figure[] }> {
  const before = await front.readBatches();
  const pairs = await measureInTurns(context, sides, mode, context.rounds);
  const after = await front.readBatches();
  const value = (after.checks - before.checks) / (after.messages - before.messages);
  return {
    pairs,
    figures: [...figuresOf(sides, pairs, name), { name: `checks per message, ${name}`, value, unit: '' }],
  };
}

export const hopScenario: Scenario = {
  name: 'hop',
  summary: `a front and a shard compared with one process: CPU per check ≤ ${CPU_RATIO_MAX} ×`,
  async run(context) {
    const [rpcPort] = await freePorts(1);
    const rpcAddress = `127.0.0.1:${rpcPort}`;
    const { service, access, data, url } = await startLoadedService(context, {
      settings: { GRANTD_RPC_ADDRESS: rpcAddress },
    });
    await using parts = new AsyncDisposableStack();
    parts.defer(() => service.stop());
    const front = await startFront(context, rpcAddress);
    parts.defer(() => front.stop());
    const requests = Array.from({ length: QUESTIONS }, (_, number) => {
      const { tuple, authorized } = data.question(number);
      return { body: JSON.stringify(tuple), expectedStart: `{"authorized":${authorized},` };
    });
    const job = { key: access.key, path: '/v1/check', expectedStatus: 200, connections: CONNECTIONS, requests };
    const sides: readonly [Side, Side] = [
      { name: 'one process', pids: [service.pid], job: { ...job, url } },
      { name: 'front and shard', pids: [service.pid, front.pid], job: { ...job, url: front.url } },
    ];
    await measureInTurns(context, sides, { kind: 'saturate', durationMs: WARM_UP_MS }, 1);
    const { durationMs } = context;
    const saturated = await measure(context, sides, front, { kind: 'saturate', durationMs }, 'saturated');
    const slower = median(
      saturated.pairs.map((pair) => Math.min(...pair.map((round) => round.answered / round.seconds))),
    );
    const figures = saturated.figures.map(
      (figure, index): Figure =>
        index === 0 ? { ...figure, target: { kind: 'at most', value: CPU_RATIO_MAX } } : figure,
    );
    for (const share of FIXED_RATE_SHARES) {
      const perSecond = Math.floor(share * slower);
      const paced = await measure(context, sides, front, { kind: 'rate', durationMs, perSecond }, `at ${perSecond}/s`);
      figures.push(...paced.figures);
    }
    return figures;
  },
};
