// Every metric of the program, in one place, so that dashboards and docs can be compared with it. Labels have bounded
// sets of values: operations, statuses, outcomes. Never a tenant, a key or a path.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createSummedGauges } from './summed-gauges.ts';

/** From 100 µs to 10 s, the deadline of a request. */
const SECONDS_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

export interface Metrics {
  readonly registry: Registry;
  /**
   * Registers a report of values that are read only at rendering (slots, bytes, queues). It adds them to gauges that
   * start from zero, so that the shards of one process sum up. Active until the returned function is called.
   */
  onRender(report: () => void): () => void;
  /** The current values in the text exposition format. */
  render(): Promise<string>;
  readonly httpRequestSeconds: Histogram<'operation' | 'status'>;
  readonly httpConnections: Gauge;
  readonly httpHeldBytes: Gauge<'budget'>;
  readonly httpBudgetEvents: Counter<'budget' | 'event'>;
  readonly changeStreams: Gauge<'kind'>;
  readonly changeStreamsClosed: Counter<'kind' | 'reason'>;
  readonly changesDelivered: Counter;
  readonly changeTails: Gauge;
  readonly changeTailBytes: Gauge;
  readonly recentChangesTenants: Gauge;
  readonly recentChangesBytes: Gauge;
  readonly changeCallsWaiting: Gauge;
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
  readonly pagesPreloaded: Counter<'result'>;
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
  readonly heartbeatSeconds: Histogram<'outcome'>;
  readonly shardUnhealthy: Gauge<'part'>;
  readonly stuckSlots: Gauge<'work'>;
  readonly healthProbes: Counter<'part' | 'outcome'>;
  readonly slotMoves: Counter<'kind'>;
  readonly sessionsLost: Counter;
  readonly limitRefusals: Counter<'type'>;
  readonly grants: Gauge;
  readonly grantsExpired: Counter;
  readonly expiryLagSeconds: Gauge;
  readonly stateWrites: Counter;
  readonly stateWriteFailures: Counter;
  readonly traceSpans: Counter<'outcome'>;
  readonly decisionLogRecords: Counter<'outcome'>;
}

/** Each process has its own registry; shards of one process share it. */
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
    httpRequestSeconds: new Histogram({
      name: 'grantd_http_request_seconds',
      help: 'Duration of HTTP requests by operation and status, from the end of the request header to the response being handed to the socket.',
      labelNames: ['operation', 'status'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    httpBudgetEvents: new Counter({
      name: 'grantd_http_budget_events_total',
      help: 'Requests that reached a memory budget of the public API, by budget (bodies, responses, or discards: request bodies read and thrown away after an early response) and event: waited, refused (waited too long: 503, or the discarded body is cut off) or dropped (cut off to free memory for other requests).',
      labelNames: ['budget', 'event'],
      registers,
    }),
    changeStreamsClosed: new Counter({
      name: 'grantd_change_streams_closed_total',
      help: 'Streams of changes that have ended, by kind (sse or ndjson) and reason: client (it disconnected), key (its key or tenant is no longer served), slow (the client read nothing for 30 s), memory (too much was waiting for clients that read too little), displaced (another tenant needed the place), draining (this front is shutting down) or failed (the owner of the tenant could not be reached).',
      labelNames: ['kind', 'reason'],
      registers,
    }),
    changesDelivered: new Counter({
      name: 'grantd_changes_delivered_total',
      help: 'Changes sent to clients on streams: one for each change and stream.',
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
      help: 'Requests refused with 429, by bucket: plan (the rate limit of the tenant), revocation (the separate limit for revoking keys) or authentication (too many failures from the client address).',
      labelNames: ['bucket'],
      registers,
    }),
    rateLimitDecisions: new Counter({
      name: 'grantd_rate_limit_decisions_total',
      help: 'Decisions on a rate limit that fronts share through Redis, by source: memory (decided locally), redis (after a call to Redis) or share (Redis is lost: decided from the share of this front).',
      labelNames: ['source'],
      registers,
    }),
    redisLost: new Gauge({
      name: 'grantd_redis_lost',
      help: 'Is 1 if Redis is configured but does not respond, so that this front applies only its share of each limit; 0 otherwise.',
      registers,
    }),
    redisFronts: new Gauge({
      name: 'grantd_redis_fronts',
      help: 'Fronts that share the rate limits through Redis, as last counted in Redis; 0 without Redis.',
      registers,
    }),
    redisCallSeconds: new Histogram({
      name: 'grantd_redis_call_seconds',
      help: 'Duration of calls to Redis that got a response.',
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    redisFailures: new Counter({
      name: 'grantd_redis_failures_total',
      help: 'Failed calls to Redis, by reason: timeout, unreachable, unauthorized, full (Redis is out of memory), busy (too many calls in flight) or refused (Redis returned any other error).',
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
      help: 'Connections closed by grantd, by server (public, console or ops) and reason: idle (the one idle longest, to admit a new one), full (a new one, as no other could be closed), held-bytes (too many bytes pending for its client), pipelined (the client sent requests without waiting for responses) or stalled (no data sent or received in time).',
      labelNames: ['server', 'reason'],
      registers,
    }),
    frontQueueLength: new Gauge({
      name: 'grantd_front_queue_length',
      help: 'Requests that a front holds or has sent to a shard, and that no shard has answered yet.',
      registers,
    }),
    frontRetries: new Counter({
      name: 'grantd_front_retries_total',
      help: 'Requests retried by a front, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    frontSuspendedWrites: new Counter({
      name: 'grantd_front_suspended_writes_total',
      help: 'Writes that a front did not retry because its machine was suspended, or its wall clock was set forward, in the meantime.',
      registers,
    }),
    frontShardConnections: new Gauge({
      name: 'grantd_front_shard_connections',
      help: 'Streams from this process to shards, by state: ready or connecting.',
      labelNames: ['state'],
      registers,
    }),
    discoveryAddresses: new Gauge({
      name: 'grantd_discovery_addresses',
      help: 'Shard addresses known from discovery, by source: dns or kubernetes. They are kept while the source fails.',
      labelNames: ['source'],
      registers,
    }),
    discoverySynced: new Gauge({
      name: 'grantd_discovery_synced_timestamp_seconds',
      help: 'Unix time in seconds at which the source last reported or confirmed the shard addresses, by source: dns or kubernetes.',
      labelNames: ['source'],
      registers,
    }),
    discoveryFailures: new Counter({
      name: 'grantd_discovery_failures_total',
      help: 'Failed discovery requests, by source (dns or kubernetes) and reason: forbidden, refused, unreachable, interrupted (a watch ended unexpectedly or stopped responding) or invalid (the response was not understood, or discovery is misconfigured).',
      labelNames: ['source', 'reason'],
      registers,
    }),
    streamBatchChecks: new Histogram({
      name: 'grantd_stream_batch_checks',
      help: 'Checks per message from a front to a shard.',
      buckets: SIZE_BUCKETS,
      registers,
    }),
    pageLookups: new Counter({
      name: 'grantd_page_lookups_total',
      help: 'Lookups of a subject in the subject cache, by result: hit or miss.',
      labelNames: ['result'],
      registers,
    }),
    pagesPreloaded: new Counter({
      name: 'grantd_pages_preloaded_total',
      help: 'Hot pages of a slot that its new owner loaded ahead of requests, by result: loaded, skipped (already in memory, or capacity was short) or failed.',
      labelNames: ['result'],
      registers,
    }),
    pageCacheEvictions: new Counter({
      name: 'grantd_page_cache_evictions_total',
      help: 'Subjects evicted from the subject cache to stay within the memory budget.',
      registers,
    }),
    loadGateRefused: new Counter({
      name: 'grantd_load_gate_refused_total',
      help: 'Store reads, and calls with many tuples, refused as overloaded because their tenant used more than its share of memory, by work: read, call or evaluation.',
      labelNames: ['work'],
      registers,
    }),
    appendSeconds: new Histogram({
      name: 'grantd_append_seconds',
      help: 'Duration of an append to the log, until the entry is known to be durable.',
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    appendBatchOperations: new Histogram({
      name: 'grantd_append_batch_operations',
      help: 'Operations per log entry.',
      buckets: SIZE_BUCKETS,
      registers,
    }),
    appends: new Counter({
      name: 'grantd_appends_total',
      help: 'Appends to the log, by outcome: committed, lost (another shard owns the slot now) or unknown (the shard had to read the log back to find out).',
      labelNames: ['outcome'],
      registers,
    }),
    heartbeatSeconds: new Histogram({
      name: 'grantd_heartbeat_seconds',
      help: 'Duration of the heartbeats of this shard, by outcome: applied (stored), unknown (timed out) or skipped (not sent, because this shard is unhealthy).',
      labelNames: ['outcome'],
      buckets: SECONDS_BUCKETS,
      registers,
    }),
    healthProbes: new Counter({
      name: 'grantd_health_probes_total',
      help: 'No-op writes by which an otherwise idle shard tests itself, by part (append or apply) and outcome: ok or failed.',
      labelNames: ['part', 'outcome'],
      registers,
    }),
    slotMoves: new Counter({
      name: 'grantd_slot_moves_total',
      help: 'Slot moves of this shard, by kind: claimed (taken over), released (handed over) or failed (could not be opened or released, or was lost).',
      labelNames: ['kind'],
      registers,
    }),
    sessionsLost: new Counter({
      name: 'grantd_sessions_lost_total',
      help: 'How often another shard declared this shard dead, so that it had to rejoin.',
      registers,
    }),
    grantsExpired: new Counter({
      name: 'grantd_grants_expired_total',
      help: 'Grants that have expired and were collected: the audit log tells it, and they no longer count.',
      registers,
    }),
    limitRefusals: new Counter({
      name: 'grantd_limit_refusals_total',
      help: 'Writes refused because the tenant has reached a limit of its plan, by problem type: grant-limit-reached, namespace-limit-reached or key-limit-reached.',
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
      help: 'Batches of writes to the state tables that failed and were retried.',
      registers,
    }),
    traceSpans: new Counter({
      name: 'grantd_trace_spans_total',
      help: 'Finished trace spans, by outcome: exported, failed (the collector did not accept them) or dropped (too many were waiting).',
      labelNames: ['outcome'],
      registers,
    }),
    decisionLogRecords: new Counter({
      name: 'grantd_decision_log_records_total',
      help: 'Decisions taken for the decision log, by outcome: delivered, failed (the output or the collector did not accept them) or dropped (too many were waiting).',
      labelNames: ['outcome'],
      registers,
    }),
  };
}
