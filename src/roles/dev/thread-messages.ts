// What the main thread of `grantd dev` and its further threads say to each other, apart from the streams between fronts
// and shards, which have ports of their own.

import type { MessagePort } from 'node:worker_threads';
import type { Environment } from '../../config/read-config.ts';
import type { WindowCount, WindowLimit } from '../../front/limits/shared-rate-limiter.ts';
import type { Meta } from '../../store/store.ts';
import type { LogLevel } from '../../telemetry/choices.ts';
import type { MetricsSnapshot } from '../../telemetry/metrics.ts';

/** What a thread is started with. */
export interface ThreadSettings {
  /** 2 and up: the main thread is the first. */
  readonly number: number;
  readonly threads: number;
  /** That of the main thread, so that both read the same settings. */
  readonly environment: Environment;
  readonly log: { readonly level: LogLevel; readonly pretty: boolean };
  readonly version: string;
  /** Where the main thread listens, with the port. */
  readonly httpAddress: string;
  readonly baseUrl: string;
  readonly meta: Meta;
  /** Damage of the embedded store that any thread has noticed. */
  readonly damage: SharedArrayBuffer;
  /** Where the shards of the main thread listen. */
  readonly shardAddresses: readonly string[];
  readonly commitCounts: SharedArrayBuffer;
  readonly pageCacheBytes: number;
}

export type ToThread =
  | { readonly kind: 'drain' }
  /** End everything, then the thread. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'read-metrics'; readonly id: number }
  | { readonly kind: 'counted'; readonly id: number; readonly count: WindowCount };

export type FromThread =
  /** It listens. */
  | { readonly kind: 'ready' }
  /** It cannot start; the message is complete, for the operator. */
  | { readonly kind: 'refused'; readonly message: string }
  /** A stream to the shard at the address. */
  | { readonly kind: 'dial'; readonly address: string; readonly port: MessagePort }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: MetricsSnapshot }
  /** Counts requests in a window that all threads share. */
  | {
      readonly kind: 'count';
      readonly id: number;
      readonly key: string;
      readonly limit: WindowLimit;
      readonly points: number;
      readonly which: 'running' | 'next';
    };
