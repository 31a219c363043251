#!/usr/bin/env bash
# Runs the tests of packages, and prints what `go test -json` prints. `make verify` vets.
# Usage: test.sh 'PACKAGE...' [FLAG...], with the flags of go test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

packages=$1
shift

# Suites wait for servers more than half of their time, above all for the deletion of namespaces, so four run at once. The other tests,
# and above all linking them, keep a processor busy: those run beside the suites, one at a time. The longest suites begin first, so that
# none is left alone at the end.
longest='model subtree children view restore migrate kinds servers e2e docs quota reposync install conformance cli storage propagation certificates plan reservations chaos tree'
# shellcheck disable=SC2086
all=$(go list $packages)
suites=$(grep -E "^$(go list -m)/test/" <<<"$all") || true
suites=$(for s in $longest; do grep "/$s\$" <<<"$suites" || true; done; grep -vE "/(${longest// /|})\$" <<<"$suites") || true
others=$(grep -vE "^$(go list -m)/test/" <<<"$all") || true

# The control planes live for minutes, and their garbage costs a tenth of all processor time.
export GOGC=400

# run PARALLEL [ARGUMENT...]: go test of so many packages at once.
run() {
  # Debugging information would take as long to link as the rest.
  go test -p "$1" -vet=off -ldflags '-s -w' -timeout 30m -json "${@:2}"
}

# beside [FLAG...]: the tests without servers, and those of a module of their own: the benchmarks, and those in a browser.
beside() {
  local failed=0
  if [[ " $packages " == *" ./... "* ]]; then
    (cd test/bench && run 1 ./... "$@") || failed=1
  fi
  if [[ $others ]]; then
    # shellcheck disable=SC2086
    run 1 $others "$@" || failed=1
  fi
  return $failed
}

if [[ ! $suites ]]; then
  # shellcheck disable=SC2086
  run 4 $others "$@"
  exit
fi
# What runs beside the suites prints after them: lines of two processes might mix.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
beside "$@" >"$log" &
failed=0
# Go does not know which servers suites start, so results of earlier ones are not valid.
# shellcheck disable=SC2086
run 4 -count=1 $suites "$@" || failed=1
wait $! || failed=1
cat "$log"
exit $failed
