{{/* The names of objects, and their labels. */}}

{{- define "grantd.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* The release's name, followed by the chart's name unless it contains it. 40 characters leave space for the longest suffix. */}}
{{- define "grantd.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "grantd.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{/* The headless Service of the shards, by which fronts discover them. */}}
{{- define "grantd.shardsService" -}}
{{- printf "%s-shards" (include "grantd.fullname" .) -}}
{{- end }}

{{/* The name in the shards' certificates. */}}
{{- define "grantd.shardsServerName" -}}
{{- printf "%s.%s.svc" (include "grantd.shardsService" .) .Release.Namespace -}}
{{- end }}

{{/* The name by which shards know the console's certificate. Specific to this release: another release may have certificates from the same authority. */}}
{{- define "grantd.consoleServerName" -}}
{{- printf "%s-console.%s.svc" (include "grantd.fullname" .) .Release.Namespace -}}
{{- end }}

{{- define "grantd.frontServerName" -}}
{{- printf "%s.%s.svc" (include "grantd.fullname" .) .Release.Namespace -}}
{{- end }}

{{/* Of (dict "root" $ "component" "front"). */}}
{{- define "grantd.selectorLabels" -}}
app.kubernetes.io/name: {{ include "grantd.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Of (dict "root" $ "component" "front"). Do not use it in pod templates: a new chart version would then restart every pod. */}}
{{- define "grantd.labels" -}}
{{ include "grantd.selectorLabels" . }}
app.kubernetes.io/part-of: grantd
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "grantd.image" -}}
{{- $repository := .Values.image.repository -}}
{{- with .Values.global.imageRegistry | default .Values.image.registry }}{{ $repository = printf "%s/%s" . $repository }}{{ end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{/* Of (dict "root" $ "component" "front"). */}}
{{- define "grantd.serviceAccountName" -}}
{{- $account := index .root.Values.serviceAccounts .component -}}
{{- default (printf "%s-%s" (include "grantd.fullname" .root) .component) $account.name -}}
{{- end }}

{{/* PriorityClasses have no namespace, so their names contain it. */}}
{{- define "grantd.priorityClass" -}}
{{- printf "%s-%s" .Release.Namespace (include "grantd.fullname" .) -}}
{{- end }}

{{/* The address at which clients reach the public API. */}}
{{- define "grantd.baseUrl" -}}
{{- if .Values.baseUrl -}}
{{- .Values.baseUrl -}}
{{- else if and .Values.ingress.enabled .Values.ingress.hosts -}}
{{- printf "%s://%s" (ternary "https" "http" (not (empty .Values.ingress.tls))) (first .Values.ingress.hosts) -}}
{{- else if and .Values.httpRoute.enabled .Values.httpRoute.hostnames -}}
{{- printf "https://%s" (first .Values.httpRoute.hostnames) -}}
{{- else -}}
{{- include "grantd.internalUrl" . -}}
{{- end -}}
{{- end }}

{{/* The public API from inside the cluster. */}}
{{- define "grantd.internalUrl" -}}
{{- $port := int64 .Values.service.port -}}
{{- printf "http://%s.%s.svc%s" (include "grantd.fullname" .) .Release.Namespace (ternary "" (printf ":%d" $port) (eq $port 80)) -}}
{{- end }}

{{- define "grantd.consoleUrl" -}}
{{- printf "http://%s-console.%s.svc:%d" (include "grantd.fullname" .) .Release.Namespace (int64 .Values.console.service.port) -}}
{{- end }}

{{/* Where operators reach the console from outside, if it has an Ingress or an HTTPRoute. */}}
{{- define "grantd.consolePublicUrl" -}}
{{- with .Values.console -}}
{{- if and .ingress.enabled .ingress.hosts -}}
{{- printf "https://%s" (first .ingress.hosts) -}}
{{- else if and .httpRoute.enabled .httpRoute.hostnames -}}
{{- printf "https://%s" (first .httpRoute.hostnames) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The component that serves the public API. */}}
{{- define "grantd.frontComponent" -}}
{{- ternary "standalone" "front" .Values.standalone.enabled -}}
{{- end }}

{{- define "grantd.consoleComponent" -}}
{{- ternary "standalone" "console" .Values.standalone.enabled -}}
{{- end }}
