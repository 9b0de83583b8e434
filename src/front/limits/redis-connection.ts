// The connection to Redis: one server, a master that sentinels name, or a cluster. It knows whether Redis responds, and
// how many fronts share it: each front enters itself once a second into a set whose entries expire.
//
// Invariants: no call outlives its bound or waits for a connection, and the number in flight is bounded, as are the
// bytes of a reply; while Redis does not respond, it gets only one heartbeat a second; a Redis that has sent what no
// honest one sends is not used for a minute; each recovery is logged once, and each reason of a loss. No password
// reaches a log: the errors of the library carry the failed commands, so only their messages are used.

import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { backoffMs, type Clock, type Random, type Timer } from '../../core/async/clock.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import {
  CLUSTER_REPLY_BYTES_MAX,
  connectorOf,
  GuardedSentinelConnector,
  REPLY_BYTES_MAX,
  ReplyViolation,
} from './redis-replies.ts';

const HEARTBEAT_MS = 1000;
/** How long a front that ended without deregistering still counts. */
const FRONT_MS = 5000;
/** A call that takes longer counts as lost. */
const CALL_MS_MAX = 250;
/** For connecting, for the handshake, and for a socket on which nothing arrives. */
const CONNECT_MS_MAX = 1000;
const RECONNECT = { firstMs: 50, maxMs: 1000 };
/** Far above what a front has in flight while Redis responds; each call holds a few hundred bytes. */
export const CALLS_MAX = 4096;
/** Far more than a cluster has. */
export const FRONTS_MAX = 10_000;
/** For this long after a reply that cannot be right, Redis counts as lost. */
const DISTRUST_MS = 60_000;
/** Characters of an error of Redis in the log. */
const MESSAGE_LENGTH_MAX = 300;
const FRONT_ID_BYTES = 12;
const FRONTS_KEY = 'grantd:fronts';

/**
 * KEYS: the set of fronts. ARGV: the id of this front, the ms for which its entry counts. Returns the number of fronts.
 * The command that takes memory comes first: when its memory is full, Redis refuses that command, as it refuses the
 * counts, but not after another write.
 */
const HEARTBEAT_SCRIPT = `
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('zadd', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('zremrangebyscore', KEYS[1], '-inf', now)
redis.call('pexpire', KEYS[1], ARGV[2])
return redis.call('zcard', KEYS[1])
`;

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

interface RedisCommon {
  readonly username?: string;
  readonly password?: string;
  /** Absent: no TLS. `ca`: PEM; absent: the authorities that Node knows. */
  readonly tls?: { readonly ca?: string };
}

export type RedisTarget = RedisCommon &
  (
    | { readonly kind: 'server'; readonly address: RedisAddress; readonly database: number }
    | {
        readonly kind: 'sentinel';
        readonly sentinels: readonly RedisAddress[];
        readonly sentinelPassword?: string;
        readonly masterName: string;
        readonly database: number;
      }
    | { readonly kind: 'cluster'; readonly nodes: readonly RedisAddress[] }
  );

type FailureReason = 'timeout' | 'unreachable' | 'unauthorized' | 'full' | 'busy' | 'refused' | 'invalid';

class CallFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_LENGTH_MAX);

/** An error in place of a reply that cannot be right. */
export const invalidReply = (): Error => new CallFailure('invalid', 'Redis sent a reply that cannot be right.');

function reasonOf(error: unknown): FailureReason {
  if (error instanceof CallFailure) return error.reason;
  // The library meets a reply of another shape.
  if (error instanceof ReplyViolation || error instanceof TypeError || error instanceof RangeError) return 'invalid';
  const message = messageOf(error);
  if (/^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/.test(message)) return 'unauthorized';
  if (/^OOM\b|\bOOM command not allowed/.test(message)) return 'full';
  if (/timed out|timeout|ETIMEDOUT/i.test(message)) return 'timeout';
  return error instanceof Error && error.name === 'ReplyError' ? 'refused' : 'unreachable';
}

const reconnectAfterMs = (times: number): number => backoffMs(RECONNECT, times);

function createClient(target: RedisTarget): Redis | Cluster {
  const { username, password, tls } = target;
  const common = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls: { ...tls } }),
    connectionName: 'grantd',
    connectTimeout: CONNECT_MS_MAX,
    commandTimeout: CONNECT_MS_MAX,
    socketTimeout: CONNECT_MS_MAX,
    // A command without a reply is never resent: its request was decided without it.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    // The master became a replica: the connection leads to the wrong server.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  } satisfies RedisOptions;
  const single = { ...common, enableOfflineQueue: false, retryStrategy: reconnectAfterMs } satisfies RedisOptions;
  switch (target.kind) {
    case 'server':
      return new Redis({ ...single, ...target.address, db: target.database, Connector: connectorOf(REPLY_BYTES_MAX) });
    case 'sentinel':
      return new Redis({
        ...single,
        Connector: GuardedSentinelConnector,
        sentinels: target.sentinels.map((address) => ({ ...address })),
        name: target.masterName,
        db: target.database,
        ...(target.sentinelPassword === undefined ? {} : { sentinelPassword: target.sentinelPassword }),
        sentinelCommandTimeout: CONNECT_MS_MAX,
        sentinelRetryStrategy: reconnectAfterMs,
        ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: { ...tls } }),
      });
    case 'cluster':
      return new Cluster(
        target.nodes.map((address) => ({ ...address })),
        {
          redisOptions: { ...common, Connector: connectorOf(CLUSTER_REPLY_BYTES_MAX) },
          enableOfflineQueue: false,
          clusterRetryStrategy: reconnectAfterMs,
          slotsRefreshTimeout: CONNECT_MS_MAX,
          slotsRefreshInterval: CONNECT_MS_MAX,
          // The certificates are for the names that the cluster announces, not for the addresses behind them.
          ...(tls === undefined ? {} : { dnsLookup: (name, callback) => callback(null, name) }),
        } satisfies ClusterOptions,
      );
  }
}

export interface RedisConnectionDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

export class RedisConnection {
  readonly client: Redis | Cluster;
  readonly #dependencies: RedisConnectionDependencies;
  readonly #frontId: string;
  #state: 'connecting' | 'reachable' | 'lost' = 'connecting';
  #fronts = 1;
  #calls = 0;
  #heartbeatInFlight = false;
  #timer: Timer | undefined;
  #closed = false;
  #distrustedUntilMs = Number.NEGATIVE_INFINITY;
  /** Reasons already logged for the current outage. */
  readonly #reasonsLogged = new Set<FailureReason>();
  /** The latest error of the library about the connection. */
  #connectionError: Error | undefined;

  constructor(dependencies: RedisConnectionDependencies, target: RedisTarget) {
    const { clock, random } = dependencies;
    this.#dependencies = dependencies;
    this.#frontId = Buffer.from(random.bytes(FRONT_ID_BYTES)).toString('base64url');
    this.client = createClient(target);
    const onError = (error: unknown): void => {
      this.#connectionError = error instanceof Error ? error : new Error(String(error));
    };
    this.client.on('error', onError);
    this.client.on('node error', onError);
    this.client.on('ready', () => {
      this.#connectionError = undefined;
      this.#connectMasters();
      this.#heartbeat();
    });
    this.client.on('+node', () => this.#connectMasters());
    this.client.on('close', () => this.#suspect());
    this.#timer = clock.setTimer(() => this.#heartbeat(), HEARTBEAT_MS);
  }

  get reachable(): boolean {
    return this.#state === 'reachable';
  }

  /** Fronts including this one, as last known; 1 before the first count. */
  get fronts(): number {
    return this.#fronts;
  }

  /**
   * Runs `send`, and `read` on its reply, which throws `invalidReply`. Rejects after 250 ms at the latest; after any
   * failure, the connection is probed.
   */
  async call<Reply, Value>(send: () => Promise<Reply>, read: (reply: Reply) => Value): Promise<Value> {
    const { clock, metrics } = this.#dependencies;
    try {
      if (this.#calls >= CALLS_MAX) throw new CallFailure('busy', `${CALLS_MAX} calls are in flight.`);
      const startMs = clock.monotonicMs();
      const value = read(await this.#bounded(send()));
      metrics.redisCallSeconds.observe((clock.monotonicMs() - startMs) / 1000);
      return value;
    } catch (error) {
      const cause = this.#causeOf(error);
      if (reasonOf(cause) === 'invalid') {
        this.#lose(cause);
      } else {
        metrics.redisFailures.inc({ reason: reasonOf(cause) });
        this.#suspect();
      }
      throw error;
    }
  }

  /** Leaves the set of fronts if Redis is reachable. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    if (this.reachable) await this.#bounded(this.client.zrem(FRONTS_KEY, this.#frontId)).catch(() => {});
    this.client.disconnect();
  }

  /** In a cluster, the library would connect to each node at its first command, which would wait for that. */
  #connectMasters(): void {
    if (!(this.client instanceof Cluster)) return;
    for (const master of this.client.nodes('master')) {
      // If it cannot connect, its `error` event says why.
      if (master.status === 'wait') master.connect().catch(() => {});
    }
  }

  #bounded<Value>(sent: Promise<Value>): Promise<Value> {
    const { clock } = this.#dependencies;
    this.#calls += 1;
    return new Promise((resolve, reject) => {
      const fail = () => reject(new CallFailure('timeout', `Redis did not respond within ${CALL_MS_MAX} ms.`));
      // A reply that arrived while this process was busy still counts.
      const timer = clock.setTimer(() => clock.setImmediate(fail), CALL_MS_MAX);
      sent.then(resolve, reject).finally(() => {
        timer.cancel();
        this.#calls -= 1;
      });
    });
  }

  /** Without a connection, the reason for that says more than the failure of the call. */
  #causeOf(error: unknown): unknown {
    return reasonOf(error) === 'unreachable' ? (this.#connectionError ?? error) : error;
  }

  /** Something failed: sends the next heartbeat at once. */
  #suspect(): void {
    if (this.#state === 'reachable') this.#heartbeat();
  }

  #heartbeat(): void {
    if (this.#closed || this.#heartbeatInFlight) return;
    this.#heartbeatInFlight = true;
    this.#timer?.cancel();
    this.#bounded(this.client.eval(HEARTBEAT_SCRIPT, 1, FRONTS_KEY, this.#frontId, FRONT_MS)).then(
      (count) => this.#end(() => this.#answered(count)),
      (error: unknown) => this.#end(() => this.#lose(this.#causeOf(error))),
    );
  }

  #end(report: () => void): void {
    this.#heartbeatInFlight = false;
    if (this.#closed) return;
    this.#timer = this.#dependencies.clock.setTimer(() => this.#heartbeat(), HEARTBEAT_MS);
    report();
  }

  #answered(fronts: unknown): void {
    const { clock, log, metrics } = this.#dependencies;
    if (typeof fronts !== 'number' || !Number.isInteger(fronts) || fronts < 1 || fronts > FRONTS_MAX) {
      this.#lose(invalidReply());
      return;
    }
    if (clock.monotonicMs() < this.#distrustedUntilMs) return;
    this.#fronts = fronts;
    metrics.redisFronts.set(this.#fronts);
    metrics.redisLost.set(0);
    if (this.#state === 'reachable') return;
    const message =
      this.#state === 'lost' ? 'Redis recovered; limits are shared again' : 'limits are shared through Redis';
    this.#state = 'reachable';
    this.#reasonsLogged.clear();
    log.info({ fronts: this.#fronts }, message);
  }

  #lose(error: unknown): void {
    const { clock, log, metrics } = this.#dependencies;
    const reason = reasonOf(error);
    metrics.redisFailures.inc({ reason });
    if (reason === 'invalid') this.#distrustedUntilMs = clock.monotonicMs() + DISTRUST_MS;
    // The first attempt to connect goes on: within its bound it succeeds, or says why not.
    if (this.#state === 'connecting' && reason === 'unreachable' && this.#connectionError === undefined) return;
    metrics.redisLost.set(1);
    this.#state = 'lost';
    if (this.#reasonsLogged.has(reason)) return;
    this.#reasonsLogged.add(reason);
    log.warn(
      { reason, error: messageOf(error), fronts: this.#fronts },
      'lost Redis; this front enforces its share of the limits',
    );
  }
}
