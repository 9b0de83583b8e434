// Who has how many connections: a peer is one client address, or one IPv6 network of 64 bits, of which a single client has
// as many addresses as it likes. Adding, removing and naming the peer with the most take the same time however many there are.

import type { Connection } from './connections.ts';

export interface Peer {
  readonly name: string;
  /** In the order in which they were opened. */
  readonly connections: Set<Connection>;
}

const MAPPED_IPV4 = '::ffff:';
const NETWORK_GROUPS = 4;

/** An address as the socket names it → the peer's name. */
export function peerNameOf(address: string): string {
  if (address.startsWith(MAPPED_IPV4)) return address.slice(MAPPED_IPV4.length);
  if (!address.includes(':')) return address;
  const [front = '', back = ''] = address.split('::', 2);
  const leading = front === '' ? [] : front.split(':');
  // The groups that "::" stands for come after the leading ones; those behind it count only where it stands for few.
  const trailing = back === '' ? [] : back.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - leading.length - trailing.length) }, () => '0');
  return `${[...leading, ...zeros, ...trailing].slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

export class Peers {
  readonly #byName = new Map<string, Peer>();
  /** At each number of connections, who has so many. */
  readonly #byCount: Set<Peer>[] = [];

  of(name: string): Peer | undefined {
    return this.#byName.get(name);
  }

  add(name: string, connection: Connection): Peer {
    let peer = this.#byName.get(name);
    if (peer === undefined) {
      peer = { name, connections: new Set() };
      this.#byName.set(name, peer);
    }
    this.#byCount[peer.connections.size]?.delete(peer);
    peer.connections.add(connection);
    this.#count(peer);
    return peer;
  }

  remove(peer: Peer, connection: Connection): void {
    if (!peer.connections.has(connection)) return;
    this.#byCount[peer.connections.size]?.delete(peer);
    peer.connections.delete(connection);
    if (peer.connections.size === 0) this.#byName.delete(peer.name);
    else this.#count(peer);
    while (this.#byCount.length > 0 && (this.#byCount.at(-1)?.size ?? 0) === 0) this.#byCount.pop();
  }

  /** One of those with the most connections; undefined: nobody has any. */
  most(): Peer | undefined {
    const [peer] = this.#byCount.at(-1) ?? [];
    return peer;
  }

  #count(peer: Peer): void {
    const { size } = peer.connections;
    while (this.#byCount.length <= size) this.#byCount.push(new Set());
    this.#byCount[size]?.add(peer);
  }
}
