{{/*
The alerts. Each says what clients notice, or soon will, and what to look at first. The expressions select series by pod
name, which both kinds of monitor leave unchanged.
*/}}

{{/* Takes (dict "root" $ "name" "GrantdX" "expr" "…" "for" "5m" "severity" "critical" "summary" "…" "description" "…"). */}}
{{- define "grantd.alert" -}}
- alert: {{ .name }}
  expr: {{ .expr | quote }}
  for: {{ .for }}
  labels:
    severity: {{ .severity }}
    {{- with .root.Values.monitoring.prometheusRule.alertLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    summary: {{ .summary | quote }}
    description: {{ .description | quote }}
    runbook_url: {{ printf "%s#%s" (include "grantd.runbookUrl" .root) (lower .name) | quote }}
{{- end }}

{{/* A tag of the repository is `v` and the version of the chart. */}}
{{- define "grantd.runbookUrl" -}}
{{- .Values.monitoring.prometheusRule.runbookUrl | default (printf "%s/blob/v%s/docs/operating/monitoring.md" .Chart.Home .Chart.Version) -}}
{{- end }}

{{- define "grantd.alerts" -}}
{{- $standalone := .Values.standalone.enabled -}}
{{- $pods := printf "namespace=%q,pod=~\"%s-" .Release.Namespace (include "grantd.fullname" .) -}}
{{- $front := printf "%s%s-.*\"" $pods (include "grantd.frontComponent" .) -}}
{{- $console := printf "%s%s-.*\"" $pods (include "grantd.consoleComponent" .) -}}
{{- $shard := printf "%s%s-.*\"" $pods (ternary "standalone" "shard" $standalone) -}}
{{- $slots := .Values.cassandra.slots | default 256 | int64 -}}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdSlotsWithoutOwner" "for" "1m" "severity" "critical"
  "expr" (printf "sum(grantd_shard_slots{%s,state=\"serving\"}) < %d" $shard $slots)
  "summary" "No shard serves some of the slots"
  "description" "Requests for the tenants in these slots get 503. Run grantd slots, read the logs of the shards, and check that Cassandra responds.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdNoShardMetrics" "for" "2m" "severity" "critical"
  "expr" (printf "absent(grantd_lease_seconds{%s})" $shard)
  "summary" "No shard reports metrics"
  "description" "Either no shard is running, or Prometheus cannot reach the ops ports.") }}
{{- /* A standalone installation is one process, which needs no lease: its gauge stays 0. */}}
{{- if not $standalone }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdShardWithoutLease" "for" "1m" "severity" "critical"
  "expr" (printf "grantd_lease_seconds{%s} == 0" $shard)
  "summary" "{{ $labels.pod }} has no lease and must not answer"
  "description" "Its heartbeats do not reach Cassandra, or it is still starting. Its readiness probe and its log say which.") }}
{{- end }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdWritesFail" "for" "1m" "severity" "critical"
  "expr" (printf "grantd_store_writes_failing{%s} == 1" $shard)
  "summary" "{{ $labels.pod }} cannot write to its store"
  "description" "Writes get 503; checks are answered from memory for as long as that suffices. Its /readyz names the reason.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdFrontWithoutShards" "for" "1m" "severity" "critical"
  "expr" (printf "sum by (pod) (grantd_front_shard_connections{%s,state=\"ready\"}) == 0 or sum by (pod) (grantd_front_shard_connections{%s,state=\"ready\"}) == 0" $front $console)
  "summary" "{{ $labels.pod }} is connected to no shard"
  "description" "Read its log. Usual causes: discovery (no permission to list EndpointSlices), certificates, or a NetworkPolicy.") }}
{{- if not $standalone }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdForeignCluster" "for" "0m" "severity" "critical"
  "expr" (printf "max by (pod) (grantd_foreign_cluster_addresses{%s} or grantd_foreign_cluster_addresses{%s} or grantd_foreign_cluster_addresses{%s}) > 0 or sum by (pod) (increase(grantd_foreign_cluster_refusals_total{%s}[5m])) > 0" $front $console $shard $shard)
  "summary" "{{ $labels.pod }} meets another cluster"
  "description" "A shard of another cluster, such as a restored copy, answers at an address that this pod dials, or peers of another cluster dial this shard. They are refused. Its /readyz and its log name the clusters and the addresses.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdDiscoveryStale" "for" "5m" "severity" "warning"
  "expr" (printf "time() - grantd_discovery_synced_timestamp_seconds{%s} > 900 or time() - grantd_discovery_synced_timestamp_seconds{%s} > 900" $front $console)
  "summary" "{{ $labels.pod }} has had no shard addresses from discovery for 15 minutes"
  "description" "It keeps using the addresses it knows. Either the API server is unreachable, or the service account may not list and watch EndpointSlices. See grantd_discovery_failures_total.") }}
{{- end }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdRedisLost" "for" "5m" "severity" "warning"
  "expr" (printf "grantd_redis_lost{%s} == 1" $front)
  "summary" "{{ $labels.pod }} has lost Redis"
  "description" "Until Redis responds again, it applies only its share of each rate limit. No request fails because of this. See grantd_redis_failures_total by reason.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdRequestsFail" "for" "5m" "severity" "critical"
  "expr" (printf "sum(rate(grantd_http_request_seconds_count{%s,status=~\"5..\"}[5m])) > 0.01 * sum(rate(grantd_http_request_seconds_count{%s}[5m]))" $front $front)
  "summary" "More than 1 % of requests fail"
  "description" "503 means that the request got no answer from the owner of its slot in time. Check the slots, the queues and Cassandra.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdMalformedCalls" "for" "0m" "severity" "warning"
  "expr" (printf "sum by (pod, call) (increase(grantd_malformed_calls_total{%s}[15m])) > 0" $shard)
  "summary" "{{ $labels.pod }} could not read a call: {{ $labels.call }}"
  "description" "Another process of the cluster sent what this version cannot read, and its client got a 500. Its log says what and from which address. Compare the versions of all pods.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdChecksSlow" "for" "10m" "severity" "warning"
  "expr" (printf "histogram_quantile(0.99, sum by (le) (rate(grantd_http_request_seconds_bucket{%s,operation=\"check\"}[5m]))) > 0.1" $front)
  "summary" "1 % of checks take longer than 100 ms"
  "description" "Fronts or shards are short of CPU, or shards read many subjects from Cassandra. Check the hit ratio of the subject cache.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdAppendsSlow" "for" "10m" "severity" "warning"
  "expr" (printf "histogram_quantile(0.99, sum by (le) (rate(grantd_append_seconds_bucket{%s}[5m]))) > 1" $shard)
  "summary" "1 % of appends to the log take longer than a second"
  "description" "Writes wait for Cassandra. Check its latency and that all its nodes are up.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdHeartbeatsFail" "for" "5m" "severity" "warning"
  "expr" (printf "sum by (pod) (rate(grantd_heartbeat_seconds_count{%s,outcome!=\"applied\"}[5m])) > 0.2 * sum by (pod) (rate(grantd_heartbeat_seconds_count{%s}[5m]))" $shard $shard)
  "summary" "More than 20 % of the heartbeats of {{ $labels.pod }} fail"
  "description" "Outcome unknown: Cassandra responds too slowly. Outcome skipped: the shard is unhealthy, see grantd_shard_unhealthy. If all heartbeats fail, other shards take its slots.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdClockSkew" "for" "1m" "severity" "critical"
  "expr" (printf "abs(grantd_clock_skew_seconds{%s,from=\"median\"}) > 5" $shard)
  "summary" "The wall clock of {{ $labels.pod }} is {{ $value | humanizeDuration }} off"
  "description" "Beyond shard.clockSkewMaxSeconds it serves nothing, and other shards take its slots. Check the time synchronization of its node.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdLogAhead" "for" "5m" "severity" "warning"
  "expr" (printf "grantd_log_ahead_seconds{%s} > 60" $shard)
  "summary" "The time of a log at {{ $labels.pod }} is {{ $value | humanizeDuration }} ahead"
  "description" "A wall clock was wrong. Until the clocks have caught up, grants and keys of some tenants expire too late, and new ones with a nearer end are refused. Once the clocks are right, grantd repair-time sets it back.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdSessionsLost" "for" "0m" "severity" "warning"
  "expr" (printf "increase(grantd_sessions_lost_total{%s}[15m]) > 0" $shard)
  "summary" "{{ $labels.pod }} was declared dead and joined again"
  "description" "It sent no heartbeat for longer than its lease. Usual causes: a paused machine, a starved CPU, or the network between the shard and Cassandra.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdStateWritesFail" "for" "10m" "severity" "warning"
  "expr" (printf "increase(grantd_state_write_failures_total{%s}[5m]) > 0" $shard)
  "summary" "{{ $labels.pod }} cannot write to the state tables"
  "description" "Nothing is lost: the data is in the log. But writes stop once too much of it waits. Check Cassandra.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdWriteBehindLags" "for" "10m" "severity" "warning"
  "expr" (printf "grantd_checkpoint_lag_entries{%s} > 10000" $shard)
  "summary" "The state tables of {{ $labels.pod }} lag behind the log"
  "description" "A failover would take longer, and at the limit writes wait. Cassandra is too slow for this write rate.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdSlotMovesFail" "for" "5m" "severity" "warning"
  "expr" (printf "increase(grantd_slot_moves_total{%s,kind=\"failed\"}[10m]) > 0" $shard)
  "summary" "{{ $labels.pod }} fails to open or release slots"
  "description" "The log of the pod says why. A shard never opens a slot whose log it cannot read to the end.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdTenantCrowds" "for" "10m" "severity" "info"
  "expr" (printf "grantd_busiest_tenant_ratio{%s} > 0.25" $shard)
  "summary" "{{ $labels.pod }} has more work of one tenant than time"
  "description" "Calls wait for their turn because of one tenant. grantd loads names it. Give it readers, so that other shards answer its checks and listings.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdPageCacheTooSmall" "for" "30m" "severity" "info"
  "expr" (printf "rate(grantd_page_cache_evictions_total{%s}[10m]) > 0 and on (pod) sum by (pod) (rate(grantd_page_lookups_total{%s,result=\"miss\"}[10m])) > 0.2 * sum by (pod) (rate(grantd_page_lookups_total{%s}[10m]))" $shard $shard $shard)
  "summary" "{{ $labels.pod }} reads more than 20 % of subjects from the store"
  "description" "Raise shard.pageCacheBytes and the memory of the pods, or add shards.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdLogLinesDropped" "for" "0m" "severity" "warning"
  "expr" (printf "increase(grantd_log_lines_dropped_total{%s}[15m]) > 0 or increase(grantd_log_lines_dropped_total{%s}[15m]) > 0 or increase(grantd_log_lines_dropped_total{%s}[15m]) > 0" $shard $front $console)
  "summary" "{{ $labels.pod }} has dropped lines of its log"
  "description" "Nothing takes its standard error: the disk of the container log is full, or the program that reads it is stuck. Requests are answered, but the log does not say what happens.") }}
{{- end }}
