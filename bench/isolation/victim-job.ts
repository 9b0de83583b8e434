// The messages to and from the victim's process.

import type { PreparedRequest } from '../load/load-job.ts';

/** Its source address, a loopback address that no attacker uses. */
export const VICTIM_ADDRESS = '127.0.0.2';

export interface VictimJob {
  readonly url: string;
  /** A server that only responds: it gets as many requests, in between. */
  readonly echoUrl: string;
  readonly key: string;
  readonly requests: readonly PreparedRequest[];
  /** Whether every request uses a new connection. */
  readonly reconnects: boolean;
}

export type ToVictim =
  /** This many requests one after another, before the measurement. */
  | { readonly kind: 'warm-up'; readonly job: VictimJob; readonly requests: number }
  | { readonly kind: 'start'; readonly job: VictimJob }
  /** Sends nothing more, and waits for what is in flight. */
  | { readonly kind: 'stop' };

export interface VictimResult {
  readonly sent: number;
  /** Requests without the right response. */
  readonly failed: number;
  readonly firstFailure: string | undefined;
  /** From the moment a request was due to its response, right or wrong. */
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** What the machine alone added to any response at that time. */
  readonly echoP99Ms: number;
}

export type FromVictim =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: VictimResult }
  | { readonly kind: 'failed'; readonly message: string };
