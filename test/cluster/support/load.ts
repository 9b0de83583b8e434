// A load on a cluster, from processes of clients, and what it showed: which requests failed, how long each tenant
// had to wait, and the verdict of the checker on all that was answered.

import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { slotOfTenant } from '../../../src/core/slots.ts';
import { checkHistory, type Verdict } from '../../kit/history/check-history.ts';
import type { Operation } from '../../kit/history/history.ts';
import type { Cluster } from './cluster.ts';
import {
  type FromLoadProcess,
  type LoadJob,
  type LoadResult,
  monotonicMs,
  type RequestRecord,
  type ToLoadProcess,
} from './load-job.ts';
import type { TenantWithKey } from './operator-client.ts';

/** New tenants are made so many at a time. */
const TENANTS_AT_ONCE = 5;
/** What chance may add to the tenants of a load, times those that it is to have. */
const TENANTS_EXCESS_MAX = 4;

export interface LoadSize {
  readonly processes: number;
  /** Of all processes. */
  readonly clients: number;
  /** One more for each shard that owns none of them. */
  readonly tenants: number;
  readonly requestsPerSecond: number;
  /** Of every second tenant, and of one tenant of each shard at least: shards that read for it beside its owner. */
  readonly readers: number;
}

export const FULL_LOAD: LoadSize = { processes: 2, clients: 32, tenants: 20, requestsPerSecond: 80, readers: 2 };
/** What two processors bear beside a whole cluster: few of its requests wait for one another. */
export const LIGHT_LOAD: LoadSize = { processes: 1, clients: 16, tenants: 8, requestsPerSecond: 8, readers: 2 };

/** What a load asks, and where its results go. Tenants have readers if it can say what those have answered. */
export type LoadTarget = Pick<Cluster, 'operator' | 'frontUrls' | 'directory'> & Partial<Pick<Cluster, 'readerCalls'>>;

export interface LoadTenant extends TenantWithKey {
  readonly readers: number;
}

async function createTenants({ operator }: LoadTarget, name: string, size: LoadSize): Promise<LoadTenant[]> {
  const slots = await operator.slots();
  const withoutReaders = new Set(size.readers === 0 ? [] : slots.flatMap(({ shard }) => shard ?? []));
  const tenants: LoadTenant[] = [];
  while (tenants.length < size.tenants || withoutReaders.size > 0) {
    if (tenants.length > TENANTS_EXCESS_MAX * size.tenants) throw new Error('Some shards own hardly any slot.');
    const count = Math.max(1, Math.min(TENANTS_AT_ONCE, size.tenants - tenants.length));
    const created = await Promise.all(Array.from({ length: count }, () => operator.createTenant(name)));
    for (const tenant of created) {
      const owner = slots[slotOfTenant(tenant.tenantId, slots.length)]?.shard ?? '';
      const readers = withoutReaders.delete(owner) || tenants.length % 2 === 1 ? size.readers : 0;
      if (readers > 0) await operator.setReaders(tenant.tenantId, readers);
      tenants.push({ ...tenant, readers });
    }
  }
  return tenants;
}

/** The machine's monotonic clock since the load began. */
type Moment = number;

class LoadProcess {
  readonly #child: ChildProcess;
  readonly #job: LoadJob;

  constructor(job: LoadJob) {
    this.#job = job;
    this.#child = fork(join(import.meta.dirname, 'load-process.ts'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }

  #ask(message: ToLoadProcess, expected: FromLoadProcess['kind']): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#child.once('exit', () => reject(new Error('A process of clients ended.')));
      this.#child.once('message', (answer: FromLoadProcess) => {
        if (answer.kind === expected) resolve();
        else reject(new Error(answer.kind === 'failed' ? answer.message : answer.kind));
      });
      this.#child.send(message);
    });
  }

  start(): Promise<void> {
    return this.#ask({ kind: 'start', job: this.#job }, 'started');
  }

  async stop(): Promise<LoadResult> {
    await this.#ask({ kind: 'stop' }, 'done');
    this.kill();
    return JSON.parse(readFileSync(this.#job.resultFile, 'utf8'));
  }

  kill(): void {
    this.#child.removeAllListeners('exit');
    this.#child.kill('SIGKILL');
  }
}

export class Load {
  readonly tenants: readonly LoadTenant[];
  readonly #originMs: number;
  readonly #processes: readonly LoadProcess[];

  static async start(cluster: LoadTarget, name: string, size: LoadSize): Promise<Load> {
    const readers = cluster.readerCalls === undefined ? 0 : size.readers;
    const load = new Load(cluster, name, await createTenants(cluster, name, { ...size, readers }), size);
    await Promise.all(load.#processes.map((each) => each.start()));
    return load;
  }

  private constructor(cluster: LoadTarget, name: string, tenants: readonly LoadTenant[], size: LoadSize) {
    const { processes, clients, requestsPerSecond } = size;
    this.tenants = tenants;
    this.#originMs = monotonicMs();
    this.#processes = Array.from(
      { length: processes },
      (_, index) =>
        new LoadProcess({
          process: index + 1,
          originMs: this.#originMs,
          clients: clients / processes,
          requestsPerSecond: requestsPerSecond / processes,
          fronts: cluster.frontUrls,
          tenants,
          sweeps: index === 0,
          resultFile: join(cluster.directory, `${name}-${index + 1}.json`),
        }),
    );
  }

  now(): Moment {
    return monotonicMs() - this.#originMs;
  }

  async stop(): Promise<LoadReport> {
    // The sweep of the first process comes when the clients of all are done.
    const others = await Promise.all(this.#processes.slice(1).map((each) => each.stop()));
    const [first] = this.#processes;
    const results = first === undefined ? others : [await first.stop(), ...others];
    return new LoadReport(
      results.flatMap(({ operations }) => operations),
      results.flatMap(({ requests }) => requests),
    );
  }

  kill(): void {
    for (const each of this.#processes) each.kill();
  }
}

export interface Window {
  readonly from: Moment;
  readonly to: Moment;
}

export class LoadReport {
  readonly operations: readonly Operation[];
  readonly requests: readonly RequestRecord[];

  constructor(operations: readonly Operation[], requests: readonly RequestRecord[]) {
    this.operations = operations;
    this.requests = requests;
  }

  verdict(): Verdict {
    return checkHistory(this.operations);
  }

  get failures(): RequestRecord[] {
    return this.requests.filter(({ failure }) => failure !== undefined);
  }

  /** Requests that were in flight in the window, of these tenants (all, unless told). */
  within({ from, to }: Window, tenants?: ReadonlySet<number>): RequestRecord[] {
    return this.requests.filter(
      ({ atMs, latencyMs, tenant }) =>
        atMs < to && atMs + latencyMs > from && (tenants === undefined || tenants.has(tenant)),
    );
  }

  /**
   * For each of these tenants (all, unless told), the longest that an answered request of the window took: how long it
   * paused.
   */
  pauses(window: Window, tenants?: ReadonlySet<number>): number[] {
    const pauses = new Map<number, number>();
    for (const { tenant, latencyMs, failure } of this.within(window, tenants)) {
      if (failure === undefined) pauses.set(tenant, Math.max(pauses.get(tenant) ?? 0, latencyMs));
    }
    return [...pauses.values()];
  }
}

/** Of latencies; 0 where there are none. */
export function percentile(requests: readonly RequestRecord[], share: number): number {
  const latencies = requests.map(({ latencyMs }) => latencyMs).sort((left, right) => left - right);
  return latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
}
