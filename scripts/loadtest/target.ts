// The service for a load test, and the file of its tenants: from the settings, otherwise from the dev.json of the data
// directory, as for the operator's commands.

import { join } from 'node:path';
import type { ScenarioName } from '../../loadtest/scenarios.ts';
import type { ServiceTarget } from '../../packages/cli/src/service-client.ts';
import { type Environment, readConfig } from '../../src/config/read-config.ts';
import { type DevFile, findLocalService, resolveOperatorTarget } from '../../src/roles/dev/dev-file.ts';

export interface LoadTarget {
  /** The file of the service that `npm start` runs; undefined if there is none. */
  readonly devFile: DevFile | undefined;
  /** Throws, naming the settings, if none names an operator's API. */
  operator(): ServiceTarget;
  /** The default file of tenants of a scenario. Scenarios with the same needs share it. */
  tenantsPath(scenario: ScenarioName): string;
}

const OWN_TENANTS: readonly ScenarioName[] = ['tenant-skew', 'shard-loss'];

/** Throws a ConfigError if a setting of the operator's commands is invalid. */
export function findTarget(environment: Environment): LoadTarget {
  const config = readConfig('cli', environment);
  return {
    devFile: findLocalService(config),
    operator: () => resolveOperatorTarget(config),
    tenantsPath: (scenario) =>
      join(config.dataDirectory, OWN_TENANTS.includes(scenario) ? `loadtest-${scenario}.json` : 'loadtest.json'),
  };
}
