#!/usr/bin/env bash
# Repeats the tests of packages beside processes that keep all processors busy: that shows which tests depend on time.
# Usage: repeat.sh TIMES 'PACKAGE...' [FLAG...], with the flags of go test. Output of what fails is in _output/repeat.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

times=$1 packages=$2
shift 2
logs=_output/repeat
mkdir -p $logs

burners=()
trap 'kill "${burners[@]}"' EXIT
for ((i = 0; i < $(nproc); i++)); do
  (while :; do :; done) &
  burners+=($!)
done

any=0
# shellcheck disable=SC2086
all=$(go list $packages)
for package in $all; do
  failed=0
  for ((n = 1; n <= times; n++)); do
    log=$logs/${package//\//_}-$n.log
    if go test -count=1 -timeout 30m "$package" "$@" >"$log" 2>&1; then
      rm "$log"
    else
      failed=$((failed + 1)) any=1
      echo "$package: repetition $n failed, see $log" >&2
    fi
  done
  echo "$package: $failed of $times repetitions failed"
done
exit $any
