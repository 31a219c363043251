#!/usr/bin/env bash
# For an outage of hns-apiserver during which namespaces have to be deleted. Kubernetes deletes a namespace only when it can list its content in every
# registered API, so `suspend` takes our APIServices away, and `resume` puts them back. `suspend` and `release` remove our finalizers.
# Usage: emergency.sh suspend FILE | resume FILE | release
# FILE keeps the APIServices in between. Needs kubectl, and the permissions of a cluster administrator. See docs/operations.md.
set -euo pipefail

# The functions remove a finalizer, if they are given an object: some versions of xargs call them without any.
release_namespace() {
  # kubectl may be unable to decode the managed fields that a tenant's namespace has: -f - does not get it before, and the answer is without them.
  local finalizer=hnc.x-k8s.io/subnamespaces
  [[ $# -eq 0 ]] || kubectl patch -f - -p "{\"metadata\":{\"managedFields\":[{}],\"\$deleteFromPrimitiveList/finalizers\":[\"$finalizer\"]}}" \
    <<<"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"$1\"}}" ||
    echo "namespace $1 keeps the finalizer $finalizer" >&2
}
release_viewdefinition() {
  [[ $# -eq 0 ]] || kubectl patch viewdefinitions.hnc.x-k8s.io "$2" -n "$1" --type=merge -p '{"metadata":{"finalizers":null}}' ||
    echo "viewdefinition $2 in $1 keeps its finalizer" >&2
}
export -f release_namespace release_viewdefinition

# finalized_namespaces prints the namespaces with our finalizer, from the page on that a token continues. kubectl could not decode the pages, see above.
# Texts of tenants contain no unescaped quotes.
finalized_namespaces() {
  local found token
  found=$(kubectl get --raw "/api/v1/namespaces?limit=100&continue=${1:-}" |
    grep -oE '"continue":"[^"]*|[{]"metadata":[{]"name":"[^"]*|"hnc.x-k8s.io/subnamespaces"')
  awk -F'"' 'NF == 6 {name = $6} NF == 3 {print name}' <<<"$found"
  token=$(sed -n '1s/^"continue":"//p' <<<"$found")
  [[ -z $token ]] || finalized_namespaces "$token"
}

# Without hns-propagator, a namespace would wait for its sub-namespaces for ever. One that runs sets the finalizer again, and removes it in time.
release() {
  # The token of a page is valid for some minutes only, so the list is complete before the first patch.
  finalized_namespaces | sort -u | xargs -P 8 -n 1 bash -c 'release_namespace "$@"' bash
  # Those of the CustomResourceDefinitions of views keep their namespaces, too. hns-propagator removes the definitions when it runs.
  kubectl get viewdefinitions.hnc.x-k8s.io -A -o jsonpath='{range .items[*]}{.metadata.namespace} {.metadata.name} {.metadata.deletionTimestamp} {.metadata.finalizers}{"\n"}{end}' 2>/dev/null |
    awk '$3 != "" && $4 == "[\"hnc.x-k8s.io/view-definition\"]" {print $1, $2}' | xargs -P 8 -n 2 bash -c 'release_viewdefinition "$@"' bash || true
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
