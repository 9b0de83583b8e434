// The driver's own decisions: the node for each call, and whether to retry. Conditional writes are sent once. If the
// driver retried one on its own, the response would belong to the retry, and the outcome of the first attempt would
// stay unknown.

import cassandra, { type Client, type Host, type HostMap } from 'cassandra-driver';

const { policies, types } = cassandra;

type QueryPlan = Parameters<cassandra.policies.loadBalancing.LoadBalancingPolicy['newQueryPlan']>;

/** Called with the address of each node that receives a request. */
export type OnHost = (address: string) => void;

/** The replicas in the local datacenter first, then its other nodes. Doubtful nodes come last, replica or not. */
export class WatchfulLoadBalancing extends policies.loadBalancing.LoadBalancingPolicy {
  readonly #inner: cassandra.policies.loadBalancing.LoadBalancingPolicy;
  readonly #isDoubtful: (address: string) => boolean;
  readonly #listeners = new WeakMap<object, OnHost>();

  constructor(localDatacenter: string, isDoubtful: (address: string) => boolean) {
    super();
    const { DCAwareRoundRobinPolicy, TokenAwarePolicy } = policies.loadBalancing;
    this.#inner = new TokenAwarePolicy(new DCAwareRoundRobinPolicy(localDatacenter));
    this.#isDoubtful = isDoubtful;
  }

  /** `options`: the same object that the driver gets with the call. */
  listen(options: object, onHost: OnHost): void {
    this.#listeners.set(options, onHost);
  }

  override init(client: Client, hosts: HostMap, callback: (error: Error) => void): void {
    this.#inner.init(client, hosts, callback);
  }

  override getDistance(host: Host): cassandra.types.distance {
    return this.#inner.getDistance(host);
  }

  override newQueryPlan(...[keyspace, execution, callback]: QueryPlan): void {
    // A prepare request has no options.
    const options: QueryPlan[1] | null = execution;
    const onHost = options === null ? undefined : this.#listeners.get(options.getRawQueryOptions());
    this.#inner.newQueryPlan(keyspace, execution, (error, hosts) => {
      if (error) {
        callback(error, hosts);
        return;
      }
      const trusted: Host[] = [];
      const doubtful: Host[] = [];
      for (let next = hosts.next(); next.done !== true; next = hosts.next()) {
        (this.#isDoubtful(next.value.address) ? doubtful : trusted).push(next.value);
      }
      callback(error, reporting([...trusted, ...doubtful], onHost));
    });
  }
}

function* reporting(hosts: readonly Host[], onHost: OnHost | undefined): Generator<Host> {
  for (const host of hosts) {
    onHost?.(host.address);
    yield host;
  }
}

type Decision = ReturnType<cassandra.policies.retry.RetryPolicy['rethrowResult']>;
type Retry = cassandra.policies.retry.RetryPolicy;

/**
 * Retries calls that are safe to repeat on the next node, once; after a lost connection, on every other node in turn.
 * Always at the requested level: the level in an error may be a different one.
 */
export class NextHostRetry extends policies.retry.RetryPolicy {
  override onReadTimeout(...[info, consistency]: Parameters<Retry['onReadTimeout']>): Decision {
    return this.#once(info, consistency);
  }

  override onWriteTimeout(...[info, consistency]: Parameters<Retry['onWriteTimeout']>): Decision {
    return this.#once(info, consistency);
  }

  override onUnavailable(...[info, consistency]: Parameters<Retry['onUnavailable']>): Decision {
    return this.#once(info, consistency);
  }

  #once(info: cassandra.policies.retry.OperationInfo, consistency: cassandra.types.consistencies): Decision {
    // This is what the driver does after a failed request: the next node, the same level.
    return info.nbRetry > 0 ? this.rethrowResult() : super.onRequestError(info, consistency, new Error('again'));
  }
}

/** A read that the driver may repeat goes to one more node after this time, and the first response counts. */
const SPECULATION_DELAY_MS = 300;

/** The driver consults it only for statements marked as idempotent. Writes wait: speculation would only add load. */
export class ReadSpeculation extends policies.speculativeExecution.ConstantSpeculativeExecutionPolicy {
  readonly #none = new policies.speculativeExecution.NoSpeculativeExecutionPolicy();

  constructor() {
    super(SPECULATION_DELAY_MS, 1);
  }

  override newPlan(keyspace: string, query: string | object[]): { nextExecution: () => number } {
    const isRead = typeof query === 'string' && query.startsWith('SELECT');
    const plan = isRead ? super.newPlan(keyspace, query) : this.#none.newPlan(keyspace, query);
    return { nextExecution: () => Number(plan.nextExecution()) };
  }
}

/** Constant, because processes that lost the database at the same moment must reconnect at the same moment. */
export const RECONNECTION_DELAY_MS = 500;

export const createReconnection = (): cassandra.policies.reconnection.ReconnectionPolicy =>
  new policies.reconnection.ConstantReconnectionPolicy(RECONNECTION_DELAY_MS);

export const { local: LOCAL, remote: REMOTE, ignored: IGNORED } = types.distance;
