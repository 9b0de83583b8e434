{{/*
The settings of each role as a YAML map of variable to text. An empty text means the program's default. The settings are
in the pods and not in a ConfigMap: if a pod of the previous version restarts during a rollout, it must not get the
settings of the next version, because it refuses unknown settings.
*/}}

{{- define "grantd.listen" -}}
{{- ternary "[::]" "0.0.0.0" (eq .Values.ipFamily "IPv6") -}}
{{- end }}

{{- define "grantd.settings.common" -}}
GRANTD_LOG_LEVEL: {{ .Values.logLevel | quote }}
{{- end }}

{{- define "grantd.settings.plans" -}}
{{- if or .Values.plans .Values.existingPlansConfigMap }}
GRANTD_PLANS_FILE: /etc/grantd/plans/plans.json
{{- end }}
{{- end }}

{{- define "grantd.settings.tls" -}}
{{- if include "grantd.usesTls" . }}
GRANTD_RPC_TLS_CERT_FILE: /etc/grantd/tls/tls.crt
GRANTD_RPC_TLS_KEY_FILE: /etc/grantd/tls/tls.key
GRANTD_RPC_TLS_CA_FILE: /etc/grantd/tls/ca.crt
{{- end }}
{{- end }}

{{/* For processes that discover shards. */}}
{{- define "grantd.settings.discovery" -}}
GRANTD_DISCOVERY: {{ printf "kubernetes:%s/%s:rpc" .Release.Namespace (include "grantd.shardsService" .) }}
GRANTD_CLUSTER_ID: {{ .Values.clusterId | quote }}
{{- if include "grantd.usesTls" . }}
GRANTD_RPC_TLS_SERVER_NAME: {{ include "grantd.shardName" . }}
{{- end }}
{{- end }}

{{- define "grantd.settings.urls" -}}
GRANTD_BASE_URL: {{ include "grantd.baseUrl" . | quote }}
GRANTD_ERRORS_BASE: {{ .Values.errorsBase | quote }}
{{- end }}

{{- define "grantd.settings.operator" -}}
GRANTD_CLUSTER_NAME: {{ .Values.clusterName | quote }}
GRANTD_DASHBOARD_URL: {{ .Values.dashboardUrl | quote }}
GRANTD_RUNBOOK_URL: {{ include "grantd.runbookUrl" . | quote }}
GRANTD_OPERATOR_TOKEN_FILE: /etc/grantd/operator/token
{{- if .Values.operator.namedTokens.existingSecret }}
GRANTD_OPERATOR_TOKENS_FILE: /etc/grantd/operator-tokens/tokens
{{- end }}
{{- with .Values.operator.oidc }}
{{- if .issuer }}
GRANTD_CONSOLE_URL: {{ .consoleUrl | default (include "grantd.consolePublicUrl" $) | quote }}
GRANTD_OIDC_ISSUER: {{ .issuer | quote }}
GRANTD_OIDC_CLIENT_ID: {{ .clientId | quote }}
{{- if .existingSecret }}
GRANTD_OIDC_CLIENT_SECRET_FILE: /etc/grantd/oidc/client-secret
{{- end }}
GRANTD_OIDC_AUDIENCE: {{ .audience | quote }}
GRANTD_OIDC_SCOPE: {{ .scope | quote }}
GRANTD_OIDC_NAME_CLAIM: {{ .nameClaim | quote }}
GRANTD_OIDC_ACCESS_CLAIM: {{ .accessClaim | quote }}
GRANTD_OIDC_FULL_VALUES: {{ join "," .fullValues | quote }}
GRANTD_OIDC_READ_ONLY_VALUES: {{ join "," .readOnlyValues | quote }}
GRANTD_OIDC_GROUPS_CLAIM: {{ .groupsClaim | quote }}
GRANTD_OIDC_REQUIRED_GROUPS: {{ join "," .requiredGroups | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* For fronts, which share the limits through it. */}}
{{- define "grantd.settings.redis" -}}
{{- if include "grantd.redisSecret" . }}
{{- $items := fromYaml (include "grantd.redisItems" .) }}
GRANTD_REDIS_URL_FILE: /etc/grantd/redis/url
{{- if hasKey $items "password" }}
GRANTD_REDIS_PASSWORD_FILE: /etc/grantd/redis/password
{{- end }}
{{- if hasKey $items "sentinel-password" }}
GRANTD_REDIS_SENTINEL_PASSWORD_FILE: /etc/grantd/redis/sentinel-password
{{- end }}
{{- if .Values.redis.tls.existingSecret }}
GRANTD_REDIS_TLS_CA_FILE: /etc/grantd/redis-tls/ca.crt
{{- end }}
{{- end }}
{{- end }}

{{/* For every process that serves. */}}
{{- define "grantd.settings.tracing" -}}
{{- with .Values.tracing }}
{{- if .endpoint }}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ .endpoint | quote }}
{{- if .existingSecret }}
OTEL_EXPORTER_OTLP_HEADERS_FILE: /etc/grantd/tracing/headers
{{- end }}
OTEL_TRACES_SAMPLER: {{ .sampler }}
OTEL_TRACES_SAMPLER_ARG: {{ .samplerRatio | quote }}
{{- $attributes := list (printf "service.namespace=%s" (urlquery $.Release.Name)) }}
{{- range $name, $text := .resourceAttributes }}
{{- $attributes = append $attributes (printf "%s=%s" (urlquery $name) (urlquery $text | replace "+" "%20")) }}
{{- end }}
OTEL_RESOURCE_ATTRIBUTES: {{ join "," $attributes | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "grantd.settings.decisionLog" -}}
{{- with .Values.decisionLog }}
{{- if .output }}
GRANTD_DECISION_LOG: {{ .output }}
GRANTD_DECISION_LOG_RATE: {{ .rate | quote }}
GRANTD_DECISION_LOG_EXPLAIN: {{ .explain | quote }}
{{- with .tenants }}
GRANTD_DECISION_LOG_TENANTS: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "grantd.settings.front" -}}
{{ include "grantd.settings.common" . }}
{{ include "grantd.settings.urls" . }}
{{ include "grantd.settings.discovery" . }}
{{- include "grantd.settings.tls" . }}
{{- include "grantd.settings.plans" . }}
{{- include "grantd.settings.redis" . }}
{{- include "grantd.settings.tracing" . }}
{{- include "grantd.settings.decisionLog" . }}
GRANTD_HTTP_ADDRESS: {{ printf "%s:8080" (include "grantd.listen" .) | quote }}
GRANTD_OPS_ADDRESS: {{ printf "%s:8081" (include "grantd.listen" .) | quote }}
GRANTD_TRUSTED_PROXIES: {{ join "," .Values.trustedProxies | quote }}
GRANTD_DRAIN_SECONDS: {{ int64 .Values.front.drainSeconds | quote }}
GRANTD_SHUTDOWN_SECONDS: {{ int64 .Values.front.shutdownSeconds | quote }}
{{- end }}

{{- define "grantd.settings.console" -}}
{{ include "grantd.settings.common" . }}
{{ include "grantd.settings.urls" . }}
{{ include "grantd.settings.discovery" . }}
{{- include "grantd.settings.tls" . }}
{{- include "grantd.settings.plans" . }}
{{- include "grantd.settings.tracing" . }}
{{ include "grantd.settings.operator" . }}
GRANTD_CONSOLE_ADDRESS: {{ printf "%s:8090" (include "grantd.listen" .) | quote }}
GRANTD_OPS_ADDRESS: {{ printf "%s:8081" (include "grantd.listen" .) | quote }}
GRANTD_TRUSTED_PROXIES: {{ join "," .Values.trustedProxies | quote }}
GRANTD_DRAIN_SECONDS: {{ int64 .Values.console.drainSeconds | quote }}
GRANTD_SHUTDOWN_SECONDS: {{ int64 .Values.console.shutdownSeconds | quote }}
GRANTD_OPERATOR_URL: http://localhost:8090
{{- end }}

{{/* For processes that use Cassandra. */}}
{{- define "grantd.settings.store" -}}
{{- $cassandra := .Values.cassandra -}}
{{ include "grantd.settings.common" . }}
GRANTD_STORE: cassandra
GRANTD_CASSANDRA_CONTACT_POINTS: {{ join "," $cassandra.contactPoints | quote }}
GRANTD_CASSANDRA_LOCAL_DATACENTER: {{ $cassandra.localDatacenter | quote }}
GRANTD_CASSANDRA_KEYSPACE: {{ $cassandra.keyspace | quote }}
GRANTD_CASSANDRA_SERIAL_LEVEL: {{ $cassandra.serialLevel | quote }}
{{- if $cassandra.tls.enabled }}
GRANTD_CASSANDRA_TLS_CA_FILE: /etc/grantd/cassandra-tls/ca.crt
{{- if $cassandra.tls.clientCertificate }}
GRANTD_CASSANDRA_TLS_CERT_FILE: /etc/grantd/cassandra-tls/tls.crt
GRANTD_CASSANDRA_TLS_KEY_FILE: /etc/grantd/cassandra-tls/tls.key
{{- end }}
{{- end }}
GRANTD_SLOTS: {{ if $cassandra.slots }}{{ int64 $cassandra.slots | quote }}{{ else }}""{{ end }}
{{- end }}

{{- define "grantd.settings.credentials" -}}
{{- if . }}
GRANTD_CASSANDRA_USERNAME_FILE: /etc/grantd/cassandra-credentials/username
GRANTD_CASSANDRA_PASSWORD_FILE: /etc/grantd/cassandra-credentials/password
{{- end }}
{{- end }}

{{- define "grantd.settings.shard" -}}
{{ include "grantd.settings.store" . }}
{{- include "grantd.settings.credentials" (include "grantd.cassandraSecret" .) }}
{{- include "grantd.settings.tls" . }}
{{- include "grantd.settings.plans" . }}
{{- include "grantd.settings.tracing" . }}
{{- if include "grantd.usesTls" . }}
GRANTD_RPC_TLS_CONSOLE_NAMES: {{ include "grantd.consoleNames" . | quote }}
GRANTD_RPC_TLS_SHARD_NAMES: {{ include "grantd.shardName" . }}
{{- else if .Values.tls.allowInsecure }}
GRANTD_RPC_INSECURE: "true"
{{- end }}
GRANTD_CLUSTER_ID: {{ .Values.clusterId | quote }}
GRANTD_RPC_ADDRESS: {{ printf "%s:8082" (include "grantd.listen" .) | quote }}
GRANTD_RPC_ADVERTISE: {{ ternary "[$(POD_IP)]:8082" "$(POD_IP):8082" (eq .Values.ipFamily "IPv6") | quote }}
GRANTD_OPS_ADDRESS: {{ printf "%s:8081" (include "grantd.listen" .) | quote }}
GRANTD_PAGE_CACHE_BYTES: {{ include "grantd.pageCacheBytes" . | quote }}
GRANTD_LOG_RETENTION_HOURS: {{ int64 .Values.shard.logRetentionHours | quote }}
GRANTD_CLOCK_SKEW_MAX_SECONDS: {{ int64 .Values.shard.clockSkewMaxSeconds | quote }}
GRANTD_DRAIN_SECONDS: {{ int64 .Values.shard.drainSeconds | quote }}
GRANTD_SHUTDOWN_SECONDS: {{ int64 .Values.shard.shutdownSeconds | quote }}
{{- end }}

{{- define "grantd.settings.migrate" -}}
{{ include "grantd.settings.store" . }}
{{- include "grantd.settings.credentials" (include "grantd.migrationSecret" .) }}
GRANTD_CASSANDRA_REPLICATION_FACTOR: {{ int64 .Values.cassandra.replicationFactor | quote }}
{{- end }}

{{- define "grantd.settings.standalone" -}}
{{ include "grantd.settings.common" . }}
{{ include "grantd.settings.urls" . }}
{{- include "grantd.settings.plans" . }}
{{- include "grantd.settings.tracing" . }}
{{- include "grantd.settings.decisionLog" . }}
{{ include "grantd.settings.operator" . }}
GRANTD_STORE: sqlite
GRANTD_DATA_DIR: /var/lib/grantd
GRANTD_DEMO: "false"
GRANTD_HTTP_ADDRESS: {{ printf "%s:8080" (include "grantd.listen" .) | quote }}
GRANTD_OPS_ADDRESS: {{ printf "%s:8081" (include "grantd.listen" .) | quote }}
GRANTD_CONSOLE_ADDRESS: {{ printf "%s:8090" (include "grantd.listen" .) | quote }}
GRANTD_TRUSTED_PROXIES: {{ join "," .Values.trustedProxies | quote }}
GRANTD_SLOTS: {{ if .Values.cassandra.slots }}{{ int64 .Values.cassandra.slots | quote }}{{ else }}""{{ end }}
GRANTD_PAGE_CACHE_BYTES: {{ include "grantd.pageCacheBytes" . | quote }}
GRANTD_LOG_RETENTION_HOURS: {{ int64 .Values.shard.logRetentionHours | quote }}
GRANTD_CLOCK_SKEW_MAX_SECONDS: {{ int64 .Values.shard.clockSkewMaxSeconds | quote }}
GRANTD_DRAIN_SECONDS: {{ int64 .Values.standalone.drainSeconds | quote }}
GRANTD_SHUTDOWN_SECONDS: {{ int64 .Values.standalone.shutdownSeconds | quote }}
GRANTD_OPERATOR_URL: http://localhost:8090
{{- end }}

{{/* For the backup: the operator's commands, and the folder for their exports. */}}
{{- define "grantd.settings.backup" -}}
GRANTD_OPERATOR_URL: {{ include "grantd.consoleUrl" . }}
GRANTD_OPERATOR_TOKEN_FILE: /etc/grantd/operator/token
BACKUP_FOLDER: /backup
KEEP: {{ int64 .Values.backup.keep | quote }}
{{- end }}

{{/* For the pod of `helm test`: the operator's commands, and the address of the public API. */}}
{{- define "grantd.settings.test" -}}
GRANTD_OPERATOR_URL: {{ include "grantd.consoleUrl" . }}
GRANTD_OPERATOR_TOKEN_FILE: /etc/grantd/operator/token
PUBLIC_URL: {{ include "grantd.internalUrl" . }}
{{- end }}
