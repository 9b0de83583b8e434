// Opens the front of a front or console process: shards from discovery, over TLS if that is set.

import type { FrontConfig } from '../../config/settings.ts';
import type { Turns } from '../../core/async/turns.ts';
import { type ComposedFront, createFront } from '../../front/create-front.ts';
import { type OpenDiscoveryDependencies, openDiscovery, serverNameOf } from './discovery.ts';
import { DEADLINE_MS } from './new-cluster.ts';
import { openRpcTls } from './rpc-tls.ts';

/** `parts` closes what this opens. */
export function openFront(
  dependencies: OpenDiscoveryDependencies & { readonly turns?: Turns },
  config: Pick<FrontConfig, 'discovery' | 'rpcTlsCert' | 'rpcTlsKey' | 'rpcTlsCa' | 'rpcTlsServerName'>,
  options: { readonly name: string; readonly peer: 'front' | 'console'; readonly version: string },
  parts: AsyncDisposableStack,
): ComposedFront {
  const { discovery: source } = config;
  // The name resolves to addresses of pods, but certificates contain the name, not addresses.
  const serverName = config.rpcTlsServerName ?? serverNameOf(source);
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
