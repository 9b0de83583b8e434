// How a command reaches a service: which one it is, and a client of what the command needs of it.

import type { ContextFile } from './context-file.ts';
import { CliFailure, EXIT } from './failures.ts';
import {
  type Endpoint,
  keyTarget,
  operatorTarget,
  operatorTenantTarget,
  type ServiceChoice,
  type TenantTarget,
  tenantTarget,
} from './service-choice.ts';
import { ServiceClient } from './service-client.ts';

export interface ConnectionDependencies {
  /**
   * Which service to call. Called only once a command needs it. `contextName`: the context that the command line names.
   * Throws a CliFailure that says what to set if nothing names a service.
   */
  chooseService(contextName: string | undefined): ServiceChoice;
  readonly contexts?: ContextFile;
  readonly fetch?: typeof fetch;
}

export interface Connections {
  useContext(name: string | undefined): void;
  /** Which service is called, and why. */
  chooseService(): ServiceChoice;
  contextFile(): ContextFile;
  /** All of the operator's API. Throws a usage failure if only an API key is known. */
  connect(): ServiceClient;
  /** What one tenant has: with its API key, or in the operator's API as `--tenant` or the settings say. */
  connectTenant(tenant: string | undefined): ServiceClient;
  /** With the API key, and never with the operator's token. */
  connectKey(): ServiceClient;
  /** With an API key that somebody else brings. */
  connectWith(endpoint: Endpoint): ServiceClient;
  /** What one tenant has, for what only the operator's API offers. */
  connectOperatorTenant(tenant: string | undefined): ServiceClient;
}

export function createConnections(
  dependencies: ConnectionDependencies,
  onWarning: (warning: string) => void,
): Connections {
  let contextName: string | undefined;
  const chooseService = (): ServiceChoice => dependencies.chooseService(contextName);
  const clientOf = ({ target, tenant }: TenantTarget): ServiceClient =>
    new ServiceClient(target, { onWarning, ...(dependencies.fetch && { fetch: dependencies.fetch }) }, tenant);
  return {
    useContext(name) {
      contextName = name;
    },
    chooseService,
    contextFile() {
      if (dependencies.contexts === undefined) throw new CliFailure('This program keeps no contexts.', EXIT.usage);
      return dependencies.contexts;
    },
    connect: () => clientOf({ target: operatorTarget(chooseService()), tenant: undefined }),
    connectKey: () => clientOf({ target: keyTarget(chooseService()), tenant: undefined }),
    connectWith: (endpoint) => clientOf({ target: { api: 'public', ...endpoint }, tenant: undefined }),
    connectTenant: (tenant) => clientOf(tenantTarget(chooseService(), tenant)),
    connectOperatorTenant: (tenant) => clientOf(operatorTenantTarget(chooseService(), tenant)),
  };
}
