{{/* What Helm prints after an installation. A template, so that it can be rendered without a cluster. */}}

{{- define "grantd.notes" -}}
{{- $kubectl := printf "kubectl --namespace %s" .Release.Namespace -}}
{{- $fullname := include "grantd.fullname" . -}}
{{- $console := printf "%s/%s-%s" (ternary "statefulset" "deployment" .Values.standalone.enabled) $fullname (include "grantd.consoleComponent" .) -}}
{{- $consoleUrl := include "grantd.consolePublicUrl" . -}}
grantd {{ .Values.image.tag | default .Chart.AppVersion }} is being installed as {{ .Release.Name }} in {{ .Release.Namespace }}, from the image {{ include "grantd.image" . }}.
{{- if .Values.standalone.enabled }}
It runs in one pod with an embedded store: for evaluation, not for production.
{{- end }}
Clients in the cluster reach it at {{ include "grantd.internalUrl" . }}{{ if ne (include "grantd.baseUrl" .) (include "grantd.internalUrl" .) }}, others at {{ include "grantd.baseUrl" . }}{{ end }}.

1. Wait until it serves:
     {{ $kubectl }} rollout status {{ ternary "statefulset" "deployment" .Values.standalone.enabled }}/{{ $fullname }}-{{ include "grantd.frontComponent" . }} --timeout 5m
2. Test it (this creates a tenant and deletes it again):
     helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }} --logs
3. Create your first tenant, and a key for its application, which is shown once:
     TENANT=$({{ $kubectl }} exec {{ $console }} -- grantd tenants create example | awk '/^tenant_id / {print $2}')
     GRANTD_KEY=$({{ $kubectl }} exec {{ $console }} -- grantd keys create --tenant "$TENANT" --scope check:read,grant:write | awk '/^key / {print $2}')
4. Make the first grant and the first check, as that application:
     {{ $kubectl }} port-forward service/{{ $fullname }} 8080:{{ int64 .Values.service.port }} > /dev/null &
     ask() { curl -sSw '\n' --retry 9 --retry-connrefused "http://127.0.0.1:8080$1" -H "Authorization: Bearer $GRANTD_KEY" -H 'Content-Type: application/json' -d '{"subject":"user:ada","relation":"viewer","object":"document:plan"}'; }
     ask /v1/grants
     ask /v1/check
   The check answers "authorized":true. The reference of the API, in which you can try it, is at http://127.0.0.1:8080/docs.
5. Read the operator token:
     {{ $kubectl }} get secret {{ include "grantd.operatorSecret" . }} --output go-template='{{ print "{{index .data " (include "grantd.operatorKey" . | quote) " | base64decode}}" }}'
{{- if $consoleUrl }}
6. Log in to the console with it, at {{ $consoleUrl }}/.
{{- else }}
6. Log in to the console with it, at http://127.0.0.1:8090/, while this runs:
     {{ $kubectl }} port-forward service/{{ $fullname }}-console 8090:{{ int64 .Values.console.service.port }}
{{- end }}

Guides: {{ .Chart.Home }}/blob/v{{ .Chart.AppVersion }}/docs/README.md. Before clients rely on it: docs/operating/production-checklist.md there.
{{- if not .Values.standalone.enabled }}
{{- $slots := .Values.cassandra.slots | default 256 | int64 }}
{{- $shards := int64 (include "grantd.replicaCount" .Values.shard) }}
{{- if .Values.shard.autoscaling.enabled }}{{ $shards = int64 .Values.shard.autoscaling.replicasMax }}{{ end }}
{{- if gt $shards $slots }}

There may be {{ $shards }} shards and there are {{ $slots }} slots: {{ sub $shards $slots }} of the shards would stay idle. The number of slots is fixed at the first migration.
{{- end }}
{{- end }}
{{- if $consoleUrl }}

The console is reachable from outside: its Ingress or HTTPRoute leads to its pages and to the whole API of the operator (/console/, /operator/v1/), which changes every tenant. Admit only the networks of your operators.
{{- if not .Values.trustedProxies }}
trustedProxies is empty: failed log-ins of all operators count for the address of the proxy, and the session cookie is not bound to HTTPS. Name the proxy, which must set X-Forwarded-For and X-Forwarded-Proto.
{{- end }}
{{- if and (not .Values.standalone.enabled) (gt (int64 (include "grantd.replicaCount" .Values.console)) 1) }}
Each log-in exists on one of the consoles only: the Ingress or the Gateway has to keep each browser on one of them, by a cookie.
{{- end }}
{{- end }}
{{- if and (not .Values.standalone.enabled) (not .Values.tls.enabled) }}

tls.enabled is false: anyone who can reach port 8082 of a shard can read and change the data of every tenant. {{ if .Values.networkPolicy.enabled }}Make sure that your network enforces the NetworkPolicies.{{ else }}Allow only fronts, consoles and shards to reach it (networkPolicy.enabled=true).{{ end }}
{{- end }}
{{- end }}
