// The rate limits of a front: shared with the other fronts if Redis is configured, otherwise in the memory of this
// process, which its threads share. Neither the start nor the readiness of a front waits for Redis.

import type { FrontConfig } from '../../config/settings.ts';
import type { Clock, Random } from '../../core/async/clock.ts';
import { createMemoryRateLimiter } from '../../front/limits/memory-rate-limiter.ts';
import type { RateLimiter } from '../../front/limits/rate-limiter.ts';
import type { RedisTarget } from '../../front/limits/redis-connection.ts';
import type { SharedCounts } from '../../front/limits/shared-rate-limiter.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { StartError } from '../process/start-error.ts';

type RedisSettings = Pick<FrontConfig, 'redisUrl' | 'redisPassword' | 'redisSentinelPassword' | 'redisTlsCa'>;

function redisTarget(config: RedisSettings, url: NonNullable<RedisSettings['redisUrl']>): RedisTarget {
  const { redisPassword, redisSentinelPassword, redisTlsCa: ca } = config;
  const password = redisPassword ?? url.password;
  const common = {
    ...(url.username === undefined ? {} : { username: url.username }),
    ...(password === undefined ? {} : { password: password.reveal() }),
    ...(url.tls ? { tls: ca === undefined ? {} : { ca } } : {}),
  };
  const { kind, addresses, database, masterName = '' } = url;
  const [address] = addresses;
  if (kind === 'cluster') return { ...common, kind, nodes: addresses };
  if (kind === 'sentinel') {
    const sentinelPassword = redisSentinelPassword?.reveal();
    const known = sentinelPassword === undefined ? {} : { sentinelPassword };
    return { ...common, ...known, kind, sentinels: addresses, masterName, database };
  }
  if (address === undefined) throw new StartError('GRANTD_REDIS_URL names no host.');
  return { ...common, kind, address, database };
}

/**
 * `parts` closes what this opens. `threadCounts`: shared with the other threads, if there are any. The library for
 * Redis is loaded only if Redis is configured.
 */
export async function openRateLimits(
  dependencies: {
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly metrics: Metrics;
  },
  config: RedisSettings,
  parts: AsyncDisposableStack,
  threadCounts?: SharedCounts,
): Promise<RateLimiter> {
  const { redisUrl } = config;
  if (redisUrl === undefined) {
    if (threadCounts === undefined) return createMemoryRateLimiter(dependencies);
    const { createSharedRateLimiter } = await import('../../front/limits/shared-rate-limiter.ts');
    return createSharedRateLimiter({ ...dependencies, counts: threadCounts });
  }
  const [{ RedisConnection }, { createRedisWindows }, { createSharedRateLimiter }] = await Promise.all([
    import('../../front/limits/redis-connection.ts'),
    import('../../front/limits/redis-windows.ts'),
    import('../../front/limits/shared-rate-limiter.ts'),
  ]);
  const connection = new RedisConnection(dependencies, redisTarget(config, redisUrl));
  parts.defer(() => connection.close());
  return createSharedRateLimiter({ ...dependencies, counts: createRedisWindows(connection) });
}
