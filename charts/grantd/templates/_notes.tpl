{{/* What Helm prints after an installation. A template, so that it can be rendered without a cluster. */}}

{{- define "grantd.notes" -}}
{{- $console := printf "%s/%s-%s" (ternary "statefulset" "deployment" .Values.standalone.enabled) (include "grantd.fullname" .) (include "grantd.consoleComponent" .) -}}
grantd {{ .Values.image.tag | default .Chart.AppVersion }} is being installed as {{ .Release.Name }} in {{ .Release.Namespace }}.
{{- if .Values.standalone.enabled }}
It runs in one pod with an embedded store: for evaluation, not for production.
{{- end }}
Clients in the cluster reach it at {{ include "grantd.internalUrl" . }}{{ if ne (include "grantd.baseUrl" .) (include "grantd.internalUrl" .) }}, others at {{ include "grantd.baseUrl" . }}{{ end }}.

1. Wait until it serves:
     kubectl --namespace {{ .Release.Namespace }} rollout status {{ ternary "statefulset" "deployment" .Values.standalone.enabled }}/{{ include "grantd.fullname" . }}-{{ include "grantd.frontComponent" . }} --timeout 5m
2. Test it (this creates a tenant and deletes it again):
     helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }} --logs
3. Create your first tenant:
     kubectl --namespace {{ .Release.Namespace }} exec {{ $console }} -- grantd tenants create example
{{- if not .Values.standalone.enabled }}
{{- $slots := .Values.cassandra.slots | default 256 | int64 }}
{{- $shards := int64 (include "grantd.replicaCount" .Values.shard) }}
{{- if .Values.shard.autoscaling.enabled }}{{ $shards = int64 .Values.shard.autoscaling.replicasMax }}{{ end }}
{{- if gt $shards $slots }}

There may be {{ $shards }} shards and there are {{ $slots }} slots: {{ sub $shards $slots }} of the shards would stay idle. The number of slots is fixed at the first migration.
{{- end }}
{{- end }}
{{- if and (not .Values.standalone.enabled) (not .Values.tls.enabled) }}

tls.enabled is false: anyone who can reach port 8082 of a shard can read and change the data of every tenant. {{ if .Values.networkPolicy.enabled }}Make sure that your network enforces the NetworkPolicies.{{ else }}Allow only fronts and consoles to reach it (networkPolicy.enabled=true).{{ end }}
{{- end }}
{{- end }}
