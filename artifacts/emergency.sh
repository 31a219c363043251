#!/usr/bin/env bash
# For an outage of hns-apiserver during which namespaces have to be deleted. Kubernetes deletes a namespace only when it can list its content in every
# registered API, so `suspend` takes our APIServices away, and `resume` puts them back. `suspend` and `release` remove our finalizers.
# Usage: emergency.sh suspend FILE | resume FILE | release
# FILE keeps the APIServices in between. Needs kubectl, and the permissions of a cluster administrator. See docs/operations.md.
set -euo pipefail

# Without hns-propagator, a namespace would wait for its sub-namespaces for ever. One that runs sets the finalizer again, and removes it in time.
release() {
  local finalizer=hnc.x-k8s.io/subnamespaces
  kubectl get namespaces -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.finalizers}{"\n"}{end}' |
    awk -v f="\"$finalizer\"" 'index($0, f) {print $1}' | while read -r name; do
      kubectl patch namespace "$name" -p "{\"metadata\":{\"\$deleteFromPrimitiveList/finalizers\":[\"$finalizer\"]}}" ||
        echo "namespace $name keeps the finalizer $finalizer" >&2
    done
  # Those of the CustomResourceDefinitions of views keep their namespaces, too. hns-propagator removes the definitions when it runs.
  kubectl get viewdefinitions.hnc.x-k8s.io -A -o jsonpath='{range .items[*]}{.metadata.namespace} {.metadata.name} {.metadata.deletionTimestamp} {.metadata.finalizers}{"\n"}{end}' 2>/dev/null |
    awk '$3 != "" && $4 == "[\"hnc.x-k8s.io/view-definition\"]" {print $1, $2}' | while read -r namespace name; do
      kubectl patch viewdefinitions.hnc.x-k8s.io "$name" -n "$namespace" --type=merge -p '{"metadata":{"finalizers":null}}' ||
        echo "viewdefinition $name in $namespace keeps its finalizer" >&2
    done || true
}

case "${1:-} ${2:+file}" in
"suspend file")
  if [[ -s $2 ]]; then
    echo "$2 exists; keep it for resume, or name another file" >&2
    exit 1
  fi
  names=$(kubectl get apiservices -o jsonpath='{range .items[?(@.spec.service.namespace=="hns-system")]}{.metadata.name}{"\n"}{end}')
  if [[ -z $names ]]; then
    echo "no APIService leads to the namespace hns-system" >&2
    exit 1
  fi
  for name in $names; do
    echo ---
    kubectl get apiservices "$name" -o yaml | sed -E '/^  (uid|resourceVersion|creationTimestamp):/d'
  done >"$2"
  # shellcheck disable=SC2086
  kubectl delete apiservices $names
  release
  ;;
"release ")
  release
  ;;
"resume file")
  kubectl apply --server-side --force-conflicts --field-manager=hns-emergency -f "$2"
  ;;
*)
  sed -n '2,5s/^# //p' "$0" >&2
  exit 2
  ;;
esac
