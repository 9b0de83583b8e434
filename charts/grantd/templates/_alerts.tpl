{{/*
The alerts. Each names what clients notice or will, and what to look at first. Series are told apart by the names of
the pods, which both kinds of monitor leave as they are.
*/}}

{{/* Of (dict "root" $ "name" "GrantdX" "expr" "…" "for" "5m" "severity" "critical" "summary" "…" "description" "…"). */}}
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
    {{- with .root.Values.monitoring.prometheusRule.runbookUrl }}
    runbook_url: {{ printf "%s#%s" . (lower $.name) | quote }}
    {{- end }}
{{ end }}

{{- define "grantd.alerts" -}}
{{- $standalone := .Values.standalone.enabled -}}
{{- $pods := printf "namespace=%q,pod=~\"%s-" .Release.Namespace (include "grantd.fullname" .) -}}
{{- $front := printf "%s%s-.*\"" $pods (include "grantd.frontComponent" .) -}}
{{- $console := printf "%s%s-.*\"" $pods (include "grantd.consoleComponent" .) -}}
{{- $shard := printf "%s%s-.*\"" $pods (ternary "standalone" "shard" $standalone) -}}
{{- $slots := .Values.cassandra.slots | default 256 | int64 -}}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdSlotsWithoutOwner" "for" "1m" "severity" "critical"
  "expr" (printf "sum(grantd_shard_slots{%s,state=\"serving\"}) < %d" $shard $slots)
  "summary" "Some slots are served by no shard"
  "description" "Requests for the tenants of these slots are answered 503. See grantd slots, the logs of the shards, and whether Cassandra answers.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdNoShardMetrics" "for" "2m" "severity" "critical"
  "expr" (printf "absent(grantd_lease_seconds{%s})" $shard)
  "summary" "No shard can be read"
  "description" "Either no shard runs, or Prometheus does not reach the ops ports.") }}
{{- /* The one process of a standalone installation needs no lease, so that its gauge stays 0. */}}
{{- if not $standalone }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdShardWithoutLease" "for" "1m" "severity" "critical"
  "expr" (printf "grantd_lease_seconds{%s} == 0" $shard)
  "summary" "{{ $labels.pod }} may not answer"
  "description" "Its beats do not reach Cassandra, or it is still starting: its readiness and its log say which.") }}
{{- end }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdFrontWithoutShards" "for" "1m" "severity" "critical"
  "expr" (printf "sum by (pod) (grantd_front_shard_connections{%s,state=\"ready\"}) == 0 or sum by (pod) (grantd_front_shard_connections{%s,state=\"ready\"}) == 0" $front $console)
  "summary" "{{ $labels.pod }} reaches no shard"
  "description" "Look at its log: discovery (the right to list EndpointSlices), certificates, a NetworkPolicy.") }}
{{- if not $standalone }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdDiscoveryStale" "for" "5m" "severity" "warning"
  "expr" (printf "time() - grantd_discovery_synced_timestamp_seconds{%s} > 900 or time() - grantd_discovery_synced_timestamp_seconds{%s} > 900" $front $console)
  "summary" "{{ $labels.pod }} has not learnt for a quarter of an hour where shards are"
  "description" "It goes on with the addresses it knows. The API server is away, or the service account may not list and watch EndpointSlices: see grantd_discovery_failures_total.") }}
{{- end }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdRedisLost" "for" "5m" "severity" "warning"
  "expr" (printf "grantd_redis_lost{%s} == 1" $front)
  "summary" "{{ $labels.pod }} does without Redis"
  "description" "It holds tenants to its share of their limits until Redis answers again. No request fails for it. See grantd_redis_failures_total by reason.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdRequestsFail" "for" "5m" "severity" "critical"
  "expr" (printf "sum(rate(grantd_http_request_seconds_count{%s,status=~\"5..\"}[5m])) > 0.01 * sum(rate(grantd_http_request_seconds_count{%s}[5m]))" $front $front)
  "summary" "More than 1 % of the requests fail"
  "description" "503 means that no owner could be asked in time. See the slots, the queues and Cassandra.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdChecksSlow" "for" "10m" "severity" "warning"
  "expr" (printf "histogram_quantile(0.99, sum by (le) (rate(grantd_http_request_seconds_bucket{%s,operation=\"check\"}[5m]))) > 0.1" $front)
  "summary" "One check in a hundred takes longer than 100 ms"
  "description" "Fronts or shards are short of CPU, or many pages are read from Cassandra: compare the hit ratio of the page cache.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdAppendsSlow" "for" "10m" "severity" "warning"
  "expr" (printf "histogram_quantile(0.99, sum by (le) (rate(grantd_append_seconds_bucket{%s}[5m]))) > 1" $shard)
  "summary" "One append to the log in a hundred takes longer than a second"
  "description" "Writes wait for Cassandra. Look at its latency and whether all its nodes are up.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdBeatsFail" "for" "5m" "severity" "warning"
  "expr" (printf "sum by (pod) (rate(grantd_beat_seconds_count{%s,outcome!=\"stood\"}[5m])) > 0.2 * sum by (pod) (rate(grantd_beat_seconds_count{%s}[5m]))" $shard $shard)
  "summary" "{{ $labels.pod }} loses beats"
  "description" "unknown: Cassandra is slow to answer. withheld: the shard is too busy to call itself. When all fail, its slots go to others.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdSessionsLost" "for" "0m" "severity" "warning"
  "expr" (printf "increase(grantd_sessions_lost_total{%s}[15m]) > 0" $shard)
  "summary" "{{ $labels.pod }} was declared dead and joined again"
  "description" "It could not beat for longer than its lease: a paused machine, a starved CPU, or a network between it and Cassandra.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdStateWritesFail" "for" "10m" "severity" "warning"
  "expr" (printf "increase(grantd_state_write_failures_total{%s}[5m]) > 0" $shard)
  "summary" "{{ $labels.pod }} cannot write its state tables"
  "description" "Nothing is lost, it is in the log; but writes stop when too much waits. Look at Cassandra.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdWriteBehindLags" "for" "10m" "severity" "warning"
  "expr" (printf "grantd_checkpoint_lag_entries{%s} > 10000" $shard)
  "summary" "{{ $labels.pod }} is behind with its state tables"
  "description" "A failover would take longer, and writes wait at the bound. Cassandra is too slow for this rate of writes.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdSlotMovesFail" "for" "5m" "severity" "warning"
  "expr" (printf "increase(grantd_slot_moves_total{%s,kind=\"failed\"}[10m]) > 0" $shard)
  "summary" "{{ $labels.pod }} fails to take slots"
  "description" "Its log says why a slot could not be opened. A log that cannot be read to its end is never skipped.") }}
{{ include "grantd.alert" (dict "root" $ "name" "GrantdPageCacheTooSmall" "for" "30m" "severity" "info"
  "expr" (printf "rate(grantd_page_cache_evictions_total{%s}[10m]) > 0 and on (pod) sum by (pod) (rate(grantd_page_lookups_total{%s,result=\"miss\"}[10m])) > 0.2 * sum by (pod) (rate(grantd_page_lookups_total{%s}[10m]))" $shard $shard $shard)
  "summary" "{{ $labels.pod }} reads more than a fifth of its pages from the store"
  "description" "Raise shard.pageCacheBytes with the memory of the pods, or add shards.") }}
{{- end }}
