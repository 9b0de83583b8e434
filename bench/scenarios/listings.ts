// Listings in both directions: the objects of a subject against the subjects of an object, a thousand of each, by CPU
// time of the service in turns; an object with a million subjects, listed to its end page by page; and the objects that
// a subject holds under rules, as many as a listing may find, to their end.

import type { Tuple } from '../../src/core/tuples.ts';
import type { Figure } from '../figure.ts';
import type { LoadJob, PreparedRequest } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, type GrantSource, importGrants, type TenantAccess, writeRules } from '../server/operator.ts';
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
/** With their folders and groups just below the objects that a listing may visit. */
const RULED_OBJECTS = 99_000;
const RULED_OBJECTS_QUICK = 19_800;
const RULED_PER_FOLDER = 990;
const RULED_SECONDS_MAX = 5;

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

async function readPage(
  { service, access }: Target,
  path: 'objects' | 'subjects',
  asked: Readonly<Record<string, string>>,
  cursor: string | null,
) {
  const query = new URLSearchParams({ ...asked, relation: 'viewer', limit: String(LIST_LENGTH) });
  if (cursor !== null) query.set('cursor', cursor);
  const startMs = performance.now();
  const response = await fetch(`${service.addresses.base_url}/v1/${path}?${query}`, {
    headers: { Authorization: `Bearer ${access.key}` },
  });
  const text = await response.text();
  const tookMs = performance.now() - startMs;
  if (response.status !== 200) throw new Error(`A listing was answered ${response.status}: ${text.slice(0, 300)}`);
  const page: Readonly<Record<string, readonly string[]>> & { readonly next_cursor: string | null } = JSON.parse(text);
  return { items: page[path] ?? [], next_cursor: page.next_cursor, tookMs };
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
  const readSubjects = (cursor: string | null) => readPage(target, 'subjects', { object: LARGE_OBJECT }, cursor);
  const firstMs: number[] = [];
  for (let round = 0; round < context.rounds; round += 1) firstMs.push((await readSubjects(null)).tookMs);
  const residentBefore = readResidentBytes(target.service.pid);
  context.progress('listing it to its end');
  const pagesMs: number[] = [];
  let residentMax = residentBefore;
  let listed = 0;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof readPage>> = await readSubjects(cursor);
    for (const subject of page.items) {
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

/** Documents in folders, each of which a group of the subject may view. */
async function measureRuled(context: BenchContext, service: GrantdProcess): Promise<readonly Figure[]> {
  const target = { service, access: await createTenant(service.addresses) };
  const objects = context.quick ? RULED_OBJECTS_QUICK : RULED_OBJECTS;
  const folders = objects / RULED_PER_FOLDER;
  const grants: readonly Tuple[] = [
    ...Array.from(
      { length: objects },
      (_, number): Tuple => ({
        subject: `folder:ruled-${Math.floor(number / RULED_PER_FOLDER)}`,
        relation: 'parent',
        object: `document:ruled-${padded(number)}`,
      }),
    ),
    ...Array.from({ length: folders }, (_, folder): readonly Tuple[] => [
      { subject: `group:ruled-${folder}#member`, relation: 'viewer', object: `folder:ruled-${folder}` },
      { subject: 'user:ruled', relation: 'member', object: `group:ruled-${folder}` },
    ]).flat(),
  ];
  context.progress(`importing ${grants.length} grants`);
  await importGrants(service.addresses, target.access, {
    grants: grants.length,
    grant: (number) => grants[number] ?? { subject: 'user:other', relation: 'viewer', object: 'document:other' },
  });
  await writeRules(service.addresses, target.access, {
    rules: [{ namespace: 'document', name: 'viewer', any_of: ['viewer from parent'] }],
    groups: true,
  });
  await service.waitForCheckpoint();
  const asked = { subject: 'user:ruled', namespace: 'document' };
  const seconds: number[] = [];
  const firstMs: number[] = [];
  const nextMs: number[] = [];
  for (let round = 0; round <= context.rounds; round += 1) {
    context.progress(`listing ${objects} objects under rules, round ${round} of ${context.rounds}`);
    // What earlier rounds have left is of no use; the first round loads what the others have in memory.
    await importGrants(service.addresses, target.access, {
      grants: 1,
      grant: () => ({ subject: 'user:ruled', relation: 'member', object: `group:empty-${round}` }),
    });
    const startMs = performance.now();
    let listed = 0;
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(target, 'objects', asked, cursor);
      for (const object of page.items) {
        if (object !== `document:ruled-${padded(listed)}`) throw new Error(`${object} came as number ${listed}.`);
        listed += 1;
      }
      if (round > 0) (cursor === null ? firstMs : nextMs).push(page.tookMs);
      cursor = page.next_cursor;
    } while (cursor !== null);
    if (listed !== objects) throw new Error(`Of ${objects} objects ${listed} were listed.`);
    if (round > 0) seconds.push((performance.now() - startMs) / 1000);
  }
  return [
    { name: 'objects of a subject under rules', value: objects, unit: 'objects' },
    {
      name: 'listing them to their end',
      value: median(seconds),
      unit: 's',
      target: { kind: 'at most', value: RULED_SECONDS_MAX },
      rounds: seconds,
    },
    { name: 'first page of them', value: median(firstMs), unit: 'ms', rounds: firstMs },
    { name: 'a next page of them, median', value: median(nextMs), unit: 'ms' },
  ];
}

export const listingsScenario: Scenario = {
  name: 'listings',
  summary: `who may: ≤ ${RATIO_MAX} × the CPU of what one may; a page of a million subjects in ≤ ${PAGE_MS_MAX} ms`,
  parts: [
    { name: 'grants', summary: 'lists of a thousand in both directions, and an object with a million subjects' },
    { name: 'ruled', summary: 'a hundred thousand objects under rules, to their end' },
  ],
  async run(context) {
    const service = await GrantdProcess.start({
      directory: context.createDirectory(),
      searchPath: context.searchPath,
    });
    const has = (part: string): boolean => context.only.length === 0 || context.only.includes(part);
    try {
      const ruled = has('ruled') ? await measureRuled(context, service) : [];
      if (!has('grants')) return ruled;
      const target = { service, access: await createTenant(service.addresses) };
      context.progress(`importing ${SHORT_LISTS.grants} grants`);
      await importGrants(service.addresses, target.access, SHORT_LISTS);
      await service.waitForCheckpoint();
      return [...(await measureShort(context, target)), ...(await measureLarge(context, target)), ...ruled];
    } finally {
      await service.stop();
    }
  },
};
