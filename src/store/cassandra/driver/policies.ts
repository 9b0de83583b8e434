// What the driver decides by itself: whom to ask, whether to ask again. Conditional writes are asked once: an attempt
// that the driver repeated on its own would answer for one whose outcome nobody knows.

import cassandra, { type Client, type Host, type HostMap } from 'cassandra-driver';

const { policies, types } = cassandra;

type QueryPlan = Parameters<cassandra.policies.loadBalancing.LoadBalancingPolicy['newQueryPlan']>;

/** Told of each node that a call is sent to. */
export type OnHost = (address: string) => void;

/** The replicas in the local datacenter first, then its other nodes; those in doubt come last, whichever they are. */
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

  /** `options`: the very object that goes to the driver with the call. */
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
    // A statement that is being prepared has no options.
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
      callback(error, tell([...trusted, ...doubtful], onHost));
    });
  }
}

function* tell(hosts: readonly Host[], onHost: OnHost | undefined): Generator<Host> {
  for (const host of hosts) {
    onHost?.(host.address);
    yield host;
  }
}

type Decision = ReturnType<cassandra.policies.retry.RetryPolicy['rethrowResult']>;
type Retry = cassandra.policies.retry.RetryPolicy;

/**
 * What is safe to repeat is asked of the next node, once; after a lost connection of as many as there are. Always at
 * the level that was asked for: the level that an error names may be another one.
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
    // What it does after a failed request: the next node, the same level.
    return info.nbRetry > 0 ? this.rethrowResult() : super.onRequestError(info, consistency, new Error('again'));
  }
}

/** Of reads that the driver may repeat: one more node is asked after a while, and the first answer counts. */
const SPECULATION_DELAY_MS = 300;

/**
 * The driver asks it of statements that are marked as idempotent only. Writes wait: they would only add to the load.
 */
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

/** Always the same: processes that lost the database at one moment have to be back at one moment. */
export const RECONNECTION_DELAY_MS = 500;

export const createReconnection = (): cassandra.policies.reconnection.ReconnectionPolicy =>
  new policies.reconnection.ConstantReconnectionPolicy(RECONNECTION_DELAY_MS);

export const { local: LOCAL, remote: REMOTE, ignored: IGNORED } = types.distance;
