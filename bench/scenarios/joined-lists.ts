// Lists joined with one's own data: what the sets of a subject cost the service, how far a mirror in Postgres is behind
// under writes, and how long the newest 50 documents that somebody may read take in a table of ten million.

import { join as joinPath } from 'node:path';
import pg from 'pg';
import { pairsOf } from '../../packages/sync/src/mirror.ts';
import { PostgresDatabase } from '../../packages/sync/src/postgres-database.ts';
import { SqlMirror } from '../../packages/sync/src/sql-mirror.ts';
import type { Tuple } from '../../src/core/tuples.ts';
import type { Join } from '../../src/rules/join.ts';
import { missingPostgres, PostgresServer } from '../../tools/engines/postgres.ts';
import type { Figure } from '../figure.ts';
import type { LoadJob } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, MissingEngine, type Scenario } from '../scenario.ts';
import { BackgroundProcess } from '../server/background-process.ts';
import { delay, GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, importGrants, type TenantAccess, writeRules } from '../server/operator.ts';
import { readCpuSeconds } from '../server/resource-use.ts';
import { median, percentile } from '../statistics.ts';

const MAIN = joinPath(import.meta.dirname, '..', '..', 'src', 'main.ts');
const JOIN = { namespace: 'document', name: 'can_read' } as const;
const RULES = {
  rules: ['folder', 'document'].map((namespace) => ({
    namespace,
    name: JOIN.name,
    any_of: ['viewer', `${JOIN.name} from parent`],
  })),
  groups: true,
  public: ['user'],
};
const SCHEMA = 'grantd';

const GROUPS = 100;
const FOLDERS = 100;
/** Their answers fit what a tenant may keep. */
const SUBJECTS = 200;
const SETS_MICROSECONDS_MAX = 100;
const WRITES_PER_SECOND = 1000;
const BEHIND_MS_MAX = 100;
const SAMPLE_MS = 50;
const DOCUMENTS = 10_000_000;
const DOCUMENTS_QUICK = 200_000;
const DOCUMENTS_PER_FOLDER = 10;
const READERS = 100_000;
const PAGE_MS_MAX = 20;
const QUERIES = 100;
const SHOWN = 50;
/** As the filters of the clients ask. */
const OBJECTS_MAX = 10_000;

const ascending = (values: readonly number[]): readonly number[] => values.toSorted((left, right) => left - right);

// ---- the sets of a subject ----

const setsOf = (subject: string): string => JSON.stringify({ subject, join: JOIN });

const MEMBERS = {
  grants: SUBJECTS * (GROUPS + FOLDERS),
  grant(number: number): Tuple {
    const subject = `user:${Math.floor(number / (GROUPS + FOLDERS))}`;
    const index = number % (GROUPS + FOLDERS);
    return index < GROUPS
      ? { subject, relation: 'member', object: `team:${index}` }
      : { subject, relation: 'viewer', object: `folder:${index}-${subject.slice(5)}` };
  },
};
/** Groups and folders are sets because grants name them. */
const NAMED = {
  grants: GROUPS + SUBJECTS * FOLDERS,
  grant: (number: number): Tuple =>
    number < GROUPS
      ? { subject: `team:${number}#member`, relation: 'viewer', object: `document:of-${number}` }
      : {
          subject: `folder:${GROUPS + ((number - GROUPS) % FOLDERS)}-${Math.floor((number - GROUPS) / FOLDERS)}`,
          relation: 'parent',
          object: `document:in-${number}`,
        },
};

interface Target {
  readonly context: BenchContext;
  readonly service: GrantdProcess;
  readonly access: TenantAccess;
}

const jobOf = ({ service, access }: Target, job: Pick<LoadJob, 'path' | 'requests' | 'mode'>): LoadJob => ({
  url: service.addresses.base_url,
  key: access.key,
  expectedStatus: 200,
  connections: CONNECTIONS,
  ...job,
});

async function measureSets(target: Target): Promise<readonly Figure[]> {
  const { context, service, access } = target;
  const subjects = Array.from({ length: SUBJECTS }, (_, number) => `user:${number}`);
  const measure = async (path: string, bodies: readonly string[], expectedStart: string): Promise<number> => {
    const before = readCpuSeconds(service.pid);
    const requests = bodies.map((body) => ({ body, expectedStart }));
    const { answered } = await context.client.run(jobOf(target, { path, requests, mode: { kind: 'each-once' } }));
    return ((readCpuSeconds(service.pid) - before) * 1e6) / answered;
  };
  const sets = (): Promise<number> => measure('/v1/sets', subjects.map(setsOf), '{"subjects":["user:');
  const checks = (): Promise<number> =>
    measure(
      '/v1/check',
      subjects.map((subject) =>
        JSON.stringify({ subject, relation: 'viewer', object: `folder:100-${subject.slice(5)}` }),
      ),
      '{"authorized":true',
    );
  await sets();
  const rounds: { readonly fresh: number; readonly kept: number; readonly check: number }[] = [];
  for (let round = 1; round <= 4 * context.rounds; round += 1) {
    context.progress(`sets of ${SUBJECTS} subjects, round ${round} of ${4 * context.rounds}`);
    await importGrants(service.addresses, access, {
      grants: 1,
      grant: () => ({ subject: 'user:other', relation: 'viewer', object: `document:round-${round}` }),
    });
    rounds.push({ fresh: await sets(), kept: await sets(), check: await checks() });
  }
  const fresh = rounds.map((round) => round.fresh - round.check);
  const kept = rounds.map((round) => round.kept - round.check);
  return [
    {
      name: `CPU of the sets of a subject in ${GROUPS} groups and ${FOLDERS} folders, more than that of a check`,
      value: median(fresh),
      unit: 'µs',
      target: { kind: 'at most', value: SETS_MICROSECONDS_MAX },
      rounds: fresh,
    },
    {
      name: 'CPU of them while nothing is committed, more than that of a check',
      value: median(kept),
      unit: 'µs',
      rounds: kept,
    },
    { name: 'CPU of a check of them', value: median(rounds.map(({ check }) => check)), unit: 'µs' },
  ];
}

// ---- the mirror behind the service ----

async function measureLag(target: Target, server: PostgresServer): Promise<readonly Figure[]> {
  const { context, service, access } = target;
  const logFile = joinPath(context.createDirectory(), 'sync.log');
  const sync = new BackgroundProcess({
    name: 'grantd sync',
    command: [
      process.execPath,
      MAIN,
      'sync',
      'postgres',
      '--join',
      `${JOIN.namespace}.${JOIN.name}`,
      '--url',
      server.url,
    ],
    environment: { GRANTD_URL: service.addresses.base_url, GRANTD_KEY: access.key },
    logFile,
  });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    const ask = async () => {
      const response = await fetch(`${service.addresses.base_url}/v1/sets`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${access.key}`, 'Content-Type': 'application/json' },
        body: setsOf('user:0'),
      });
      return (await response.json()) as { at: { seq: number }; through: number; tenant_id: string; revision: string };
    };
    const waitFor = ({ at, through, tenant_id: tenant, revision }: Awaited<ReturnType<typeof ask>>) =>
      client.query(`SELECT ${SCHEMA}.ready($1, $2, $3, 60000)`, [through, at.seq, `${tenant}:${revision}`]);
    await sync.waitUntil(
      () =>
        client.query(`SELECT FROM ${SCHEMA}.place WHERE seq IS NOT NULL`).then(
          ({ rowCount }) => rowCount === 1,
          () => false,
        ),
      300,
    );
    const durationMs = 4 * context.durationMs;
    const requests = Array.from({ length: (WRITES_PER_SECOND * durationMs) / 1000 + 1000 }, (_, number) => ({
      body: JSON.stringify({ subject: `user:${number % 1000}`, relation: 'viewer', object: `document:new-${number}` }),
      expectedStart: '{"grant_id":',
    }));
    context.progress(`the mirror beside ${WRITES_PER_SECOND} writes a second`);
    const mode = { kind: 'rate', durationMs, perSecond: WRITES_PER_SECOND, restMs: 0.25 } as const;
    const load = context.client.run({ ...jobOf(target, { path: '/v1/grants', requests, mode }), expectedStatus: 201 });
    const [waits, endMs]: [number[], number] = [[], performance.now() + durationMs];
    while (performance.now() < endMs) {
      const sets = await ask();
      const startMs = performance.now();
      await waitFor(sets);
      waits.push(performance.now() - startMs);
      await delay(SAMPLE_MS);
    }
    await load;
    return [0.5, 0.99].map((fraction) => ({
      name: `the mirror behind at ${WRITES_PER_SECOND} writes a second, p${100 * fraction}`,
      value: percentile(ascending(waits), fraction),
      unit: 'ms',
      ...(fraction === 0.99 && { target: { kind: 'at most', value: BEHIND_MS_MAX } as const }),
    }));
  } finally {
    await client.end();
    await sync.stop();
  }
}

// ---- the newest documents ----

interface Reader {
  readonly name: string;
  /** On which folders somebody holds the name. */
  readonly held: (folders: number) => readonly number[];
  readonly hasTarget: boolean;
}

const READER_KINDS: readonly Reader[] = [
  { name: '10 documents', held: () => [], hasTarget: true },
  // Each of a hundredth of all folders of its level, with ten below it, and so on.
  {
    name: '10,000 documents',
    held: (folders) => Array.from({ length: 9 }, (_, index) => Math.floor(folders / 1000) + index),
    hasTarget: true,
  },
  { name: 'nearly all documents', held: () => [0], hasTarget: true },
  { name: 'a ninth of all documents', held: () => [1], hasTarget: false },
];

/** As the service would give them; `held` as `folder:…#can_read`. */
const parametersOf = (reader: number, held: readonly number[]): readonly unknown[] => [
  [`user:${reader}`, 'user:*', ...Array.from({ length: GROUPS }, (_, index) => `team:${index}#member`)],
  held.map((folder) => `folder:${folder}#${JOIN.name}`),
  [],
  `user:${reader}`,
  'self',
  ...[1, Date.now(), 1, 'r1'],
];
const ID = `${JOIN.namespace}.${JOIN.name}`;
/** `suffix`: of its name. */
const functionOf = (suffix = ''): string => `${SCHEMA}."${ID}${suffix}"`;
const ARGUMENTS = '$1::text[], $2::text[], $3::text[], $4, $5, $6, $7, $8, $9';
const NEWEST = (where: string): string =>
  `SELECT d.id FROM documents AS d WHERE d.title LIKE '%plan%' AND ${where} ORDER BY d.updated_at DESC LIMIT ${SHOWN}`;

/** The rows of folders and documents, as a mirror would have them, and the table of an application. */
async function fill(client: pg.Client, documents: number): Promise<void> {
  const folders = documents / DOCUMENTS_PER_FOLDER;
  const rows = (select: string): Promise<unknown> =>
    client.query(
      `INSERT INTO ${SCHEMA}.grants_next (object, relation, subject, since, until, conditional, kind)
       SELECT object, relation, subject, 0, ${Number.MAX_SAFE_INTEGER}, false, 0 FROM (${select}) AS g(object, relation, subject)`,
    );
  await rows(`SELECT 'folder:' || i, 'parent', 'folder:' || i / 10 FROM generate_series(1, ${folders - 1}) AS i`);
  await rows(
    `SELECT 'document:' || i, 'parent', 'folder:' || (i * 7919::bigint) % ${folders} FROM generate_series(1, ${documents}) AS i`,
  );
  await rows(
    `SELECT 'document:' || (i * 9::bigint) % ${documents}, 'viewer', 'user:' || i % ${READERS} FROM generate_series(1, ${documents / 10}) AS i`,
  );
  await client.query(`CREATE TABLE documents (id bigint PRIMARY KEY, title text NOT NULL, updated_at timestamptz NOT NULL);
    INSERT INTO documents SELECT i, 'doc ' || md5(i::text) || CASE WHEN i % 2 = 0 THEN ' plan' ELSE '' END,
      now() - ((i * 104729::bigint) % ${documents}) * interval '1 second' FROM generate_series(1, ${documents}) AS i;
    CREATE INDEX ON documents (updated_at DESC)`);
  await client.query('VACUUM ANALYZE documents');
}

/** Which documents: the ids of few, or a condition on each. Resolves to how many are shown. */
async function showNewest(client: pg.Client, parameters: readonly unknown[]): Promise<number> {
  const { rows } = await client.query(
    `SELECT object FROM ${functionOf(':objects')}(${ARGUMENTS}, ${OBJECTS_MAX}) WHERE sure IS NOT FALSE OR object IS NULL`,
    [...parameters],
  );
  if (rows.length === 1 && rows[0].object === null) {
    const where = `${functionOf()}('document:' || d.id, ${ARGUMENTS}) IS TRUE`;
    return (await client.query(NEWEST(where), [...parameters])).rows.length;
  }
  const ids = rows.map(({ object }) => object.slice('document:'.length));
  return (await client.query(NEWEST('d.id = ANY ($1::bigint[])'), [ids])).rows.length;
}

async function readJoin({ service, access }: Target): Promise<Join> {
  const query = new URLSearchParams(JOIN);
  const headers = { Authorization: `Bearer ${access.key}` };
  return JSON.parse(await (await fetch(`${service.addresses.base_url}/v1/join?${query}`, { headers })).text());
}

async function measureNewest(target: Target, server: PostgresServer): Promise<readonly Figure[]> {
  const { context } = target;
  const documents = context.quick ? DOCUMENTS_QUICK : DOCUMENTS;
  const joins = { revision: 'r1', joins: [{ id: ID, join: await readJoin(target) }] };
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  const database = await PostgresDatabase.open(server.url, SCHEMA);
  try {
    const mirror = new SqlMirror(database);
    await mirror.open();
    await mirror.begin('grants_next');
    context.progress(`filling Postgres with ${documents.toLocaleString('en')} documents`);
    await fill(client, documents);
    await mirror.swap(joins, { seq: 1, cursor: '', horizon: 0, pairs: pairsOf(joins) });
    await client.query(`VACUUM ANALYZE ${SCHEMA}.grants`);
    const figures: Figure[] = [];
    for (const { name, held, hasTarget } of READER_KINDS) {
      context.progress(`the newest ${SHOWN} of somebody who sees ${name}`);
      const times: number[] = [];
      for (let number = 0; number < 2 * QUERIES; number += 1) {
        const parameters = parametersOf((number * 7919) % READERS, held(documents / DOCUMENTS_PER_FOLDER));
        const startMs = performance.now();
        await showNewest(client, parameters);
        // The first half fills the caches.
        if (number >= QUERIES) times.push(performance.now() - startMs);
      }
      figures.push({
        name: `newest ${SHOWN} of ${documents.toLocaleString('en')}, for one who sees ${name}, p95`,
        value: percentile(ascending(times), 0.95),
        unit: 'ms',
        ...(hasTarget && { target: { kind: 'at most', value: PAGE_MS_MAX } as const }),
      });
    }
    return figures;
  } finally {
    await database.close();
    await client.end();
  }
}

export const joinedListsScenario: Scenario = {
  name: 'joined-lists',
  summary: `sets in ≤ ${SETS_MICROSECONDS_MAX} µs; a mirror ≤ ${BEHIND_MS_MAX} ms behind; the newest ${SHOWN} of ten million in ≤ ${PAGE_MS_MAX} ms`,
  parts: [
    { name: 'sets', summary: 'the sets of a subject' },
    { name: 'mirror', summary: 'how far a mirror is behind' },
    { name: 'newest', summary: 'a page of a large table' },
  ],
  async run(context) {
    const isAsked = (part: string): boolean => context.only.length === 0 || context.only.includes(part);
    const figures: Figure[] = [];
    const service = await GrantdProcess.start({ directory: context.createDirectory(), searchPath: context.searchPath });
    try {
      const access = await createTenant(service.addresses);
      const target = { context, service, access };
      await writeRules(service.addresses, access, RULES);
      if (isAsked('newest')) figures.push(...(await withPostgres((server) => measureNewest(target, server))));
      if (!isAsked('sets') && !isAsked('mirror')) return figures;
      context.progress(`importing ${MEMBERS.grants + NAMED.grants} grants`);
      for (const each of [MEMBERS, NAMED]) await importGrants(service.addresses, access, each);
      await service.waitForCheckpoint();
      if (isAsked('sets')) figures.push(...(await measureSets(target)));
      if (isAsked('mirror')) figures.push(...(await withPostgres((server) => measureLag(target, server))));
    } finally {
      await service.stop();
    }
    return figures;
  },
};

async function withPostgres<Result>(run: (server: PostgresServer) => Promise<Result>): Promise<Result> {
  const missing = await missingPostgres('the mirror in Postgres');
  if (missing !== undefined) throw new MissingEngine(missing);
  const server = await PostgresServer.start({ shared_buffers: '1GB' });
  try {
    return await run(server);
  } finally {
    await server.stop();
  }
}
