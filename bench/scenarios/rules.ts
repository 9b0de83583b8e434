// What rules cost: checks that follow from a role, from groups and folders, and from a deep nest, against a check of a
// tenant without rules, by CPU time of the service in turns; a listing of what is held through groups and folders; and
// checks of a tenant that is written to every second, against those of the same tenant at rest.

import type { Tuple } from '../../src/core/tuples.ts';
import type { Figure } from '../figure.ts';
import type { LoadJob, PreparedRequest } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, importGrants, type TenantAccess, writeRules } from '../server/operator.ts';
import { readCpuSeconds } from '../server/resource-use.ts';
import { median } from '../statistics.ts';

/** Of each kind of question. */
const QUESTIONS = 500;
const GROUPS_OF_SUBJECT = 10;
const GROUPS_ON_FOLDER = 5;
const ANCESTORS = 3;
const DEPTH = 7;
const LISTED = 1000;
const LISTED_PER_FOLDER = 100;
const WARM_UP_MS = 4000;
/** Of a tenant that is written to: most are asked once between two writes. */
const WRITTEN_DOCUMENTS = 6000;
const WRITTEN_USERS = 500;
const WRITTEN_FOLDERS = 300;
const WRITE_EVERY_MS = 1000;
const WRITTEN_RATIO_MAX = 1.1;

const follows = (name: string, implied: readonly string[]) =>
  ['folder', 'document'].map((namespace) => ({
    namespace,
    name,
    any_of: [...implied, `${name} from parent`],
  }));

const RULES = {
  rules: [...follows('owner', []), ...follows('editor', ['owner']), ...follows('viewer', ['editor'])],
  groups: true,
};

interface Kind {
  readonly name: string;
  readonly ruled: boolean;
  readonly ratioMax: number | undefined;
  readonly grants: (question: number) => readonly Tuple[];
  readonly asked: (question: number) => Tuple;
}

/** A document, and folders above each other. */
const nest = (kind: string, number: number, depth: number): readonly Tuple[] =>
  Array.from({ length: depth }, (_, level) => ({
    subject: `folder:${kind}-${number}-${level + 1}`,
    relation: 'parent',
    object: level === 0 ? `document:${kind}-${number}` : `folder:${kind}-${number}-${level}`,
  }));

const viewerOf = (kind: string, number: number): Tuple => ({
  subject: `user:${kind}-${number}`,
  relation: 'viewer',
  object: `document:${kind}-${number}`,
});

const KINDS: readonly Kind[] = [
  {
    name: 'a grant, without rules',
    ruled: false,
    ratioMax: undefined,
    grants: (number) => [viewerOf('flat', number)],
    asked: (number) => viewerOf('flat', number),
  },
  {
    name: 'a grant, with rules',
    ruled: true,
    ratioMax: undefined,
    grants: (number) => [viewerOf('flat', number)],
    asked: (number) => viewerOf('flat', number),
  },
  {
    name: 'an implied role',
    ruled: true,
    ratioMax: 1.15,
    grants: (number) => [{ ...viewerOf('role', number), relation: 'editor' }],
    asked: (number) => viewerOf('role', number),
  },
  {
    name: `${GROUPS_OF_SUBJECT} groups of the subject × ${ANCESTORS} ancestors`,
    ruled: true,
    ratioMax: 2,
    grants: (number) => [
      ...nest('group', number, ANCESTORS),
      ...Array.from(
        { length: GROUPS_OF_SUBJECT },
        (_, group): Tuple => ({
          subject: `user:group-${number}`,
          relation: 'member',
          object: `group:of-${(number + group) % QUESTIONS}`,
        }),
      ),
      ...Array.from({ length: ANCESTORS * GROUPS_ON_FOLDER }, (_, index): Tuple => {
        const level = 1 + (index % ANCESTORS);
        // Of all these groups, the subject is in one, on the last ancestor.
        const last = index === ANCESTORS * GROUPS_ON_FOLDER - 1;
        return {
          subject: last ? `group:of-${number}#member` : `group:other-${(number + index) % QUESTIONS}#member`,
          relation: 'viewer',
          object: `folder:group-${number}-${level}`,
        };
      }),
    ],
    asked: (number) => viewerOf('group', number),
  },
  {
    name: `depth ${DEPTH} with three names from parent`,
    ruled: true,
    ratioMax: 3,
    grants: (number) => [
      ...nest('deep', number, DEPTH),
      { subject: `user:deep-${number}`, relation: 'owner', object: `folder:deep-${number}-${DEPTH}` },
    ],
    asked: (number) => viewerOf('deep', number),
  },
];

const LISTING_GRANTS: readonly Tuple[] = Array.from({ length: LISTED }, (_, number): readonly Tuple[] => {
  const folder = `folder:list-${Math.floor(number / LISTED_PER_FOLDER)}`;
  return [{ subject: folder, relation: 'parent', object: `document:list-${String(number).padStart(5, '0')}` }];
}).flat();
const LISTING_FOLDERS: readonly Tuple[] = Array.from({ length: LISTED / LISTED_PER_FOLDER }, (_, folder) => ({
  subject: `group:list-${folder}#member`,
  relation: 'viewer',
  object: `folder:list-${folder}`,
}));
const LISTING_MEMBER: readonly Tuple[] = Array.from({ length: LISTED / LISTED_PER_FOLDER }, (_, folder) => ({
  subject: 'user:list',
  relation: 'member',
  object: `group:list-${folder}`,
}));

// ---- a tenant that is written to ----

/** Documents in folders with three ancestors, which groups may view; each user is in ten groups. */
const WRITTEN_GRANTS: readonly Tuple[] = [
  ...Array.from(
    { length: WRITTEN_DOCUMENTS },
    (_, number): Tuple => ({
      subject: `folder:written-${number % WRITTEN_FOLDERS}-1`,
      relation: 'parent',
      object: `document:written-${number}`,
    }),
  ),
  ...Array.from({ length: WRITTEN_FOLDERS }, (_, folder): readonly Tuple[] => [
    ...Array.from(
      { length: ANCESTORS - 1 },
      (_, level): Tuple => ({
        subject: `folder:written-${folder}-${level + 2}`,
        relation: 'parent',
        object: `folder:written-${folder}-${level + 1}`,
      }),
    ),
    ...Array.from(
      { length: ANCESTORS * GROUPS_ON_FOLDER },
      (_, index): Tuple => ({
        subject: `group:written-${(folder + index) % WRITTEN_USERS}#member`,
        relation: 'viewer',
        object: `folder:written-${folder}-${1 + (index % ANCESTORS)}`,
      }),
    ),
  ]).flat(),
  ...Array.from(
    { length: WRITTEN_USERS * GROUPS_OF_SUBJECT },
    (_, index): Tuple => ({
      subject: `user:written-${index % WRITTEN_USERS}`,
      relation: 'member',
      object: `group:written-${(index % WRITTEN_USERS) + Math.floor(index / WRITTEN_USERS)}`,
    }),
  ),
];

/** One in two is allowed. */
const writtenQuestion = (number: number): Tuple => ({
  subject: `user:written-${number % 2 === 0 ? number % WRITTEN_FOLDERS : (number + 7) % WRITTEN_USERS}`,
  relation: 'viewer',
  object: `document:written-${number}`,
});

/** Each shares a new document with a user, or takes one in, in turns. */
const newGrant = (number: number): Tuple =>
  number % 2 === 0
    ? { subject: `user:written-${number % WRITTEN_USERS}`, relation: 'viewer', object: `document:new-${number}` }
    : { subject: `user:new-${number}`, relation: 'member', object: `group:written-${number % WRITTEN_USERS}` };

async function measureWritten(context: BenchContext, service: GrantdProcess): Promise<readonly Figure[]> {
  const access = await createTenant(service.addresses);
  context.progress(`importing ${WRITTEN_GRANTS.length} grants`);
  await importGrants(service.addresses, access, {
    grants: WRITTEN_GRANTS.length,
    grant: (number) => WRITTEN_GRANTS[number] ?? newGrant(number),
  });
  await writeRules(service.addresses, access, RULES);
  await service.waitForCheckpoint();
  const job = (durationMs: number): LoadJob => ({
    url: service.addresses.base_url,
    key: access.key,
    path: '/v1/check',
    expectedStatus: 200,
    connections: CONNECTIONS,
    requests: Array.from({ length: WRITTEN_DOCUMENTS }, (_, number) => ({
      body: JSON.stringify(writtenQuestion(number)),
      expectedStart: '{"authorized":',
    })),
    mode: { kind: 'saturate', durationMs },
  });
  let written = 0;
  const measureCpu = async (isWritten: boolean): Promise<number> => {
    const writes: Promise<unknown>[] = [];
    const write = (): void => {
      const number = written;
      written += 1;
      writes.push(importGrants(service.addresses, access, { grants: 1, grant: () => newGrant(number) }));
    };
    const timer = isWritten ? setInterval(write, WRITE_EVERY_MS) : undefined;
    const before = readCpuSeconds(service.pid);
    const { answered } = await context.client.run(job(context.durationMs));
    const cpu = ((readCpuSeconds(service.pid) - before) * 1e6) / answered;
    clearInterval(timer);
    await Promise.all(writes);
    return cpu;
  };
  await context.client.run(job(2 * WARM_UP_MS));
  const rounds: { readonly calm: number; readonly busy: number }[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`beside writes, round ${round} of ${context.rounds}`);
    rounds.push({ calm: await measureCpu(false), busy: await measureCpu(true) });
  }
  const ratios = rounds.map(({ calm, busy }) => busy / calm);
  return [
    {
      name: 'CPU per check by groups and folders, no write',
      value: median(rounds.map(({ calm }) => calm)),
      unit: 'µs',
    },
    {
      name: 'the same beside a write a second ÷ no write',
      value: median(ratios),
      unit: '×',
      target: { kind: 'at most', value: WRITTEN_RATIO_MAX },
      rounds: ratios,
    },
  ];
}

const unique = (tuples: readonly Tuple[]): readonly Tuple[] => [
  ...new Map(tuples.map((tuple) => [`${tuple.subject} ${tuple.relation} ${tuple.object}`, tuple])).values(),
];

async function fill(service: GrantdProcess, access: TenantAccess, ruled: boolean): Promise<void> {
  const questions = Array.from({ length: QUESTIONS }, (_, number) => number);
  const asked = KINDS.filter((kind) => kind.ruled === ruled).flatMap(({ grants }) => questions.flatMap(grants));
  const listing = ruled ? [...LISTING_GRANTS, ...LISTING_FOLDERS, ...LISTING_MEMBER] : [];
  const tuples = unique([...asked, ...listing]);
  const grant = (number: number): Tuple => {
    const tuple = tuples[number];
    if (tuple === undefined) throw new Error(`There is no grant number ${number}.`);
    return tuple;
  };
  await importGrants(service.addresses, access, { grants: tuples.length, grant });
  if (ruled) await writeRules(service.addresses, access, RULES);
}

async function measure(
  context: BenchContext,
  service: GrantdProcess,
  accessOf: (ruled: boolean) => TenantAccess,
): Promise<readonly Figure[]> {
  const jobOf = ({ asked, ruled }: Kind, durationMs: number): LoadJob => ({
    url: service.addresses.base_url,
    key: accessOf(ruled).key,
    path: '/v1/check',
    expectedStatus: 200,
    connections: CONNECTIONS,
    requests: Array.from(
      { length: QUESTIONS },
      (_, number): PreparedRequest => ({
        body: JSON.stringify(asked(number)),
        expectedStart: '{"authorized":true,',
      }),
    ),
    mode: { kind: 'saturate', durationMs },
  });
  const listJob: LoadJob = {
    ...jobOf({ ...KINDS[0], ruled: true } as Kind, context.durationMs),
    method: 'GET',
    path: '',
    requests: [
      {
        body: '',
        path: `/v1/objects?subject=user:list&relation=viewer&namespace=document&limit=${LISTED}`,
        expectedStart: '{"objects":["document:list-00000","document:list-00001",',
      },
    ],
  };
  const cpuOf = async (job: LoadJob): Promise<number> => {
    const before = readCpuSeconds(service.pid);
    const { answered } = await context.client.run(job);
    return ((readCpuSeconds(service.pid) - before) * 1e6) / answered;
  };
  for (const kind of KINDS) await context.client.run(jobOf(kind, WARM_UP_MS));
  await context.client.run(listJob);
  const rounds: number[][] = [];
  const listings: number[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`round ${round} of ${context.rounds}`);
    const cpu: number[] = [];
    for (const kind of KINDS) cpu.push(await cpuOf(jobOf(kind, context.durationMs)));
    rounds.push(cpu);
    listings.push(await cpuOf(listJob));
  }
  const valuesOf = (index: number): readonly number[] => rounds.map((cpu) => cpu[index] ?? Number.NaN);
  return [
    ...KINDS.map(({ name }, index) => ({
      name: `CPU per check: ${name}`,
      value: median(valuesOf(index)),
      unit: 'µs',
      rounds: valuesOf(index),
    })),
    ...KINDS.slice(1).map(({ name, ratioMax }, index): Figure => {
      const ratios = rounds.map((cpu) => (cpu[index + 1] ?? Number.NaN) / (cpu[0] ?? Number.NaN));
      const target = ratioMax === undefined ? {} : { target: { kind: 'at most', value: ratioMax } as const };
      return { name: `CPU: ${name} ÷ without rules`, value: median(ratios), unit: '×', rounds: ratios, ...target };
    }),
    { name: `CPU of a list of ${LISTED} objects held through groups and folders`, value: median(listings), unit: 'µs' },
  ];
}

async function measureKinds(context: BenchContext, service: GrantdProcess): Promise<readonly Figure[]> {
  const flat = await createTenant(service.addresses);
  const ruled = await createTenant(service.addresses);
  context.progress('importing the grants');
  await fill(service, flat, false);
  await fill(service, ruled, true);
  await service.waitForCheckpoint();
  return measure(context, service, (withRules) => (withRules ? ruled : flat));
}

export const rulesScenario: Scenario = {
  name: 'rules',
  summary: 'checks under rules: ≤ 1.15 × a check without rules for a role, ≤ 2 × for groups and folders',
  parts: [
    { name: 'kinds', summary: 'roles, groups and folders, a nest, against a check without rules; a listing' },
    { name: 'written', summary: 'checks of a tenant that is written to every second' },
  ],
  async run(context) {
    const service = await GrantdProcess.start({
      directory: context.createDirectory(),
      searchPath: context.searchPath,
    });
    const has = (part: string): boolean => context.only.length === 0 || context.only.includes(part);
    try {
      return [
        ...(has('kinds') ? await measureKinds(context, service) : []),
        ...(has('written') ? await measureWritten(context, service) : []),
      ];
    } finally {
      await service.stop();
    }
  },
};
