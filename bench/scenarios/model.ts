// What gates and conditions cost: checks through "all_of", "but_not" and a condition, never asked before and from
// memory, against a union of the same names or the same grant without its condition, by CPU time of the service in
// turns; and listings of 1,000 of 10,000 candidates behind a gate.

import type { BuiltInRelation, Tuple } from '../../src/core/tuples.ts';
import type { Figure } from '../figure.ts';
import type { LoadJob, PreparedRequest } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, importGrants, type TenantAccess, writeRules, writeToEach } from '../server/operator.ts';
import { readCpuSeconds } from '../server/resource-use.ts';
import { median } from '../statistics.ts';

/** More than one measurement asks: what was answered once is answered from a cache until the next commit. */
const QUESTIONS = 30_000;
const MEASURED_MS_MAX = 2000;
const CANDIDATES = 10_000;
const LISTED = 1000;

const RULES = {
  conditions: [
    {
      name: 'at_work',
      parameters: { hour: 'int', zone: 'string', home: 'string' },
      expression: 'hour >= 9 && hour < 17 && zone == home',
    },
  ],
  rules: [
    { namespace: 'doc', name: 'either', any_of: ['viewer', 'editor'] },
    { namespace: 'doc', name: 'both', any_of: [{ all_of: ['viewer', 'editor'] }] },
    { namespace: 'doc', name: 'allowed', any_of: [{ any_of: ['viewer'], but_not: ['guest'] }] },
  ],
};

type Asked = BuiltInRelation | 'either' | 'both' | 'allowed';

interface Kind {
  readonly name: string;
  readonly relation: Asked;
  /** Compared with this one. */
  readonly baseline?: string;
  readonly ratioMax?: number;
  readonly conditional?: boolean;
}

const KINDS: readonly Kind[] = [
  { name: 'a union of two', relation: 'either' },
  { name: 'all_of two', relation: 'both', baseline: 'a union of two', ratioMax: 1.5 },
  { name: 'but_not', relation: 'allowed', baseline: 'a union of two', ratioMax: 1.5 },
  { name: 'a grant', relation: 'commenter' },
  {
    name: 'a condition with three values',
    relation: 'manager',
    baseline: 'a grant',
    ratioMax: 1.75,
    conditional: true,
  },
];

const CONTEXT = { hour: 10, zone: 'CET', home: 'CET' };
const condition = { name: 'at_work' };

const grantOf = (number: number, relation: Asked) => ({
  subject: `user:${number % 1000}`,
  relation,
  object: `doc:${number}`,
});

function* grants(): Generator<object> {
  for (let number = 0; number < QUESTIONS; number += 1) {
    for (const relation of ['viewer', 'editor', 'commenter'] as const) yield grantOf(number, relation);
    yield { ...grantOf(number, 'manager'), condition };
  }
  for (let number = 0; number < CANDIDATES; number += 1) {
    const object = `list:${String(number).padStart(5, '0')}`;
    yield { subject: 'user:list', relation: 'viewer', object };
    if (number % (CANDIDATES / LISTED) === 0) yield { subject: 'user:list', relation: 'editor', object };
  }
}

async function fill(service: GrantdProcess, access: TenantAccess): Promise<void> {
  const listRules = ['either', 'both'].map((name) => ({
    namespace: 'list',
    name,
    any_of: RULES.rules.find((rule) => rule.name === name)?.any_of,
  }));
  await writeRules(service.addresses, access, { ...RULES, rules: [...RULES.rules, ...listRules] });
  const all = [...grants()];
  const grant = (number: number): Tuple => {
    const found = all[number];
    if (found === undefined) throw new Error(`There is no grant number ${number}.`);
    return found as Tuple;
  };
  await importGrants(service.addresses, access, { grants: all.length, grant });
  await service.waitForCheckpoint();
}

function jobOf(service: GrantdProcess, access: TenantAccess, kind: Kind, durationMs: number): LoadJob {
  const brought = kind.conditional === true ? { context: CONTEXT } : {};
  return {
    url: service.addresses.base_url,
    key: access.key,
    path: '/v1/check',
    expectedStatus: 200,
    connections: CONNECTIONS,
    requests: Array.from(
      { length: QUESTIONS },
      (_, number): PreparedRequest => ({
        body: JSON.stringify({ ...grantOf(number, kind.relation), ...brought }),
        expectedStart: '{"authorized":true,',
      }),
    ),
    mode: { kind: 'saturate', durationMs },
  };
}

const listJobOf = (
  service: GrantdProcess,
  access: TenantAccess,
  relation: 'either' | 'both',
  durationMs: number,
): LoadJob => ({
  ...jobOf(service, access, { name: relation, relation }, durationMs),
  method: 'GET',
  path: '',
  requests: [
    {
      body: '',
      path: `/v1/objects?subject=user:list&relation=${relation}&namespace=list&limit=${LISTED}`,
      expectedStart: '{"objects":["list:00000","list:0',
    },
  ],
  connections: 1,
});

async function measure(
  context: BenchContext,
  service: GrantdProcess,
  access: TenantAccess,
): Promise<readonly Figure[]> {
  const durationMs = Math.min(context.durationMs, MEASURED_MS_MAX);
  const cpuOf = async (job: LoadJob): Promise<number> => {
    // A commit: nothing is answered from the cache.
    await writeToEach(service.addresses, [access]);
    const before = readCpuSeconds(service.pid);
    const { answered } = await context.client.run(job);
    return ((readCpuSeconds(service.pid) - before) * 1e6) / answered;
  };
  for (const kind of KINDS) await context.client.run(jobOf(service, access, kind, MEASURED_MS_MAX));
  const rounds: Map<string, number>[] = [];
  const listings: number[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`round ${round} of ${context.rounds}`);
    const cpu = new Map<string, number>();
    for (const kind of KINDS) cpu.set(kind.name, await cpuOf(jobOf(service, access, kind, durationMs)));
    rounds.push(cpu);
    // One listing takes longer than it lasts in the cache of its page.
    listings.push(await cpuOf(listJobOf(service, access, 'both', 1)));
  }
  const valuesOf = (name: string): number[] => rounds.map((cpu) => cpu.get(name) ?? Number.NaN);
  return [
    ...KINDS.map(
      ({ name }): Figure => ({
        name: `CPU per check never asked: ${name}`,
        value: median(valuesOf(name)),
        unit: 'µs',
        rounds: valuesOf(name),
      }),
    ),
    ...KINDS.flatMap(({ name, baseline, ratioMax }): Figure[] => {
      if (baseline === undefined || ratioMax === undefined) return [];
      const ratios = valuesOf(name).map((value, round) => value / (valuesOf(baseline)[round] ?? Number.NaN));
      const target = { kind: 'at most', value: ratioMax } as const;
      return [{ name: `CPU: ${name} ÷ ${baseline}`, value: median(ratios), unit: '×', rounds: ratios, target }];
    }),
    {
      name: `CPU of a list of ${LISTED} of ${CANDIDATES} candidates behind a gate`,
      value: median(listings),
      unit: 'µs',
      rounds: listings,
    },
  ];
}

export const modelScenario: Scenario = {
  name: 'model',
  summary: 'checks through gates: ≤ 1.5 × a union of the same names; through a condition: ≤ 1.75 × the grant without',
  async run(context) {
    const service = await GrantdProcess.start({
      directory: context.createDirectory(),
      searchPath: context.searchPath,
    });
    try {
      const access = await createTenant(service.addresses);
      context.progress('importing the grants');
      await fill(service, access);
      return await measure(context, service, access);
    } finally {
      await service.stop();
    }
  },
};
