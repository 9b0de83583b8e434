// What a load process is asked and what it answers, as messages between processes.

export interface PreparedRequest {
  readonly body: string;
  /** What the body of a right answer begins with. */
  readonly expectedStart: string;
  /** The API key, where it is not that of the job. */
  readonly key?: string;
}

export interface LoadJob {
  readonly url: string;
  /** Where else the same is served: connections go to all in turn. */
  readonly furtherUrls?: readonly string[];
  /** The API key, unless a request has its own. */
  readonly key: string;
  readonly path: string;
  readonly expectedStatus: number;
  readonly connections: number;
  readonly requests: readonly PreparedRequest[];
  /**
   * `each-once`: every request once, as fast as the answers come. `saturate`: round and round for that long, as fast as
   * the answers come. `rate`: round and round for that long, that many a second, whatever the answers do; the load
   * looks at the clock without end, or with `restMs` sleeps for so long between two looks, which leaves the processors
   * to what is measured and may add as much to a latency.
   */
  readonly mode:
    | { readonly kind: 'each-once' }
    | { readonly kind: 'saturate'; readonly durationMs: number }
    | {
        readonly kind: 'rate';
        readonly durationMs: number;
        readonly perSecond: number;
        readonly restMs?: number;
      };
}

/**
 * To be rested at a fixed rate: often enough for some thousand requests a second, and cheap beside what answers them.
 */
export const REST_MS = 0.25;

export interface LoadResult {
  /** Right answers. Every answer is looked at. */
  readonly answered: number;
  /** Answers that were wrong, and the first of them. */
  readonly wrong: number;
  readonly firstWrong: string | undefined;
  /** From the first request to the last answer. */
  readonly seconds: number;
  /**
   * From the moment a request was sent, or at a fixed rate from the moment it was due, to the answer: what waits for a
   * free connection is not left out.
   */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Of all requests and of all answers, headers and all. */
  readonly bytes: { readonly sent: number; readonly received: number };
}

export type FromLoadProcess =
  | { readonly kind: 'done'; readonly result: LoadResult }
  | { readonly kind: 'failed'; readonly message: string };
