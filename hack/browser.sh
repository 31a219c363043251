#!/usr/bin/env bash
# Installs what the tests of the page in the browser need, unless it is there: Chromium, and axe-core into _output/axe.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

axe=4.14.1
axe_sum=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c

# Runs a command that needs the network, up to five times.
retry() {
  local i
  for i in 1 2 3 4 5; do
    "$@" && return
    echo "attempt $i failed: $*" >&2
    sleep $((i * 5))
  done
  return 1
}

# Installs a Debian package if one of the commands is missing.
need() {
  local package=$1 command
  shift
  for command in "$@"; do
    ! command -v "$command" >/dev/null || return 0
  done
  if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
    echo "$1 is missing: install it with the package manager of your system, and run make browser again" >&2
    return 1
  fi
  retry apt-get update -q
  retry env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package"
}

valid() { sha256sum --check --status <<<"$axe_sum  $1"; }

need chromium chromium chromium-browser google-chrome google-chrome-stable
file=_output/axe/axe.min.js
[[ -e $file ]] && valid "$file" && exit
need npm npm
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
retry npm pack "axe-core@$axe" --silent --pack-destination "$dir"
tar -xzf "$dir/axe-core-$axe.tgz" -C "$dir" package/axe.min.js
valid "$dir/package/axe.min.js" || { echo "axe-core $axe is not the one that is expected" >&2; exit 1; }
install -D -m 644 "$dir/package/axe.min.js" "$file"
