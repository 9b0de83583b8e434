// Checks of far more subjects than the page cache holds, by popularity (Zipf): the normal state of a large service, in
// which some checks must read the store. A round is the same number of seconds of these checks and of checks whose
// pages stay in memory. Each round has draws of its own, so that no check is repeated more often than popularity says.

import type { Figure } from '../figure.ts';
import { type LoadJob, type PreparedRequest, REST_MS } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { GrantdProcess } from '../server/grantd-process.ts';
import { readSettledResidentBytes } from '../server/resource-use.ts';
import { median } from '../statistics.ts';
import { Zipf } from '../zipf.ts';
import { type FilledDirectory, type Filling, fillDirectory } from './filled-directory.ts';
import { measureInTurns, type Round, type Side } from './turns.ts';

interface Sized {
  readonly filling: Filling;
  readonly cacheBytes: number;
  /** More than a round sends. */
  readonly checksPerRound: number;
}

const MEBIBYTE = 1024 ** 2;
/** A million subjects, about ten times as many as the default page cache holds. */
const FULL: Sized = {
  filling: { tenants: 10, grantsPerTenant: 1_000_000 },
  cacheBytes: 256 * MEBIBYTE,
  checksPerRound: 100_000,
};
/** 10,000 subjects, and a cache for about every third. */
const QUICK: Sized = {
  filling: { tenants: 10, grantsPerTenant: 10_000 },
  cacheBytes: 8 * MEBIBYTE,
  checksPerRound: 25_000,
};
/** The most popular subjects: enough for all tenants and slots, and in every cache of this scenario. */
const HOT_SUBJECTS = 1000;
const FIRST_SUBJECTS = 100;
/** Coprime to the numbers of subjects: popular ones are spread over tenants, and over the keys of each. */
const STRIDE = 7919;
const SEED = 20_261_124;
/** The cache must be full before anything counts, and then in the state that these draws lead to. */
const WARM_UP_ROUNDS_MIN = 3;
const WARM_UP_ROUNDS_MAX = 60;
/** Of the throughput with closed arrivals. */
const OPEN_SHARE = 0.5;

interface Cold {
  readonly service: GrantdProcess;
  readonly zipf: Zipf;
  readonly job: Omit<LoadJob, 'mode' | 'requests'>;
  /** The next checks, by popularity. */
  drawn(): readonly PreparedRequest[];
  /** Checks of the most popular subjects, each as often as the others. */
  readonly hot: readonly PreparedRequest[];
}

const MISSES = 'grantd_page_lookups_total{result="miss"}';
const CACHE_BYTES = 'grantd_page_cache_bytes';

async function start(context: BenchContext, filled: FilledDirectory, sized: Sized): Promise<Cold> {
  const { access, data } = filled;
  const service = await GrantdProcess.start({
    directory: filled.directory,
    searchPath: context.searchPath,
    settings: { GRANTD_PAGE_CACHE_BYTES: String(sized.cacheBytes) },
  });
  const subjects = access.length * data.subjects;
  const zipf = new Zipf(subjects);
  const ranks = zipf.draws(SEED);
  let asked = 0;
  const requestOn = (rank: number): PreparedRequest => {
    const place = (rank * STRIDE) % subjects;
    asked += 1;
    const { tuple, authorized } = data.questionOn(Math.floor(place / access.length), asked);
    const { key = '' } = access[place % access.length] ?? {};
    return { body: JSON.stringify(tuple), expectedStart: `{"authorized":${authorized},`, key };
  };
  return {
    service,
    zipf,
    job: {
      url: service.addresses.base_url,
      key: '',
      path: '/v1/check',
      expectedStatus: 200,
      connections: CONNECTIONS,
    },
    drawn: () => Array.from({ length: sized.checksPerRound }, () => requestOn(ranks.next().value)),
    hot: Array.from({ length: HOT_SUBJECTS * 10 }, (_, number) => requestOn(number % HOT_SUBJECTS)),
  };
}

/** Reads the most popular pages. Resolves to the bytes that one takes, as the cache reckons. */
async function readHot({ client }: BenchContext, { service, job, hot }: Cold): Promise<number> {
  // Before the others, so that what a tenant, a slot and a key take does not count.
  await client.run({ ...job, requests: hot.slice(0, FIRST_SUBJECTS), mode: { kind: 'each-once' } });
  const before = await service.readMetrics();
  await client.run({ ...job, requests: hot, mode: { kind: 'each-once' } });
  const after = await service.readMetrics();
  return (after(CACHE_BYTES) - before(CACHE_BYTES)) / (after(MISSES) - before(MISSES));
}

async function fillCache(context: BenchContext, { service, job, drawn }: Cold): Promise<void> {
  let checks = 0;
  for (let round = 1; round <= WARM_UP_ROUNDS_MAX; round += 1) {
    const { answered } = await context.client.run({ ...job, requests: drawn(), mode: { kind: 'each-once' } });
    checks += answered;
    context.progress(`filling the page cache: ${checks.toLocaleString('en-US')} checks`);
    const isFull = (await service.readMetrics())('grantd_page_cache_evictions_total') > 0;
    if (isFull && round > WARM_UP_ROUNDS_MIN) return;
  }
  throw new Error('All pages fit: the run proves nothing.');
}

interface ColdRound {
  readonly cold: Round;
  readonly hot: Round;
  readonly hitRate: number;
  readonly readsPerSecond: number;
  readonly cacheBytes: number;
}

async function measure(context: BenchContext, parts: Cold, mode: LoadJob['mode']): Promise<readonly ColdRound[]> {
  const { service, job, drawn } = parts;
  const pids = [service.pid];
  const measured: ColdRound[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    const sides: readonly [Side, Side] = [
      { name: 'cold', pids, job: { ...job, requests: drawn() } },
      { name: 'hot', pids, job: { ...job, requests: parts.hot } },
    ];
    const before = (await service.readMetrics())(MISSES);
    const [[cold, hot] = []] = await measureInTurns(context, sides, mode, 1);
    if (cold === undefined || hot === undefined) throw new Error('A round has two sides.');
    const metrics = await service.readMetrics();
    // Each check is one lookup, and the hot ones miss nothing.
    const misses = metrics(MISSES) - before;
    const [hitRate, readsPerSecond] = [1 - misses / cold.answered, misses / cold.seconds];
    measured.push({ cold, hot, hitRate, readsPerSecond, cacheBytes: metrics(CACHE_BYTES) });
  }
  return measured;
}

function figureOf(name: string, unit: string, values: readonly number[]): Figure {
  return { name, unit, value: median(values), rounds: values };
}

function roundFigures(arrivals: string, rounds: readonly ColdRound[]): readonly Figure[] {
  const of = (name: string, unit: string, value: (round: ColdRound) => number): Figure =>
    figureOf(`${name}, ${arrivals}`, unit, rounds.map(value));
  return [
    of('hit rate', '%', ({ hitRate }) => 100 * hitRate),
    of('CPU per check', 'µs', ({ cold }) => cold.cpuMicros),
    of('CPU per check of what is in memory', 'µs', ({ hot }) => hot.cpuMicros),
    of('p50', 'ms', ({ cold }) => cold.latencyMs.p50),
    of('p99', 'ms', ({ cold }) => cold.latencyMs.p99),
    of('p99 of what is in memory', 'ms', ({ hot }) => hot.latencyMs.p99),
    of('pages read from the store', '/s', ({ readsPerSecond }) => readsPerSecond),
    of('checks', '/s', ({ cold }) => cold.answered / cold.seconds),
  ];
}

async function run(context: BenchContext): Promise<readonly Figure[]> {
  const sized = context.quick ? QUICK : FULL;
  const { filling, cacheBytes } = sized;
  const filled = await fillDirectory(context, context.quick ? 'quick-subjects' : 'subjects', filling);
  const cold = await start(context, filled, sized);
  await using parts = new AsyncDisposableStack();
  parts.defer(() => cold.service.stop());
  const fit = Math.floor(cacheBytes / (await readHot(context, cold)));
  await fillCache(context, cold);
  const closed = await measure(context, cold, { kind: 'saturate', durationMs: context.durationMs });
  const throughput = median(closed.map((round) => round.cold.answered / round.cold.seconds));
  const perSecond = Math.floor(OPEN_SHARE * throughput);
  const open = await measure(context, cold, {
    kind: 'rate',
    durationMs: context.durationMs,
    perSecond,
    restMs: REST_MS,
  });
  const bestRate = cold.zipf.shareOf(fit);
  const all = [...closed, ...open];
  return [
    { name: 'subjects', value: filling.tenants * filled.data.subjects, unit: '' },
    { name: 'pages that fit into the page cache, about', value: fit, unit: '' },
    { name: 'hit rate of a cache that always holds the most popular', value: 100 * bestRate, unit: '%' },
    ...roundFigures('closed arrivals', closed),
    ...roundFigures(`${perSecond} arrivals a second`, open),
    {
      name: 'page cache at most, of its bound',
      value: Math.max(...all.map((round) => round.cacheBytes)) / cacheBytes,
      unit: '×',
      target: { kind: 'at most', value: 1 },
    },
    { name: 'resident memory', value: (await readSettledResidentBytes(cold.service.pid)) / MEBIBYTE, unit: 'MiB' },
  ];
}

export const coldScenario: Scenario = {
  name: 'cold',
  summary: 'checks of a million subjects by popularity, ten times what the page cache holds: hit rate, CPU, p99',
  run,
};
