{{/* Which Secrets are used, and which of them the chart or its Job creates. */}}

{{- define "grantd.cassandraSecret" -}}
{{- $credentials := .Values.cassandra.credentials -}}
{{- if $credentials.existingSecret -}}
{{- $credentials.existingSecret -}}
{{- else if $credentials.username -}}
{{- printf "%s-cassandra" (include "grantd.fullname" .) -}}
{{- end -}}
{{- end }}

{{/* The role that changes the schema; by default the role of the shards. */}}
{{- define "grantd.migrationSecret" -}}
{{- $credentials := .Values.migration.credentials -}}
{{- if $credentials.existingSecret -}}
{{- $credentials.existingSecret -}}
{{- else if $credentials.username -}}
{{- printf "%s-cassandra-migration" (include "grantd.fullname" .) -}}
{{- else -}}
{{- include "grantd.cassandraSecret" . -}}
{{- end -}}
{{- end }}

{{/* The Secret with the address of Redis; nothing if there is none. */}}
{{- define "grantd.redisSecret" -}}
{{- if .Values.redis.existingSecret -}}
{{- .Values.redis.existingSecret -}}
{{- else if .Values.redis.url -}}
{{- printf "%s-redis" (include "grantd.fullname" .) -}}
{{- end -}}
{{- end }}

{{/* Its contents, as a YAML map of file to key. */}}
{{- define "grantd.redisItems" -}}
{{- with .Values.redis -}}
{{- if .existingSecret -}}
url: {{ .urlKey }}
{{- with .passwordKey }}
password: {{ . }}
{{- end }}
{{- with .sentinelPasswordKey }}
sentinel-password: {{ . }}
{{- end }}
{{- else -}}
url: url
{{- if .password }}
password: password
{{- end }}
{{- if .sentinelPassword }}
sentinel-password: sentinel-password
{{- end }}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The Job's Secret has a name of its own: Helm would refuse to adopt it if a token is provided later. */}}
{{- define "grantd.operatorSecret" -}}
{{- if .Values.operator.existingSecret -}}
{{- .Values.operator.existingSecret -}}
{{- else if .Values.operator.token -}}
{{- printf "%s-operator-token" (include "grantd.fullname" .) -}}
{{- else -}}
{{- printf "%s-operator" (include "grantd.fullname" .) -}}
{{- end -}}
{{- end }}

{{- define "grantd.operatorKey" -}}
{{- ternary .Values.operator.existingSecretKey "token" (not (empty .Values.operator.existingSecret)) -}}
{{- end }}

{{/* "true" or nothing: whether a Job must create the operator's token. */}}
{{- define "grantd.makesOperatorToken" -}}
{{- if not (or .Values.operator.existingSecret .Values.operator.token) }}true{{ end -}}
{{- end }}

{{- define "grantd.usesTls" -}}
{{- if and .Values.tls.enabled (not .Values.standalone.enabled) }}true{{ end -}}
{{- end }}

{{- define "grantd.makesCertificates" -}}
{{- if and (include "grantd.usesTls" .) (eq .Values.tls.source "job") }}true{{ end -}}
{{- end }}

{{/* Takes (dict "root" $ "component" "front"). */}}
{{- define "grantd.tlsSecret" -}}
{{- if eq .root.Values.tls.source "existing" -}}
{{- index .root.Values.tls.existingSecrets .component -}}
{{- else -}}
{{- printf "%s-tls-%s" (include "grantd.fullname" .root) .component -}}
{{- end -}}
{{- end }}

{{/* The DNS name in the certificates of the shards. */}}
{{- define "grantd.shardName" -}}
{{- .Values.tls.serverName | default (include "grantd.shardsServerName" .) -}}
{{- end }}

{{- define "grantd.consoleNames" -}}
{{- join "," (.Values.tls.consoleNames | default (list (include "grantd.consoleServerName" .))) -}}
{{- end }}

{{/* The Secrets that the Job may change: certificates of processes, if it renews them. */}}
{{- define "grantd.renewedSecrets" -}}
{{- if and (include "grantd.makesCertificates" .) (gt (int64 .Values.tls.job.renewBeforeDays) 0) }}
{{- range list "shard" "front" "console" }}
- {{ include "grantd.fullname" $ }}-tls-{{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* The Secrets that the Job creates, one per line. `grantd secrets` uses the same names. */}}
{{- define "grantd.madeSecrets" -}}
{{- $fullname := include "grantd.fullname" . -}}
{{- if include "grantd.makesOperatorToken" . }}
- {{ $fullname }}-operator
{{- end }}
{{- if include "grantd.makesCertificates" . }}
{{- range list "authority" "shard" "front" "console" }}
- {{ $fullname }}-tls-{{ . }}
{{- end }}
{{- end }}
{{- end }}
