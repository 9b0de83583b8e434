{{/*
The memory that a page cache needs, by the rule with which the program refuses to start (src/config/page-cache-memory.ts):
twice the cache plus 256 MiB. A test compares the two.
*/}}

{{/* The bytes of a Kubernetes quantity, such as 256Mi, 1.5G or 1e9; `KiB`, `MiB` and `GiB` are accepted too. */}}
{{- define "grantd.bytes" -}}
{{- $text := toString . -}}
{{- $unit := regexFind "([KMG]iB|[KMGTPE]i|[mkMGTPE])$" $text -}}
{{- $factors := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976 -}}
{{- mulf (trimSuffix $unit $text | float64) (get $factors (trimSuffix "B" $unit)) | floor | int64 -}}
{{- end }}

{{- define "grantd.pageCacheBytes" -}}
{{- include "grantd.bytes" .Values.shard.pageCacheBytes -}}
{{- end }}

{{/* What is wrong with a limit, or nothing. Takes (dict "root" $ "name" "shard" "resources" .Values.shard.resources). */}}
{{- define "grantd.memoryProblem" -}}
{{- $mebibyte := 1048576 -}}
{{- $cache := int64 (include "grantd.pageCacheBytes" .root) -}}
{{- with dig "limits" "memory" "" (default dict .resources) -}}
{{- $limit := int64 (include "grantd.bytes" .) -}}
{{- $needed := add (mul 2 $cache) (mul 256 $mebibyte) -}}
{{- if lt $limit $needed -}}
{{- $largest := div (sub $limit (mul 256 $mebibyte)) (mul 2 $mebibyte) -}}
{{- printf "shard.pageCacheBytes is %v, which needs %dMi of memory: twice the cache plus 256Mi. %s.resources.limits.memory is %v; raise it to %dMi" $.root.Values.shard.pageCacheBytes (div (add $needed $mebibyte -1) $mebibyte) $.name . (div (add $needed $mebibyte -1) $mebibyte) -}}
{{- if ge $largest 1 }}{{ printf ", or set shard.pageCacheBytes to %dMi or less" $largest }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end }}
