#!/usr/bin/env bash
# Writes everything that the page of a release holds: the plugin for five platforms with its krew manifest, the servers for Linux, the image
# layouts, the chart, the manifests, SBOMs and checksums. The same commit gives the same files, except the chart's archive.
# Usage: release.sh VERSION [OUTPUT-DIRECTORY]; Helm and kubectl must be in _output/bin.
set -euo pipefail
version=${1:?usage: release.sh VERSION, such as v0.1.0}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-.+)?$ ]] || { echo "$version is not a version such as v1.2.3" >&2; exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$PWD/${2:-_output/release}
bin=$PWD/_output/bin
created=$(git log -1 --format=%ct)
export CGO_ENABLED=0
rm -rf "$out"
mkdir -p "$out"

hack/krew.sh "$version" "$out" >/dev/null

# The images for both platforms are in one archive for each server.
images=$(mktemp -d)
trap 'rm -rf "$images"' EXIT
(cd hack/images && go run . -version "$version" -revision "$(git rev-parse HEAD)" -created "$created" -out "$images" ${PUSH:+-push "$PUSH"})
for server in hnc-apiserver hnc-propagator hnc-sync; do
  tar -C "$images/$server" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$created" -cf "$out/${server}_${version}_oci.tar" .
done

for arch in amd64 arm64; do
  staging=$(mktemp -d)
  for server in hnc-apiserver hnc-propagator hnc-sync; do
    GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$staging/$server" "./cmd/$server"
    (cd hack/images && go run . -sbom "$staging/$server" -version "$version" -created "$created") >"$out/${server}_${version}_linux_$arch.spdx.json"
  done
  cp LICENSE "$staging"
  tar -C "$staging" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$created" -cf - . | gzip -n >"$out/hierarchy-apiserver_${version}_linux_$arch.tar.gz"
  rm -r "$staging"
done

"$bin/helm" package artifacts/chart --version "${version#v}" --app-version "$version" --destination "$out" >/dev/null
for variant in base ha; do
  {
    "$bin/kubectl" kustomize "artifacts/$variant"
    echo ---
    "$bin/kubectl" kustomize artifacts/policies
  } | sed -E "s|image: (hnc-[a-z]+):.*|image: ${PUSH:+$PUSH/}\1:$version|" >"$out/hierarchy-apiserver-$variant.yaml"
done
"$bin/kubectl" kustomize artifacts/sync | sed -E "s|image: (hnc-[a-z]+):.*|image: ${PUSH:+$PUSH/}\1:$version|" >"$out/hierarchy-apiserver-sync.yaml"
cp artifacts/monitoring/rules.yaml "$out/prometheus-rules.yaml"
cp artifacts/monitoring/dashboard.json "$out/grafana-dashboard.json"
(cd "$out" && sha256sum -- * >SHA256SUMS)
ls -l "$out"
