// Addresses of shards from DNS: every address of one name, looked up repeatedly; a headless Service has one per pod.
// Invariant: the last known set stays while a lookup fails or finds nothing. A name server that is down, or a service
// whose pods are all being replaced, says nothing about shards that still respond.

import { lookup } from 'node:dns/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, jitteredMs, type Random, type Timer } from '../core/async/clock.ts';
import { SHARD_ADDRESSES_MAX } from '../core/limits.ts';
import type { Log } from '../telemetry/log.ts';
import type { Discovery, DiscoveryObserver } from './discovery.ts';

const LOOKUP_INTERVAL_MS = 2000;
/** Up to this share of the interval is random, so that many fronts do not look up at the same moment. */
const JITTER = 0.25;
/**
 * A slower lookup counts as failed. The next one starts only after it has ended, because a lookup occupies a thread.
 */
const LOOKUP_MS_MAX = 10_000;

/** Every address of a host, IPv4 and IPv6; rejects if there is none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export interface DnsDiscoveryDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Without it, nothing is counted. */
  readonly observer?: DiscoveryObserver;
  /** By default the resolver of the machine, with its search domains and its hosts file. */
  readonly resolve?: Resolve;
}

const resolveBySystem: Resolve = async (name) => {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
};

const withPort = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

class DnsWatch {
  readonly #dependencies: DnsDiscoveryDependencies;
  readonly #target: { readonly name: string; readonly port: number };
  readonly #onChange: (addresses: readonly string[]) => void;
  #timer: Timer | undefined;
  #known: readonly string[] = [];
  #closed = false;
  /** The last logged failure: a lasting one is logged once. */
  #failure = '';
  /** Logged once while it lasts. */
  #tooMany = false;

  constructor(
    dependencies: DnsDiscoveryDependencies,
    target: { readonly name: string; readonly port: number },
    onChange: (addresses: readonly string[]) => void,
  ) {
    this.#dependencies = dependencies;
    this.#target = target;
    this.#onChange = onChange;
    dependencies.observer?.knows(0);
    this.#look();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #look(): void {
    const { clock, resolve = resolveBySystem } = this.#dependencies;
    // A slow lookup is a failure like any other, but a late result is still used.
    this.#timer = clock.setTimer(() => this.#fail('The DNS lookup timed out.'), LOOKUP_MS_MAX);
    resolve(this.#target.name).then(
      (hosts) => this.#end(() => this.#take(hosts)),
      (error: unknown) => this.#end(() => this.#fail(error instanceof Error ? error.message : String(error))),
    );
  }

  #end(report: () => void): void {
    if (this.#closed) return;
    this.#timer?.cancel();
    const { clock, random } = this.#dependencies;
    this.#timer = clock.setTimer(() => this.#look(), jitteredMs(random, LOOKUP_INTERVAL_MS, JITTER));
    report();
  }

  #take(hosts: readonly string[]): void {
    if (hosts.length === 0) {
      this.#fail('The name has no addresses.');
      return;
    }
    const { log, observer } = this.#dependencies;
    const { name, port } = this.#target;
    observer?.synced();
    if (this.#failure !== '') log.info({ name }, 'DNS lookup of shards works again');
    this.#failure = '';
    const found = [...new Set(hosts)].map((host) => withPort(host, port)).sort();
    const addresses = found.slice(0, SHARD_ADDRESSES_MAX);
    if (found.length > addresses.length && !this.#tooMany) {
      log.warn(
        { name, found: found.length },
        `the name has more than ${SHARD_ADDRESSES_MAX} addresses; ignoring the others`,
      );
    }
    this.#tooMany = found.length > addresses.length;
    if (isDeepStrictEqual(addresses, this.#known)) return;
    this.#known = Object.freeze(addresses);
    observer?.knows(addresses.length);
    log.info({ name, addresses }, 'shard addresses from DNS');
    this.#onChange(addresses);
  }

  #fail(reason: string): void {
    if (this.#closed) return;
    this.#dependencies.observer?.failed('unreachable');
    if (reason === this.#failure) return;
    this.#failure = reason;
    const { name } = this.#target;
    this.#dependencies.log.warn(
      { name, reason, known: this.#known.length },
      'DNS lookup of shards failed; keeping the known addresses',
    );
  }
}

/** Looks up `name` every 2 seconds while there is a watcher. */
export function createDnsDiscovery(
  dependencies: DnsDiscoveryDependencies,
  target: { readonly name: string; readonly port: number },
): Discovery {
  return {
    watch(onChange) {
      const watch = new DnsWatch(dependencies, target, onChange);
      return () => watch.close();
    },
  };
}
