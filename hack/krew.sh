#!/usr/bin/env bash
# Archives the plugin, with those of its commands, for all platforms, and writes its krew manifest. Usage: krew.sh VERSION [OUTPUT-DIRECTORY]. With BINARIES, the plugin is not
# built: it is in the directories OS/ARCH there.
set -euo pipefail
version=${1:?usage: krew.sh VERSION, such as v0.1.0}
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-.+)?$ ]] || { echo "$version is not a version such as v1.2.3" >&2; exit 1; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${2:-_output/krew}
url=https://github.com/hierarchy-apiserver/hierarchy-apiserver/releases/download/$version
export CGO_ENABLED=0
rm -rf "$out"
mkdir -p "$out"
sed "s/@VERSION@/$version/" artifacts/krew/hns.yaml.in >"$out/hns.yaml"
for platform in ${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64}; do
  os=${platform%/*} arch=${platform#*/} exe=
  [[ $os != windows ]] || exe=.exe
  staging=$(mktemp -d)
  if [[ -n ${BINARIES:-} ]]; then
    cp "$BINARIES/$platform"/kubectl-hns{,-repo,-migrate}"$exe" "$staging"
  else
    GOOS=$os GOARCH=$arch go build -trimpath -buildvcs=false -ldflags="-s -w -buildid= -X main.version=$version" -o "$staging/" ./cmd/kubectl-hns{,-repo,-migrate}
  fi
  cp LICENSE artifacts/krew/kubectl_complete-hns{,-repo,-migrate} "$staging"
  archive=kubectl-hns_${version}_${os}_${arch}.tar.gz
  # The archive is reproducible.
  tar -C "$staging" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - . | gzip -n >"$out/$archive"
  rm -r "$staging"
  cat >>"$out/hns.yaml" <<PLATFORM
  - selector:
      matchLabels: {os: $os, arch: $arch}
    uri: $url/$archive
    sha256: $(sha256sum "$out/$archive" | cut -d' ' -f1)
    bin: kubectl-hns$exe
PLATFORM
done
echo "$out/hns.yaml"
