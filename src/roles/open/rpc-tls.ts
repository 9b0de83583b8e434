// Mutual TLS for gRPC between shards and their peers, from the settings of a role.

import type { ServerCredentials } from '@grpc/grpc-js';
import { isLoopback } from '../../config/cluster-parsers.ts';
import type { Secret } from '../../config/secret.ts';
import type { PeerNames } from '../../rpc/transport/peer-certificate.ts';
import { createRpcTls, type RpcTls } from '../../rpc/transport/tls.ts';
import type { Log } from '../../telemetry/log.ts';
import { StartError } from '../process/start-error.ts';

interface RpcTlsSettings {
  readonly rpcTlsCert: string | undefined;
  readonly rpcTlsKey: Secret | undefined;
  readonly rpcTlsCa: string | undefined;
}

/** Undefined if the settings do not enable it: then connections are not encrypted. */
export function openRpcTls(
  config: RpcTlsSettings,
  dependencies: { readonly log: Log },
  options: { readonly serverNames?: readonly string[] | undefined } = {},
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

/**
 * Which peers a shard's server accepts as a console or a shard: with TLS those with a proof, without TLS those that
 * claim it.
 */
export type ServerAccess =
  | { readonly credentials: ServerCredentials; readonly peerNames: PeerNames }
  | { readonly unprovenPeers: true };

/**
 * Without TLS, only this machine can connect, or GRANTD_RPC_INSECURE is set: a rule of the settings guarantees that.
 * Warns if others can reach the address.
 */
export function serverAccess(
  config: { readonly rpcTlsConsoleNames?: readonly string[]; readonly rpcTlsShardNames?: readonly string[] },
  tls: RpcTls | undefined,
  address: string,
  { log }: { readonly log: Log },
): ServerAccess {
  const { rpcTlsConsoleNames: console = [], rpcTlsShardNames: shard = [] } = config;
  if (tls !== undefined) return { credentials: tls.serverCredentials(), peerNames: { console, shard } };
  if (!isLoopback(address)) {
    log.warn(
      { address },
      "GRANTD_RPC_INSECURE: anyone who can reach this address can make the operator's calls, and traffic is not encrypted; allow only fronts, consoles and shards to reach it, or set GRANTD_RPC_TLS_CERT, _KEY and _CA",
    );
  }
  return { unprovenPeers: true };
}
