#!/usr/bin/env bash
# Installs what the tests of the page in the browser need, unless it is there: Chromium, and axe-core into _output/axe.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source hack/install.sh

axe=4.14.1
axe_sum=29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c

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
