// A running service with a tenant of 100,000 grants, for the scenarios that send requests.

import { DataSet } from '../data-set.ts';
import { type BenchContext, GRANTS } from '../scenario.ts';
import { GrantdProcess } from '../server/grantd-process.ts';
import { createTenant, importGrants, type TenantAccess } from '../server/operator.ts';

export interface LoadedService {
  readonly service: GrantdProcess;
  readonly access: TenantAccess;
  readonly data: DataSet;
  readonly url: string;
}

export async function startLoadedService(
  context: BenchContext,
  options: { readonly under?: readonly string[]; readonly settings?: Readonly<Record<string, string>> } = {},
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
