#!/usr/bin/env bash
# Checks what tests don't: formatting, lint, dead code, generated code, go.mod, known vulnerabilities. Runs all checks and lists
# those that fail.
# Usage: verify.sh [CHECK...], from anywhere; checks are the functions below. VERIFY_LINT=off has lint only vet: golangci-lint takes
# minutes to build the first time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CGO_ENABLED=0

# Directories of modules besides that of the project and those of tools.
modules=(hack/images test/bench test/clients test/clients/argocd)

# Files that git tracks or would add.
files() { git ls-files --cached --others --exclude-standard -z -- "$@"; }

format() {
  local bad
  bad=$(files '*.go' | while IFS= read -r -d '' f; do [[ -e $f ]] && printf '%s\0' "$f"; done | xargs -0 -r gofmt -l)
  [[ -z "$bad" ]] || { echo "run gofmt -w on:" $bad; return 1; }
}

# Includes what go vet checks, which is all of it without golangci-lint.
lint() {
  local m lint=("$PWD/_output/bin/golangci-lint" run)
  if [[ "${VERIFY_LINT:-on}" == off ]]; then
    lint=(go vet)
  else
    hack/tool.sh tools golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
  fi
  for m in . "${modules[@]}"; do (cd "$m" && "${lint[@]}" ./...); done
}

# Functions that neither a command nor a test reaches.
deadcode() {
  hack/tool.sh tools deadcode golang.org/x/tools/cmd/deadcode
  local unreachable
  unreachable=$(_output/bin/deadcode -test ./...)
  [[ -z "$unreachable" ]] || { echo "$unreachable"; return 1; }
}

generated() {
  [[ -x hack/update-codegen.sh ]] || { echo "hack/update-codegen.sh is missing"; return 1; }
  local copy
  copy=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$copy'" RETURN
  files | while IFS= read -r -d '' f; do [[ -e $f ]] && printf '%s\0' "$f"; done | tar --null -T - -cf - | tar -C "$copy" -xf -
  # The copy's index is what to compare with.
  git -C "$copy" init -q
  git -C "$copy" add -A
  "$copy/hack/update-codegen.sh" >"$copy/.codegen.log" 2>&1 || { cat "$copy/.codegen.log"; return 1; }
  rm "$copy/.codegen.log"
  local changed
  changed=$(git -C "$copy" status --porcelain | grep -v '^A  ' || true)
  [[ -z "$changed" ]] || { echo "run make generate; these differ:"; echo "$changed"; return 1; }
}

# The bundle of the page of `kubectl hns ui`.
page() {
  local out
  out=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$out'" RETURN
  go run ./hack/ui -out "$out"
  diff -r pkg/ui/dist "$out" >/dev/null || { echo "pkg/ui/dist differs from ui; run: go run ./hack/ui"; return 1; }
}

tidy() {
  local m
  go mod tidy -diff
  for m in "${modules[@]}" test/conformance/specs; do go -C "$m" mod tidy -diff; done
}

# Direct requirements that docs/dependencies.md does not explain.
dependencies() { go run ./hack/dependencies; }

# Known vulnerabilities in code that is reached. Without the database, the check is skipped.
vulnerabilities() {
  hack/tool.sh govulncheck govulncheck golang.org/x/vuln/cmd/govulncheck
  local status=0 log=_output/govulncheck.log check=(_output/bin/govulncheck -db "${GOVULNDB:-https://vuln.go.dev}")
  # One small binary first: that shows in a second whether the database answers.
  "${check[@]}" -mode=binary -scan=module _output/bin/govulncheck >$log 2>&1 || status=$?
  if ((status != 0 && status != 3)); then
    echo "skipped, the database of vulnerabilities cannot be read: $(grep -m 1 . $log)"
    return 0
  fi
  "${check[@]}" ./... >$log 2>&1 || { cat $log; return 1; }
}

shell() {
  local bad=0 f
  while IFS= read -r -d '' f; do bash -n "$f" || bad=1; done < <(files '*.sh' .ci/run)
  return $bad
}

# Paths in pages that do not exist.
paths() {
  local page path bad=0
  for page in CONTRIBUTING.md docs/architecture.md; do
    [[ -e $page ]] || continue
    while IFS= read -r path; do
      [[ -e $path ]] || { echo "$page: $path does not exist"; bad=1; }
    done < <(grep -oE '`(artifacts|cmd|docs|hack|pkg|test)/[A-Za-z0-9_./-]+`' "$page" | tr -d '`' | sort -u)
  done
  return $bad
}

# The workflows of the code host.
workflows() {
  hack/tool.sh actionlint actionlint github.com/rhysd/actionlint/cmd/actionlint
  _output/bin/actionlint -shellcheck= -pyflakes=
}

# The site can be built, and its links lead somewhere.
site() { hack/site.sh >/dev/null; }

kustomizations() {
  local d
  for d in artifacts/*/kustomization.yaml; do
    _output/bin/kubectl kustomize "$(dirname "$d")" >/dev/null || return 1
  done
}

# The chart's templates are those of the kustomizations.
chart() { go run ./hack/chart -check; }

# The reference pages are those of the code.
reference() { go run ./hack/reference -check; }

# Prometheus' own checks of the alerts, which synthetic series fire, and of the dashboard's queries. Its tool takes minutes to build, so without it this check
# is skipped unless it is named; make release names it.
monitoring() {
  [[ -x _output/bin/promtool || -n $named ]] || { echo "skipped: promtool is not built; hack/verify.sh monitoring builds it"; return 0; }
  hack/tool.sh promtool promtool github.com/prometheus/prometheus/cmd/promtool -tags remove_all_sd
  _output/bin/promtool check rules artifacts/monitoring/rules.yaml >/dev/null
  _output/bin/promtool test rules artifacts/monitoring/tests/rules.yaml >/dev/null
  go run ./hack/dashboard | _output/bin/promtool check rules >/dev/null
}

checks=(format shell paths workflows lint deadcode kustomizations chart reference monitoring tidy dependencies vulnerabilities generated page site)
named=$*
[[ $# == 0 ]] || checks=("$@")
failed=()
for check in "${checks[@]}"; do
  echo "--> $check" >&2
  # In a shell of its own, where `set -e` still ends a check at its first failure; it would not inside an `if`.
  set +e
  (set -e; "$check")
  status=$?
  set -e
  ((status == 0)) || failed+=("$check")
done
if ((${#failed[@]})); then
  echo "verify failed: ${failed[*]}" >&2
  exit 1
fi
