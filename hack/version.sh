#!/usr/bin/env bash
# Prints the version of what is built from this tree: the tag, if the sources are exactly those of a tag, and otherwise the version of the
# manifests with the last commit that changed what is built, so that other commits build the same binaries.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
sources=(cmd pkg go.mod go.sum)
version=$(sed -n 's/^ *newTag: *//p' artifacts/base/kustomization.yaml | head -n 1)
# Without Git, in an archive of the sources for instance, this is all that is known.
if commit=$(git log -1 --format=%h --abbrev=12 -- "${sources[@]}" 2>/dev/null) && [[ -n $commit ]]; then
  changed=$(git status --porcelain -- "${sources[@]}")
  if [[ -z $changed ]] && tag=$(git describe --tags --exact-match --match 'v*' 2>/dev/null); then
    version=$tag
  else
    version+="-dev+$commit${changed:+.dirty}"
  fi
fi
echo "$version"
