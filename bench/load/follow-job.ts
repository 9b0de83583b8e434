// What the process of followers does, as messages between processes: it keeps streams of changes open, and makes the
// changes itself, so that one clock measures both.

export type FollowJob =
  | {
      /** Opens streams of the tenant, from now on. */
      readonly kind: 'open';
      readonly url: string;
      readonly key: string;
      readonly streams: number;
    }
  | {
      /** Creates grants one after another, each once all streams have the one before and a pause is over. */
      readonly kind: 'deliver';
      readonly url: string;
      readonly key: string;
      readonly first: number;
      readonly changes: number;
      readonly pauseMs: number;
    }
  | {
      /** Creates that many grants a second, whatever the streams do. */
      readonly kind: 'write';
      readonly url: string;
      readonly key: string;
      readonly first: number;
      readonly changes: number;
      readonly perSecond: number;
    }
  | { readonly kind: 'close' };

export interface FollowResult {
  readonly seconds: number;
  /** From the response to the write to the arrival at each stream; only of `deliver`. */
  readonly deliveryMs: { readonly p50: number; readonly p99: number; readonly max: number };
}

export type FromFollowProcess =
  | { readonly kind: 'done'; readonly result: FollowResult }
  | { readonly kind: 'failed'; readonly message: string };
