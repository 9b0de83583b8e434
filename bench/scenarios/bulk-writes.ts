// Writes of many grants at one moment: the CPU time of the service for each change of a bulk write, against single
// writes; and what a tenant that revokes 100,000 grants by a filter does to the checks of another.

import type { Tuple } from '../../src/core/tuples.ts';
import type { Figure } from '../figure.ts';
import type { LoadJob } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, type Scenario } from '../scenario.ts';
import { createTenant, type GrantSource, importGrants, type TenantAccess } from '../server/operator.ts';
import { readCpuSeconds } from '../server/resource-use.ts';
import { median } from '../statistics.ts';
import { type LoadedService, startLoadedService, steadyChecks } from './loaded-service.ts';

const CHANGES_PER_CALL = 100;
const CPU_RATIO_MAX = 0.5;
/** Mostly collections of garbage: on two cores they take as long as other threads let them. */
const P99_MS_MAX = 60;
/** Grants of one kind in a round. */
const GRANTS_PER_ROUND = 20_000;
const GRANTS_PER_ROUND_QUICK = 5000;
const REVOKED = 100_000;
const REVOKED_QUICK = 20_000;
const SUBJECT = 'user:leaver';

interface Round {
  readonly single: number;
  readonly bulk: number;
}

const grantJob = ({ url, access }: LoadedService): Omit<LoadJob, 'path' | 'expectedStatus' | 'requests'> => ({
  url,
  key: access.key,
  connections: CONNECTIONS,
  mode: { kind: 'each-once' },
});

function singleJob(loaded: LoadedService, grants: readonly Tuple[]): LoadJob {
  const requests = grants.map((grant) => ({ body: JSON.stringify(grant), expectedStart: '{"grant_id":"grt_' }));
  return { ...grantJob(loaded), path: '/v1/grants', expectedStatus: 201, requests };
}

function bulkJob(loaded: LoadedService, grants: readonly Tuple[]): LoadJob {
  const requests = Array.from({ length: grants.length / CHANGES_PER_CALL }, (_, call) => ({
    body: JSON.stringify({ grants: grants.slice(call * CHANGES_PER_CALL, (call + 1) * CHANGES_PER_CALL) }),
    expectedStart: '{"grants":[{"grant_id":"grt_',
  }));
  return { ...grantJob(loaded), path: '/v1/grants/bulk', expectedStatus: 200, requests };
}

/** Microseconds of CPU time for each change, including its write-behind. */
async function cpuPerChange(context: BenchContext, { service }: LoadedService, job: LoadJob, changes: number) {
  const before = readCpuSeconds(service.pid);
  await context.client.run(job);
  await service.waitForCheckpoint();
  return ((readCpuSeconds(service.pid) - before) * 1e6) / changes;
}

async function measureCpu(context: BenchContext, loaded: LoadedService): Promise<readonly Figure[]> {
  const changes = context.quick ? GRANTS_PER_ROUND_QUICK : GRANTS_PER_ROUND;
  const rounds: Round[] = [];
  // The first round is not counted.
  for (let round = 0; round <= context.rounds; round += 1) {
    context.progress(`CPU, round ${round} of ${context.rounds}`);
    const grants = (part: number): readonly Tuple[] =>
      Array.from({ length: changes }, (_, index) => loaded.data.newGrant((2 * round + part) * changes + index));
    const single = await cpuPerChange(context, loaded, singleJob(loaded, grants(0)), changes);
    const bulk = await cpuPerChange(context, loaded, bulkJob(loaded, grants(1)), changes);
    if (round > 0) rounds.push({ single, bulk });
  }
  const ratios = rounds.map(({ single, bulk }) => bulk / single);
  return [
    {
      name: `CPU per change of a bulk write of ${CHANGES_PER_CALL} ÷ of a single write`,
      value: median(ratios),
      unit: '×',
      target: { kind: 'at most', value: CPU_RATIO_MAX },
      rounds: ratios,
    },
    { name: 'CPU per change of a bulk write', value: median(rounds.map(({ bulk }) => bulk)), unit: 'µs' },
    { name: 'CPU per single write', value: median(rounds.map(({ single }) => single)), unit: 'µs' },
  ];
}

async function revokeAll(url: string, { key }: TenantAccess): Promise<number> {
  let revoked = 0;
  for (let complete = false; !complete; ) {
    const response = await fetch(`${url}/v1/grants/revoke`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ subject: SUBJECT }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`A revocation was answered ${response.status}: ${text.slice(0, 300)}`);
    const result: { readonly revoked: number; readonly complete: boolean } = JSON.parse(text);
    revoked += result.revoked;
    complete = result.complete;
  }
  return revoked;
}

async function measureOthers(context: BenchContext, loaded: LoadedService): Promise<readonly Figure[]> {
  const { service, url } = loaded;
  const grants = context.quick ? REVOKED_QUICK : REVOKED;
  const leaver: GrantSource = {
    grants,
    grant: (number) => ({
      subject: SUBJECT,
      relation: 'viewer',
      object: `document:l-${String(number).padStart(9, '0')}`,
    }),
  };
  const checks = steadyChecks(context, loaded);
  await checks(context.durationMs);
  const rounds: { readonly calm: number; readonly during: number; readonly seconds: number }[] = [];
  for (let round = 1; round <= context.rounds; round += 1) {
    context.progress(`revoking ${grants} grants, round ${round} of ${context.rounds}`);
    const other = await createTenant(service.addresses);
    await importGrants(service.addresses, other, leaver);
    await service.waitForCheckpoint();
    const calm = (await checks(context.durationMs)).latencyMs.p99;
    const startedMs = performance.now();
    let seconds = 0;
    const revoking = revokeAll(url, other).then((revoked) => {
      if (revoked !== grants) throw new Error(`Of ${grants} grants ${revoked} were revoked.`);
      seconds = (performance.now() - startedMs) / 1000;
    });
    // For about as long as the revocations take.
    const during = (await checks(context.durationMs)).latencyMs.p99;
    await revoking;
    await service.waitForCheckpoint();
    rounds.push({ calm, during, seconds });
  }
  const ratios = rounds.map(({ calm, during }) => during / calm);
  return [
    {
      name: `p99 of another tenant’s checks while ${grants} grants are revoked ÷ before`,
      value: median(ratios),
      unit: '×',
      rounds: ratios,
    },
    { name: 'p99 before', value: median(rounds.map(({ calm }) => calm)), unit: 'ms' },
    {
      name: 'p99 meanwhile',
      value: median(rounds.map(({ during }) => during)),
      unit: 'ms',
      target: { kind: 'at most', value: P99_MS_MAX },
      rounds: rounds.map(({ during }) => during),
    },
    { name: `revoking ${grants} grants`, value: median(rounds.map(({ seconds }) => seconds)), unit: 's' },
  ];
}

export const bulkWritesScenario: Scenario = {
  name: 'bulk-writes',
  summary: `bulk writes of ${CHANGES_PER_CALL}: ≤ ${CPU_RATIO_MAX} × the CPU of single ones; others' p99 ≤ ${P99_MS_MAX} ms while grants are revoked`,
  async run(context) {
    const loaded = await startLoadedService(context);
    try {
      return [...(await measureCpu(context, loaded)), ...(await measureOthers(context, loaded))];
    } finally {
      await loaded.service.stop();
    }
  },
};
