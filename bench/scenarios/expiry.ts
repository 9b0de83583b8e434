// Many grants of one tenant that expire at the same moment: how long it takes until all of them are collected, and what
// that does to the checks of another tenant.

import type { Figure } from '../figure.ts';
import type { BenchContext, Scenario } from '../scenario.ts';
import { delay } from '../server/grantd-process.ts';
import { createTenant, type GrantSource, importGrants } from '../server/operator.ts';
import { median } from '../statistics.ts';
import { type LoadedService, startLoadedService, steadyChecks } from './loaded-service.ts';

const P99_RATIO_MAX = 1.5;
const GRANTS = 100_000;
const GRANTS_QUICK = 20_000;
const GRANTS_PER_SUBJECT = 100;
/** Until they expire: enough to create them and to measure before. */
const AHEAD_MS = 60_000;
const AHEAD_MS_QUICK = 20_000;
const COLLECTED_MS_MAX = 600_000;

function expiringGrants(grants: number, expiresAtMs: number): GrantSource {
  const expires_at = new Date(expiresAtMs).toISOString();
  return {
    grants,
    grant: (number) => ({
      subject: `user:guest-${Math.floor(number / GRANTS_PER_SUBJECT)}`,
      relation: 'viewer',
      object: `document:e-${String(number).padStart(9, '0')}`,
      expires_at,
    }),
  };
}

async function measure(context: BenchContext, loaded: LoadedService): Promise<readonly Figure[]> {
  const { service } = loaded;
  const grants = context.quick ? GRANTS_QUICK : GRANTS;
  const checks = steadyChecks(context, loaded);
  const collected = async (): Promise<number> => (await service.readMetrics())('grantd_grants_expired_total');
  await checks(context.durationMs);
  const expiresAtMs = Date.now() + (context.quick ? AHEAD_MS_QUICK : AHEAD_MS);
  context.progress(`creating ${grants} grants`);
  await importGrants(service.addresses, await createTenant(service.addresses), expiringGrants(grants, expiresAtMs));
  await service.waitForCheckpoint();
  const calm = [(await checks(context.durationMs)).latencyMs.p99, (await checks(context.durationMs)).latencyMs.p99];
  if (Date.now() > expiresAtMs) throw new Error('The grants expired before they were created.');
  await delay(expiresAtMs - Date.now());
  while ((await collected()) === 0) await delay(100);
  const startedMs = Date.now();
  const during: number[] = [];
  while ((await collected()) < grants) {
    if (Date.now() > startedMs + COLLECTED_MS_MAX) throw new Error('The expired grants are not collected.');
    context.progress(`collected ${await collected()} of ${grants}`);
    during.push((await checks(context.durationMs)).latencyMs.p99);
  }
  const ratios = during.map((p99) => p99 / median(calm));
  return [
    {
      name: `p99 of another tenant’s checks while ${grants} expired grants are collected ÷ before`,
      value: median(ratios),
      unit: '×',
      target: { kind: 'at most', value: P99_RATIO_MAX },
      rounds: ratios,
    },
    { name: 'p99 before', value: median(calm), unit: 'ms' },
    { name: 'p99 meanwhile', value: median(during), unit: 'ms' },
    { name: 'from the expiry to the first collected', value: (startedMs - expiresAtMs) / 1000, unit: 's' },
    { name: `collecting ${grants} grants`, value: (Date.now() - startedMs) / 1000, unit: 's' },
  ];
}

export const expiryScenario: Scenario = {
  name: 'expiry',
  summary: `grants that expire at one moment: others' p99 ≤ ${P99_RATIO_MAX} × while they are collected`,
  async run(context) {
    const loaded = await startLoadedService(context);
    try {
      return await measure(context, loaded);
    } finally {
      await loaded.service.stop();
    }
  },
};
