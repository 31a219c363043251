#!/usr/bin/env bash
# Builds the control plane that the suites and `make up` run against, from the Go module proxy, into OUT.
# Usage: build.sh OUT. Does nothing if OUT already has this version; prints progress while it builds.
set -euo pipefail

out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")"

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
stamp="$out/.kube-$(cat go.mod go.sum etcd/main.go build.sh | sha256sum | cut -c1-16)"
binaries=(etcd kube-apiserver kube-controller-manager kubectl)
complete() { for b in "${binaries[@]}"; do [[ -x "$out/$b" ]] || return 1; done; }
[[ -e "$stamp" ]] && complete && exit 0

export CGO_ENABLED=0
packages=(./etcd k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kubectl})
IFS=. read -r major minor _ <<<"${version#v}"
flags=(-s -w)
for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  flags+=(-X "$p.gitVersion=$version" -X "$p.gitMajor=$major" -X "$p.gitMinor=$minor" -X "$p.gitTreeState=clean")
done

echo "building etcd, kube-apiserver, kube-controller-manager and kubectl $version (about 7 minutes the first time) ..." >&2
go mod download
total=$(go list -deps "${packages[@]}" | wc -l)
# go build -v names each package that it compiles; cached ones are skipped, so the count may end below the total.
go build -v -ldflags "${flags[*]}" -o "$out/" "${packages[@]}" 2> >(
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
rm -f "$out"/.kube-*
touch "$stamp"
echo "control plane built in $out" >&2
