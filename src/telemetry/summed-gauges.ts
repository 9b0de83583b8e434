// The gauges that are computed when the metrics are read: each starts from zero, and the shards of a process add to it.

import { Gauge, type Registry } from 'prom-client';

/** Gauges that are the sum over the shards and interfaces of this process. */
export function createSummedGauges(registers: Registry[]) {
  return {
    httpConnections: new Gauge({
      name: 'grantd_http_connections',
      help: 'Open connections of the public API.',
      registers,
    }),
    httpHeldBytes: new Gauge({
      name: 'grantd_http_held_bytes',
      help: 'Bytes of requests held in memory, by budget: input (received, waiting to be processed), bodies (being read), responses (being built, or not yet read by their clients) or streams (changes not yet read by the clients of streams; what streams share counts once).',
      labelNames: ['budget'],
      registers,
    }),
    changeStreams: new Gauge({
      name: 'grantd_change_streams',
      help: 'Clients that follow the changes of a tenant, by kind: sse or ndjson (open streams), or page (requests that wait for the first change).',
      labelNames: ['kind'],
      registers,
    }),
    changeTails: new Gauge({
      name: 'grantd_change_tails',
      help: 'Keys with followers at this front: each has one call at the owner of its tenant, which waits for changes.',
      registers,
    }),
    changeTailBytes: new Gauge({
      name: 'grantd_change_tail_bytes',
      help: 'Estimated bytes of recent changes that this front keeps for followers that come back.',
      registers,
    }),
    recentChangesTenants: new Gauge({
      name: 'grantd_recent_changes_tenants',
      help: 'Tenants whose recent changes this process keeps in memory, since someone follows them.',
      registers,
    }),
    recentChangesBytes: new Gauge({
      name: 'grantd_recent_changes_bytes',
      help: 'Estimated bytes of these recent changes. They count in grantd_page_cache_bytes.',
      registers,
    }),
    changeCallsWaiting: new Gauge({
      name: 'grantd_change_calls_waiting',
      help: 'Calls of fronts and consoles that wait at this process for the next change of a tenant.',
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
      help: 'Writes waiting for an append.',
      registers,
    }),
    turnsWaiting: new Gauge({
      name: 'grantd_turns_waiting',
      help: 'Requests and calls waiting for their tenant to be scheduled, because this process is short of CPU time.',
      registers,
    }),
    pageCacheBytes: new Gauge({
      name: 'grantd_page_cache_bytes',
      help: 'Estimated bytes of everything counted against the memory budget: the subject cache, store reads in flight, tuples held by calls, memory held by writes, and the data kept for each tenant.',
      registers,
    }),
    writeMemoryBytes: new Gauge({
      name: 'grantd_write_memory_bytes',
      help: 'Bytes held by writes, by kind: queue (waiting for an append), backlog (not yet in the state tables) or operations (operation IDs within the idempotency window).',
      labelNames: ['kind'],
      registers,
    }),
    writeMemoryLimitBytes: new Gauge({
      name: 'grantd_write_memory_limit_bytes',
      help: 'Upper limit of grantd_write_memory_bytes, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    writeMemoryWaiting: new Gauge({
      name: 'grantd_write_memory_waiting',
      help: 'Slots whose next writes wait for memory, by kind: backlog or operations.',
      labelNames: ['kind'],
      registers,
    }),
    pageCacheLimitBytes: new Gauge({
      name: 'grantd_page_cache_limit_bytes',
      help: 'Upper limit of grantd_page_cache_bytes.',
      registers,
    }),
    loadGateBytes: new Gauge({
      name: 'grantd_load_gate_bytes',
      help: 'Bytes reserved temporarily, by work: read (store reads in flight), call (tuples held by bulk checks and writes) or evaluation (large checks and listings under rules).',
      labelNames: ['work'],
      registers,
    }),
    loadGateWaiting: new Gauge({
      name: 'grantd_load_gate_waiting',
      help: 'Store reads, and calls with many tuples, waiting for memory, by work: read, call or evaluation.',
      labelNames: ['work'],
      registers,
    }),
    grants: new Gauge({
      name: 'grantd_grants',
      help: 'Grants of the tenants that this process serves.',
      registers,
    }),
    expiryLagSeconds: new Gauge({
      name: 'grantd_expiry_lag_seconds',
      help: 'How long the expired grant that has waited longest may have been waiting to be collected; 0 if none waits. Until then it counts towards the limit of its tenant, but authorizes nothing.',
      registers,
    }),
    shardUnhealthy: new Gauge({
      name: 'grantd_shard_unhealthy',
      help: 'Health of this shard, by part (append, apply or loop-back): 0 is healthy. 1 is unhealthy: it sends no heartbeats, so that other shards take its slots. 0.5 is suspect: it keeps its slots, because no other shard has proved healthier.',
      labelNames: ['part'],
      registers,
    }),
    stuckSlots: new Gauge({
      name: 'grantd_stuck_slots',
      help: 'Slots of this shard that have made no progress for 10 s although work is waiting, by work: append or apply.',
      labelNames: ['work'],
      registers,
    }),
    leaseSeconds: new Gauge({
      name: 'grantd_lease_seconds',
      help: 'Seconds for which this shard may keep answering without hearing from the store; 0 means that it may not answer.',
      registers,
    }),
    checkpointLagEntries: new Gauge({
      name: 'grantd_checkpoint_lag_entries',
      help: 'Log entries not yet written to the state tables, summed over all slots.',
      registers,
    }),
  };
}
