// Opens the front of a front or console process: shards from the discovery source that the settings name, with its
// metrics, over TLS if that is configured.

import type { DiscoverySource } from '../../config/cluster-parsers.ts';
import type { FrontConfig } from '../../config/settings.ts';
import { assertNever } from '../../core/assert.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import type { Turns } from '../../core/async/turns.ts';
import {
  createStaticDiscovery,
  DISCOVERY_FAILURES,
  type Discovery,
  type DiscoveryObserver,
} from '../../discovery/discovery.ts';
import { createDnsDiscovery } from '../../discovery/dns.ts';
import { createKubernetesDiscovery } from '../../discovery/kubernetes/kubernetes-discovery.ts';
import { type ComposedFront, createFront } from '../../front/create-front.ts';
import { MessageSpacing } from '../../rpc/links/gathering.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { openRpcTls } from './rpc-tls.ts';
import { DEADLINE_MS } from './store.ts';

/** `parts` closes what this opens. */
export function openFront(
  dependencies: OpenDiscoveryDependencies & { readonly turns?: Turns },
  config: Pick<FrontConfig, 'discovery' | 'clusterId' | 'rpcTlsCert' | 'rpcTlsKey' | 'rpcTlsCa' | 'rpcTlsServerName'>,
  options: { readonly name: string; readonly peer: 'front' | 'console'; readonly version: string },
  parts: AsyncDisposableStack,
): ComposedFront {
  const { discovery: source } = config;
  // The name resolves to addresses of pods, but certificates contain the name, not addresses.
  const serverName = config.rpcTlsServerName ?? serverNameOf(source);
  const serverNames = serverName === undefined ? undefined : [serverName];
  const tls = openRpcTls(config, dependencies, { serverNames });
  parts.defer(() => tls?.close());
  const front = createFront(
    {
      ...dependencies,
      discovery: openDiscovery(dependencies, source),
      spacing: new MessageSpacing(dependencies.clock),
    },
    {
      ...options,
      deadlineMs: DEADLINE_MS,
      clusterId: config.clusterId,
      ...(tls === undefined ? {} : { credentials: (address: string) => tls.channelCredentials(address) }),
    },
  );
  parts.defer(() => front.close());
  return front;
}

export interface OpenDiscoveryDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

function observe({ clock, metrics }: OpenDiscoveryDependencies, source: 'dns' | 'kubernetes'): DiscoveryObserver {
  // Initialized to 0, so that a rate includes the first failure.
  for (const reason of DISCOVERY_FAILURES) metrics.discoveryFailures.inc({ source, reason }, 0);
  return {
    synced: () => metrics.discoverySynced.set({ source }, clock.wallMs() / 1000),
    failed: (reason) => metrics.discoveryFailures.inc({ source, reason }),
    knows: (addresses) => metrics.discoveryAddresses.set({ source }, addresses),
  };
}

export function openDiscovery(dependencies: OpenDiscoveryDependencies, source: DiscoverySource): Discovery {
  switch (source.kind) {
    case 'static':
      return createStaticDiscovery(source.addresses);
    case 'dns':
      return createDnsDiscovery({ ...dependencies, observer: observe(dependencies, 'dns') }, source);
    case 'kubernetes':
      return createKubernetesDiscovery({ ...dependencies, observer: observe(dependencies, 'kubernetes') }, source);
    default:
      return assertNever(source);
  }
}

/** The name in the certificates of the shards; undefined: the host of each address. */
export function serverNameOf(source: DiscoverySource): string | undefined {
  switch (source.kind) {
    case 'static':
      return undefined;
    case 'dns':
      return source.name;
    case 'kubernetes':
      return `${source.service}.${source.namespace}.svc`;
    default:
      return assertNever(source);
  }
}
