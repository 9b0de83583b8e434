// Every metric the program serves, in one place, so that dashboards and docs can be held against it. Labels are bounded
// sets: operations, statuses, outcomes. Never a tenant, a key or a path.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { TalliedHistogram } from './prebound-histogram.ts';

/** From 100 µs to 10 s, the deadline of a request. */
const SECONDS_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export interface Metrics {
  readonly registry: Registry;
  /**
   * Whoever holds something that is counted only when it is read (slots, bytes, queues) adds it here to the gauges, which
   * are zero before, so that the shards of one process sum up. Until the returned function is called.
   */
  onRender(report: () => void): () => void;
  /** The text exposition format, as of now. */
  render(): Promise<string>;
  readonly httpRequestSeconds: TalliedHistogram<'operation' | 'status'>;
  readonly httpConnections: Gauge;
  readonly httpHeldBytes: Gauge<'budget'>;
  readonly httpBudgetEvents: Counter<'budget' | 'event'>;
  readonly checks: Counter<'outcome'>;
  readonly rateLimited: Counter<'bucket'>;
  readonly rateLimitDecisions: Counter<'source'>;
  readonly redisLost: Gauge;
  readonly redisFronts: Gauge;
  readonly redisCallSeconds: Histogram;
  readonly redisFailures: Counter<'reason'>;
  readonly authenticationFailures: Counter;
  readonly connectionsDropped: Counter<'server' | 'reason'>;
  readonly frontQueueLength: Gauge;
  readonly turnsWaiting: Gauge;
  readonly frontRetries: Counter<'reason'>;
  readonly frontSuspendedWrites: Counter;
  readonly frontShardConnections: Gauge<'state'>;
  readonly discoveryAddresses: Gauge<'source'>;
  readonly discoverySynced: Gauge<'source'>;
  readonly discoveryFailures: Counter<'source' | 'reason'>;
  readonly streamBatchChecks: Histogram;
  readonly shardSlots: Gauge<'state'>;
  readonly shardQueueLength: Gauge;
  readonly pageLookups: Counter<'result'>;
  readonly pageCacheBytes: Gauge;
  readonly pageCacheLimitBytes: Gauge;
  readonly pageCacheEvictions: Counter;
  readonly writeMemoryBytes: Gauge;
  readonly writeMemoryLimitBytes: Gauge;
  readonly writeMemoryWaiting: Gauge;
  readonly loadGateBytes: Gauge<'work'>;
  readonly loadGateWaiting: Gauge<'work'>;
  readonly loadGateRefused: Counter<'work'>;
  readonly appendSeconds: Histogram;
  readonly appendBatchOperations: Histogram;
  readonly appends: Counter<'outcome'>;
  readonly checkpointLagEntries: Gauge;
  readonly leaseSeconds: Gauge;
  readonly beatSeconds: Histogram<'outcome'>;
  readonly shardUnhealthy: Gauge<'part'>;
  readonly stuckSlots: Gauge<'work'>;
  readonly healthProbes: Counter<'part' | 'outcome'>;
  readonly slotMoves: Counter<'kind'>;
  readonly sessionsLost: Counter;
  readonly limitRefusals: Counter<'type'>;
  readonly grants: Gauge;
  readonly tenantsUncounted: Gauge;
  readonly stateWrites: Counter;
  readonly stateWriteFailures: Counter;
  readonly traceSpans: Counter<'outcome'>;
}

/** A registry of its own per process; shards of one process share it. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const reports = new Set<() => void>();
  const summed = createSummedGauges(registers);
  return {
    ...summed,
    registry,
    onRender(report) {
      reports.add(report);
      return () => reports.delete(report);
    },
    render() {
      for (const gauge of Object.values(summed)) gauge.reset();
      for (const report of reports) report();
      return registry.metrics();
    },
    httpRequestSeconds: new TalliedHistogram({
      name: 'grantd_http_request_seconds',
      help: 'Duration of HTTP requests, from the header read to the answer handed over, by operation and status.',
      labelNames: ['operation', 'status'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    httpBudgetEvents: new Counter({
      name: 'grantd_http_budget_events_total',
      help: 'What the budgets of memory of the public interface made of requests, by budget (bodies, discards: bodies read to be thrown away behind an early response, or responses) and event: waited, refused (waited too long; 503, a discard is cut off) or dropped (others needed the memory more).',
      labelNames: ['budget', 'event'],
      registers,
    }),
    checks: new Counter({
      name: 'grantd_checks_total',
      help: 'Checks answered, by outcome: authorized, denied or failed. A bulk call counts each of its checks.',
      labelNames: ['outcome'],
      registers,
    }),
    rateLimited: new Counter({
      name: 'grantd_rate_limited_total',
      help: 'Requests refused by a limit, by bucket: plan, revocation (the reserve of a key for revoking keys) or authentication (failures from its address).',
      labelNames: ['bucket'],
      registers,
    }),
    rateLimitDecisions: new Counter({
      name: 'grantd_rate_limit_decisions_total',
      help: 'Requests held against a limit that fronts share through Redis, by source of the decision: memory (at once), redis (after its answer) or share (without it).',
      labelNames: ['source'],
      registers,
    }),
    redisLost: new Gauge({
      name: 'grantd_redis_lost',
      help: 'Whether Redis is configured and does not answer, so that this front goes by its share of the limits: 1, else 0.',
      registers,
    }),
    redisFronts: new Gauge({
      name: 'grantd_redis_fronts',
      help: 'Fronts that share the limits through Redis, as last counted there; 0 without Redis.',
      registers,
    }),
    redisCallSeconds: new Histogram({
      name: 'grantd_redis_call_seconds',
      help: 'Duration of the calls to Redis that were answered.',
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    redisFailures: new Counter({
      name: 'grantd_redis_failures_total',
      help: 'Calls to Redis that failed, by reason: timeout, unreachable, unauthorized, full (of memory), busy (too many under way) or refused (any other error it answers).',
      labelNames: ['reason'],
      registers,
    }),
    authenticationFailures: new Counter({
      name: 'grantd_authentication_failures_total',
      help: 'Requests refused with 401.',
      registers,
    }),
    connectionsDropped: new Counter({
      name: 'grantd_connections_dropped_total',
      help: 'Connections that were cut, by server (public, console or ops) and reason: idle (the idlest, for a newcomer), full (a newcomer for which none makes room), held-bytes (its client makes too many bytes wait), pipelined (requests without waiting) or stalled (nothing moved in time).',
      labelNames: ['server', 'reason'],
      registers,
    }),
    frontQueueLength: new Gauge({
      name: 'grantd_front_queue_length',
      help: 'Requests that a front has sent or holds and that no shard has answered yet.',
      registers,
    }),
    frontRetries: new Counter({
      name: 'grantd_front_retries_total',
      help: 'Requests tried again by a front, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    frontSuspendedWrites: new Counter({
      name: 'grantd_front_suspended_writes_total',
      help: 'Writes that a front did not try again, since its machine was suspended or its wall clock was set ahead meanwhile.',
      registers,
    }),
    frontShardConnections: new Gauge({
      name: 'grantd_front_shard_connections',
      help: 'Streams to shards, by state: ready or connecting.',
      labelNames: ['state'],
      registers,
    }),
    discoveryAddresses: new Gauge({
      name: 'grantd_discovery_addresses',
      help: 'Addresses of shards known from discovery, by source: dns or kubernetes. They stay while the source fails.',
      labelNames: ['source'],
      registers,
    }),
    discoverySynced: new Gauge({
      name: 'grantd_discovery_synced_timestamp_seconds',
      help: 'When the source last told or confirmed where shards are, in seconds since 1970, by source: dns or kubernetes.',
      labelNames: ['source'],
      registers,
    }),
    discoveryFailures: new Counter({
      name: 'grantd_discovery_failures_total',
      help: 'Requests to the source of discovery that failed, by source (dns or kubernetes) and reason: forbidden, refused, unreachable, interrupted (a watch broke off or died) or invalid (not understood, or not configured).',
      labelNames: ['source', 'reason'],
      registers,
    }),
    streamBatchChecks: new Histogram({
      name: 'grantd_stream_batch_checks',
      help: 'Checks in one message from a front to a shard.',
      buckets: SIZE_BUCKETS,
      registers,
    }),
    pageLookups: new Counter({
      name: 'grantd_page_lookups_total',
      help: 'Look-ups of a subject in memory, by result: hit or miss.',
      labelNames: ['result'],
      registers,
    }),
    pageCacheEvictions: new Counter({
      name: 'grantd_page_cache_evictions_total',
      help: 'Subject pages dropped to keep the bound.',
      registers,
    }),
    loadGateRefused: new Counter({
      name: 'grantd_load_gate_refused_total',
      help: 'Reads of the store, and calls with many tuples, refused as overloaded since their tenant had more of them than memory allows, by work: read or call.',
      labelNames: ['work'],
      registers,
    }),
    appendSeconds: new Histogram({
      name: 'grantd_append_seconds',
      help: 'Duration of one append to the log, until it is known to be durable.',
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    appendBatchOperations: new Histogram({
      name: 'grantd_append_batch_operations',
      help: 'Operations in one log entry.',
      buckets: SIZE_BUCKETS,
      registers,
    }),
    appends: new Counter({
      name: 'grantd_appends_total',
      help: 'Appends, by outcome: committed, lost (another owner) or unknown (had to be read back).',
      labelNames: ['outcome'],
      registers,
    }),
    beatSeconds: new Histogram({
      name: 'grantd_beat_seconds',
      help: 'Duration of the beats of this shard, by outcome: stood, unknown (timed out) or withheld (this shard is unhealthy).',
      labelNames: ['outcome'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    healthProbes: new Counter({
      name: 'grantd_health_probes_total',
      help: 'Writes that change nothing, made where this shard has nothing to write, by part (append or apply) and outcome: ok or failed.',
      labelNames: ['part', 'outcome'],
      registers,
    }),
    slotMoves: new Counter({
      name: 'grantd_slot_moves_total',
      help: 'Slots that this shard took, gave away or lost, by kind: claimed, released or failed.',
      labelNames: ['kind'],
      registers,
    }),
    sessionsLost: new Counter({
      name: 'grantd_sessions_lost_total',
      help: 'How often this shard was declared dead by another and joined again.',
      registers,
    }),
    limitRefusals: new Counter({
      name: 'grantd_limit_refusals_total',
      help: 'Writes refused because the plan of their tenant allows no more, by type of the problem: grant-limit-reached, namespace-limit-reached or key-limit-reached.',
      labelNames: ['type'],
      registers,
    }),
    stateWrites: new Counter({
      name: 'grantd_state_writes_total',
      help: 'Rows written to the state tables.',
      registers,
    }),
    stateWriteFailures: new Counter({
      name: 'grantd_state_write_failures_total',
      help: 'Batches of state writes that failed and were tried again.',
      registers,
    }),
    traceSpans: new Counter({
      name: 'grantd_trace_spans_total',
      help: 'Spans of traces that have ended, by outcome: exported, failed (the collector did not take them) or dropped (too many waited).',
      labelNames: ['outcome'],
      registers,
    }),
  };
}

/** Gauges that are the sum over the shards and interfaces of this process. */
function createSummedGauges(registers: Registry[]) {
  return {
    httpConnections: new Gauge({
      name: 'grantd_http_connections',
      help: 'Connections of the public interface that are open.',
      registers,
    }),
    httpHeldBytes: new Gauge({
      name: 'grantd_http_held_bytes',
      help: 'Bytes of requests in memory, by budget: input (received and waiting for their turn), bodies (being read) or responses (being made, or not taken by their clients).',
      labelNames: ['budget'],
      registers,
    }),
    shardSlots: new Gauge({
      name: 'grantd_shard_slots',
      help: 'Slots that this process owns, by state: opening, serving or releasing.',
      labelNames: ['state'],
      registers,
    }),
    shardQueueLength: new Gauge({
      name: 'grantd_shard_queue_length',
      help: 'Writes that wait for an append.',
      registers,
    }),
    turnsWaiting: new Gauge({
      name: 'grantd_turns_waiting',
      help: 'Requests and calls that wait for the turn of their tenant, since more is asked than this process has time for.',
      registers,
    }),
    pageCacheBytes: new Gauge({
      name: 'grantd_page_cache_bytes',
      help: 'Estimated bytes of everything that has a place in the memory budget: subject pages, what is being read or held by calls, what writes hold, and what is kept of each tenant.',
      registers,
    }),
    writeMemoryBytes: new Gauge({
      name: 'grantd_write_memory_bytes',
      help: 'Bytes that writes hold, by kind: queue (waiting for an append), backlog (not yet in the state tables) or operations (operation ids within the idempotency window).',
      labelNames: ['kind'],
      registers,
    }),
    writeMemoryLimitBytes: new Gauge({
      name: 'grantd_write_memory_limit_bytes',
      help: 'The bounds of grantd_write_memory_bytes, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    writeMemoryWaiting: new Gauge({
      name: 'grantd_write_memory_waiting',
      help: 'Slots whose next writes wait for room in memory, by kind: backlog or operations.',
      labelNames: ['kind'],
      registers,
    }),
    pageCacheLimitBytes: new Gauge({
      name: 'grantd_page_cache_limit_bytes',
      help: 'The bound of grantd_page_cache_bytes.',
      registers,
    }),
    loadGateBytes: new Gauge({
      name: 'grantd_load_gate_bytes',
      help: 'Bytes reserved for a while, by work: read (reads of the store in flight) or call (tuples held by bulk checks and writes).',
      labelNames: ['work'],
      registers,
    }),
    loadGateWaiting: new Gauge({
      name: 'grantd_load_gate_waiting',
      help: 'Reads of the store, and calls with many tuples, that wait for memory, by work: read or call.',
      labelNames: ['work'],
      registers,
    }),
    grants: new Gauge({
      name: 'grantd_grants',
      help: 'Live grants of the tenants that this process serves, without those of tenants whose grants are being counted.',
      registers,
    }),
    tenantsUncounted: new Gauge({
      name: 'grantd_tenants_uncounted',
      help: 'Tenants whose grants are being counted, so that no limit of their number holds yet.',
      registers,
    }),
    shardUnhealthy: new Gauge({
      name: 'grantd_shard_unhealthy',
      help: 'Whether this shard does not do its work, by part (append, apply or loop-back): 1 while it sends no heartbeats for that, so that its slots go to others, 0.5 while no other shard shows that it could do better.',
      labelNames: ['part'],
      registers,
    }),
    stuckSlots: new Gauge({
      name: 'grantd_stuck_slots',
      help: 'Slots of this shard in which work has waited for 10 s and none was done, by work: append or apply.',
      labelNames: ['work'],
      registers,
    }),
    leaseSeconds: new Gauge({
      name: 'grantd_lease_seconds',
      help: 'For how long this shard may still answer without hearing from the store; 0: it may not.',
      registers,
    }),
    checkpointLagEntries: new Gauge({
      name: 'grantd_checkpoint_lag_entries',
      help: 'Log entries not yet written to the state tables, summed over slots.',
      registers,
    }),
  };
}
