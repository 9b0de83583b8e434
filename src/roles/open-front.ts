// The front of a process that has nothing but a front: found by discovery, over TLS where that is set.

import type { DiscoverySource } from '../config/cluster-parsers.ts';
import type { FrontConfig } from '../config/settings.ts';
import type { Clock, Random } from '../core/clock.ts';
import type { Discovery } from '../discovery/discovery.ts';
import { createDnsDiscovery } from '../discovery/dns.ts';
import { createStaticDiscovery } from '../discovery/static.ts';
import { type ComposedFront, createFront } from '../front/create-front.ts';
import type { Log } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { DEADLINE_MS } from './new-cluster.ts';
import { openRpcTls } from './open-rpc-tls.ts';

interface OpenFrontDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

function openDiscovery(dependencies: OpenFrontDependencies, source: DiscoverySource): Discovery {
  return source.kind === 'dns' ? createDnsDiscovery(dependencies, source) : createStaticDiscovery(source.addresses);
}

/** What it opens, `parts` closes. */
export function openFront(
  dependencies: OpenFrontDependencies,
  config: Pick<FrontConfig, 'discovery' | 'rpcTlsCert' | 'rpcTlsKey' | 'rpcTlsCa' | 'rpcTlsServerName'>,
  options: { readonly name: string; readonly peer: 'front' | 'console'; readonly version: string },
  parts: AsyncDisposableStack,
): ComposedFront {
  const { discovery: source } = config;
  // The addresses of a name are those of the pods, which no certificate is for: it is for the name.
  const serverName = config.rpcTlsServerName ?? (source.kind === 'dns' ? source.name : undefined);
  const tls = openRpcTls(config, dependencies, { serverName });
  parts.defer(() => tls?.close());
  const front = createFront(
    { ...dependencies, discovery: openDiscovery(dependencies, source) },
    {
      ...options,
      deadlineMs: DEADLINE_MS,
      ...(tls === undefined ? {} : { credentials: (address: string) => tls.channelCredentials(address) }),
    },
  );
  parts.defer(() => front.close());
  return front;
}
