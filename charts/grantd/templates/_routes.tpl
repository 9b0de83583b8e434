{{/* The ways in from outside the cluster: those of the public API and those of the console have the same form. */}}

{{/*
Takes (dict "root" $ "component" "front" "name" "the Service's name, also that of the object" "values" .Values.ingress
"path" "/" "pathType" "Prefix").
*/}}
{{- define "grantd.ingress" -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "grantd.labels" . | nindent 4 }}
  {{- with .values.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .values.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- with .values.tls }}
  tls:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    {{- range .values.hosts }}
    - host: {{ . | quote }}
      http:
        paths:
          - path: {{ $.path }}
            pathType: {{ $.pathType }}
            backend:
              service:
                name: {{ $.name }}
                port:
                  name: http
    {{- end }}
{{- end }}

{{/* Takes (dict "root" $ "component" "front" "name" "the Service's name" "values" .Values.httpRoute "port" 80). */}}
{{- define "grantd.httpRoute" -}}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "grantd.labels" . | nindent 4 }}
  {{- with .values.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  parentRefs:
    {{- toYaml .values.parentRefs | nindent 4 }}
  {{- with .values.hostnames }}
  hostnames:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    - matches:
        - path:
            type: PathPrefix
            value: /
      {{- with .values.filters }}
      filters:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      backendRefs:
        - name: {{ .name }}
          port: {{ int64 .port }}
{{- end }}
