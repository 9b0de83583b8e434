// What the victim's process is asked and what it answers, as messages between processes.

import type { PreparedRequest } from '../load/load-job.ts';

/** Where it comes from, of loopback: no attacker does. */
export const VICTIM_ADDRESS = '127.0.0.2';

export interface VictimJob {
  readonly url: string;
  /** Of a server that does nothing but answer: asked as often, in between. */
  readonly echoUrl: string;
  readonly key: string;
  readonly requests: readonly PreparedRequest[];
  /** Every request on a new connection. Else all on one. */
  readonly reconnects: boolean;
}

export type ToVictim =
  /** Requests one after another, as many, before anything is measured. */
  | { readonly kind: 'warm-up'; readonly job: VictimJob; readonly requests: number }
  | { readonly kind: 'start'; readonly job: VictimJob }
  /** Nothing more is sent; what is in flight is waited for. */
  | { readonly kind: 'stop' };

export interface VictimResult {
  readonly sent: number;
  /** Requests without the right response. */
  readonly failed: number;
  readonly firstFailure: string | undefined;
  /** From the moment a request was due to its response, right or not. */
  readonly latencyMs: { readonly p50: number; readonly p99: number };
  /** What the machine adds to any response just then. */
  readonly echoP99Ms: number;
}

export type FromVictim =
  | { readonly kind: 'ready' }
  | { readonly kind: 'done'; readonly result: VictimResult }
  | { readonly kind: 'failed'; readonly message: string };
