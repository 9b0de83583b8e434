// Reads pages of a change feed for as long as someone follows it: through every change of owner, and with patience if
// no owner answers. Invariant: what the owner refuses for good is refused at once; what may pass is tried again, with
// pauses, up to a bound. Nothing is made up meanwhile.

import { backoffMs, type Clock, delay, jitteredMs, type Random } from '../../core/async/clock.ts';
import { GrantdError } from '../../core/errors.ts';
import type { FeedPage, FeedQuery } from '../../shard/shard.ts';

const RETRY = { firstMs: 100, maxMs: 2000 };
/** A follower that has heard nothing for this long is better off at another front. */
const PATIENCE_MS = 60_000;

export interface FeedReaderDependencies {
  readonly clock: Clock;
  readonly random: Random;
  /** Rejects with a GrantdError. */
  readonly readPage: (query: FeedQuery) => Promise<FeedPage>;
}

export class FeedReader {
  readonly #dependencies: FeedReaderDependencies;

  constructor(dependencies: FeedReaderDependencies) {
    this.#dependencies = dependencies;
  }

  /** One try. */
  readOnce(query: FeedQuery): Promise<FeedPage> {
    return this.#dependencies.readPage(query);
  }

  /** Rejects with a GrantdError for good. Undefined: the page is no longer wanted. */
  async read(query: FeedQuery, wanted: () => boolean): Promise<FeedPage | undefined> {
    const { clock, random, readPage } = this.#dependencies;
    let failingSinceMs: number | undefined;
    for (let failures = 0; wanted(); failures += 1) {
      try {
        const page = await readPage(query);
        return wanted() ? page : undefined;
      } catch (thrown) {
        const error = GrantdError.from(thrown);
        if (!error.retryable) throw error;
        const nowMs = clock.monotonicMs();
        failingSinceMs ??= nowMs;
        if (nowMs - failingSinceMs >= PATIENCE_MS) {
          throw new GrantdError('unavailable', 'The changes could not be read for too long.', { cause: error });
        }
      }
      await delay(clock, jitteredMs(random, backoffMs(RETRY, failures)));
    }
    return undefined;
  }
}
