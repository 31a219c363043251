#!/usr/bin/env bash
# Writes everything that the page of a release holds: the plugin for five platforms with its krew manifest, the servers for Linux, the image
# layouts, the chart, the manifests, SBOMs and checksums, and then checks all of it. The same commit gives the same files.
# All of it is built from the last commit, in a copy.
# Usage: release.sh VERSION [OUTPUT-DIRECTORY]; Helm and kubectl must be in _output/bin. PLATFORMS and IMAGE_PLATFORMS restrict the platforms.
set -euo pipefail
version=${1:?usage: release.sh VERSION, such as v0.1.0}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-.+)?$ ]] || { echo "$version is not a version such as v1.2.3" >&2; exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${2:-_output/release}
[[ $out == /* ]] || out=$PWD/$out
bin=$PWD/_output/bin
created=$(git log -1 --format=%ct)
servers=(hns-apiserver hns-propagator hns-sync hns-gateway)
export CGO_ENABLED=0
export PLATFORMS=${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}
IMAGE_PLATFORMS=${IMAGE_PLATFORMS:-linux/amd64 linux/arm64}
revision=$(git rev-parse HEAD)
[[ -z $(git status --porcelain) ]] || echo "warning: changes that are not committed are left out" >&2
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
repository=$PWD
mkdir "$work/source"
git archive "$revision" | tar -C "$work/source" -x
cd "$work/source"
step() { echo "--> $* ($SECONDS s)" >&2; }

# Archives a directory, with the same bytes each time.
archive() { tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$created" -cf - "${@:2}" | gzip -n; }

# All binaries of a platform are built at once.
for platform in $PLATFORMS; do
  step "binaries for $platform"
  packages=(./cmd/kubectl-hns{,-repo,-migrate})
  [[ " $IMAGE_PLATFORMS " != *" $platform "* ]] || packages+=("${servers[@]/#/./cmd/}")
  mkdir -p "$work/$platform"
  GOOS=${platform%/*} GOARCH=${platform#*/} go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$work/$platform/" "${packages[@]}"
done

step "the plugin"
BINARIES=$work hack/krew.sh "$version" "$out" >/dev/null

step "images"
(cd hack/images && go build -o "$work/images" .)
# The images for both platforms are in one archive for each server.
binaries=$work
[[ $IMAGE_PLATFORMS == *" "* ]] || binaries=$work/$IMAGE_PLATFORMS
"$work/images" -root . -version "$version" -revision "$revision" -created "$created" -platforms "${IMAGE_PLATFORMS// /,}" \
  -binaries "$binaries" -out "$work/layouts" ${PUSH:+-push "$PUSH"}
for server in "${servers[@]}"; do
  tar -C "$work/layouts/$server" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$created" -cf "$out/${server}_${version}_oci.tar" .
done

step "the servers"
for platform in $IMAGE_PLATFORMS; do
  cp LICENSE "$work/$platform"
  archive "$work/$platform" LICENSE "${servers[@]}" >"$out/hns_${version}_${platform/\//_}.tar.gz"
done

step "SBOMs"
for platform in $PLATFORMS; do
  for binary in "$work/$platform"/{hns-*,kubectl-hns*}; do
    [[ -e $binary ]] || continue
    name=$(basename "$binary" .exe)
    "$work/images" -sbom "$binary" -version "$version" -created "$created" >"$out/${name}_${version}_${platform/\//_}.spdx.json"
  done
done

step "the chart and the manifests"
[[ -z ${PUSH:-} ]] || sed -i "s|^  registry: \"\"|  registry: $PUSH|; s|oci://registry.example.com/hierarchy/|oci://$PUSH/|" artifacts/chart/{values.yaml,README.md}
"$bin/helm" package artifacts/chart --version "${version#v}" --app-version "$version" --destination "$work" >/dev/null
chart=hns-${version#v}.tgz
mkdir "$work/chart"
tar -C "$work/chart" -xzf "$work/$chart"
archive "$work/chart" hns >"$out/$chart"
images="s|image: (hns-[a-z]+):.*|image: ${PUSH:+$PUSH/}\1:$version|"
for variant in base ha; do
  {
    "$bin/kubectl" kustomize "artifacts/$variant"
    echo ---
    "$bin/kubectl" kustomize artifacts/policies
  } | sed -E "$images" >"$out/hns-$variant.yaml"
done
"$bin/kubectl" kustomize artifacts/sync | sed -E "$images" >"$out/hns-sync.yaml"
"$bin/kubectl" kustomize artifacts/view | sed -E "$images" >"$out/hns-gateway.yaml"
cp artifacts/monitoring/rules.yaml "$out/prometheus-rules.yaml"
cp artifacts/monitoring/dashboard.json "$out/grafana-dashboard.json"
(cd "$out" && sha256sum -- * >SHA256SUMS)

step "checks"
cd "$repository"
go test -count=1 ./test/release -release "$out" -version "$version" -platforms "$PLATFORMS"
ls -l "$out"
step "done"
