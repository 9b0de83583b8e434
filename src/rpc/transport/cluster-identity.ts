// Which cluster this process belongs to, and whether a shard that it has dialled belongs to it too. Every dial asks
// here (shard-dialer.ts), so nothing that a shard of another cluster says counts: neither its epochs nor the members
// that it names.
//
// A process with a store knows the id. A front may be given it; otherwise it learns it, once, from the shards:
//
//   unknown ──more than half of the named addresses answer alike, none differently──▶ known
//      │                                                                                ▲
//      └──some answer alike and none differently, for LONE_MS──▶ presumed ──more than half──┘
//
// Invariants: a known id never changes. While the id is unknown, or is presumed and another one is in sight, no shard
// is used.

import type { Clock, Timer } from '../../core/async/clock.ts';
import { type ClusterId, parseClusterId } from '../../core/ids.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { ReceivedWelcome } from '../messages.ts';

/** By then, every address has been dialled three times at least. */
const LONE_MS = 5000;
/** Addresses that a sentence for the operator lists. */
const LISTED_MAX = 10;
/** In place of what is not the id of a cluster. */
const NO_CLUSTER = 'no cluster';

/** `undecided`: the stream must not be used, and `watch` reports when that may change. */
export type ClusterVerdict = 'same' | 'foreign' | 'undecided';

export interface ClusterIdentityDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'foreignClusterAddresses'>;
}

export class ClusterIdentity {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metric: Metrics['foreignClusterAddresses'];
  readonly #watchers = new Set<() => void>();
  /** By address that is being dialled: the cluster that answered last; undefined: the last dial had no answer. */
  readonly #answers = new Map<string, string | undefined>();
  /** By address: the foreign cluster that the log names there. */
  readonly #logged = new Map<string, string>();
  #named: ReadonlySet<string> = new Set();
  #id: ClusterId | undefined;
  #isPresumed = false;
  #usable: boolean;
  #counted = 0;
  /** The clusters that the log names as contradicting each other. */
  #conflict = '';
  /** Adopts the only cluster in sight, unless another one comes in sight. */
  #lone: { readonly id: ClusterId; readonly timer: Timer } | undefined;

  /** `id`: undefined if it must be learned. */
  constructor({ clock, log, metrics }: ClusterIdentityDependencies, id: ClusterId | undefined) {
    this.#clock = clock;
    this.#log = log;
    this.#metric = metrics.foreignClusterAddresses;
    this.#metric.inc(0);
    this.#id = id;
    this.#usable = id !== undefined;
  }

  /** Undefined while it is unknown. */
  get id(): ClusterId | undefined {
    return this.#id;
  }

  /** Calls back whenever a verdict may have changed. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  /** The addresses at which discovery expects shards. */
  expect(addresses: readonly string[]): void {
    this.#named = new Set(addresses);
    this.#decide();
  }

  /** A shard at `address` has sent its welcome. */
  meet(address: string, { clusterId, shardName }: ReceivedWelcome): ClusterVerdict {
    const cluster = parseClusterId(clusterId) ?? NO_CLUSTER;
    this.#answer(address, cluster);
    const verdict = this.verdict(clusterId);
    if (verdict === 'foreign' && this.#logged.get(address) !== cluster) {
      this.#logged.set(address, cluster);
      this.#log.error({ address, shardName, cluster, expected: this.#id }, 'shard refused: it is of another cluster');
    }
    return verdict;
  }

  /** A dial of `address` ended without a welcome. */
  miss(address: string): void {
    this.#answer(address, undefined);
  }

  /** The address is not dialled any more. */
  forget(address: string): void {
    this.#logged.delete(address);
    if (this.#answers.delete(address)) this.#decide();
  }

  verdict(clusterId: string): ClusterVerdict {
    if (!this.#usable) return 'undecided';
    return clusterId === this.#id ? 'same' : 'foreign';
  }

  /** Why no shard is used although some answer, for the operator. */
  problem(): string | undefined {
    if (this.#usable) return undefined;
    const places = this.#places();
    if (places.size === 0) return undefined;
    if (places.size > 1) {
      return `shards of several clusters answer, so none is used: ${describe(places)}; set GRANTD_CLUSTER_ID, or take the wrong addresses out of discovery`;
    }
    const [addresses = []] = places.values();
    const expected = Math.max(this.#named.size, addresses.length);
    return `learning the id of the cluster: ${addresses.length} of ${expected} addresses answered so far, ${describe(places)}; with GRANTD_CLUSTER_ID, it need not be learned`;
  }

  /** Shards of other clusters that answer although the own one is used, for the operator. */
  warnings(): readonly string[] {
    if (!this.#usable) return [];
    const foreign = this.#places();
    if (this.#id !== undefined) foreign.delete(this.#id);
    if (foreign.size === 0) return [];
    return [`shards of another cluster answer and are refused: ${describe(foreign)}; this is ${this.#id}`];
  }

  /** No dial is left. */
  close(): void {
    this.#lone?.timer.cancel();
  }

  #answer(address: string, cluster: string | undefined): void {
    if (this.#answers.has(address) && this.#answers.get(address) === cluster) return;
    this.#answers.set(address, cluster);
    this.#decide();
  }

  /** By cluster: the addresses at which it answers. */
  #places(): Map<string, string[]> {
    const places = new Map<string, string[]>();
    for (const [address, cluster] of this.#answers) {
      if (cluster === undefined) continue;
      const addresses = places.get(cluster);
      if (addresses === undefined) places.set(cluster, [address]);
      else addresses.push(address);
    }
    return places;
  }

  #decide(): void {
    const places = this.#places();
    if (this.#id === undefined) this.#learn(places);
    const id = this.#id;
    const isAlone = id !== undefined && [...places.keys()].every((cluster) => cluster === id);
    if (this.#isPresumed && isAlone && id !== undefined && this.#isMajority(id)) this.#isPresumed = false;
    const usable = id !== undefined && (!this.#isPresumed || isAlone);
    this.#report(places, usable);
    if (usable === this.#usable) return;
    this.#usable = usable;
    for (const onChange of [...this.#watchers]) onChange();
  }

  #learn(places: ReadonlyMap<string, readonly string[]>): void {
    const [cluster = ''] = places.keys();
    const id = places.size === 1 ? parseClusterId(cluster) : undefined;
    if (this.#lone !== undefined && this.#lone.id !== id) {
      this.#lone.timer.cancel();
      this.#lone = undefined;
    }
    if (id === undefined) return;
    if (this.#isMajority(id) && [...this.#named].every((address) => this.#answers.has(address))) {
      this.#adopt(id);
      return;
    }
    this.#lone ??= {
      id,
      timer: this.#clock.setTimer(() => {
        this.#adopt(id);
        this.#decide();
      }, LONE_MS),
    };
  }

  #adopt(id: ClusterId): void {
    this.#lone?.timer.cancel();
    this.#id = id;
    this.#isPresumed = !this.#isMajority(id);
    this.#log.info({ cluster: id, isPresumed: this.#isPresumed }, 'learned the id of the cluster');
  }

  /** Whether more than half of the named addresses answer as this cluster. */
  #isMajority(id: ClusterId): boolean {
    let count = 0;
    for (const address of this.#named) if (this.#answers.get(address) === id) count += 1;
    return 2 * count > this.#named.size;
  }

  #report(places: ReadonlyMap<string, readonly string[]>, usable: boolean): void {
    let foreign = 0;
    // Without an id to compare with, all those that contradict each other count.
    for (const [cluster, addresses] of places) if (cluster !== this.#id) foreign += addresses.length;
    if (this.#id === undefined && places.size < 2) foreign = 0;
    this.#metric.inc(foreign - this.#counted);
    this.#counted = foreign;
    const conflict = usable || places.size < 2 ? '' : [...places.keys()].sort().join(' ');
    if (conflict !== '' && conflict !== this.#conflict) {
      this.#log.error({ clusters: describe(places) }, 'shards of several clusters answer; none is used');
    }
    this.#conflict = conflict;
  }
}

function describe(places: ReadonlyMap<string, readonly string[]>): string {
  const parts = [...places].map(([cluster, addresses]) => {
    const listed = addresses.slice(0, LISTED_MAX).sort().join(', ');
    const more = addresses.length - LISTED_MAX;
    return `${cluster} at ${listed}${more > 0 ? ` and ${more} more` : ''}`;
  });
  return parts.sort().slice(0, LISTED_MAX).join('; ');
}
