// The role `testing`: the whole service in one process, for the tests of applications. One shard over a store in a
// temporary directory, which the stop removes; the public API, without rate limits; no console, no settings. Each API
// key that begins with `test_` is an empty tenant of its own, made at its first use. Invariant: only this role accepts
// such keys, through a front that turns them into real ones; everything behind it is what a cluster runs.

import { type Clock, delay, type Random } from '../core/async/clock.ts';
import { GrantdError } from '../core/errors.ts';
import { IdFactory } from '../core/ids.ts';
import { BUILT_IN_PLANS, REVOCATION_RESERVE } from '../core/plans.ts';
import { ALL_SCOPES } from '../core/scopes.ts';
import { createStaticDiscovery } from '../discovery/discovery.ts';
import { type ComposedFront, createFront } from '../front/create-front.ts';
import type { Front } from '../front/front.ts';
import type { FailureLimiter, RateLimiter } from '../front/limits/rate-limiter.ts';
import { listenHttp } from '../http/server.ts';
import { createStreamHost } from '../rpc/serving/stream-host.ts';
import { createDirectTransport } from '../rpc/transport/direct-transport.ts';
import type { Log } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { DEADLINE_MS } from './open/store.ts';
import { openTemporaryShard } from './open/temporary-shard.ts';
import type { RunningRole } from './process/life-cycle.ts';
import { openTurns, prepareProcess } from './process/prepare-process.ts';
import { listenOn } from './process/start-error.ts';

/** Per process: far more than the tests of one run need, and about 100 MB. */
const TENANTS_MAX = 10_000;
const TEST_KEY_PREFIX = 'test_';
const TEST_KEY = /^test_[\w-]{1,64}$/;
const NAME = 'testing';
const SHARD_ADDRESS = 'in-process:1';
const POLL_MS = 1;

interface TestingDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Prints the line that says where the service is. */
  readonly print: (line: string) => void;
}

interface TestingOptions {
  /** `host:port`; port 0: any free one. */
  readonly address: string;
  readonly version: string;
}

const NO_RATE_LIMITS: RateLimiter = {
  consume: () => undefined,
  consumeRevocation: () => ({
    allowed: true,
    limit: REVOCATION_RESERVE.requests,
    remaining: REVOCATION_RESERVE.requests,
    resetSeconds: REVOCATION_RESERVE.windowSeconds,
  }),
};

const NO_FAILURE_LIMITS: FailureLimiter = { refusal: () => undefined, record() {} };

/** A front that also accepts test keys. `createKey` makes a new tenant and resolves to a key of it. */
export function acceptTestKeys(
  front: Front,
  createKey: () => Promise<string>,
  options: { readonly tenantsMax?: number } = {},
): Front {
  const { tenantsMax = TENANTS_MAX } = options;
  const keys = new Map<string, string | Promise<string>>();

  async function openTenant(testKey: string): Promise<string> {
    try {
      const key = await createKey();
      keys.set(testKey, key);
      return key;
    } catch (error) {
      keys.delete(testKey);
      throw error;
    }
  }

  /** The real key; calls that come before it exists wait for the same one. */
  function keyOf(testKey: string): string | Promise<string> {
    const known = keys.get(testKey);
    if (known !== undefined) return known;
    if (!TEST_KEY.test(testKey)) {
      throw new GrantdError('unauthorized', 'A test key is test_ and 1 to 64 letters, digits, "_" or "-".');
    }
    if (keys.size >= tenantsMax) {
      throw new GrantdError('unauthorized', `This service already has its ${tenantsMax} test tenants. Start another.`);
    }
    const opening = openTenant(testKey);
    keys.set(testKey, opening);
    return opening;
  }

  return {
    ...front,
    authenticate(context, apiKey, admit) {
      if (!apiKey.startsWith(TEST_KEY_PREFIX)) return front.authenticate(context, apiKey, admit);
      const key = keyOf(apiKey);
      return typeof key === 'string'
        ? front.authenticate(context, key)
        : key.then((real) => front.authenticate(context, real));
    },
  };
}

/** Resolves when everything serves and the line is printed. If `signal` aborts, the start ends. */
export async function startTesting(
  dependencies: TestingDependencies,
  { address, version }: TestingOptions,
  signal: AbortSignal,
): Promise<RunningRole> {
  const { clock, random, log, print } = dependencies;
  prepareProcess(log);
  const metrics = createMetrics();
  const turns = openTurns({ clock, metrics });
  const ids = new IdFactory(clock, random);
  // Disposed in reverse order, both when the start fails and when the role stops.
  await using parts = new AsyncDisposableStack();
  const { node, meta } = await openTemporaryShard(
    { clock, random, log, metrics, turns },
    { shardName: NAME, address: SHARD_ADDRESS },
    parts,
  );
  const host = createStreamHost({ shard: () => node, clock, turns, log, metrics });
  parts.defer(() => host.finish());
  const forFronts = {
    ...{ clock, turns, random, log, metrics },
    discovery: createStaticDiscovery([SHARD_ADDRESS]),
    openStream: createDirectTransport(new Map([[SHARD_ADDRESS, host.accept]])),
  };
  const openFront = (peer: 'front' | 'console'): ComposedFront => {
    const opened = createFront(forFronts, { name: NAME, peer, version, clusterId: meta.clusterId });
    parts.defer(() => opened.close());
    return opened;
  };
  const front = openFront('front');
  const { operator, ready } = openFront('console');
  while (!front.ready() || !ready()) await delay(clock, POLL_MS, signal);
  const newContext = () => ({ requestId: ids.create('req'), deadlineMs: clock.monotonicMs() + DEADLINE_MS });
  const createKey = async (): Promise<string> => {
    const { tenantId } = await operator.createTenant(newContext(), { name: NAME, plan: 'unlimited', operator: NAME });
    const session = await operator.tenant(newContext(), tenantId, NAME);
    const key = { name: NAME, scopes: ALL_SCOPES, expiresAtMs: undefined };
    return (await session.createKey(newContext(), key)).text;
  };
  const http = await listenOn('--address', address, () =>
    listenHttp(
      {
        ...{ ids, clock, turns, random, log, metrics },
        front: acceptTestKeys(front, createKey),
        rateLimiter: NO_RATE_LIMITS,
        failureLimiter: NO_FAILURE_LIMITS,
      },
      { address, baseUrl: undefined, errorsBase: undefined, trustedProxies: [], plans: BUILT_IN_PLANS },
    ),
  );
  parts.defer(() => http.close());
  signal.throwIfAborted();
  // Where it listens on every address, what has started it reaches it on this machine.
  print(JSON.stringify({ url: http.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:') }));
  const running = parts.move();
  return { stop: () => running.disposeAsync() };
}
