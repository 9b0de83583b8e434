// Every metric of the program, in one table, so that dashboards and docs can be compared with it. Labels have bounded
// sets of values: operations, statuses, outcomes. Never a tenant, a key or a path.

import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';

/** From 100 µs to 10 s, the deadline of a request. */
const SECONDS_BUCKETS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];
const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

type Registers = Registry[];
/** Creates a metric and registers it. */
type Create = (registers: Registers) => object;

const counter =
  <const Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) =>
  (registers: Registers) =>
    new Counter<Label>({ name, help, labelNames, registers });

const gauge =
  <const Label extends string>(name: string, help: string, ...labelNames: readonly Label[]) =>
  (registers: Registers) =>
    new Gauge<Label>({ name, help, labelNames, registers });

const histogram =
  <const Label extends string>(name: string, help: string, buckets: number[], ...labelNames: readonly Label[]) =>
  (registers: Registers) =>
    new Histogram<Label>({ name, help, labelNames, buckets, registers });

/**
 * Computed when the metrics are rendered: each starts from zero, and the shards and servers of the process add to it.
 */
const SUMMED_GAUGES = {
  httpConnections: gauge('grantd_http_connections', 'Open connections of the public API.'),
  httpHeldBytes: gauge(
    'grantd_http_held_bytes',
    'Bytes of requests held in memory, by budget: input (received, waiting to be processed), bodies (being read), responses (being built, or not yet read by their clients) or streams (changes not yet read by the clients of streams; what streams share counts once).',
    'budget',
  ),
  changeStreams: gauge(
    'grantd_change_streams',
    'Clients following the changes of a tenant, by kind: sse or ndjson (open streams), or page (requests waiting for the first change).',
    'kind',
  ),
  changeTails: gauge(
    'grantd_change_tails',
    'API keys with followers at this front; for each, the front has one call waiting at the owner of the tenant.',
  ),
  changeTailBytes: gauge(
    'grantd_change_tail_bytes',
    'Estimated bytes of recent changes that this front keeps for reconnecting followers.',
  ),
  recentChangesTenants: gauge(
    'grantd_recent_changes_tenants',
    'Tenants whose recent changes this process keeps in memory for followers of their change feeds.',
  ),
  recentChangesBytes: gauge(
    'grantd_recent_changes_bytes',
    'Estimated bytes of the recent changes kept in memory. They count in grantd_page_cache_bytes.',
  ),
  changeCallsWaiting: gauge(
    'grantd_change_calls_waiting',
    'Calls of fronts and consoles that wait at this process for the next change of a tenant.',
  ),
  shardSlots: gauge(
    'grantd_shard_slots',
    'Slots that this process owns, by state: opening, serving or releasing.',
    'state',
  ),
  shardQueueLength: gauge('grantd_shard_queue_length', 'Writes waiting for an append.'),
  turnsWaiting: gauge(
    'grantd_turns_waiting',
    'Requests and calls waiting for their tenant to be scheduled, because this process is short of CPU time.',
  ),
  busiestTenantRatio: gauge(
    'grantd_busiest_tenant_ratio',
    'Share of the last ten seconds, 0 to 1, that this process spent on the one tenant with the most work, after that work had waited for its turn. Near 0 while the process has time for everyone.',
  ),
  pageCacheBytes: gauge(
    'grantd_page_cache_bytes',
    'Estimated bytes of everything counted against the memory budget: the subject cache, store reads in flight, tuples held by calls, memory held by writes, and the data kept for each tenant.',
  ),
  writeMemoryBytes: gauge(
    'grantd_write_memory_bytes',
    'Bytes held by writes, by kind: queue (waiting for an append), backlog (not yet in the state tables) or operations (operation IDs within the idempotency window).',
    'kind',
  ),
  writeMemoryLimitBytes: gauge(
    'grantd_write_memory_limit_bytes',
    'Upper limit of grantd_write_memory_bytes, by kind.',
    'kind',
  ),
  writeMemoryWaiting: gauge(
    'grantd_write_memory_waiting',
    'Slots whose next writes wait for memory, by kind: backlog or operations.',
    'kind',
  ),
  pageCacheLimitBytes: gauge('grantd_page_cache_limit_bytes', 'Upper limit of grantd_page_cache_bytes.'),
  loadGateBytes: gauge(
    'grantd_load_gate_bytes',
    'Bytes reserved temporarily, by work: read (store reads in flight), call (tuples held by bulk checks and writes) or evaluation (large checks and listings under rules).',
    'work',
  ),
  loadGateWaiting: gauge(
    'grantd_load_gate_waiting',
    'Store reads, and calls with many tuples, waiting for memory, by work: read, call or evaluation.',
    'work',
  ),
  readerTenants: gauge(
    'grantd_reader_tenants',
    'Tenants of other shards whose checks and listings this shard answers as a reader.',
  ),
  tenantsWithReaders: gauge(
    'grantd_tenants_with_readers',
    'Tenants of this shard that other shards have read for in the last minute.',
  ),
  grants: gauge('grantd_grants', 'Grants of the tenants that this process serves.'),
  expiryLagSeconds: gauge(
    'grantd_expiry_lag_seconds',
    'Upper bound, in seconds, of the time that any expired grant has been waiting for its collection; 0 if none waits. Until then a grant counts towards the limit of its tenant, but authorizes nothing.',
  ),
  shardUnhealthy: gauge(
    'grantd_shard_unhealthy',
    'Health of this shard, by part (append, apply or loop-back): 0 is healthy. 1 is unhealthy: it sends no heartbeats, so that other shards take its slots. 0.5 is suspect: it keeps its slots, because no other shard has proved healthier.',
    'part',
  ),
  stuckSlots: gauge(
    'grantd_stuck_slots',
    'Slots of this shard without progress for 10 s although work is waiting, by work: append or apply.',
    'work',
  ),
  leaseSeconds: gauge(
    'grantd_lease_seconds',
    'Remaining seconds of the lease of this shard: how long it may keep answering without a response from the store. At 0 it may not answer.',
  ),
  storeWritesFailing: gauge(
    'grantd_store_writes_failing',
    'Is 1 while the last write of this process to the store has failed, otherwise 0. Checks that need no store are answered all the same.',
  ),
  clockSkewSeconds: gauge(
    'grantd_clock_skew_seconds',
    'How far the wall clock of this shard is ahead of others (negative: behind): of the median of all, by which it is judged, of the member and of the node of the store from which it differs most. Beyond GRANTD_CLOCK_SKEW_MAX_SECONDS from the median the shard serves nothing.',
    'from',
  ),
  logAheadSeconds: gauge(
    'grantd_log_ahead_seconds',
    'How far the time of the log of a slot is ahead of the wall clock of this shard, by the most of its slots; 0: of none. Meanwhile the time of its tenants stands still.',
  ),
  checkpointLagEntries: gauge(
    'grantd_checkpoint_lag_entries',
    'Log entries not yet written to the state tables, summed over all slots.',
  ),
};

const METRICS = {
  httpRequestSeconds: histogram(
    'grantd_http_request_seconds',
    'Duration of HTTP requests by operation and status, from the end of the request header to the response being handed to the socket.',
    SECONDS_BUCKETS,
    'operation',
    'status',
  ),
  httpBudgetEvents: counter(
    'grantd_http_budget_events_total',
    'Requests that reached a memory budget of the public API, by budget (bodies, responses, or discards: request bodies read and thrown away after an early response) and event: waited, refused (waited too long: 503, or the discarded body is cut off) or dropped (cut off to free memory for other requests).',
    'budget',
    'event',
  ),
  changeStreamsClosed: counter(
    'grantd_change_streams_closed_total',
    'Streams of changes that have ended, by kind (sse or ndjson) and reason: client (it disconnected), key (its key or tenant is no longer served), slow (the client read nothing for 30 s), memory (too many bytes were waiting for slow clients), displaced (another tenant needed the place), draining (this front is shutting down) or failed (the owner of the tenant could not be reached).',
    'kind',
    'reason',
  ),
  changesDelivered: counter(
    'grantd_changes_delivered_total',
    'Changes sent to clients on streams: one for each change and stream.',
  ),
  checks: counter(
    'grantd_checks_total',
    'Checks answered, by outcome: authorized, denied or failed. A bulk call counts each of its checks.',
    'outcome',
  ),
  rateLimited: counter(
    'grantd_rate_limited_total',
    'Requests refused with 429, by bucket: plan (the rate limit of the tenant), revocation (the separate limit for revoking keys) or authentication (too many failures from the client address).',
    'bucket',
  ),
  rateLimitDecisions: counter(
    'grantd_rate_limit_decisions_total',
    'Decisions on a rate limit that fronts share through Redis, or the threads of one process in its memory, by source: memory (decided locally), redis (after a call to Redis or to the main thread) or share (Redis is lost: decided from the share of this front).',
    'source',
  ),
  redisLost: gauge(
    'grantd_redis_lost',
    'Whether Redis is configured but does not respond, so that this front applies only its share of each limit: 1, otherwise 0.',
  ),
  redisFronts: gauge(
    'grantd_redis_fronts',
    'Fronts that share the rate limits through Redis, as last counted in Redis; 0 without Redis.',
  ),
  redisCallSeconds: histogram(
    'grantd_redis_call_seconds',
    'Duration of calls to Redis that got a response.',
    SECONDS_BUCKETS,
  ),
  redisFailures: counter(
    'grantd_redis_failures_total',
    'Failed calls to Redis, by reason: timeout, unreachable, unauthorized, full (Redis is out of memory), busy (too many calls in flight), invalid (a reply that no honest Redis sends) or refused (Redis returned any other error).',
    'reason',
  ),
  authenticationFailures: counter('grantd_authentication_failures_total', 'Requests refused with 401.'),
  connectionsDropped: counter(
    'grantd_connections_dropped_total',
    'Connections closed by grantd, by server (public, console, ops or shard) and reason: idle (the one idle longest, to admit a new one), full (a new one, as no other could be closed), held-bytes (too many bytes pending for its client), pipelined (the client sent requests without waiting for responses) or stalled (no data sent or received in time).',
    'server',
    'reason',
  ),
  frontQueueLength: gauge(
    'grantd_front_queue_length',
    'Requests that a front holds or has sent to a shard, without a response so far.',
  ),
  frontRetries: counter('grantd_front_retries_total', 'Requests retried by a front, by reason.', 'reason'),
  frontSuspendedWrites: counter(
    'grantd_front_suspended_writes_total',
    'Writes that a front did not retry because its machine was suspended, or its wall clock was set forward, in the meantime.',
  ),
  frontShardConnections: gauge(
    'grantd_front_shard_connections',
    'Streams from this process to shards, by state: ready or connecting.',
    'state',
  ),
  ownerConnections: gauge(
    'grantd_owner_connections',
    'Streams from this shard to the owners of tenants that it reads for, by state: ready or connecting.',
    'state',
  ),
  foreignClusterAddresses: gauge(
    'grantd_foreign_cluster_addresses',
    'Addresses that this process dials and at which a shard of another cluster answers; it is refused.',
  ),
  foreignClusterRefusals: counter(
    'grantd_foreign_cluster_refusals_total',
    'Streams that this shard refused because their peer belongs to another cluster.',
  ),
  discoveryAddresses: gauge(
    'grantd_discovery_addresses',
    'Shard addresses known from discovery, by source: dns or kubernetes. They are kept while the source fails.',
    'source',
  ),
  discoverySynced: gauge(
    'grantd_discovery_synced_timestamp_seconds',
    'Unix time in seconds at which the source last reported or confirmed the shard addresses, by source: dns or kubernetes.',
    'source',
  ),
  discoveryFailures: counter(
    'grantd_discovery_failures_total',
    'Failed discovery requests, by source (dns or kubernetes) and reason: forbidden, refused, unreachable, interrupted (a watch ended unexpectedly or stopped responding) or invalid (the response was not understood, or discovery is misconfigured).',
    'source',
    'reason',
  ),
  streamBatchChecks: histogram(
    'grantd_stream_batch_checks',
    'Checks per message from a front to a shard.',
    SIZE_BUCKETS,
  ),
  malformedCalls: counter(
    'grantd_malformed_calls_total',
    'Calls of fronts, consoles and other shards that this shard could not read, by call; check, position and report are those without a call, unknown is a call that this version does not have. Each is a defect: it failed alone, and its clients got a 500. Stays 0.',
    'call',
  ),
  readerReads: counter(
    'grantd_reader_reads_total',
    'Checks and listings of tenants with readers that a front sent, by result: reader (sent to a reader); or sent to the owner: beginning (no handle at the reader yet), unreachable (no connection to the reader), paused (the reader has failed a call a short while ago), failed (repeated, because the reader failed this one), late (asked beside a reader that has not answered for a while), unconfirmed (the owner gave no position of its log in time) or missing (there is no other shard).',
    'result',
  ),
  readerCalls: counter(
    'grantd_reader_calls_total',
    'Calls that this shard answered as a reader, by kind: check (a single one), bulk (several checks, or checks by name) or listing.',
    'kind',
  ),
  readIndexCalls: histogram(
    'grantd_read_index_calls',
    'Calls that one question to an owner covered (read index). Fronts ask how far its log is; readers that lack entries ask for them, also for reads of the store.',
    SIZE_BUCKETS,
  ),
  readIndexLagEntries: histogram(
    'grantd_read_index_lag_entries',
    'Log entries that a reader lacked at each answer of the owner. It applies them before it answers any call.',
    [0, ...SIZE_BUCKETS],
  ),
  readersEnded: counter(
    'grantd_readers_ended_total',
    'Readers of tenants that have ended at this shard, by reason: idle (no calls for 30 s), displaced (the shard reads for as many tenants as it may, and another one came), stopping (this shard stops), owner-unreachable (no answer in time, or the owner has no lease), owner-moved (another shard owns the slot now), epoch (the owner has claimed the slot again, or the tenant has no readers any more), commits-missing (the owner no longer keeps what the reader lacked) or failed. The next call begins a new one.',
    'reason',
  ),
  readIndexes: counter(
    'grantd_read_indexes_total',
    'Questions that this shard answered as the owner of a tenant with readers, by kind: position (a front asks how far the log is), commits (a reader asks for entries that it lacks) or beginning (of a new reader).',
    'kind',
  ),
  pageLookups: counter(
    'grantd_page_lookups_total',
    'Lookups of a subject in the subject cache, by result: hit or miss.',
    'result',
  ),
  pagesPreloaded: counter(
    'grantd_pages_preloaded_total',
    'Hot pages of a slot that its new owner loaded ahead of requests, by result: loaded, skipped (already in memory, or capacity was short) or failed.',
    'result',
  ),
  pageCacheEvictions: counter(
    'grantd_page_cache_evictions_total',
    'Subjects evicted from the subject cache to stay within the memory budget.',
  ),
  loadGateRefused: counter(
    'grantd_load_gate_refused_total',
    'Store reads, and calls with many tuples, refused as overloaded because their tenant used more than its share of memory, by work: read, call or evaluation.',
    'work',
  ),
  appendSeconds: histogram(
    'grantd_append_seconds',
    'Duration of an append to the log, until the entry is known to be durable.',
    SECONDS_BUCKETS,
  ),
  appendBatchOperations: histogram('grantd_append_batch_operations', 'Operations per log entry.', SIZE_BUCKETS),
  appends: counter(
    'grantd_appends_total',
    'Appends to the log, by outcome: committed, lost (another shard owns the slot now) or unknown (the shard had to read the log back to find out).',
    'outcome',
  ),
  heartbeatSeconds: histogram(
    'grantd_heartbeat_seconds',
    'Duration of the heartbeats of this shard, by outcome: applied (stored), unknown (timed out) or skipped (not sent, because this shard is unhealthy).',
    SECONDS_BUCKETS,
    'outcome',
  ),
  healthProbes: counter(
    'grantd_health_probes_total',
    'No-op writes by which an otherwise idle shard tests itself, by part (append or apply) and outcome: ok or failed.',
    'part',
    'outcome',
  ),
  slotMoves: counter(
    'grantd_slot_moves_total',
    'Slot moves of this shard, by kind: claimed (taken over), released (handed over) or failed (could not be opened or released, or was lost).',
    'kind',
  ),
  sessionsLost: counter(
    'grantd_sessions_lost_total',
    'Sessions of this shard that another shard declared dead; the shard then had to rejoin.',
  ),
  leasesLapsed: counter(
    'grantd_leases_lapsed_total',
    'Leases of this shard that ran out before a heartbeat renewed them. Until then the shard answered nothing, but it kept its slots.',
  ),
  grantsExpired: counter(
    'grantd_grants_expired_total',
    'Expired grants that were collected: the audit log records them, and they no longer count towards limits.',
  ),
  limitRefusals: counter(
    'grantd_limit_refusals_total',
    'Writes refused because the tenant has reached a limit of its plan, by problem type: grant-limit-reached, namespace-limit-reached or key-limit-reached.',
    'type',
  ),
  stateWrites: counter('grantd_state_writes_total', 'Rows written to the state tables.'),
  stateWriteFailures: counter(
    'grantd_state_write_failures_total',
    'Batches of writes to the state tables that failed and were retried.',
  ),
  traceSpans: counter(
    'grantd_trace_spans_total',
    'Finished trace spans, by outcome: exported, failed (the collector did not accept them) or dropped (too many were waiting).',
    'outcome',
  ),
  logLinesDropped: counter(
    'grantd_log_lines_dropped_total',
    'Lines of the log that were dropped: standard error did not take them, because its disk is full or its reader is too slow, and too many were waiting.',
  ),
  decisionLogRecords: counter(
    'grantd_decision_log_records_total',
    'Decisions taken for the decision log, by outcome: delivered, failed (the output or the collector did not accept them) or dropped (too many were waiting).',
    'outcome',
  ),
};

type MetricsOf<Table extends Readonly<Record<string, Create>>> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]>;
};

function create<Table extends Readonly<Record<string, Create>>>(table: Table, registers: Registers): MetricsOf<Table> {
  const created = Object.entries(table).map(([name, createOne]) => [name, createOne(registers)]);
  // Object.fromEntries forgets which value belongs to which name.
  return Object.fromEntries(created) as MetricsOf<Table>;
}

export interface Metrics extends MetricsOf<typeof SUMMED_GAUGES>, MetricsOf<typeof METRICS> {
  readonly registry: Registry;
  /**
   * Registers a report of values that are read only at rendering (slots, bytes, queues). It adds them to the summed
   * gauges. Active until the returned function is called.
   */
  onRender(report: () => void): () => void;
  /** The current values in the text exposition format. */
  render(): Promise<string>;
  /** The current values, for another thread. */
  snapshot(): Promise<MetricsSnapshot>;
  /** From now on `render` adds the values of other threads, which `read` brings. */
  include(read: () => Promise<readonly MetricsSnapshot[]>): void;
}

/** What one thread has counted; it may be sent to another. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[];

/**
 * Each process has its own registry; shards of one process share it. `isThread`: of a further thread, whose process is
 * measured elsewhere.
 */
export function createMetrics({ isThread = false }: { readonly isThread?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (!isThread) collectDefaultMetrics({ register: registry });
  let readOthers: (() => Promise<readonly MetricsSnapshot[]>) | undefined;
  const reports = new Set<() => void>();
  const summed = create(SUMMED_GAUGES, [registry]);
  const report = (): void => {
    for (const each of Object.values(summed)) each.reset();
    for (const each of reports) each();
  };
  const snapshot = (): Promise<MetricsSnapshot> => {
    report();
    return registry.getMetricsAsJSON();
  };
  return {
    ...summed,
    ...create(METRICS, [registry]),
    registry,
    onRender(each) {
      reports.add(each);
      return () => reports.delete(each);
    },
    async render() {
      if (readOthers !== undefined) {
        const all = await Promise.all([readOthers(), snapshot()]);
        return AggregatorRegistry.aggregate([...all[0], all[1]].map((each) => [...each])).metrics();
      }
      report();
      return registry.metrics();
    },
    snapshot,
    include(read) {
      readOthers = read;
    },
  };
}
