// CPU time of a single check with very many grants in very many tenants, compared with few in few, while the same
// number of subjects is checked and cached: other data must not make a check more expensive. Measured twice: with
// nothing else in memory, as after a start; and with a full page cache, as after days. Each tenant has its own key.

import type { Figure } from '../figure.ts';
import type { LoadJob, PreparedRequest } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { GrantdProcess } from '../server/grantd-process.ts';
import { readSettledResidentBytes } from '../server/resource-use.ts';
import { median } from '../statistics.ts';
import { type FilledDirectory, type Filling, fillDirectory, readDiskBytes } from './filled-directory.ts';
import { measureInTurns, type Round, type Side } from './turns.ts';

const RATIO_MAX = 1.4;
const MEBIBYTE = 1024 ** 2;
const FEW: Filling = { tenants: 10, grantsPerTenant: 10_000 };
const MANY: Filling = { tenants: 10_000, grantsPerTenant: 1000 };
const MANY_QUICK: Filling = { tenants: 1000, grantsPerTenant: 1000 };
/** All subjects of the few tenants. */
const HOT_SUBJECTS = 10_000;
const QUESTIONS_PER_SUBJECT = 5;
/** Coprime to the number of hot subjects: consecutive questions are about distant tenants and subjects. */
const STRIDE = 7919;
const CHECKS_PER_CALL = 100;
/** Tenants whose subjects are all read between two looks at the cache. */
const TENANTS_PER_FILLING = 250;
/** Until the code of both is fully compiled, and the first uses of all keys are written. */
const WARM_UP_MS = 10_000;

interface Loaded extends FilledDirectory {
  readonly name: string;
  readonly service: GrantdProcess;
  /** Single checks of the hot subjects. */
  readonly job: Omit<LoadJob, 'mode'>;
}

/** The hot subjects are spread evenly over all tenants, and each tenant's requests use its own key. */
function hotRequests({ access, data }: FilledDirectory): readonly PreparedRequest[] {
  return Array.from({ length: HOT_SUBJECTS * QUESTIONS_PER_SUBJECT }, (_, number) => {
    const hot = (number * STRIDE) % HOT_SUBJECTS;
    const tenant = hot % access.length;
    const subject = (Math.floor(hot / access.length) + tenant) % data.subjects;
    // Each round asks about another of a subject's grants, or of those that it does not have.
    const { tuple, authorized } = data.questionOn(subject, number + Math.floor(number / HOT_SUBJECTS));
    return {
      body: JSON.stringify(tuple),
      expectedStart: `{"authorized":${authorized},`,
      key: access[tenant]?.key ?? '',
    };
  });
}

async function start(context: BenchContext, filled: FilledDirectory): Promise<Loaded> {
  const service = await GrantdProcess.start({ directory: filled.directory, searchPath: context.searchPath });
  const name = `${filled.access.length.toLocaleString('en-US')} tenants`;
  const requests = hotRequests(filled);
  const common = { key: '', path: '/v1/check', expectedStatus: 200, connections: CONNECTIONS };
  return { ...filled, name, service, job: { ...common, url: service.addresses.base_url, requests } };
}

/** A question about every subject of every tenant, until pages are evicted or all are in memory. */
async function fillPageCache({ client }: BenchContext, { access, data, job, service }: Loaded): Promise<void> {
  const bodies = Array.from({ length: data.subjects / CHECKS_PER_CALL }, (_, callNumber) => {
    const questions = Array.from({ length: CHECKS_PER_CALL }, (__, index) =>
      data.questionAbout(callNumber * CHECKS_PER_CALL + index),
    );
    return {
      body: JSON.stringify({ checks: questions.map(({ tuple }) => tuple) }),
      expectedStart: `{"results":${JSON.stringify(questions.map(({ authorized }) => ({ authorized })))},`,
    };
  });
  for (let first = 0; first < access.length; first += TENANTS_PER_FILLING) {
    const some = access.slice(first, first + TENANTS_PER_FILLING);
    const requests = some.flatMap(({ key }) => bodies.map((body) => ({ ...body, key })));
    await client.run({ ...job, path: '/v1/check/bulk', requests, mode: { kind: 'each-once' } });
    if ((await service.readMetrics())('grantd_page_cache_evictions_total') > 0) return;
  }
}

/** No measured request may have read from the store. */
async function assertHitsOnly(sides: readonly Loaded[], run: () => Promise<void>): Promise<void> {
  const readMisses = (): Promise<readonly number[]> =>
    Promise.all(
      sides.map(async ({ service }) => (await service.readMetrics())('grantd_page_lookups_total{result="miss"}')),
    );
  const before = await readMisses();
  await run();
  const after = await readMisses();
  for (const [index, { name }] of sides.entries()) {
    const misses = (after[index] ?? 0) - (before[index] ?? 0);
    if (misses > 0) throw new Error(`With ${name}, ${misses} pages were read from the store.`);
  }
}

async function compare(context: BenchContext, sides: readonly [Loaded, Loaded], state: string) {
  const both: readonly [Side, Side] = [
    { ...sides[0], pids: [sides[0].service.pid] },
    { ...sides[1], pids: [sides[1].service.pid] },
  ];
  for (const { job } of sides) await context.client.run({ ...job, mode: { kind: 'each-once' } });
  await measureInTurns(context, both, { kind: 'saturate', durationMs: WARM_UP_MS }, 1);
  let rounds: readonly (readonly [Round, Round])[] = [];
  await assertHitsOnly(sides, async () => {
    rounds = await measureInTurns(context, both, { kind: 'saturate', durationMs: context.durationMs }, context.rounds);
  });
  const figuresOf = (name: string, unit: string, of: (round: Round) => number): readonly Figure[] =>
    sides.map((side, index) => {
      const values = rounds.map((round) => of(round[index === 0 ? 0 : 1]));
      return { name: `${name}, ${side.name}, ${state}`, unit, value: median(values), rounds: values };
    });
  const cpu = figuresOf('CPU per check', 'µs', ({ cpuMicros }) => cpuMicros);
  const ratio: Figure = {
    name: `CPU per check, ${sides[0].name} ÷ ${sides[1].name}, ${state}`,
    value: (cpu[0]?.value ?? Number.NaN) / (cpu[1]?.value ?? Number.NaN),
    unit: '×',
    target: { kind: 'at most', value: RATIO_MAX },
    rounds: rounds.map(([many, few]) => many.cpuMicros / few.cpuMicros),
  };
  return [
    ratio,
    ...cpu,
    ...figuresOf('p99', 'ms', ({ latencyMs }) => latencyMs.p99),
    ...figuresOf('checks', '/s', ({ answered, seconds }) => answered / seconds),
  ];
}

async function sizeFigures(sides: readonly Loaded[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { name, service, access, data, directory } of sides) {
    const resident = await readSettledResidentBytes(service.pid);
    const cached = (await service.readMetrics())('grantd_page_cache_bytes');
    // The last writes are in the file of the write-ahead log until the service ends.
    await service.stop();
    const disk = readDiskBytes(directory);
    figures.push(
      { name: `resident memory, ${name}`, value: resident / MEBIBYTE, unit: 'MiB' },
      { name: `page cache, ${name}`, value: cached / MEBIBYTE, unit: 'MiB' },
      { name: `data directory, ${name}`, value: disk / MEBIBYTE, unit: 'MiB' },
      { name: `bytes on disk per grant, ${name}`, value: disk / (access.length * data.grants), unit: 'bytes' },
    );
  }
  return figures;
}

export const tenantsScenario: Scenario = {
  name: 'tenants',
  summary: `10,000,000 grants in 10,000 tenants compared with 100,000 in 10, hot set in memory: CPU per check ≤ ${RATIO_MAX} ×`,
  async run(context) {
    const filling = context.quick ? MANY_QUICK : MANY;
    const fewFilled = await fillDirectory(context, 'few-tenants', FEW);
    const manyFilled = await fillDirectory(context, context.quick ? 'quick-tenants' : 'many-tenants', filling);
    const { fillSeconds } = manyFilled;
    await using services = new AsyncDisposableStack();
    const startSide = async (filled: FilledDirectory): Promise<Loaded> => {
      const loaded = await start(context, filled);
      services.defer(() => loaded.service.stop());
      return loaded;
    };
    const sides = [await startSide(manyFilled), await startSide(fewFilled)] as const;
    const grants = filling.tenants * filling.grantsPerTenant;
    const alone = await compare(context, sides, 'hot set alone in memory');
    context.progress('filling the page caches');
    for (const side of sides) await fillPageCache(context, side);
    const full = await compare(context, sides, 'page cache filled');
    return [
      { name: 'grants in the many tenants', value: grants, unit: 'grants' },
      ...(fillSeconds === undefined
        ? []
        : [{ name: 'their import, the making of the tenants included', value: grants / fillSeconds, unit: '/s' }]),
      ...alone,
      ...full,
      ...(await sizeFigures(sides)),
    ];
  },
};
