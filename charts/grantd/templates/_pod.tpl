{{/* What all pods of the chart share. `pod` is the common part of the values, overridden by the component's own. */}}

{{/* Takes (dict "root" $ "values" .Values.front), returns YAML. Maps are merged, lists replaced. */}}
{{- define "grantd.pod" -}}
{{- $common := dict "annotations" (deepCopy (default dict .root.Values.podAnnotations)) -}}
{{- $own := dict "annotations" (deepCopy (default dict .values.podAnnotations)) -}}
{{- mergeOverwrite (deepCopy .root.Values.pod) $common (deepCopy (default dict .values.pod)) $own | toYaml -}}
{{- end }}

{{/*
The number of replicas, or nothing. With an autoscaler, the current number is kept. If the field were omitted here after a
release that had it, Helm would remove it, and Kubernetes would scale down to one at once. Without a cluster to ask (`helm
template`, Argo CD), the field is omitted; docs/operating/scaling.md says what to do then.
Takes (dict "root" $ "component" "shard" "kind" "StatefulSet").
*/}}
{{- define "grantd.replicas" -}}
{{- $values := index .root.Values .component -}}
{{- if dig "autoscaling" "enabled" false $values -}}
{{- $name := printf "%s-%s" (include "grantd.fullname" .root) .component -}}
{{- with lookup "apps/v1" .kind .root.Release.Namespace $name -}}
replicas: {{ int64 .spec.replicas }}
{{- end -}}
{{- else -}}
replicas: {{ include "grantd.replicaCount" $values }}
{{- end -}}
{{- end }}

{{/* Takes a component's values. 0 is a valid number, so `default` cannot be used. */}}
{{- define "grantd.replicaCount" -}}
{{- int64 (ternary .replicas .replicaCount (kindIs "invalid" .replicaCount)) -}}
{{- end }}

{{/* Takes (dict "root" $ "component" "front" "pod" $pod "checksums" (dict)). */}}
{{- define "grantd.podMetadata" -}}
{{- $annotations := merge (dict) (default dict .pod.annotations) (default dict .checksums) -}}
{{- with $annotations -}}
annotations:
  {{- toYaml . | nindent 2 }}
{{ end -}}
labels:
  {{- include "grantd.selectorLabels" . | nindent 2 }}
  app.kubernetes.io/part-of: grantd
  {{- with .pod.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Takes (dict "root" $ "component" "front" "account" "front" "token" false "spread" true "revisionLabel" "pod-template-hash" "pod" $pod). */}}
{{- define "grantd.podSpec" -}}
serviceAccountName: {{ include "grantd.serviceAccountName" (dict "root" .root "component" .account) }}
automountServiceAccountToken: {{ default false .token }}
enableServiceLinks: false
{{- $pullSecrets := .root.Values.image.pullSecrets }}
{{- range .root.Values.global.imagePullSecrets }}
{{- if kindIs "map" . }}{{ $pullSecrets = append $pullSecrets .name }}{{ else }}{{ $pullSecrets = append $pullSecrets . }}{{ end }}
{{- end }}
{{- with uniq $pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .pod.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.securityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- /* A pod that runs before the installation cannot use what the installation creates. */}}
{{- with .pod.priorityClassName | default (ternary (include "grantd.priorityClass" .root) "" (and .root.Values.priorityClass.create (ne .component "secrets"))) }}
priorityClassName: {{ . }}
{{- end }}
{{- with .pod.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .pod.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .spread }}
{{- with .pod.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $constraint := deepCopy . }}
  {{- if not $constraint.labelSelector }}
  {{- $_ := set $constraint "labelSelector" (dict "matchLabels" (fromYaml (include "grantd.selectorLabels" $))) }}
  {{- if not $constraint.matchLabelKeys }}
  {{- $_ := set $constraint "matchLabelKeys" (list $.revisionLabel) }}
  {{- end }}
  {{- end }}
  {{- list $constraint | toYaml | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Takes (dict "root" $ "pod" $pod). */}}
{{- define "grantd.container" -}}
image: {{ include "grantd.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- with .pod.containerSecurityContext }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Takes (dict "settings" "YAML map" "pod" $pod "fields" (dict "POD_IP" "status.podIP")). Variables in `extraEnv` are omitted from the others. */}}
{{- define "grantd.env" -}}
{{- $extra := list -}}
{{- range .pod.extraEnv }}{{ $extra = append $extra .name }}{{ end -}}
{{- $env := list -}}
{{- range $name, $path := default dict .fields -}}
{{- if not (has $name $extra) }}{{ $env = append $env (dict "name" $name "valueFrom" (dict "fieldRef" (dict "fieldPath" $path))) }}{{ end -}}
{{- end -}}
{{- range $name, $text := fromYaml .settings -}}
{{- if and $text (not (has $name $extra)) }}{{ $env = append $env (dict "name" $name "value" $text) }}{{ end -}}
{{- end -}}
{{- with concat $env .pod.extraEnv }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .pod.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
All three use the ops port. `/livez` responds from the first moment, before Cassandra or a schema is available, so the
first two never end a pod that is only waiting; `/readyz` says why it waits.
Takes (dict "root" $ "values" .Values.front).
*/}}
{{- define "grantd.probes" -}}
{{- $probes := mergeOverwrite (deepCopy .root.Values.probes) (deepCopy .values.probes) -}}
{{- range $kind, $path := dict "startup" "/livez" "liveness" "/livez" "readiness" "/readyz" }}
{{- $probe := index $probes $kind -}}
{{- ternary "" "\n" (eq $kind "liveness") }}{{ $kind }}Probe:
  httpGet:
    path: {{ $path }}
    port: ops
  periodSeconds: {{ int64 $probe.periodSeconds }}
  timeoutSeconds: {{ int64 $probe.timeoutSeconds }}
  failureThreshold: {{ int64 $probe.failureThreshold }}
{{- end }}
{{- end }}

{{/* A stop is aborted after shutdownSeconds, which includes the drain; the rest is a reserve for a busy machine. */}}
{{- define "grantd.gracePeriod" -}}
{{- add (int64 .drainSeconds) (int64 .shutdownSeconds) 5 -}}
{{- end }}

{{/* The volumes of Secrets and ConfigMaps. Takes (dict "root" $ "tls" "shard" "cassandra" "secret name" "operator" true "identity" true "plans" true). */}}
{{- define "grantd.volumes" -}}
{{- if and .tls (include "grantd.usesTls" .root) }}
- name: tls
  secret:
    secretName: {{ include "grantd.tlsSecret" . }}
    defaultMode: 0440
    items:
      - key: tls.crt
        path: tls.crt
      - key: tls.key
        path: tls.key
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- if .cassandra }}
{{- $credentials := .credentials }}
- name: cassandra-credentials
  secret:
    secretName: {{ .cassandra }}
    defaultMode: 0440
    items:
      - key: {{ ternary $credentials.usernameKey "username" (not (empty $credentials.existingSecret)) }}
        path: username
      - key: {{ ternary $credentials.passwordKey "password" (not (empty $credentials.existingSecret)) }}
        path: password
{{- end }}
{{- if and .store .root.Values.cassandra.tls.enabled }}
- name: cassandra-tls
  secret:
    secretName: {{ .root.Values.cassandra.tls.existingSecret }}
    defaultMode: 0440
    items:
      - key: {{ .root.Values.cassandra.tls.caKey }}
        path: ca.crt
      {{- if .root.Values.cassandra.tls.clientCertificate }}
      - key: tls.crt
        path: tls.crt
      - key: tls.key
        path: tls.key
      {{- end }}
{{- end }}
{{- if .operator }}
- name: operator
  secret:
    secretName: {{ include "grantd.operatorSecret" .root }}
    defaultMode: 0440
    items:
      - key: {{ include "grantd.operatorKey" .root }}
        path: token
{{- end }}
{{- if and .operator .root.Values.operator.namedTokens.existingSecret }}
- name: operator-tokens
  secret:
    secretName: {{ .root.Values.operator.namedTokens.existingSecret }}
    defaultMode: 0440
    items:
      - key: {{ .root.Values.operator.namedTokens.existingSecretKey }}
        path: tokens
{{- end }}
{{- if and .identity .root.Values.operator.oidc.issuer .root.Values.operator.oidc.existingSecret }}
- name: oidc
  secret:
    secretName: {{ .root.Values.operator.oidc.existingSecret }}
    defaultMode: 0440
    items:
      - key: {{ .root.Values.operator.oidc.existingSecretKey }}
        path: client-secret
{{- end }}
{{- if and .redis (include "grantd.redisSecret" .root) }}
- name: redis
  secret:
    secretName: {{ include "grantd.redisSecret" .root }}
    defaultMode: 0440
    items:
      {{- range $file, $key := fromYaml (include "grantd.redisItems" .root) }}
      - key: {{ $key }}
        path: {{ $file }}
      {{- end }}
{{- with .root.Values.redis.tls.existingSecret }}
- name: redis-tls
  secret:
    secretName: {{ . }}
    defaultMode: 0440
    items:
      - key: {{ $.root.Values.redis.tls.caKey }}
        path: ca.crt
{{- end }}
{{- end }}
{{- if and .traces .root.Values.tracing.endpoint .root.Values.tracing.existingSecret }}
- name: tracing
  secret:
    secretName: {{ .root.Values.tracing.existingSecret }}
    defaultMode: 0440
    items:
      - key: {{ .root.Values.tracing.headersKey }}
        path: headers
{{- end }}
{{- if and .plans (or .root.Values.plans .root.Values.existingPlansConfigMap) }}
- name: plans
  configMap:
    name: {{ .root.Values.existingPlansConfigMap | default (printf "%s-plans" (include "grantd.fullname" .root)) }}
    items:
      - key: plans.json
        path: plans.json
{{- end }}
{{- with .pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Where the volumes of "grantd.volumes" are mounted. Takes (dict "volumes" "YAML list" "pod" $pod). */}}
{{- define "grantd.volumeMounts" -}}
{{- range fromYamlArray .volumes }}
{{- if has .name (list "tls" "cassandra-credentials" "cassandra-tls" "operator" "operator-tokens" "oidc" "redis" "redis-tls" "tracing" "plans") }}
- name: {{ .name }}
  mountPath: /etc/grantd/{{ .name }}
  readOnly: true
{{- end }}
{{- end }}
{{- with .pod.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
