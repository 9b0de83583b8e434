// How a front or a console discovers shards: the source that the settings name, with its metrics.

import type { DiscoverySource } from '../../config/cluster-parsers.ts';
import { assertNever } from '../../core/assert.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { DISCOVERY_FAILURES, type Discovery, type DiscoveryObserver } from '../../discovery/discovery.ts';
import { createDnsDiscovery } from '../../discovery/dns.ts';
import { createKubernetesDiscovery } from '../../discovery/kubernetes/kubernetes-discovery.ts';
import { createStaticDiscovery } from '../../discovery/static.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

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
