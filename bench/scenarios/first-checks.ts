// The first check of each of many subjects, a seventh of which has grants, over Cassandra: what follows a failover or
// an update, when a shard's memory knows nothing. A round restarts the shard, asks about each subject once, and then
// asks the same again from memory.

import { DataSet } from '../data-set.ts';
import type { Figure } from '../figure.ts';
import type { PreparedRequest } from '../load/load-job.ts';
import type { BenchContext, Scenario } from '../scenario.ts';
import { CassandraUse } from '../server/cassandra-use.ts';
import { GrantdCluster } from '../server/grantd-cluster.ts';
import { createTenant, importGrants } from '../server/operator.ts';
import { readCpuSeconds } from '../server/resource-use.ts';
import { type CheckJob, checkJob, figureOf, questionsOf, startCassandraFor } from './cluster-load.ts';

const NODES = 3;
const GRANTS = 28_000;
const SUBJECTS = 20_000;
const GRANTS_OF_ANOTHER = 1000;
/** Coprime to the number of subjects. */
const STRIDE = 7919;
const WARM_MS = 3000;
const ROUNDS_MAX = 3;
/** Rounds that do not count: until Cassandra has compiled the code of its reads. */
const ROUNDS_BEFORE = 3;
const PER_SECOND_MIN = 5000;
const CPU_RATIO_MAX = 1.3;

interface FirstRound {
  readonly perSecond: number;
  readonly p99: number;
  /** CPU of front and shard for a check, µs. */
  readonly firstMicros: number;
  readonly warmMicros: number;
  /** CPU of all nodes of Cassandra for a first check, µs. */
  readonly cassandraMicros: number;
  readonly statements: number;
}

function requestsOf(data: DataSet): readonly PreparedRequest[] {
  return Array.from({ length: SUBJECTS }, (_, number) => {
    const subject = (number * STRIDE) % SUBJECTS;
    if (subject < data.subjects) {
      return { body: JSON.stringify(data.questionAbout(subject).tuple), expectedStart: '{"authorized":true,' };
    }
    const tuple = { subject: `user:none-${subject}`, relation: 'viewer', object: 'document:d-000000001' };
    return { body: JSON.stringify(tuple), expectedStart: '{"authorized":false,' };
  });
}

async function measure(
  { client }: BenchContext,
  cluster: GrantdCluster,
  cassandra: CassandraUse,
  { job, ofAnother }: { readonly job: CheckJob; readonly ofAnother: CheckJob },
): Promise<FirstRound> {
  await cluster.restartShards();
  // Compiles the code of the new process.
  await client.run({ ...ofAnother, mode: { kind: 'saturate', durationMs: WARM_MS } });
  const cpuOf = (): number =>
    [...cluster.shards, ...cluster.fronts].reduce((sum, { pid }) => sum + readCpuSeconds(pid), 0);
  const [cpuBefore, cassandraBefore] = [cpuOf(), await cassandra.read()];
  const first = await client.run({ ...job, mode: { kind: 'each-once' } });
  const [cpuAfter, cassandraAfter] = [cpuOf(), await cassandra.read()];
  await client.run({ ...job, mode: { kind: 'saturate', durationMs: WARM_MS } });
  const warmBefore = cpuOf();
  const warm = await client.run({ ...job, mode: { kind: 'saturate', durationMs: WARM_MS } });
  return {
    perSecond: first.answered / first.seconds,
    p99: first.latencyMs.p99,
    firstMicros: ((cpuAfter - cpuBefore) * 1e6) / first.answered,
    warmMicros: ((cpuOf() - warmBefore) * 1e6) / warm.answered,
    cassandraMicros: ((cassandraAfter.cpuSeconds - cassandraBefore.cpuSeconds) * 1e6) / first.answered,
    statements: cassandraAfter.requests - cassandraBefore.requests,
  };
}

function figuresOf(rounds: readonly FirstRound[]): readonly Figure[] {
  const of = (name: string, unit: string, value: (round: FirstRound) => number): Figure =>
    figureOf(name, unit, rounds, value);
  return [
    {
      ...of('first checks a second', '/s', ({ perSecond }) => perSecond),
      target: { kind: 'at least', value: PER_SECOND_MIN },
    },
    of('p99 of a first check, as fast as the answers come', 'ms', ({ p99 }) => p99),
    {
      ...of(
        'CPU of front and shard: a first check ÷ one from memory',
        '×',
        (round) => round.firstMicros / round.warmMicros,
      ),
      target: { kind: 'at most', value: CPU_RATIO_MAX },
    },
    of('CPU of front and shard for a first check', 'µs', ({ firstMicros }) => firstMicros),
    of('the same from memory', 'µs', ({ warmMicros }) => warmMicros),
    of('CPU of Cassandra for a first check', 'µs', ({ cassandraMicros }) => cassandraMicros),
    of(`statements for ${SUBJECTS} first checks`, '', ({ statements }) => statements),
  ];
}

async function run(context: BenchContext): Promise<readonly Figure[]> {
  await using parts = new AsyncDisposableStack();
  const cassandra = await startCassandraFor(context, NODES);
  parts.defer(() => cassandra.stop());
  const directory = context.createDirectory();
  const cluster = await GrantdCluster.start({ cassandra, directory, keyspace: 'first', shards: 1, fronts: 1 });
  parts.defer(() => cluster.stop());
  const use = new CassandraUse(cassandra);
  parts.defer(() => use.close());
  context.progress(`importing ${GRANTS} grants`);
  const [access, another] = [await createTenant(cluster.addresses), await createTenant(cluster.addresses)];
  const [data, ofAnother] = [new DataSet(GRANTS), new DataSet(GRANTS_OF_ANOTHER)];
  await importGrants(cluster.addresses, access, data);
  await importGrants(cluster.addresses, another, ofAnother);
  await cluster.waitForCheckpoint();
  const jobs = {
    job: { ...checkJob(cluster, requestsOf(data)), key: access.key },
    ofAnother: checkJob(cluster, questionsOf(ofAnother, ofAnother.subjects, another.key)),
  };
  const rounds: FirstRound[] = [];
  const count = context.quick ? 1 : Math.min(ROUNDS_MAX, context.rounds);
  for (let round = 1; round <= ROUNDS_BEFORE; round += 1) {
    context.progress(`round ${round} of ${ROUNDS_BEFORE} before those that count`);
    await measure(context, cluster, use, jobs);
  }
  for (let round = 1; round <= count; round += 1) {
    context.progress(`round ${round} of ${count}`);
    rounds.push(await measure(context, cluster, use, jobs));
  }
  return figuresOf(rounds);
}

export const firstChecksScenario: Scenario = {
  name: 'first-checks',
  summary: `the first check of each of ${SUBJECTS} subjects over Cassandra: ≥ ${PER_SECOND_MIN} a second, CPU ≤ ${CPU_RATIO_MAX} × that from memory`,
  run,
};
