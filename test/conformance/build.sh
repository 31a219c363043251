#!/usr/bin/env bash
# Builds the binary of the conformance specs, and what they run with, into OUT.
# Usage: build.sh OUT [short]; short leaves out what simulates nodes.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/specs"
source ../../../hack/goflags.sh
# As in hack/kube/build.sh, so that the packages are those that it has compiled.
flags=(-gcflags=k8s.io/kubernetes/...=-dwarf=false -ldflags '-s -w')
echo "building the conformance specs (some minutes the first time) ..." >&2
go test -c -vet=off "${flags[@]}" -o "$out/specs.test" .
commands=(github.com/onsi/ginkgo/v2/ginkgo)
[[ ${2:-} == short ]] || commands+=(k8s.io/kubernetes/cmd/kube-scheduler sigs.k8s.io/kwok/cmd/kwok)
go build "${flags[@]}" -o "$out/" "${commands[@]}"
