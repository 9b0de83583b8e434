// Peers that belong to another cluster, as a shard meets them. Each is refused, counted, and named in the log: once for
// its host and cluster, since it dials again and again. Invariant: the memory of what was named is bounded.

import { status } from '@grpc/grpc-js';
import type { ClusterId } from '../../core/ids.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { StreamError } from '../transport/transport.ts';

/** More would only fill the log. */
const NAMED_MAX = 1000;

export interface ForeignPeer {
  /** As the stream names it: host:port, with a port of its own for each connection. */
  readonly peer: string;
  /** As the peer names itself. */
  readonly name: string;
  readonly clusterId: ClusterId;
}

export class ForeignPeers {
  readonly #log: Log;
  readonly #refusals: Metrics['foreignClusterRefusals'];
  readonly #named = new Set<string>();

  constructor(dependencies: { readonly log: Log; readonly metrics: Pick<Metrics, 'foreignClusterRefusals'> }) {
    this.#log = dependencies.log;
    this.#refusals = dependencies.metrics.foreignClusterRefusals;
    this.#refusals.inc(0);
  }

  /** The error that ends the stream of a peer of another cluster than `own`. */
  refuse({ peer, name, clusterId: cluster }: ForeignPeer, own: ClusterId): StreamError {
    this.#refusals.inc();
    const known = `${peer.slice(0, peer.lastIndexOf(':'))} ${cluster}`;
    if (!this.#named.has(known) && this.#named.size < NAMED_MAX) {
      this.#named.add(known);
      this.#log.error({ peer, name, cluster, expected: own }, 'peer refused: it is of another cluster');
    }
    const details = `This shard is of the cluster ${own}; the peer is of ${cluster}.`;
    return Object.assign(new Error(details), { code: status.FAILED_PRECONDITION, details });
  }
}
