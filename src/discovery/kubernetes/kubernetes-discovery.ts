// Addresses of shards from Kubernetes: every endpoint of one Service, listed and watched as EndpointSlices. Invariants:
// the last known set stays while the API server is down or refuses, however long, and while the Service has no
// endpoints, because neither is evidence about shards that still respond. One request is in flight at a time, and a
// pause follows a failed one.
//
//   list ──▶ watch ──▶ watch ──▶ … ──▶ list    each watch continues from the last version, event or bookmark
//    ▲         │                        (5 min)
//    └─ pause ─┘ any failure: refused, broken off, silent, version expired

import { isDeepStrictEqual } from 'node:util';
import { backoffMs, type Clock, delay, jitteredMs, type Random, type Timer } from '../../core/async/clock.ts';
import { SHARD_ADDRESSES_MAX } from '../../core/limits.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Discovery, DiscoveryFailure, DiscoveryObserver } from '../discovery.ts';
import { type ApiServer, createApiServer, type LoadKubeConfig } from './api-server.ts';
import {
  ApiFailure,
  addressesOf,
  type EndpointSlice,
  parseSliceEvent,
  parseSliceList,
  type SliceEvent,
} from './endpoint-slices.ts';

/** A list finds everything that a watch has missed. */
const LIST_INTERVAL_MS = 5 * 60_000;
/** Up to this share of an interval is random, so that many fronts do not send requests at the same moment. */
const JITTER = 0.25;
/** For a response, and for the start of a watch. */
const ANSWER_MS_MAX = 10_000;
/** The server ends a watch after this time. It is short, because a dead link is not detected earlier. */
const WATCH_SECONDS = 120;
const WATCH_SECONDS_MIN = 5;
/** A watch that outlives its end on the server by this much is dead. */
const WATCH_GRACE_MS = 15_000;
/** A watch that ends sooner by itself counts as a failure; otherwise it would be requested over and over. */
const WATCH_MS_MIN = 1000;
/** After a watch of at least this length, a failure counts as the first one. */
const GOOD_WATCH_MS = 10_000;
const RETRY = { firstMs: 1000, maxMs: 30_000 };
/** Far more than any cluster has: a slice has up to 100 endpoints. */
const SLICES_MAX = 1000;

export interface KubernetesTarget {
  readonly namespace: string;
  readonly service: string;
  /** The name of a port of the Service, or a number. */
  readonly port: string;
}

export interface KubernetesDiscoveryDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly observer: DiscoveryObserver;
  /** By default KUBECONFIG, otherwise the service account of the pod. Called for every request. */
  readonly loadKubeConfig?: LoadKubeConfig;
}

class KubernetesWatch {
  readonly #dependencies: KubernetesDiscoveryDependencies;
  readonly #target: KubernetesTarget;
  readonly #onChange: (addresses: readonly string[]) => void;
  readonly #api: ApiServer;
  readonly #closing = new AbortController();
  readonly #slices = new Map<string, EndpointSlice>();
  #bound: TimeBound | undefined;
  #known: readonly string[] = [];
  /** From the last list, event or bookmark; undefined: list first. */
  #version: string | undefined;
  #listAtMs = 0;
  /** Consecutive failed requests. */
  #failures = 0;
  /** The last logged failure: a lasting one is logged once. */
  #failure: string | undefined;
  #lack = '';

  constructor(
    dependencies: KubernetesDiscoveryDependencies,
    target: KubernetesTarget,
    onChange: (addresses: readonly string[]) => void,
  ) {
    this.#dependencies = dependencies;
    this.#target = target;
    this.#onChange = onChange;
    this.#api = createApiServer(dependencies.loadKubeConfig);
    dependencies.observer.knows(0);
    void this.#run();
  }

  close(): void {
    this.#closing.abort();
    this.#bound?.end();
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#dependencies;
    while (!this.#closed) {
      try {
        if (this.#version === undefined || clock.monotonicMs() >= this.#listAtMs) await this.#list();
        else await this.#watch(this.#version);
      } catch (error) {
        if (this.#closed) return;
        // Anything else is an error of this program, which ends the process like every other.
        if (!(error instanceof ApiFailure)) throw error;
        this.#version = undefined;
        if (error.kind !== 'expired') this.#fail(error, error.kind);
        const pauseMs = jitteredMs(random, backoffMs(RETRY, this.#failures));
        this.#failures += 1;
        await delay(clock, pauseMs, this.#closing.signal).catch(() => {});
      }
    }
  }

  async #list(): Promise<void> {
    const { clock, random } = this.#dependencies;
    const bound = new TimeBound(clock);
    this.#bound = bound;
    bound.allow(ANSWER_MS_MAX, new ApiFailure('unreachable', 'The API server did not respond in time.'));
    try {
      const { version, slices } = parseSliceList(await this.#api.read(this.#path({}), bound.signal));
      if (this.#closed) return;
      this.#slices.clear();
      for (const slice of slices) this.#keep(slice);
      this.#version = version;
      this.#listAtMs = clock.monotonicMs() + jitteredMs(random, LIST_INTERVAL_MS, JITTER);
      this.#settle();
    } finally {
      bound.end();
    }
  }

  async #watch(version: string): Promise<void> {
    const { clock } = this.#dependencies;
    const bound = new TimeBound(clock);
    this.#bound = bound;
    bound.allow(ANSWER_MS_MAX, new ApiFailure('unreachable', 'The API server did not start the watch in time.'));
    const startMs = clock.monotonicMs();
    const untilListSeconds = Math.ceil((this.#listAtMs - startMs) / 1000);
    const timeoutSeconds = Math.max(WATCH_SECONDS_MIN, Math.min(WATCH_SECONDS, untilListSeconds));
    const path = this.#path({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: version,
      timeoutSeconds: String(timeoutSeconds),
    });
    try {
      const lines = await this.#api.watch(path, bound.signal);
      if (this.#closed) return;
      this.#recover();
      bound.allow(
        timeoutSeconds * 1000 + WATCH_GRACE_MS,
        new ApiFailure('interrupted', 'The watch sent nothing and did not end in time.'),
      );
      for await (const line of lines) {
        if (this.#closed) return;
        this.#take(parseSliceEvent(line));
      }
    } finally {
      bound.end();
      if (clock.monotonicMs() - startMs >= GOOD_WATCH_MS) this.#failures = 0;
    }
    if (clock.monotonicMs() - startMs < WATCH_MS_MIN) {
      throw new ApiFailure('interrupted', 'The API server ends the watch immediately.');
    }
    this.#dependencies.observer.synced();
  }

  #path(query: Readonly<Record<string, string>>): string {
    const { namespace, service } = this.#target;
    const parameters = new URLSearchParams({ labelSelector: `kubernetes.io/service-name=${service}`, ...query });
    return `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices?${parameters}`;
  }

  #take(event: SliceEvent): void {
    this.#version = event.version;
    if (event.kind === 'changed') this.#keep(event.slice);
    if (event.kind === 'removed') this.#slices.delete(event.slice.name);
    this.#settle();
  }

  #keep(slice: EndpointSlice): void {
    this.#slices.set(slice.name, slice);
    if (this.#slices.size > SLICES_MAX) {
      throw new ApiFailure('invalid', `The Service has more than ${SLICES_MAX} EndpointSlices.`);
    }
  }

  /** Reports the addresses if they have changed. */
  #settle(): void {
    const { observer, log } = this.#dependencies;
    const { namespace, service, port } = this.#target;
    observer.synced();
    const found = addressesOf(this.#slices.values(), port);
    const addresses = found.slice(0, SHARD_ADDRESSES_MAX);
    this.#reportLack(found.length);
    if (addresses.length === 0 || isDeepStrictEqual(addresses, this.#known)) return;
    this.#known = Object.freeze(addresses);
    observer.knows(addresses.length);
    log.info({ namespace, service, addresses }, 'shard addresses from Kubernetes');
    this.#onChange(addresses);
  }

  /** Logs once that the addresses found are too many, or none. */
  #reportLack(found: number): void {
    const { namespace, service, port } = this.#target;
    let lack = '';
    if (found > SHARD_ADDRESSES_MAX)
      lack = `the Service has more than ${SHARD_ADDRESSES_MAX} endpoints; ignoring the others`;
    else if (found === 0) {
      const hasHosts = this.#slices.values().some(({ hosts }) => hosts.length > 0);
      const reason = hasHosts ? `no endpoint of the Service has the port ${port}` : 'the Service has no endpoints';
      lack = `${reason}; keeping the known addresses`;
    }
    if (lack === this.#lack) return;
    this.#lack = lack;
    if (lack !== '') this.#dependencies.log.warn({ namespace, service, known: this.#known.length }, lack);
  }

  #recover(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    const { namespace, service } = this.#target;
    this.#dependencies.log.info({ namespace, service }, 'listing and watching EndpointSlices works again');
  }

  #fail({ message, status }: ApiFailure, reason: DiscoveryFailure): void {
    const { observer, log } = this.#dependencies;
    observer.failed(reason);
    const failure = `${reason} ${status ?? ''}`;
    if (failure === this.#failure) return;
    this.#failure = failure;
    const { namespace, service } = this.#target;
    const detail = { namespace, service, known: this.#known.length, reason: message };
    if (status === 403) {
      log.warn(
        detail,
        `the service account may not list and watch EndpointSlices in namespace ${namespace}; keeping the known addresses`,
      );
    } else if (status === 401) {
      log.warn(detail, 'the API server rejects the credentials; keeping the known addresses');
    } else {
      log.warn(detail, 'cannot list or watch EndpointSlices; keeping the known addresses');
    }
  }
}

/** Lists and watches the EndpointSlices of one Service while there is a watcher. */
export function createKubernetesDiscovery(
  dependencies: KubernetesDiscoveryDependencies,
  target: KubernetesTarget,
): Discovery {
  return {
    watch(onChange) {
      const watch = new KubernetesWatch(dependencies, target, onChange);
      return () => watch.close();
    },
  };
}

/**
 * Bounds one request to the API server in time: its signal aborts with a failure when the last allowed time is over.
 */
class TimeBound {
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #timer: Timer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  allow(timeMs: number, failure: ApiFailure): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.setTimer(() => this.#controller.abort(failure), timeMs);
  }

  /** Ends the request completely. */
  end(): void {
    this.#timer?.cancel();
    this.#controller.abort();
  }
}
