// One tenant over many shards: what a check that a reader answers costs its owner and all processes together, compared
// with the same check answered by the owner; what waits longer; and how the readers share the pages. Processor time is
// that of the checks: what the processes take without any, for heartbeats and the like, is measured first and left out.

import { rankShards, SLOTS_DEFAULT, slotOfTenant } from '../../src/core/slots.ts';
import { DataSet } from '../data-set.ts';
import type { Figure } from '../figure.ts';
import { LoadClient } from '../load/load-client.ts';
import type { LoadJob, LoadResult } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, GRANTS, type Scenario } from '../scenario.ts';
import { GrantdCluster, type Member } from '../server/grantd-cluster.ts';
import { delay } from '../server/grantd-process.ts';
import { importGrants, setReaders, type TenantAccess } from '../server/operator.ts';
import { median } from '../statistics.ts';
import {
  type CheckJob,
  checkJob,
  createTenantsEvenly,
  figureOf,
  paced,
  questionsOf,
  startCassandraFor,
  sumCpuSeconds,
  warmUp,
} from './cluster-load.ts';
import { measureSharedPages } from './reader-pages.ts';
import { measureQuestions } from './reader-questions.ts';

const READERS = 3;
const OWNER_SHARE_MAX = 0.15;
const CPU_RATIO_MAX = 1.2;
const P50_RATIO_MAX = 1.2;
const WRITE_RATIO_MAX = 1.1;
const GRANTS_QUICK = 10_000;
const PER_SECOND = 1000;
/** Two processors bear it without a queue. */
const PER_SECOND_QUIET = 300;
/** With more checks in flight, more of them share a message. */
const MANY_CONNECTIONS = 4 * CONNECTIONS;
/** Of new grants, beside some checks, so that the readers keep up with the owner. */
const WRITES_PER_SECOND = 50;
const CHECKS_BESIDE_PER_SECOND = 20;
const IDLE_MS = 6000;

interface Tenant {
  readonly access: TenantAccess;
  readonly job: CheckJob;
}

interface Round extends LoadResult {
  readonly frontMicros: number;
  readonly ownerMicros: number;
  readonly othersMicros: number;
  readonly fromReaders: number;
  /** Checks for which the front asked the owner once. */
  readonly perQuestion: number;
}

interface Pair {
  readonly without: Round;
  readonly through: Round;
}

class Sides {
  readonly #context: BenchContext;
  readonly cluster: GrantdCluster;
  readonly #owner: Member;
  readonly without: Tenant;
  readonly through: Tenant;
  /** Processor seconds of a second without load. */
  #idle = { front: 0, owner: 0, others: 0 };

  constructor(
    context: BenchContext,
    of: { readonly cluster: GrantdCluster; readonly owner: Member; readonly without: Tenant; readonly through: Tenant },
  ) {
    this.#context = context;
    this.cluster = of.cluster;
    this.#owner = of.owner;
    this.without = of.without;
    this.through = of.through;
  }

  #read() {
    const { fronts, shards } = this.cluster;
    const others = shards.filter(({ name }) => name !== this.#owner.name);
    return { front: sumCpuSeconds(fronts), owner: sumCpuSeconds([this.#owner]), others: sumCpuSeconds(others) };
  }

  async measureIdle(): Promise<void> {
    this.#context.progress('without load');
    const before = this.#read();
    await delay(IDLE_MS);
    const after = this.#read();
    const perSecond = (role: keyof typeof before): number => (after[role] - before[role]) / (IDLE_MS / 1000);
    this.#idle = { front: perSecond('front'), owner: perSecond('owner'), others: perSecond('others') };
  }

  get idleOfOwner(): number {
    return this.#idle.owner;
  }

  async #readQuestions(): Promise<{ readonly questions: number; readonly calls: number }> {
    const { fronts } = this.cluster;
    const [questions = 0] = await this.cluster.readMetrics('grantd_read_index_calls_count', fronts);
    const [calls = 0] = await this.cluster.readMetrics('grantd_read_index_calls_sum', fronts);
    return { questions, calls };
  }

  async measure(job: CheckJob, mode: LoadJob['mode']): Promise<Round> {
    const lookups = async (): Promise<readonly number[]> => this.cluster.readMetrics('grantd_page_lookups_total');
    const owned = this.cluster.shards.findIndex(({ name }) => name === this.#owner.name);
    const asked = await this.#readQuestions();
    const [lookedUp, before] = [await lookups(), this.#read()];
    const result = await this.#context.client.run({ ...job, mode });
    const [after, lookedUpAfter] = [this.#read(), await lookups()];
    const askedAfter = await this.#readQuestions();
    const micros = (role: keyof typeof before): number =>
      ((after[role] - before[role] - this.#idle[role] * result.seconds) * 1e6) / result.answered;
    const looked = lookedUpAfter.map((value, index) => value - (lookedUp[index] ?? 0));
    const all = looked.reduce((sum, value) => sum + value, 0);
    return {
      ...result,
      frontMicros: micros('front'),
      ownerMicros: micros('owner'),
      othersMicros: micros('others'),
      fromReaders: 1 - (looked[owned] ?? 0) / all,
      perQuestion: (askedAfter.calls - asked.calls) / (askedAfter.questions - asked.questions),
    };
  }

  async inTurns(mode: LoadJob['mode'], what: string, connections = CONNECTIONS): Promise<readonly Pair[]> {
    const pairs: Pair[] = [];
    for (let round = 1; round <= this.#context.rounds; round += 1) {
      this.#context.progress(`${what}, round ${round} of ${this.#context.rounds}`);
      const without = await this.measure({ ...this.without.job, connections }, mode);
      pairs.push({ without, through: await this.measure({ ...this.through.job, connections }, mode) });
    }
    return pairs;
  }
}

async function start(context: BenchContext, cluster: GrantdCluster): Promise<Sides> {
  const tenants = await createTenantsEvenly(cluster, 2);
  const [first, second] = tenants;
  if (first === undefined || second === undefined) throw new Error('There are no tenants.');
  const data = new DataSet(context.quick ? GRANTS_QUICK : GRANTS);
  for (const access of [first, second]) {
    context.progress(`importing ${data.grants} grants of one tenant`);
    await importGrants(cluster.addresses, access, data);
  }
  await setReaders(cluster.addresses, second, READERS);
  await cluster.waitForCheckpoint();
  const tenant = (access: TenantAccess): Tenant => ({
    access,
    job: checkJob(cluster, questionsOf(data, data.subjects, access.key)),
  });
  const [ownerName] = rankShards(
    cluster.shards.map(({ name }) => name),
    slotOfTenant(first.tenantId, SLOTS_DEFAULT),
  );
  const owner = cluster.shards.find(({ name }) => name === ownerName);
  if (owner === undefined) throw new Error('The owner is not known.');
  return new Sides(context, { cluster, owner, without: tenant(first), through: tenant(second) });
}

const total = ({ frontMicros, ownerMicros, othersMicros }: Round): number => frontMicros + ownerMicros + othersMicros;

const ratio = (name: string, pairs: readonly Pair[], of: (round: Round) => number, atMost?: number): Figure => ({
  name: `${name}, through ${READERS} readers ÷ without`,
  unit: '×',
  value: median(pairs.map(({ through }) => of(through))) / median(pairs.map(({ without }) => of(without))),
  rounds: pairs.map(({ without, through }) => of(through) / of(without)),
  ...(atMost === undefined ? {} : { target: { kind: 'at most', value: atMost } }),
});

const both = (name: string, unit: string, pairs: readonly Pair[], of: (round: Round) => number): readonly Figure[] => [
  figureOf(`${name}, without`, unit, pairs, ({ without }) => of(without)),
  figureOf(`${name}, through readers`, unit, pairs, ({ through }) => of(through)),
];

const parts = (pairs: readonly Pair[], what: string): readonly Figure[] => [
  ...both(`CPU per check, front, ${what}`, 'µs', pairs, ({ frontMicros }) => frontMicros),
  ...both(`CPU per check, owner, ${what}`, 'µs', pairs, ({ ownerMicros }) => ownerMicros),
  ...both(`CPU per check, other shards, ${what}`, 'µs', pairs, ({ othersMicros }) => othersMicros),
  figureOf(`checks for which the front asks once, ${what}`, '', pairs, ({ through }) => through.perQuestion),
  figureOf(`checks that readers answered, ${what}`, '%', pairs, ({ through }) => 100 * through.fromReaders),
];

/** New grants of the one tenant and of the other, in turns, beside checks of the same tenant. */
async function measureWrites(context: BenchContext, sides: Sides): Promise<readonly Figure[]> {
  const { durationMs } = context;
  const beside = new LoadClient();
  const data = new DataSet(context.quick ? GRANTS_QUICK : GRANTS);
  let written = 0;
  const measure = async ({ access, job }: Tenant): Promise<Round> => {
    const count = Math.ceil((WRITES_PER_SECOND * durationMs) / 1000);
    const requests = Array.from({ length: count }, () => {
      written += 1;
      return { body: JSON.stringify(data.newGrant(written)), expectedStart: '{"grant_id":"grt_' };
    });
    const writes = { ...job, key: access.key, path: '/v1/grants', expectedStatus: 201, requests };
    const checks = beside.run({ ...job, mode: paced({ perSecond: CHECKS_BESIDE_PER_SECOND, durationMs }) });
    const [round] = await Promise.all([
      sides.measure(writes, paced({ perSecond: WRITES_PER_SECOND, durationMs: durationMs - 1 })),
      checks,
    ]);
    return round;
  };
  try {
    const pairs: Pair[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      context.progress(`new grants, round ${round} of ${context.rounds}`);
      pairs.push({ without: await measure(sides.without), through: await measure(sides.through) });
    }
    return [
      ratio('p50 of a new grant', pairs, ({ latencyMs }) => latencyMs.p50, WRITE_RATIO_MAX),
      ratio('the owner’s CPU per new grant', pairs, ({ ownerMicros }) => ownerMicros),
      ...both('p50 of a new grant', 'ms', pairs, ({ latencyMs }) => latencyMs.p50),
      ...both('p99 of a new grant', 'ms', pairs, ({ latencyMs }) => latencyMs.p99),
    ];
  } finally {
    beside.close();
  }
}

async function measureCosts(context: BenchContext, sides: Sides): Promise<readonly Figure[]> {
  const { durationMs } = context;
  // Every page is in memory before anything counts.
  for (const { job } of [sides.without, sides.through]) await sides.measure(job, { kind: 'each-once' });
  for (let turn = 0; turn < 2; turn += 1) {
    for (const { job } of [sides.without, sides.through]) {
      await warmUp(context, sides.cluster, job);
    }
  }
  await sides.measureIdle();
  const saturated = await sides.inTurns({ kind: 'saturate', durationMs }, 'saturated');
  const many = `${MANY_CONNECTIONS} connections`;
  const crowded = await sides.inTurns({ kind: 'saturate', durationMs }, many, MANY_CONNECTIONS);
  const atQuiet = `at ${PER_SECOND_QUIET}/s`;
  const quiet = await sides.inTurns(paced({ perSecond: PER_SECOND_QUIET, durationMs }), atQuiet);
  const at = `at ${PER_SECOND}/s`;
  const rated = await sides.inTurns(paced({ perSecond: PER_SECOND, durationMs }), at);
  const owner = ({ ownerMicros }: Round): number => ownerMicros;
  const p50 = ({ latencyMs }: Round): number => latencyMs.p50;
  return [
    ratio(`the owner’s CPU per check, ${CONNECTIONS} connections`, saturated, owner, OWNER_SHARE_MAX),
    ratio(`CPU per check of all processes, ${CONNECTIONS} connections`, saturated, total, CPU_RATIO_MAX),
    ratio(`p50, ${atQuiet}`, quiet, p50, P50_RATIO_MAX),
    ...parts(saturated, 'saturated'),
    ...both('checks, saturated', '/s', saturated, ({ answered, seconds }) => answered / seconds),
    ...both('p99, saturated', 'ms', saturated, ({ latencyMs }) => latencyMs.p99),
    ratio(`the owner’s CPU per check, ${many}`, crowded, owner),
    ratio(`CPU per check of all processes, ${many}`, crowded, total),
    ...parts(crowded, many),
    ratio(`the owner’s CPU per check, ${at}`, rated, owner),
    ratio(`CPU per check of all processes, ${at}`, rated, total),
    ...parts(rated, at),
    { name: 'processor time of the owner without load', unit: '%', value: 100 * sides.idleOfOwner },
    ...both(`p50, ${at}`, 'ms', rated, p50),
    ...both(`p99, ${at}`, 'ms', rated, ({ latencyMs }) => latencyMs.p99),
    ratio(`p50, ${at}`, rated, p50),
    ...both(`p50, ${atQuiet}`, 'ms', quiet, p50),
  ];
}

const PARTS = {
  costs: 'CPU and latency of checks and writes',
  questions: 'what a question of a front costs the owner',
  pages: 'hit rate of a tenant that has more grants than one page cache holds',
};

async function run(context: BenchContext): Promise<readonly Figure[]> {
  await using started = new AsyncDisposableStack();
  const directory = context.createDirectory();
  const cassandra = await startCassandraFor(context, 1);
  started.defer(() => cassandra.stop());
  const isWanted = (part: keyof typeof PARTS): boolean => context.only.length === 0 || context.only.includes(part);
  const figures: Figure[] = [];
  if (isWanted('costs')) {
    context.progress(`starting ${READERS + 1} shards + 1 front`);
    const cluster = await GrantdCluster.start({
      cassandra,
      directory,
      keyspace: 'costs',
      shards: READERS + 1,
      fronts: 1,
    });
    started.defer(() => cluster.stop());
    const sides = await start(context, cluster);
    figures.push(...(await measureCosts(context, sides)), ...(await measureWrites(context, sides)));
    await cluster.stop();
  }
  if (isWanted('questions')) figures.push(...(await measureQuestions(context, cassandra, directory)));
  if (isWanted('pages')) figures.push(...(await measureSharedPages(context, cassandra, directory)));
  return figures;
}

export const readersScenario: Scenario = {
  name: 'readers',
  summary: `one tenant with ${READERS} readers: the owner’s CPU per check ≤ ${OWNER_SHARE_MAX} × that without, of all processes ≤ ${CPU_RATIO_MAX} ×`,
  parts: Object.entries(PARTS).map(([name, summary]) => ({ name, summary })),
  run,
};
