{{/*
A Job cannot be changed, only replaced. Its name contains a hash of everything that it runs: a change creates another Job,
and an upgrade without one leaves it unchanged. The migration needs no hook, whichever tool applies the objects.

The Job that creates Secrets is a hook nevertheless, together with its account and its rights: only a hook is deleted as
soon as it has succeeded, and an attacker could use a remaining right to create Secrets.
*/}}

{{/* The account, rights and network policy of the hook come first; `hook-succeeded` deletes all of it together. Takes "-10" or "0". */}}
{{- define "grantd.secretsHook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* Takes (dict "root" $ "component" "migrate" "values" .Values.migration "spec" "YAML of the Job's spec" "annotations" "YAML"). */}}
{{- define "grantd.job" -}}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ printf "%s-%s-%s" (include "grantd.fullname" .root) .component (sha256sum .spec | trunc 10) }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "grantd.labels" . | nindent 4 }}
  {{- with merge (default dict (.annotations | default "{}" | fromYaml)) .values.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- .spec | nindent 2 }}
{{- end }}

{{- define "grantd.migrateSpec" -}}
{{- $pod := fromYaml (include "grantd.pod" (dict "root" $ "values" .Values.migration)) }}
{{- $credentials := ternary .Values.migration.credentials .Values.cassandra.credentials (or .Values.migration.credentials.existingSecret .Values.migration.credentials.username | empty | not) }}
{{- $volumes := include "grantd.volumes" (dict "root" $ "component" "migrate" "pod" $pod "store" true "cassandra" (include "grantd.migrationSecret" .) "credentials" $credentials) -}}
# It waits for Cassandra by itself; retries are for failures that are fixed from outside, in a Secret or a right.
backoffLimit: {{ int64 .Values.migration.backoffLimit }}
{{- with .Values.migration.ttlSecondsAfterFinished }}
ttlSecondsAfterFinished: {{ int64 . }}
{{- end }}
template:
  metadata:
    {{- include "grantd.podMetadata" (dict "root" $ "component" "migrate" "pod" $pod "checksums" (dict "checksum/files" (toYaml $credentials | sha256sum))) | nindent 4 }}
  spec:
    {{- include "grantd.podSpec" (dict "root" $ "component" "migrate" "account" "shard" "pod" $pod) | nindent 4 }}
    restartPolicy: OnFailure
    containers:
      - name: migrate
        {{- include "grantd.container" (dict "root" $ "pod" $pod) | nindent 8 }}
        args: [migrate]
        {{- include "grantd.env" (dict "settings" (include "grantd.settings.migrate" .) "pod" $pod) | trim | nindent 8 }}
        {{- with .Values.migration.resources }}
        resources:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- with include "grantd.volumeMounts" (dict "volumes" $volumes "pod" $pod) | trim }}
        volumeMounts:
          {{- . | nindent 10 }}
        {{- end }}
    {{- with trim $volumes }}
    volumes:
      {{- . | nindent 6 }}
    {{- end }}
{{- end }}

{{- define "grantd.secretsSpec" -}}
{{- $pod := fromYaml (include "grantd.pod" (dict "root" $ "values" .Values.secretsJob)) -}}
backoffLimit: {{ int64 .Values.secretsJob.backoffLimit }}
template:
  metadata:
    {{- include "grantd.podMetadata" (dict "root" $ "component" "secrets" "pod" $pod) | nindent 4 }}
  spec:
    {{- include "grantd.podSpec" (dict "root" $ "component" "secrets" "account" "secrets" "token" true "pod" $pod) | nindent 4 }}
    restartPolicy: OnFailure
    containers:
      - name: secrets
        {{- include "grantd.container" (dict "root" $ "pod" $pod) | nindent 8 }}
        args:
          - secrets
          - --namespace={{ .Release.Namespace }}
          - --name={{ include "grantd.fullname" . }}
          - --label=app.kubernetes.io/instance={{ .Release.Name }}
          {{- if include "grantd.makesOperatorToken" . }}
          - --operator-token
          {{- end }}
          {{- if include "grantd.makesCertificates" . }}
          - --shard-names={{ printf "%s,*.%s" (include "grantd.shardsServerName" .) (include "grantd.shardsServerName" .) }}
          - --front-names={{ include "grantd.frontServerName" . }}
          - --console-names={{ include "grantd.consoleServerName" . }}
          - --certificate-days={{ int64 .Values.tls.job.certificateDays }}
          - --renew-before-days={{ int64 .Values.tls.job.renewBeforeDays }}
          {{- end }}
        {{- with include "grantd.env" (dict "settings" "{}" "pod" $pod) | trim }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- with .Values.secretsJob.resources }}
        resources:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- with $pod.extraVolumeMounts }}
        volumeMounts:
          {{- toYaml . | nindent 10 }}
        {{- end }}
    {{- with $pod.extraVolumes }}
    volumes:
      {{- toYaml . | nindent 6 }}
    {{- end }}
{{- end }}
