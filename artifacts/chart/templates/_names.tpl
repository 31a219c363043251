{{- /* The namespace is fixed: the admission policies name it. */}}
{{- define "hnc.validate" -}}
{{- if ne .Release.Namespace "hns-system" }}
{{- fail (printf "namespace: the release must be in hns-system, not %s: the admission policies name the namespace of the servers; use --namespace hns-system --create-namespace" .Release.Namespace) }}
{{- end }}
{{- if not .Values.image.registry }}
{{- fail "image.registry: required: where the images hns-apiserver and hns-propagator are; set it to the registry that make images has pushed to, such as registry.example.com/hierarchy" }}
{{- end }}
{{- if and (gt (int .Values.apiserver.replicas) 1) (not .Values.apiserver.etcd.servers) }}
{{- fail (printf "apiserver.replicas: %d replicas need a shared etcd, and the embedded one supports one replica; set apiserver.etcd.servers" (int .Values.apiserver.replicas)) }}
{{- end }}
{{- if not (has "hns-system" .Values.excludedNamespaces) }}
{{- fail "excludedNamespaces: hns-system is missing, and the servers cannot run in a namespace of a tree; add it" }}
{{- end }}
{{- if and .Values.view.enabled .Values.besideHNC }}
{{- fail "view.enabled: views need the admission policies and the API of subtrees, which besideHNC leaves out; enable them after the migration" }}
{{- end }}
{{- if and .Values.besideHNC .Values.disableV1alpha2 }}
{{- fail "disableV1alpha2: kubectl hns migrate hands v1alpha2 over to hns-apiserver; disable it after the migration" }}
{{- end }}
{{- if and (eq .Values.certificates.issuer "secret") (not .Values.certificates.caBundle) }}
{{- fail "certificates.caBundle: required with the issuer secret, or kube-apiserver does not trust the servers; set it to the authorities in PEM" }}
{{- end }}
{{- /* As pkg/besidehnc decides. helm template finds nothing. */}}
{{- $system := lookup "v1" "Namespace" "" .Release.Namespace | default dict }}
{{- $propagated := dig "metadata" "annotations" "hnc.x-k8s.io/store" "" $system }}
{{- if and .Values.besideHNC $propagated }}
{{- fail "besideHNC: hns-propagator propagates in this cluster, and without the admission policies its hierarchies are unprotected; set besideHNC=false" }}
{{- end }}
{{- if and (not .Values.besideHNC) (not $propagated) (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "hierarchyconfigurations.hnc.x-k8s.io") }}
{{- fail "besideHNC: HNC's CustomResourceDefinitions exist, and the admission policies reject HNC's writes; set besideHNC=true until kubectl hns migrate asks for the policies" }}
{{- end }}
{{- end }}

{{- define "hnc.image" -}}
{{ .root.Values.image.registry }}/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- /* A list of strings in CEL. Single quotes would end the quoted scalars that contain it. */}}
{{- define "hnc.excluded" -}}
{{ toJson .Values.excludedNamespaces | replace "," ", " }}
{{- end }}

{{- define "hnc.apiservice.annotations" -}}
{{- if eq .root.Values.certificates.issuer "cert-manager" }}cert-manager.io/inject-ca-from: hns-system/{{ .service }}-cert{{ end }}
{{- end }}

{{- /* The spec of the configuration that is created in a cluster without one, as YAML; {} if it is all defaults. */}}
{{- define "hnc.configuration" -}}
{{- $spec := deepCopy .Values.configuration }}
{{- if ne (sortAlpha .Values.excludedNamespaces | join ",") "hnc-system,hns-system,kube-node-lease,kube-public,kube-system" }}
{{- $spec = mergeOverwrite $spec (dict "rules" (dict "excludedNamespaces" .Values.excludedNamespaces)) }}
{{- end }}
{{- toYaml $spec }}
{{- end }}

{{- /* Fields of both pods that depend on values. */}}
{{- define "hnc.pod" -}}
{{- $server := .server }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- with $server.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $field := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $server $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- if gt (int $server.replicas) 1 }}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
{{- end }}
{{- end }}

{{- define "hnc.disruption-budget" -}}
{{- if gt (int .server.replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: hns-system
  labels:
    app.kubernetes.io/part-of: hns
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .name }}
{{- end }}
{{- end }}
