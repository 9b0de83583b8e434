// The links of a shard to its neighbours, the other living members. They carry nothing. One that breaks is the first
// sign that a member has ended: no proof, but a reason to look at once. Invariant: only a stream that was ready gives a
// sign, and only while its address is that of a neighbour, so a member that stays away gives one at most.

import type { Clock, Random } from '../../core/async/clock.ts';
import { isAddress } from '../../core/text/addresses.ts';
import { Peer } from '../messages.ts';
import type { ClusterIdentity } from '../transport/cluster-identity.ts';
import { dialShard, type ShardDial } from '../transport/shard-dialer.ts';
import type { OpenStream } from '../transport/transport.ts';

/** In a larger cluster each member watches those that follow it; the others find a death by their scans. */
const NEIGHBOURS_MAX = 16;

export interface NeighbourLinksDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly openStream: OpenStream;
  readonly cluster: ClusterIdentity;
  /** A link has broken. */
  readonly onBroken: () => void;
}

export interface NeighbourLinksOptions {
  /** Of this shard. */
  readonly address: string;
  /** Of this process, for the logs of its neighbours. */
  readonly name: string;
  readonly version: string;
  readonly slots: number;
}

export class NeighbourLinks {
  readonly #dependencies: NeighbourLinksDependencies;
  readonly #options: NeighbourLinksOptions;
  readonly #dials = new Map<string, ShardDial>();

  constructor(dependencies: NeighbourLinksDependencies, options: NeighbourLinksOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
  }

  /** The addresses of all neighbours. */
  update(addresses: readonly string[]): void {
    const watched = new Set(followersOf(this.#options.address, addresses.filter(isAddress)));
    for (const [address, dial] of this.#dials) {
      if (watched.has(address)) continue;
      this.#dials.delete(address);
      dial.close();
    }
    for (const address of watched) if (!this.#dials.has(address)) this.#dials.set(address, this.#dial(address));
  }

  close(): void {
    this.update([]);
  }

  #dial(address: string): ShardDial {
    const { onBroken, ...dependencies } = this.#dependencies;
    const { name, version, slots } = this.#options;
    let ready = false;
    return dialShard(
      address,
      {
        onReady: () => {
          ready = true;
        },
        onMessage: () => {},
        onDrain: () => {},
        onClosed: () => {
          if (ready) onBroken();
          ready = false;
        },
      },
      // It needs no more rights than those of a front.
      { ...dependencies, hello: () => ({ name, version, peer: Peer.PEER_FRONT, slots }) },
    );
  }
}

/** In the ring of all addresses. */
function followersOf(own: string, addresses: readonly string[]): readonly string[] {
  const others = [...new Set(addresses)].filter((address) => address !== own).sort();
  const next = others.findIndex((address) => address > own);
  const ring = next < 0 ? others : [...others.slice(next), ...others.slice(0, next)];
  return ring.slice(0, NEIGHBOURS_MAX);
}
