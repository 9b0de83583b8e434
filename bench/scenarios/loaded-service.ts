// A running service with a tenant of 100,000 grants, for the scenarios that send requests.

import { DataSet } from '../data-set.ts';
import type { LoadResult } from '../load/load-job.ts';
import { type BenchContext, CONNECTIONS, GRANTS } from '../scenario.ts';
import { type GrantdOptions, GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, importGrants, type TenantAccess } from '../server/operator.ts';

/** Of a tenant whose answers others may delay. */
const STEADY_CHECKS_PER_SECOND = 1000;
const REST_MS = 0.25;

export interface LoadedService {
  readonly service: GrantdProcess;
  readonly access: TenantAccess;
  readonly data: DataSet;
  readonly url: string;
}

export async function startLoadedService(
  context: BenchContext,
  options: Partial<Pick<GrantdOptions, 'under' | 'settings' | 'options'>> = {},
): Promise<LoadedService> {
  const service = await GrantdProcess.start({
    directory: context.createDirectory(),
    searchPath: context.searchPath,
    ...options,
  });
  try {
    const { addresses } = service;
    const access = await createTenant(addresses);
    const data = new DataSet(GRANTS);
    context.progress(`importing ${GRANTS} grants`);
    await importGrants(addresses, access, data);
    await service.waitForCheckpoint();
    return { service, access, data, url: addresses.base_url };
  } catch (error) {
    await service.stop('SIGKILL');
    throw error;
  }
}

/** Checks of the tenant at a moderate rate: what others do to it shows in their times. */
export function steadyChecks(
  context: BenchContext,
  { data, access, url }: LoadedService,
): (durationMs: number) => Promise<LoadResult> {
  const requests = Array.from({ length: 10_000 }, (_, number) => {
    const { tuple, authorized } = data.question(number);
    return { body: JSON.stringify(tuple), expectedStart: `{"authorized":${authorized},` };
  });
  return (durationMs) =>
    context.client.run({
      url,
      key: access.key,
      path: '/v1/check',
      expectedStatus: 200,
      connections: CONNECTIONS,
      requests,
      mode: { kind: 'rate', durationMs, perSecond: STEADY_CHECKS_PER_SECOND, restMs: REST_MS },
    });
}
