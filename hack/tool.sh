#!/usr/bin/env bash
# Builds a command that a module in this folder names into _output/bin, unless it is up to date.
# Usage: tool.sh FOLDER NAME PACKAGE [FLAG...]; flags are those of go build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source hack/goflags.sh
folder=hack/$1 name=$2 package=$3
shift 3
bin=$PWD/_output/bin
stamp=$bin/.$name-$(cat "$folder/go.mod" "$folder/go.sum" | sha256sum | cut -c1-16)
[[ ! -x $bin/$name || ! -e $stamp ]] || exit 0
echo "building $name (some minutes the first time) ..." >&2
mkdir -p "$bin"
(cd "$folder" && go build -ldflags '-s -w' -o "$bin/$name" "$@" "$package")
rm -f "$bin/.$name-"*
touch "$stamp"
