#!/usr/bin/env bash
# Runs the tests of packages, and prints what `go test -json` prints. What runs our code in the test itself runs with the race detector, if there is
# a C compiler; suites that start the servers as processes would only get slower by it, and so would the policies, which kube-apiserver's code evaluates.
# Suites mostly wait, so more of them than processors run at once. `make verify` vets.
# Usage: test.sh 'PACKAGE...' [FLAG...], with the flags of go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=$1
shift
module=$(go list -m)
in_process="^$module/(cmd|hack|pkg|test/(history|rows)|test/integration/(propagation|servers|tree))(/|$)"
policies="^$module/pkg/policy$"

# The longest suites begin first.
longest="^$module/test/(e2e|integration/(servers|kinds|children|docs|restore|chaos|cli|propagation))$"
# shellcheck disable=SC2086
all=$(go list $packages)
all=$(grep -E "$longest" <<<"$all"; grep -vE "$longest" <<<"$all") || true
here=$(grep -E "$in_process" <<<"$all" | grep -vE "$policies" || true)
processes=$(grep -vxF "$here" <<<"$all" || true)

failed=0
if [[ -n $here ]]; then
  race=()
  if command -v "${CC:-cc}" >/dev/null; then
    race=(-race)
    export CGO_ENABLED=1
  else
    echo "no C compiler found: tests run without the race detector" >&2
  fi
  # shellcheck disable=SC2086
  go test -p 3 "${race[@]}" -vet=off -timeout 30m -json $here "$@" || failed=1
fi
# The benchmarks and the tests in a browser are a module of their own. They run beside the rest, and print after it: lines of
# two processes might mix.
bench=0
if [[ " $packages " == *" ./... "* ]]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  CGO_ENABLED=0 go test -C test/bench -p 1 -vet=off -timeout 30m -json ./... "$@" >"$log" &
  bench=$!
fi
if [[ -n $processes ]]; then
  # shellcheck disable=SC2086
  CGO_ENABLED=0 go test -p "$((bench ? 3 : 4))" -vet=off -timeout 30m -json $processes "$@" || failed=1
fi
if ((bench)); then
  wait "$bench" || failed=1
  cat "$log"
fi
exit $failed
