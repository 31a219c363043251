#!/usr/bin/env bash
# Puts the control plane that the suites and `make up` run against into OUT: binaries of the right version from KUBEBUILDER_ASSETS or PATH, and builds
# of the others from the Go module proxy.
# Usage: build.sh OUT. Does nothing if OUT already has this version; prints progress while it builds.
set -euo pipefail

out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
etcd_version=$(go list -m -f '{{.Version}}' go.etcd.io/etcd/server/v3)
stamp="$out/.kube-$(cat go.mod go.sum etcd/main.go build.sh | sha256sum | cut -c1-16)"
binaries=(etcd kube-apiserver kube-controller-manager kubectl)
complete() { for b in "${binaries[@]}"; do [[ -x "$out/$b" ]] || return 1; done; }
[[ -e "$stamp" ]] && complete && exit 0

# take NAME: copies a binary of the right version.
take() {
  local dirs dir ask=(--version) want="Kubernetes $version"
  case $1 in
    etcd) want="etcd Version: ${etcd_version#v}" ;;
    kubectl) ask=(version --client) want="Client Version: $version" ;;
  esac
  IFS=: read -ra dirs <<<"${KUBEBUILDER_ASSETS:-}:$PATH"
  for dir in "${dirs[@]}"; do
    [[ -n $dir && -x $dir/$1 ]] || continue
    if grep -qxF "$want" <<<"$("$dir/$1" "${ask[@]}" 2>/dev/null)"; then
      echo "$1 is taken from $dir" >&2
      install "$dir/$1" "$out/$1"
      return
    fi
  done
  return 1
}

packages=()
for b in "${binaries[@]}"; do
  take "$b" && continue
  case $b in
    etcd) packages+=(./etcd) ;;
    *) packages+=("k8s.io/kubernetes/cmd/$b") ;;
  esac
done
finish() {
  rm -f "$out"/.kube-*
  touch "$stamp"
  echo "control plane complete in $out" >&2
}
if ((${#packages[@]} == 0)); then
  finish
  exit
fi

source ../goflags.sh
IFS=. read -r major minor _ <<<"${version#v}"
flags=(-s -w)
for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  flags+=(-X "$p.gitVersion=$version" -X "$p.gitMajor=$major" -X "$p.gitMinor=$minor" -X "$p.gitTreeState=clean")
done

echo "building ${packages[*]##*/} $version (about 7 minutes the first time for all) ..." >&2
go mod download
total=$(go list -deps "${packages[@]}" | wc -l)
# go build -v names each package that it compiles; cached ones are skipped, so the count may end below the total.
# Debug information that the linker throws away is not generated either; for the packages alone that our own binaries do not share.
go build -v -gcflags=k8s.io/kubernetes/...=-dwarf=false -ldflags "${flags[*]}" -o "$out/" "${packages[@]}" 2> >(
  n=0
  while read -r line; do
    if [[ "$line" =~ ^[a-zA-Z0-9._/-]+$ ]]; then
      n=$((n + 1))
      ((n % 100)) || echo "  compiled $n of at most $total packages" >&2
    else
      echo "$line" >&2
    fi
  done
)
finish
