#!/usr/bin/env bash
# Runs the tests of packages, and prints what `go test -json` prints. Suites are bound by CPU: more of them at once end no sooner.
# `make verify` vets.
# Usage: test.sh 'PACKAGE...' [FLAG...], with the flags of go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=$1
shift

# The longest suites begin first.
longest="^$(go list -m)/test/(e2e|integration/(servers|kinds|children|install|docs|restore|chaos|cli|migrate|propagation))$"
# shellcheck disable=SC2086
all=$(go list $packages)
all=$(grep -E "$longest" <<<"$all"; grep -vE "$longest" <<<"$all") || true

# The control planes live for minutes, and their garbage costs a tenth of all processor time.
export GOGC=400
# Debugging information would take as long to link as the rest.
strip='-s -w'
failed=0
# The benchmarks and the tests in a browser are a module of their own. They run beside the rest, and print after it: lines of
# two processes might mix.
bench=0
if [[ " $packages " == *" ./... "* ]]; then
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  go test -C test/bench -p 1 -vet=off -ldflags "$strip" -timeout 30m -json ./... "$@" >"$log" &
  bench=$!
fi
# shellcheck disable=SC2086
go test -p "$((bench ? 3 : 4))" -vet=off -ldflags "$strip" -timeout 30m -json $all "$@" || failed=1
if ((bench)); then
  wait "$bench" || failed=1
  cat "$log"
fi
exit $failed
