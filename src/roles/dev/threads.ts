// The further threads of `grantd dev --threads`, as the main thread sees them: it starts them, accepts their streams to
// its shards, counts requests for them, collects their metrics and stops them. Invariant: a thread that ends without
// being asked is reported, since a service that has lost a part would answer some clients and not others.

import { Worker } from 'node:worker_threads';
import { heapMebibytesFor } from '../../config/page-cache-memory.ts';
import type { TakeCount } from '../../front/limits/memory-counts.ts';
import { acceptPort } from '../../rpc/transport/port-transport.ts';
import type { AcceptStream } from '../../rpc/transport/transport.ts';
import type { Metrics, MetricsSnapshot } from '../../telemetry/metrics.ts';
import { StartError } from '../process/start-error.ts';
import { PendingAnswers } from './pending.ts';
import type { FromThread, ThreadSettings, ToThread } from './thread-messages.ts';

const ENTRY = new URL('../dev-thread.ts', import.meta.url);

interface ThreadDependencies {
  /** The shards of this thread, by address. */
  readonly shards: ReadonlyMap<string, AcceptStream>;
  readonly takeCount: TakeCount;
  readonly metrics: Metrics;
  /** A thread that served has ended by itself. */
  readonly onLost: (error: Error) => void;
}

class Thread {
  readonly #worker: Worker;
  readonly #dependencies: ThreadDependencies;
  readonly #name: string;
  readonly #metrics = new PendingAnswers<MetricsSnapshot>();
  readonly #exited: Promise<unknown>;
  #state: 'starting' | 'serving' | 'stopping' = 'starting';

  constructor(dependencies: ThreadDependencies, settings: ThreadSettings, entry: URL) {
    this.#dependencies = dependencies;
    this.#name = `thread ${settings.number}`;
    this.#worker = new Worker(entry, {
      name: `grantd-${settings.number}`,
      workerData: settings,
      resourceLimits: { maxOldGenerationSizeMb: heapMebibytesFor(settings.pageCacheBytes) },
    });
    this.#exited = new Promise((resolve) => this.#worker.once('exit', resolve));
  }

  /** Resolves once it listens. */
  started(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        if (this.#state === 'starting') reject(error);
        else this.#dependencies.onLost(error);
      };
      this.#worker.on('message', (message: FromThread) => {
        if (message.kind === 'ready') {
          this.#state = 'serving';
          resolve();
        } else if (message.kind === 'refused') {
          reject(new StartError(message.message));
        } else {
          this.#take(message);
        }
      });
      this.#worker.on('error', fail);
      this.#worker.on('exit', (code) => {
        if (this.#state !== 'stopping') fail(new Error(`The ${this.#name} ended with code ${code}.`));
      });
    });
  }

  #take(message: Exclude<FromThread, { kind: 'ready' | 'refused' }>): void {
    const { shards, takeCount } = this.#dependencies;
    switch (message.kind) {
      case 'dial':
        acceptPort(message.port, shards.get(message.address), this.#name);
        return;
      case 'metrics':
        this.#metrics.answer(message.id, message.metrics);
        return;
      case 'count': {
        const { id, key, limit, points, which } = message;
        this.#send({ kind: 'counted', id, count: takeCount(key, limit, points, which) });
      }
    }
  }

  readMetrics(): Promise<MetricsSnapshot> {
    return this.#metrics.ask((id) => this.#send({ kind: 'read-metrics', id }));
  }

  drain(): void {
    this.#send({ kind: 'drain' });
  }

  /** Resolves once it has ended. */
  async stop(): Promise<void> {
    this.#state = 'stopping';
    this.#send({ kind: 'stop' });
    await this.#exited;
  }

  #send(message: ToThread): void {
    this.#worker.postMessage(message);
  }
}

export interface Threads {
  drain(): void;
}

/**
 * `settings`: of each thread; `entry`: what it runs. Resolves once all listen. `parts` stops them. Rejects if one of
 * them cannot start.
 */
export async function startThreads(
  dependencies: ThreadDependencies,
  settings: readonly ThreadSettings[],
  parts: AsyncDisposableStack,
  entry = ENTRY,
): Promise<Threads> {
  const threads = settings.map((each) => new Thread(dependencies, each, entry));
  parts.defer(async () => {
    await Promise.all(threads.map((thread) => thread.stop()));
  });
  await Promise.all(threads.map((thread) => thread.started()));
  dependencies.metrics.include(() => Promise.all(threads.map((thread) => thread.readMetrics())));
  return {
    drain() {
      for (const thread of threads) thread.drain();
    },
  };
}
