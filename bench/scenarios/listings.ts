// Listings in both directions: the objects of a subject against the subjects of an object, a thousand of each, by CPU
// time of the service in turns; and an object with a million subjects, listed to its end page by page.

import type { Tuple } from '../../src/core/tuples.ts';
import type { Figure } from '../figure.ts';
import type { LoadJob, PreparedRequest } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, type GrantSource, importGrants, type TenantAccess } from '../server/operator.ts';
import { readCpuSeconds, readResidentBytes } from '../server/resource-use.ts';
import { median, percentile } from '../statistics.ts';

const RATIO_MAX = 1.2;
const LIST_LENGTH = 1000;
/** Subjects, and as many objects, of that many grants each. */
const LISTS = 50;
/** Of each list before it is measured: so often a page of that length is asked for until it is whole in memory. */
const LISTINGS_BEFORE = 50;
const SUBJECTS_OF_LARGE = 1_000_000;
const SUBJECTS_OF_LARGE_QUICK = 100_000;
const PAGE_MS_MAX = 30;
const MEBIBYTE = 1024 ** 2;
const LARGE_OBJECT = 'document:all-hands';

const padded = (number: number): string => String(number).padStart(7, '0');
const subjectOf = (list: number): string => `user:list-${padded(list)}`;
const objectOf = (list: number): string => `document:list-${padded(list)}`;

/** First the grants of each subject, then those on each object. */
const SHORT_LISTS: GrantSource = {
  grants: 2 * LISTS * LIST_LENGTH,
  grant(number): Tuple {
    const list = Math.floor(number / LIST_LENGTH) % LISTS;
    const index = padded(number % LIST_LENGTH);
    return number < LISTS * LIST_LENGTH
      ? { subject: subjectOf(list), relation: 'viewer', object: `document:item-${index}` }
      : { subject: `user:item-${index}`, relation: 'viewer', object: objectOf(list) };
  },
};

interface Target {
  readonly service: GrantdProcess;
  readonly access: TenantAccess;
}

function listJob(context: BenchContext, { service, access }: Target, requests: readonly PreparedRequest[]): LoadJob {
  return {
    url: service.addresses.base_url,
    key: access.key,
    method: 'GET',
    path: '',
    expectedStatus: 200,
    connections: CONNECTIONS,
    requests,
    mode: { kind: 'saturate', durationMs: context.durationMs },
  };
}

const requestsOf = (pathOf: (list: number) => string, expectedStart: string): readonly PreparedRequest[] =>
  Array.from({ length: LISTS }, (_, list) => ({ body: '', path: pathOf(list), expectedStart }));

const OBJECTS = requestsOf(
  (list) => `/v1/objects?subject=${subjectOf(list)}&relation=viewer&limit=${LIST_LENGTH}`,
  `{"objects":["document:item-${padded(0)}",`,
);
const SUBJECTS = requestsOf(
  (list) => `/v1/subjects?object=${objectOf(list)}&relation=viewer&limit=${LIST_LENGTH}`,
  `{"subjects":["user:item-${padded(0)}",`,
);

async function measureShort(context: BenchContext, target: Target): Promise<readonly Figure[]> {
  const { pid } = target.service;
  const measure = async (requests: readonly PreparedRequest[]): Promise<number> => {
    const before = readCpuSeconds(pid);
    const { answered } = await context.client.run(listJob(context, target, requests));
    return ((readCpuSeconds(pid) - before) * 1e6) / answered;
  };
  for (const requests of [OBJECTS, SUBJECTS]) {
    const often = Array<readonly PreparedRequest[]>(LISTINGS_BEFORE).fill(requests).flat();
    await context.client.run({ ...listJob(context, target, often), mode: { kind: 'each-once' } });
  }
  const rounds: { readonly objects: number; readonly subjects: number }[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`lists of ${LIST_LENGTH}, round ${round} of ${context.rounds}`);
    rounds.push({ objects: await measure(OBJECTS), subjects: await measure(SUBJECTS) });
  }
  const ratios = rounds.map(({ objects, subjects }) => subjects / objects);
  return [
    {
      name: `CPU of ${LIST_LENGTH} subjects ÷ of ${LIST_LENGTH} objects`,
      value: median(ratios),
      unit: '×',
      target: { kind: 'at most', value: RATIO_MAX },
      rounds: ratios,
    },
    {
      name: `CPU of a list of ${LIST_LENGTH} objects`,
      value: median(rounds.map(({ objects }) => objects)),
      unit: 'µs',
    },
    {
      name: `CPU of a list of ${LIST_LENGTH} subjects`,
      value: median(rounds.map(({ subjects }) => subjects)),
      unit: 'µs',
    },
  ];
}

async function readPage({ service, access }: Target, cursor: string | null) {
  const query = new URLSearchParams({ object: LARGE_OBJECT, relation: 'viewer', limit: String(LIST_LENGTH) });
  if (cursor !== null) query.set('cursor', cursor);
  const startMs = performance.now();
  const response = await fetch(`${service.addresses.base_url}/v1/subjects?${query}`, {
    headers: { Authorization: `Bearer ${access.key}` },
  });
  const text = await response.text();
  const tookMs = performance.now() - startMs;
  if (response.status !== 200) throw new Error(`A listing was answered ${response.status}: ${text.slice(0, 300)}`);
  const page: { readonly subjects: readonly string[]; readonly next_cursor: string | null } = JSON.parse(text);
  return { ...page, tookMs };
}

/** Lists to the end; each subject has to come once, in ascending order. */
async function measureLarge(context: BenchContext, target: Target): Promise<readonly Figure[]> {
  const subjects = context.quick ? SUBJECTS_OF_LARGE_QUICK : SUBJECTS_OF_LARGE;
  const large: GrantSource = {
    grants: subjects,
    grant: (number) => ({ subject: `user:everyone-${padded(number)}`, relation: 'viewer', object: LARGE_OBJECT }),
  };
  context.progress(`importing ${subjects} subjects of one object`);
  const seconds = await importGrants(target.service.addresses, target.access, large);
  await target.service.waitForCheckpoint();
  const firstMs: number[] = [];
  for (let round = 0; round < context.rounds; round += 1) firstMs.push((await readPage(target, null)).tookMs);
  const residentBefore = readResidentBytes(target.service.pid);
  context.progress('listing it to its end');
  const pagesMs: number[] = [];
  let residentMax = residentBefore;
  let listed = 0;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(target, cursor);
    for (const subject of page.subjects) {
      if (subject !== large.grant(listed).subject) throw new Error(`${subject} came as subject number ${listed}.`);
      listed += 1;
    }
    pagesMs.push(page.tookMs);
    residentMax = Math.max(residentMax, readResidentBytes(target.service.pid));
    cursor = page.next_cursor;
  } while (cursor !== null);
  if (listed !== subjects) throw new Error(`Of ${subjects} subjects ${listed} were listed.`);
  const third = Math.floor(pagesMs.length / 3);
  const middleMs = pagesMs.slice(third, 2 * third);
  const cacheBytes = (await target.service.readMetrics())('grantd_page_cache_limit_bytes');
  const within = { kind: 'at most', value: PAGE_MS_MAX } as const;
  return [
    { name: 'subjects of one object', value: subjects, unit: 'subjects' },
    { name: 'importing them', value: seconds, unit: 's' },
    { name: 'first page of it', value: median(firstMs), unit: 'ms', target: within, rounds: firstMs },
    { name: 'page in the middle third, median', value: median(middleMs), unit: 'ms', target: within },
    { name: 'page in the middle third, p99', value: percentile(Float64Array.from(middleMs).sort(), 0.99), unit: 'ms' },
    {
      name: 'growth of resident memory while it was listed',
      value: (residentMax - residentBefore) / MEBIBYTE,
      unit: 'MiB',
      target: { kind: 'at most', value: cacheBytes / MEBIBYTE },
    },
  ];
}

export const listingsScenario: Scenario = {
  name: 'listings',
  summary: `who may: ≤ ${RATIO_MAX} × the CPU of what one may; a page of a million subjects in ≤ ${PAGE_MS_MAX} ms`,
  async run(context) {
    const service = await GrantdProcess.start({
      directory: context.createDirectory(),
      searchPath: context.searchPath,
    });
    try {
      const target = { service, access: await createTenant(service.addresses) };
      context.progress(`importing ${SHORT_LISTS.grants} grants`);
      await importGrants(service.addresses, target.access, SHORT_LISTS);
      await service.waitForCheckpoint();
      return [...(await measureShort(context, target)), ...(await measureLarge(context, target))];
    } finally {
      await service.stop();
    }
  },
};
