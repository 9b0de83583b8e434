// The links of a front: one per address that discovery names, and one per member or owner that a shard names.
// Invariants: no address is dialled twice, and the number of links is bounded.

import type { Clock } from '../../core/async/clock.ts';
import { SHARD_ADDRESSES_MAX } from '../../core/limits.ts';
import { isAddress } from '../../core/text/addresses.ts';
import type { Discovery } from '../../discovery/discovery.ts';
import type { MemberAddress } from '../../shard/shard.ts';
import type { Log } from '../../telemetry/log.ts';
import type { ShardLink } from './shard-link.ts';

/** For this long after it was named or lost, an address is dialled again and again even if no source names it now. */
const NAMED_MS = 60_000;

export class ShardLinks {
  readonly #createLink: (address: string) => ShardLink;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #links = new Map<string, ShardLink>();
  /** When a shard last named the address as an owner's, or when its connection was lost. */
  readonly #namedAtMs = new Map<string, number>();
  /** The addresses of members, by the link to the shard that announces them. */
  readonly #announced = new Map<ShardLink, ReadonlySet<string>>();
  readonly #unwatch: () => void;
  #seeds: ReadonlySet<string> = new Set();
  #closed = false;

  constructor(dependencies: {
    readonly discovery: Discovery;
    readonly createLink: (address: string) => ShardLink;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    this.#createLink = dependencies.createLink;
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
    this.#unwatch = dependencies.discovery.watch((addresses) => this.#seed(addresses));
  }

  /** The link to an owner that a shard has named; dials it if there is none. Undefined if it cannot be dialled. */
  named(address: string): ShardLink | undefined {
    const link = this.#get(address);
    if (link !== undefined) this.#namedAtMs.set(address, this.#clock.monotonicMs());
    return link;
  }

  /** A shard announces the other members. Those not reached under another address are dialled. */
  announce(by: ShardLink, members: readonly MemberAddress[]): void {
    this.#announced.set(by, new Set(members.map(({ address }) => address)));
    const reached = new Set(this.ready().map(({ shardName }) => shardName));
    for (const { shardName, address } of members) {
      if (!reached.has(shardName)) this.#get(address);
    }
  }

  #get(address: string): ShardLink | undefined {
    const known = this.#links.get(address);
    if (known !== undefined || this.#closed) return known;
    if (!isAddress(address) || this.#links.size >= SHARD_ADDRESSES_MAX) {
      this.#log.warn(
        { address, links: this.#links.size },
        'shard address not dialled: it is malformed, or there are too many links',
      );
      return undefined;
    }
    const link = this.#createLink(address);
    this.#links.set(address, link);
    return link;
  }

  ready(): ShardLink[] {
    return [...this.#links.values()].filter((link) => link.ready);
  }

  /** A dial failed or a connection ended. An address that no source names any more is not dialled again. */
  onLost(link: ShardLink): void {
    // The shard was there until now, so it counts as named now.
    if (this.#announced.delete(link)) this.#namedAtMs.set(link.address, this.#clock.monotonicMs());
    if (!this.#wanted(link)) this.#release(link);
  }

  #wanted({ address }: ShardLink): boolean {
    const namedAtMs = this.#namedAtMs.get(address) ?? Number.NEGATIVE_INFINITY;
    if (this.#seeds.has(address) || this.#clock.monotonicMs() - namedAtMs < NAMED_MS) return true;
    for (const addresses of this.#announced.values()) if (addresses.has(address)) return true;
    return false;
  }

  close(): void {
    this.#closed = true;
    this.#unwatch();
    for (const link of [...this.#links.values()]) this.#release(link);
  }

  #seed(addresses: readonly string[]): void {
    this.#seeds = new Set(addresses);
    for (const address of this.#seeds) this.#get(address);
    for (const link of [...this.#links.values()]) {
      if (!link.ready && !this.#wanted(link)) this.#release(link);
    }
  }

  #release(link: ShardLink): void {
    if (!this.#links.delete(link.address)) return;
    this.#namedAtMs.delete(link.address);
    this.#announced.delete(link);
    link.close();
  }
}
