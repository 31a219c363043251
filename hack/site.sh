#!/usr/bin/env bash
# Builds the site of the pages in docs into _output/site/dist. Fails for links to pages, anchors and files that do not exist, and for pages that
# docs/README.md does not list. SITE_BASE=/v0.1/ is the path at which the site will be served, and SITE_VERSION what its menu says,
# or main (unreleased) for a development version.
# Usage: site.sh [server], where server serves the site at localhost instead, and follows changes of the pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source hack/install.sh

hextra=v0.9.7
hextra_sum=h1:Zg5n24us36Bn/S/5mEUPkRW6uwE6vHHEqWSgN0bPXaM=

out=$PWD/_output/site base=${SITE_BASE:-/}
mkdir -p "$out"
hack/tool.sh hugo hugo github.com/gohugoio/hugo
theme=$(cd hack/hugo && retry go mod download -json "github.com/imfing/hextra@$hextra")
grep -qF "\"Sum\": \"$hextra_sum\"" <<<"$theme" || { echo "Hextra $hextra is not the one that is expected" >&2; exit 1; }
export HUGO_MODULE_REPLACEMENTS="github.com/imfing/hextra -> $(sed -n 's/^\t"Dir": "\(.*\)",/\1/p' <<<"$theme")"
version=${SITE_VERSION:-$(hack/version.sh)}
[[ $version != *-dev* ]] || version="main (unreleased)"
export HUGO_PARAMS_VERSION=$version HUGO_PUBLISHDIR=_output/site/dist HUGO_CACHEDIR=$out/cache
hugo=(_output/bin/hugo "$@" --config site/hugo.yaml --baseURL "$base" --cleanDestinationDir --noBuildLock)
[[ $# == 0 ]] || exec "${hugo[@]}" --renderToMemory
"${hugo[@]}" >"$out/hugo.log" 2>&1 || { cat "$out/hugo.log" >&2; exit 1; }
# What is no Markdown: the menus and the front page's buttons. Other releases' sites are not in this one.
while IFS= read -r path; do
  [[ -e $out/dist/$path ]] || { echo "a page of the site links to $path, which does not exist" >&2; exit 1; }
done < <(grep -rhoP --include='*.html' "(href|src)=\"$base\\K[^\"#]*" "$out/dist" | sort -u | grep -vE '^v[0-9.]+/$' || true)
echo "$out/dist; to read it in a browser: hack/site.sh server"
