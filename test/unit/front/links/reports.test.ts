// What a front reports to the shards: each answer once, to the shard that gave it; each request once, to the owner of
// its tenant, in the minute of the front's clock.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latencyQuantileMs } from '../../../../src/core/structures/latency-histogram.ts';
import type { RequestContext } from '../../../../src/front/front.ts';
import { createUsageTally, Reporter, UsageLedger, type UsageSource } from '../../../../src/front/links/reporter.ts';
import type { Report } from '../../../../src/rpc/messages.ts';
import { ShardFailure } from '../../../../src/shard/shard.ts';
import type { ScriptedShard } from '../../../kit/scripted-shard.ts';
import { VirtualClock } from '../../../kit/virtual-clock.ts';
import { contextFor, ids, reportingClock, setStage, until } from '../harness.ts';

const TUPLE = { subject: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;

/** Of a request of a tenant. */
const arrived = (limitMs?: number): RequestContext => ({ ...contextFor(limitMs), arrivedAtMs: performance.now() });

function loadsOf(shard: ScriptedShard) {
  const loads = shard.reports.flatMap(({ load }) => (load === undefined ? [] : [load]));
  const latencies = new Array<number>(160).fill(0);
  for (const load of loads) {
    for (const [bucket, count] of load.latencies.entries()) latencies[bucket] = (latencies[bucket] ?? 0) + count;
  }
  return {
    reports: loads.length,
    elapsedMs: loads.map(({ elapsedMs }) => elapsedMs),
    checks: loads.reduce((sum, { checks }) => sum + checks, 0),
    failures: loads.reduce((sum, { failures }) => sum + failures, 0),
    answers: latencies.reduce((sum, count) => sum + count, 0),
    p99Ms: latencyQuantileMs(latencies, 0.99),
  };
}

test('checks, their latency and failures are reported to the shard, each once', async (t) => {
  const startedAtMs = performance.now();
  let passedMs = 0;
  const clock = { ...reportingClock, monotonicMs: () => reportingClock.monotonicMs() + passedMs };
  const stage = await setStage(t, { clock });
  await stage.world.grant(stage.tenantId, 'user:ann viewer doc:1');
  const session = await stage.session();
  await session.check(arrived(), TUPLE);
  await session.checkBulk(arrived(), [TUPLE, TUPLE, TUPLE]);
  // Neither the operator's questions nor what a client did wrong count.
  await session.check(contextFor(), TUPLE);
  await assert.rejects(session.call('revokeKey', arrived(), ids.create('key')), { code: 'key-not-found' });
  stage.shard.onCheck = () => {
    passedMs += 60;
    return true;
  };
  await session.check(arrived(), { ...TUPLE, object: 'doc:slow' });
  stage.shard.onCheck = () => {
    throw new ShardFailure('not-serving', 'No lease.');
  };
  await assert.rejects(session.check(arrived(500), TUPLE), { code: 'unavailable' });
  stage.shard.onCheck = undefined;
  await until(() => loadsOf(stage.shard).failures > 0);
  const first = loadsOf(stage.shard);
  assert.deepEqual([first.checks, first.answers, first.failures], [5, 3, 1]);
  assert.ok((first.p99Ms ?? 0) >= 60, String(first.p99Ms));
  const { reports } = first;
  await until(() => loadsOf(stage.shard).reports > reports);
  const { checks, failures, elapsedMs } = loadsOf(stage.shard);
  assert.deepEqual([checks, failures], [5, 1], 'nothing is repeated, and silence is reported, too');
  const last = elapsedMs.at(-1) ?? 0;
  assert.ok(last > 30 && last < performance.now() - startedAtMs, String(last));
});

test('the requests of a tenant go to whoever owns it when the report goes', async (t) => {
  const stage = await setStage(t, { shards: 2, slots: 2, clock: reportingClock });
  const [first, second] = stage.shards;
  assert.ok(first && second);
  const session = await stage.session();
  const slots = [...first.epochs.keys()];
  first.release(slots);
  await until(() => !stage.front.ready());
  for (let count = 0; count < 5; count += 1) session.countRequest(count === 0);
  // Nobody owns it for a whole interval.
  const { reports } = loadsOf(second);
  await until(() => loadsOf(second).reports > reports);
  assert.deepEqual(
    [...first.reports, ...second.reports].flatMap(({ usage }) => usage),
    [],
  );
  second.own(slots, stage.servers[1]?.address);
  await until(() => second.reports.some(({ usage }) => usage.length > 0));
  const [usage] = second.reports.flatMap((report) => report.usage);
  const { tenantId } = stage;
  assert.deepEqual(usage && { ...usage, minute: 0 }, {
    slot: slots[0],
    tenantId,
    minute: 0,
    requests: 5,
    refused: 1,
    checks: 0,
  });
  assert.deepEqual(
    first.reports.flatMap((report) => report.usage),
    [],
  );
});

test('problems of a session are told with how often and the last one, a bounded number of kinds', async (t) => {
  const stage = await setStage(t, { clock: reportingClock });
  const session = await stage.session();
  const note = (code: string, requestId: string) => session.noteProblem({ code, requestId, detail: 'ä'.repeat(1000) });
  for (let kind = 0; kind < 100; kind += 1) note(`kind-${kind}`, 'req_1');
  note('kind-0', 'req_2');
  const told = () => stage.shard.reports.flatMap(({ problems }) => problems);
  await until(() => told().length > 0);
  assert.equal(told().length, 8);
  const [first] = told();
  const { tenantId } = stage;
  const detail = 'ä'.repeat(300);
  const of = { slot: first?.slot, tenantId, keyId: session.keyId };
  assert.deepEqual(first && { ...first }, { ...of, code: 'kind-0', count: 2, requestId: 'req_2', detail });
  const { reports } = loadsOf(stage.shard);
  await until(() => loadsOf(stage.shard).reports > reports + 1);
  assert.equal(told().length, 8, 'nothing is told twice');
});

test('the names that a key asks about are told to the owner, however it asks, and again in another minute', async (t) => {
  let aheadMs = 0;
  const clock = { ...reportingClock, wallMs: () => reportingClock.wallMs() + aheadMs };
  const stage = await setStage(t, { clock });
  const session = await stage.session();
  const named = (relation: string) => ({ ...TUPLE, relation });
  const page = { namespace: undefined, limit: 10, cursor: undefined };
  const asks = [
    () => session.check(arrived(), named('can_check')),
    () => session.check(arrived(), { ...named('can_condition'), context: '{}' }),
    () => session.checkBulk(arrived(), [TUPLE, named('can_bulk'), named('can_bulk_2')]),
    () => session.checkOrDeny(arrived(), [named('can_evaluate')]),
    () => session.explain(arrived(), named('can_explain')),
    () => session.call('listObjects', arrived(), { subject: 'user:ann', relation: 'can_list', ...page }),
    () => session.call('listHolders', arrived(), { object: 'doc:1', relation: 'can_hold', ...page }),
    () => session.check(arrived(), TUPLE),
  ];
  const told = () => stage.shard.reports.flatMap(({ asked }) => asked);
  const askAll = async () => {
    for (const ask of asks) {
      session.countRequest(false);
      // The scripted owner has no rules: what counts is that it was asked.
      await ask().catch(() => undefined);
    }
  };
  const all = ['can_check', 'can_condition', 'can_bulk', 'can_bulk_2', 'can_evaluate', 'can_explain', 'can_list'];
  const names = () => new Set(told().flatMap((each) => each.names));
  await askAll();
  await until(() => names().size === all.length + 1);
  assert.deepEqual(names(), new Set([...all, 'can_hold']));
  assert.ok(told().every(({ tenantId }) => tenantId === stage.tenantId));
  const times = () => told().filter((each) => each.names.includes('can_check')).length;
  aheadMs += 120_000;
  const before = times();
  await until(async () => {
    await askAll();
    return times() > before;
  });
});

test('a console reports nothing', async (t) => {
  const stage = await setStage(t, { front: { peer: 'console' }, clock: reportingClock });
  const front = await setStage(t, { clock: reportingClock });
  await until(() => front.shard.reports.length > 0);
  assert.deepEqual(stage.shard.reports, []);
});

// ---- the reporter alone ----

function createReporter(t: { after(run: () => void): void }, sourcesMax?: number) {
  const clock = new VirtualClock();
  // Ten seconds and a bit before the end of a minute.
  clock.wallOffsetMs = 1_700_000_040_000 - 10_300 - clock.monotonicMs();
  const ledger = new UsageLedger(sourcesMax);
  const sent: Report[] = [];
  const link = {
    ready: true,
    load: { take: () => ({}) },
    report(report: Report) {
      if (report.usage) sent.push(report);
      return link.ready;
    },
  };
  const reporter = new Reporter({
    clock,
    ledger,
    routing: { route: (slot: number) => (slot === 7 ? { slot, epoch: 1, link } : undefined) } as never,
    readyLinks: () => [link] as never,
  });
  t.after(() => reporter.close());
  const source = (): UsageSource => ({
    ...{ tenantId: ids.create('ten'), keyId: 'key_x', slot: 7 },
    usage: createUsageTally(),
  });
  const count = (of: UsageSource, requests = 1) => {
    of.usage.requests += requests;
    if (!of.usage.listed) ledger.list(of);
  };
  return { clock, ledger, sent, link, source, count };
}

test('what was asked before the end of a minute counts there, what comes after it in the next', async (t) => {
  const { clock, sent, source, count } = createReporter(t);
  const tenant = source();
  for (let second = 0; second < 20; second += 1) {
    count(tenant);
    await clock.advance(1000);
  }
  await clock.advance(2000);
  const minutes = new Map<number, number>();
  for (const { usage } of sent) {
    const { minute = 0, requests = [] } = usage ?? {};
    minutes.set(minute, (minutes.get(minute) ?? 0) + (requests[0] ?? 0));
  }
  const minute = 1_700_000_040_000 / 60_000;
  // The first eleven moments (−10.3 s to −0.3 s) precede the end of the minute.
  assert.deepEqual(
    [...minutes],
    [
      [minute - 1, 11],
      [minute, 9],
    ].map(([at, requests]) => [at, requests]),
  );
});

test('a report that cannot be sent goes with the next one, and nothing twice', async (t) => {
  const { clock, sent, link, source, count } = createReporter(t);
  const tenant = source();
  count(tenant, 3);
  link.ready = false;
  await clock.advance(2000);
  link.ready = true;
  sent.length = 0;
  count(tenant, 4);
  await clock.advance(6000);
  assert.deepEqual(
    sent.map(({ usage }) => usage?.requests),
    [[7]],
  );
});

test('however many keys are in use, a report is cut into parts that a shard takes, and the rest goes later', async (t) => {
  const { clock, sent, source, count } = createReporter(t, 2500);
  const tenants = Array.from({ length: 4000 }, source);
  for (const tenant of tenants) count(tenant);
  await clock.advance(2000);
  assert.deepEqual(
    sent.map(({ usage }) => usage?.tenantIds?.length),
    [1000, 1000, 500],
  );
  // Those that found no capacity have kept their counts.
  for (const tenant of tenants.slice(2500)) count(tenant);
  await clock.advance(2000);
  const all = sent.flatMap(({ usage }) => usage?.requests ?? []);
  assert.equal(all.length, 4000);
  assert.equal(
    all.reduce((sum, requests) => sum + requests, 0),
    5500,
  );
});
