#!/usr/bin/env bash
# Builds the site of the pages in docs into _output/site/dist. Fails for links to pages that do not exist, and for pages that docs/README.md does not list.
# SITE_BASE=/v0.1/ is the path at which the site will be served, and SITE_VERSION what its menu says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source hack/install.sh
out=$PWD/_output/site
need npm npm
mkdir -p "$out"
cp site/package.json site/package-lock.json "$out"
stamp=$out/node_modules/.$(sha256sum site/package-lock.json | cut -c1-16)
[[ -e $stamp ]] || { (cd "$out" && retry npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >&2); touch "$stamp"; }
rm -rf "$out"/{pages,dist,.vitepress}
mkdir -p "$out/pages/public"
cp -r site/.vitepress "$out"
cp -r docs/. site/index.md "$out/pages"
cp site/icon.svg "$out/pages/public"
while IFS= read -r page; do
  grep -qF "]($page)" docs/README.md || { echo "docs/README.md does not list $page" >&2; exit 1; }
done < <(cd docs && find . -name '*.md' ! -name README.md -printf '%P\n')
(cd "$out" && SITE_VERSION=${SITE_VERSION:-main} npx vitepress build >vitepress.log 2>&1) || { cat "$out/vitepress.log" >&2; exit 1; }
echo "$out/dist; to read it in a browser: cd $out && npx vitepress preview"
