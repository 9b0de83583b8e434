// What a test tells a load process to do, and what it hears back. Moments are milliseconds of the machine's monotonic
// clock, which all processes of the machine share, since the moment `originMs` of it.

import type { Operation } from '../../kit/history/history.ts';
import type { TenantWithKey } from './operator-client.ts';

export interface LoadJob {
  /** Names the clients, and seeds what they do. */
  readonly process: number;
  readonly originMs: number;
  readonly clients: number;
  /** Of all clients of this process. */
  readonly requestsPerSecond: number;
  readonly fronts: readonly { readonly url: string; readonly opsUrl: string }[];
  readonly tenants: readonly TenantWithKey[];
  /** At the end, everything is read once more. One process of a load does it. */
  readonly sweeps: boolean;
  readonly resultFile: string;
}

export interface RequestRecord {
  readonly atMs: number;
  readonly latencyMs: number;
  /** Index into the tenants of the job. */
  readonly tenant: number;
  readonly kind: string;
  /** Undefined: it was answered as it should be. */
  readonly failure?: string;
  /** Of a 503. */
  readonly retryAfter?: string;
}

export interface LoadResult {
  readonly operations: readonly Operation[];
  readonly requests: readonly RequestRecord[];
}

export type ToLoadProcess = { readonly kind: 'start'; readonly job: LoadJob } | { readonly kind: 'stop' };
export type FromLoadProcess =
  | { readonly kind: 'started' }
  /** The result stands in the file of the job. */
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

/** The machine's monotonic clock: the same for every process. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;
