// The jobs for a load process and its results, as messages between processes.

export interface PreparedRequest {
  /** Empty for a GET. */
  readonly body: string;
  /** The path, if it differs from that of the job. */
  readonly path?: string;
  /** How the body of a right response begins. */
  readonly expectedStart: string;
  /** The API key, if it differs from that of the job. */
  readonly key?: string;
}

export interface LoadJob {
  readonly url: string;
  /** Further URLs of the same service: connections use all of them in turn. */
  readonly furtherUrls?: readonly string[];
  /** The API key, unless a request has its own. */
  readonly key: string;
  /** POST, unless said otherwise. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly expectedStatus: number;
  readonly connections: number;
  readonly requests: readonly PreparedRequest[];
  /**
   * `each-once`: every request once, as fast as the responses come. `saturate`: repeatedly for that long, as fast as
   * the responses come. `rate`: repeatedly for that long, that many a second, independently of the responses. The load
   * then polls the clock continuously, or with `restMs` sleeps for that long between two looks, which leaves the
   * processors to the measured service and may add as much to a latency.
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

/** The pause at a fixed rate: short enough for some thousand requests a second, and cheap compared with the service. */
export const REST_MS = 0.25;

export interface LoadResult {
  /** Right responses. Every response is checked. */
  readonly answered: number;
  /** Wrong responses, and the first of them. */
  readonly wrong: number;
  readonly firstWrong: string | undefined;
  /** From the first request to the last response. */
  readonly seconds: number;
  /**
   * From the moment a request was sent, or at a fixed rate from the moment it was due, to the response: it includes
   * waiting for a free connection.
   */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Of all requests and all responses, including headers. */
  readonly bytes: { readonly sent: number; readonly received: number };
}

export type FromLoadProcess =
  | { readonly kind: 'done'; readonly result: LoadResult }
  | { readonly kind: 'failed'; readonly message: string };
