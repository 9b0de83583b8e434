{{/* Rules between values, which a schema cannot express well. All problems are reported at once. */}}

{{- define "grantd.check" -}}
{{- $wrong := list -}}
{{- if not .Values.enabled -}}
{{- $wrong = append $wrong "enabled=false works only in a parent chart that names it as the condition of the dependency" -}}
{{- end -}}
{{- if not .Values.image.repository -}}
{{- $wrong = append $wrong "image.repository must name the image, for example platform/grantd in image.registry=registry.example.com: this chart was not released, so its image is in no registry until you build and push it (docs/operating/install.md)" -}}
{{- end -}}
{{- $cache := int64 (include "grantd.pageCacheBytes" .) -}}
{{- if or (lt $cache 1048576) (gt $cache 1099511627776) -}}
{{- $wrong = append $wrong (printf "shard.pageCacheBytes must be from 1Mi to 1024Gi; it is %v" .Values.shard.pageCacheBytes) -}}
{{- end -}}
{{- $holder := ternary "standalone" "shard" .Values.standalone.enabled -}}
{{- with include "grantd.memoryProblem" (dict "root" . "name" $holder "resources" (index .Values $holder).resources) -}}
{{- $wrong = append $wrong . -}}
{{- end -}}
{{- if and .Values.monitoring.podMonitor.enabled .Values.monitoring.serviceMonitor.enabled -}}
{{- $wrong = append $wrong "monitoring.podMonitor and monitoring.serviceMonitor exclude each other: with both, every series would exist twice" -}}
{{- end -}}
{{- if not .Values.standalone.enabled -}}
{{- if not .Values.cassandra.contactPoints -}}
{{- $wrong = append $wrong "cassandra.contactPoints must name Cassandra nodes (or set standalone.enabled=true to try grantd without Cassandra)" -}}
{{- end -}}
{{- if not .Values.cassandra.localDatacenter -}}
{{- $wrong = append $wrong "cassandra.localDatacenter must name the datacenter whose nodes are used" -}}
{{- end -}}
{{- if and .Values.cassandra.tls.enabled (not .Values.cassandra.tls.existingSecret) -}}
{{- $wrong = append $wrong "cassandra.tls.existingSecret must name the Secret with the CA certificates of Cassandra" -}}
{{- end -}}
{{- range $name, $credentials := dict "cassandra.credentials" .Values.cassandra.credentials "migration.credentials" .Values.migration.credentials -}}
{{- if and (not $credentials.existingSecret) (ne (empty $credentials.username) (empty $credentials.password)) -}}
{{- $wrong = append $wrong (printf "%s.username and %s.password go together" $name $name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.tls.enabled (eq .Values.tls.source "existing") -}}
{{- range $component, $secret := .Values.tls.existingSecrets -}}
{{- if not $secret -}}
{{- $wrong = append $wrong (printf "tls.existingSecrets.%s must name a Secret with tls.crt, tls.key and ca.crt" $component) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (not .Values.tls.enabled) (not .Values.tls.allowInsecure) -}}
{{- $wrong = append $wrong "with tls.enabled=false, anyone who can reach port 8082 of a shard has full access to every tenant, without a token; leave TLS on (tls.source=job needs no preparation), or set tls.allowInsecure=true if a mesh or a network policy admits only fronts, consoles and shards" -}}
{{- end -}}
{{- range $name, $component := dict "front" .Values.front "shard" .Values.shard "console" .Values.console "standalone" .Values.standalone -}}
{{- if ge (int64 $component.drainSeconds) (int64 $component.shutdownSeconds) -}}
{{- $wrong = append $wrong (printf "%s.shutdownSeconds must be longer than %s.drainSeconds" $name $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $component := dict "front" .Values.front "shard" .Values.shard -}}
{{- if and $component.autoscaling.enabled (lt (int64 $component.autoscaling.replicasMax) (int64 $component.autoscaling.replicasMin)) -}}
{{- $wrong = append $wrong (printf "%s.autoscaling.replicasMax must not be below replicasMin" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- $wrong = append $wrong "ingress.hosts must name a host" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- $wrong = append $wrong "httpRoute.parentRefs must name a Gateway" -}}
{{- end -}}
{{- with .Values.console -}}
{{- if and .ingress.enabled (not .ingress.hosts) -}}
{{- $wrong = append $wrong "console.ingress.hosts must name a host" -}}
{{- end -}}
{{- if and .ingress.enabled (not .ingress.tls) (not .ingress.tlsTerminatedElsewhere) -}}
{{- $wrong = append $wrong "console.ingress.tls must name the certificate, because operators send their token; set console.ingress.tlsTerminatedElsewhere=true if a load balancer in front of the Ingress terminates TLS" -}}
{{- end -}}
{{- if and .httpRoute.enabled (not .httpRoute.parentRefs) -}}
{{- $wrong = append $wrong "console.httpRoute.parentRefs must name a Gateway" -}}
{{- end -}}
{{- if and (or .ingress.enabled .httpRoute.enabled) $.Values.networkPolicy.enabled (not $.Values.networkPolicy.consoleFrom) -}}
{{- $wrong = append $wrong "networkPolicy.consoleFrom must admit the Ingress controller or the Gateway, because the console has an Ingress or an HTTPRoute" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.redis.existingSecret (or .Values.redis.url .Values.redis.password .Values.redis.sentinelPassword) -}}
{{- $wrong = append $wrong "redis.existingSecret excludes redis.url, redis.password and redis.sentinelPassword" -}}
{{- end -}}
{{- if and (or .Values.redis.password .Values.redis.sentinelPassword) (not .Values.redis.url) (not .Values.redis.existingSecret) -}}
{{- $wrong = append $wrong "redis.url must be set, because redis.password or redis.sentinelPassword is" -}}
{{- end -}}
{{- if and (eq .Values.decisionLog.output "otlp") (not .Values.tracing.endpoint) -}}
{{- $wrong = append $wrong "tracing.endpoint must be set, because decisionLog.output=otlp sends decisions to that collector" -}}
{{- end -}}
{{- if and .Values.plans .Values.existingPlansConfigMap -}}
{{- $wrong = append $wrong "plans and existingPlansConfigMap exclude each other" -}}
{{- end -}}
{{- if $wrong -}}
{{- fail (printf "\n\nThe values cannot be used:\n  - %s\n" (join "\n  - " $wrong)) -}}
{{- end -}}
{{- end }}
