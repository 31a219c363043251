#!/usr/bin/env bash
# Prints the version of the binaries: the tag, if the sources are exactly those of a tag, otherwise the version of the manifests with the last
# commit that changed the sources, so that other commits do not change the binaries.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
sources=(cmd pkg go.mod go.sum)
version=$(sed -n 's/^ *newTag: *//p' artifacts/base/kustomization.yaml | head -n 1)
# Without Git, for example in an archive of the sources, there is only the version of the manifests.
if commit=$(git log -1 --format=%h --abbrev=12 -- "${sources[@]}" 2>/dev/null) && [[ -n $commit ]]; then
  changed=$(git status --porcelain -- "${sources[@]}")
  if [[ -z $changed ]] && tag=$(git describe --tags --exact-match --match 'v*' 2>/dev/null); then
    version=$tag
  else
    version+="-dev+$commit${changed:+.dirty}"
  fi
fi
echo "$version"
