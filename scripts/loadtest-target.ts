// The service that a load test asks, and where its tenants are kept: by the settings, else by the dev.json of the data
// directory, as the operator's commands find it.

import { join } from 'node:path';
import type { ScenarioName } from '../loadtest/scenarios.ts';
import { type Environment, readConfig } from '../src/config/read-config.ts';
import { type DevFile, readDevFile } from '../src/roles/dev/dev-file.ts';
import { type OperatorTarget, resolveOperatorTarget } from '../src/roles/open/operator-target.ts';

export interface LoadTarget {
  /** Of the service that `npm start` runs; undefined where there is none. */
  readonly devFile: DevFile | undefined;
  /** Throws, saying what to set, where nothing names an operator's API. */
  operator(): OperatorTarget;
  /** The file of tenants of a scenario, where no setting names one. Scenarios that need the same ones share it. */
  tenantsPath(scenario: ScenarioName): string;
}

const OWN_TENANTS: readonly ScenarioName[] = ['tenant-skew', 'shard-loss'];

/** Throws a ConfigError where a setting of the operator's commands is wrong. */
export function findTarget(environment: Environment): LoadTarget {
  const config = readConfig('cli', environment);
  return {
    devFile: readDevFile(config.dataDirectory),
    operator: () => resolveOperatorTarget(config),
    tenantsPath: (scenario) =>
      join(config.dataDirectory, OWN_TENANTS.includes(scenario) ? `loadtest-${scenario}.json` : 'loadtest.json'),
  };
}
