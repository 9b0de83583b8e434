// Which peer has how many connections. A peer is one client address, or one IPv6 network of 64 bits, in which a single
// client has as many addresses as it likes. Invariant: adding, removing and finding the peer with the most take the
// same time however many there are.

import type { Connection } from './connection.ts';

export interface Peer {
  /** The network of the client (core/text/addresses.ts). */
  readonly name: string;
  /** In the order in which they were opened. */
  readonly connections: Set<Connection>;
}

export class Peers {
  readonly #byName = new Map<string, Peer>();
  /** For each number of connections, the peers that have that many. */
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

  /** One of the peers with the most connections; undefined: there is none. */
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
