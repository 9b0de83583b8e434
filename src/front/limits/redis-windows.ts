// The windows of the tenants as Redis counts them: RateLimiterRedis, with a script of our own. The library's script
// begins a window at the first request after the last one has ended, so nothing could be taken ahead. With our script,
// a window follows the last one directly if something was taken ahead; otherwise it begins at the next request.
// Invariants: one key per tenant, bucket and limit, which expires; only Redis's own clock decides which window runs.

import { RateLimiterRedis } from 'rate-limiter-flexible';
import { CALLS_MAX, FRONTS_MAX, invalidReply, type RedisConnection } from './redis-connection.ts';
import type { SharedCounts, WindowCount, WindowLimit } from './shared-rate-limiter.ts';

const KEY_PREFIX = 'grantd:window';

/**
 * KEYS: the window, a hash of its end (ms), of its count and of the count of the next window. ARGV: points; the seconds
 * for which they are meant (for the next window, twice the window length); the limit; the window length in seconds.
 */
const COUNT_SCRIPT = `
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local length = ARGV[4] * 1000
local window = redis.call('hmget', KEYS[1], 'ends', 'used', 'ahead')
local ends, used, ahead = tonumber(window[1] or 0), tonumber(window[2] or 0), tonumber(window[3] or 0)
if now >= ends and now < ends + length and ahead > 0 then
  ends, used, ahead = ends + length, ahead, 0
elseif now >= ends or ends - now > length then
  ends, used, ahead = now + length, 0, 0
end
local consumed, left
if ARGV[2] == ARGV[4] then
  used = used + ARGV[1]
  consumed, left = used, ends - now
else
  ahead = ahead + ARGV[1]
  consumed, left = ahead, ends + length - now
end
redis.call('hset', KEYS[1], 'ends', ends, 'used', used, 'ahead', ahead)
redis.call('pexpire', KEYS[1], ends + length - now)
return {consumed, left}
`;

/** Beyond twice the limit of a window, no more can have been taken from it than calls in flight at all fronts. */
const SURPLUS_MAX = CALLS_MAX * FRONTS_MAX;

/** Throws `invalidReply` if no window can have this count. */
function countFrom(
  consumed: number,
  leftMs: number,
  { requests, points, durationMs }: { readonly requests: number; readonly points: number; readonly durationMs: number },
): WindowCount {
  const isCount = Number.isInteger(consumed) && consumed >= points && consumed <= 2 * requests + SURPLUS_MAX;
  if (isCount && Number.isInteger(leftMs) && leftMs > 0 && leftMs <= durationMs) return { consumed, leftMs };
  throw invalidReply();
}

export function createRedisWindows(connection: RedisConnection): SharedCounts {
  /** One for each distinct limit of the plans. */
  const limiters = new Map<string, RateLimiterRedis>();

  function limiterOf({ requests, windowSeconds }: WindowLimit): RateLimiterRedis {
    const name = `${requests}:${windowSeconds}`;
    let limiter = limiters.get(name);
    if (limiter === undefined) {
      limiter = new RateLimiterRedis({
        storeClient: connection.client,
        points: requests,
        duration: windowSeconds,
        // A different limit is a different window: a new plan applies from the next request on.
        keyPrefix: `${KEY_PREFIX}:${name}`,
        customIncrTtlLuaScript: COUNT_SCRIPT,
      });
      limiters.set(name, limiter);
    }
    return limiter;
  }

  return {
    get reachable() {
      return connection.reachable;
    },
    get fronts() {
      return connection.fronts;
    },
    async take(key, limit, points, which) {
      const limiter = limiterOf(limit);
      const customDuration = which === 'next' ? 2 * limit.windowSeconds : limit.windowSeconds;
      // A penalty counts as `consume` does, but never rejects because of the count.
      return connection.call(
        () => limiter.penalty(key, points, { customDuration }),
        ({ consumedPoints, msBeforeNext }) => {
          const durationMs = customDuration * 1000;
          return countFrom(consumedPoints, msBeforeNext, { requests: limit.requests, points, durationMs });
        },
      );
    },
  };
}
