// Mutual TLS of the gRPC between fronts, consoles and shards, from the settings of a role.

import type { Secret } from '../config/secret.ts';
import { createRpcTls, type RpcTls } from '../rpc/tls.ts';
import type { Log } from '../telemetry/log.ts';
import { StartError } from './start-error.ts';

interface RpcTlsSettings {
  readonly rpcTlsCert: string | undefined;
  readonly rpcTlsKey: Secret | undefined;
  readonly rpcTlsCa: string | undefined;
}

/** Undefined where the settings ask for none: connections are not encrypted then. */
export function openRpcTls(
  config: RpcTlsSettings,
  dependencies: { readonly log: Log },
  options: { readonly serverName?: string | undefined } = {},
): RpcTls | undefined {
  const { rpcTlsCert: cert, rpcTlsKey: key, rpcTlsCa: ca } = config;
  if (cert === undefined || key === undefined || ca === undefined) return undefined;
  try {
    return createRpcTls({ cert, key: key.reveal(), ca }, dependencies, options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`The certificates of GRANTD_RPC_TLS_CERT, _KEY and _CA cannot be used: ${reason}`, {
      cause: error,
    });
  }
}
