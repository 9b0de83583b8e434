// Resident memory with a million cached grants, and whether the page cache stays within its bound when they do not fit.

import type { Figure } from '../figure.ts';
import type { LoadJob } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type LargeDirectory, type Scenario } from '../scenario.ts';
import { delay, GrantdProcess } from '../server/grantd-process.ts';
import { readResidentBytes, readSettledResidentBytes } from '../server/resource-use.ts';

/** With what any load leaves in the heap and in buffers; and what grows with the grants. */
const BYTES_PER_GRANT_MAX = 250;
const GROWTH_PER_GRANT_MAX = 160;
const MEBIBYTE = 1024 ** 2;
const LARGE_CACHE = '2GiB';
/** A million grants do not fit into it. */
const TIGHT_CACHE_BYTES = 16 * MEBIBYTE;
/** For the quick run, which has fewer grants. */
const QUICK_CACHE_BYTES = 4 * MEBIBYTE;
const QUESTIONS_PER_CALL = 100;
const SAMPLE_INTERVAL_MS = 100;

/** One check of every subject. */
function touchJob(large: LargeDirectory, url: string): LoadJob {
  const { data, key } = large;
  const requests = Array.from({ length: data.subjects / QUESTIONS_PER_CALL }, (_, callNumber) => {
    const questions = Array.from({ length: QUESTIONS_PER_CALL }, (__, index) =>
      data.questionAbout(callNumber * QUESTIONS_PER_CALL + index),
    );
    return {
      body: JSON.stringify({ checks: questions.map(({ tuple }) => tuple) }),
      expectedStart: `{"results":${JSON.stringify(questions.map(({ authorized }) => ({ authorized })))},`,
    };
  });
  return {
    url,
    key,
    path: '/v1/check/bulk',
    expectedStatus: 200,
    connections: CONNECTIONS,
    requests,
    mode: { kind: 'each-once' },
  };
}

/** Memory of a service without grants: after a start with many, garbage from reading the log would add to it. */
async function emptyBytes(context: BenchContext): Promise<number> {
  const service = await GrantdProcess.start({ directory: context.createDirectory(), searchPath: context.searchPath });
  return readSettledResidentBytes(service.pid).finally(() => service.stop());
}

interface Measured {
  readonly figures: readonly Figure[];
  /** Resident memory after the same requests, and the bytes of it that the page cache counts. */
  readonly residentBytes: number;
  readonly cacheBytes: number;
}

async function measureCached(context: BenchContext, large: LargeDirectory): Promise<Measured> {
  const empty = await emptyBytes(context);
  const service = await GrantdProcess.start({
    directory: large.directory,
    searchPath: context.searchPath,
    settings: { GRANTD_PAGE_CACHE_BYTES: LARGE_CACHE },
  });
  try {
    const fresh = await readSettledResidentBytes(service.pid);
    const job = touchJob(large, service.addresses.base_url);
    context.progress('reading every page');
    const { seconds } = await context.client.run(job);
    // Served from memory, as over days: the garbage of loading is collected in between.
    await context.client.run({ ...job, mode: { kind: 'saturate', durationMs: context.durationMs } });
    const cached = await readSettledResidentBytes(service.pid);
    const metrics = await service.readMetrics();
    const misses = metrics('grantd_page_lookups_total{result="miss"}');
    if (metrics('grantd_page_cache_evictions_total') > 0) throw new Error('The pages did not stay in memory.');
    const { grants } = large.data;
    const cacheBytes = metrics('grantd_page_cache_bytes');
    const figures: readonly Figure[] = [
      {
        name: 'resident memory per cached grant',
        value: (cached - empty) / grants,
        unit: 'bytes',
        target: { kind: 'at most', value: BYTES_PER_GRANT_MAX },
      },
      {
        name: 'bytes per cached grant, as the page cache reckons',
        value: cacheBytes / grants,
        unit: 'bytes',
      },
      {
        name: 'JavaScript heap of the main thread, reserved',
        value: metrics('nodejs_heap_size_total_bytes') / MEBIBYTE,
        unit: 'MiB',
      },
      {
        name: 'JavaScript heap of the main thread, in use',
        value: metrics('nodejs_heap_size_used_bytes') / MEBIBYTE,
        unit: 'MiB',
      },
      { name: 'resident memory, no grants', value: empty / MEBIBYTE, unit: 'MiB' },
      { name: 'resident memory, fresh start with all grants', value: fresh / MEBIBYTE, unit: 'MiB' },
      { name: 'resident memory, all cached', value: cached / MEBIBYTE, unit: 'MiB' },
      { name: 'pages read from the store', value: misses / seconds, unit: '/s' },
    ];
    return { figures, residentBytes: cached, cacheBytes };
  } finally {
    await service.stop();
  }
}

async function measureBound(context: BenchContext, large: LargeDirectory): Promise<Measured> {
  const bound = context.quick ? QUICK_CACHE_BYTES : TIGHT_CACHE_BYTES;
  const service = await GrantdProcess.start({
    directory: large.directory,
    searchPath: context.searchPath,
    settings: { GRANTD_PAGE_CACHE_BYTES: String(bound) },
  });
  try {
    const fresh = await readSettledResidentBytes(service.pid);
    const job = touchJob(large, service.addresses.base_url);
    let cacheBytesMax = 0;
    let residentMax = 0;
    let touching = true;
    const watch = async (): Promise<void> => {
      while (touching) {
        cacheBytesMax = Math.max(cacheBytesMax, (await service.readMetrics())('grantd_page_cache_bytes'));
        residentMax = Math.max(residentMax, readResidentBytes(service.pid));
        await delay(SAMPLE_INTERVAL_MS);
      }
    };
    const watching = watch();
    context.progress('reading more pages than fit');
    await context.client.run(job);
    await context.client.run(job).finally(() => {
      touching = false;
    });
    await watching;
    const residentBytes = await readSettledResidentBytes(service.pid);
    const metrics = await service.readMetrics();
    if (metrics('grantd_page_cache_evictions_total') === 0) throw new Error('All pages fit: the run proves nothing.');
    const figures: readonly Figure[] = [
      {
        name: 'page cache at most, of its bound',
        value: cacheBytesMax / bound,
        unit: '×',
        target: { kind: 'at most', value: 1 },
      },
      {
        name: 'growth of resident memory at most, with that bound',
        value: (residentMax - fresh) / MEBIBYTE,
        unit: 'MiB',
      },
      { name: 'pages evicted', value: metrics('grantd_page_cache_evictions_total'), unit: 'pages' },
    ];
    return { figures, residentBytes, cacheBytes: metrics('grantd_page_cache_bytes') };
  } finally {
    await service.stop();
  }
}

export const memoryScenario: Scenario = {
  name: 'memory',
  summary: `a million grants: ≤ ${GROWTH_PER_GRANT_MAX} bytes resident for a further cached grant; the page cache stays within its bound`,
  async run(context) {
    const large = await context.readLargeDirectory();
    const cached = await measureCached(context, large);
    const bounded = await measureBound(context, large);
    const growth = (cached.residentBytes - bounded.residentBytes) / (cached.cacheBytes - bounded.cacheBytes);
    return [
      { name: 'grants', value: large.data.grants, unit: 'grants' },
      { name: 'import', value: large.data.grants / large.importSeconds, unit: '/s' },
      ...cached.figures,
      ...bounded.figures,
      {
        name: 'growth of resident memory per further cached grant',
        value: (growth * cached.cacheBytes) / large.data.grants,
        unit: 'bytes',
        target: { kind: 'at most', value: GROWTH_PER_GRANT_MAX },
      },
      { name: 'growth of resident memory, of the bytes that the page cache reckons', value: growth, unit: '×' },
    ];
  },
};
