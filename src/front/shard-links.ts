// The links of a front: one per address that discovery names, and one per owner that a shard has named. It keeps: no
// address is dialled twice, and the number of links is bounded.

import type { Clock } from '../core/clock.ts';
import type { Discovery } from '../discovery/discovery.ts';
import type { Log } from '../telemetry/log.ts';
import type { ShardLink } from './shard-link.ts';

/** Several times the largest cluster: above it, something names addresses that are not shards. */
const LINKS_MAX = 1000;
/** For so long after a shard has named it, an address is dialled over and over even where discovery does not know it. */
const NAMED_MS = 60_000;
const ADDRESS_PATTERN = /^[^\s/]{1,255}:\d{1,5}$/;

export class ShardLinks {
  readonly #createLink: (address: string) => ShardLink;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #links = new Map<string, ShardLink>();
  /** When a shard last named the address of a link as an owner's. */
  readonly #namedAtMs = new Map<string, number>();
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

  /** The link to an owner that a shard has named, dialled now where there is none. Undefined where it cannot be. */
  named(address: string): ShardLink | undefined {
    const link = this.#get(address);
    if (link !== undefined) this.#namedAtMs.set(address, this.#clock.monotonicMs());
    return link;
  }

  #get(address: string): ShardLink | undefined {
    const known = this.#links.get(address);
    if (known !== undefined || this.#closed) return known;
    if (!ADDRESS_PATTERN.test(address) || this.#links.size >= LINKS_MAX) {
      this.#log.warn({ address, links: this.#links.size }, 'an address of a shard is not dialled');
      return undefined;
    }
    const link = this.#createLink(address);
    this.#links.set(address, link);
    return link;
  }

  ready(): ShardLink[] {
    return [...this.#links.values()].filter((link) => link.ready);
  }

  /** A dial has failed or a connection ended. What nobody names any more is not dialled again. */
  onLost(link: ShardLink): void {
    if (!this.#wanted(link)) this.#release(link);
  }

  #wanted({ address }: ShardLink): boolean {
    const namedAtMs = this.#namedAtMs.get(address) ?? Number.NEGATIVE_INFINITY;
    return this.#seeds.has(address) || this.#clock.monotonicMs() - namedAtMs < NAMED_MS;
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
    link.close();
  }
}
