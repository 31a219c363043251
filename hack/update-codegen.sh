#!/usr/bin/env bash
# Generates deepcopy, conversion, defaults, OpenAPI, clients, listers, informers and apply configurations.
# Usage: update-codegen.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
module=$(go list -m)
boilerplate=hack/boilerplate.go.txt
export GOFLAGS="${GOFLAGS:-} -mod=mod" CGO_ENABLED=0
go mod download k8s.io/code-generator
# shellcheck disable=SC1091
source "$(go list -m -f '{{.Dir}}' k8s.io/code-generator)/kube_codegen.sh"

kube::codegen::gen_helpers --boilerplate "$boilerplate" pkg/apis

# The report of API rules repeats upstream's own exceptions only; it is not kept.
report=$(mktemp)
trap 'rm -f "$report"' EXIT
kube::codegen::gen_openapi \
  --output-dir pkg/generated/openapi --output-pkg "$module/pkg/generated/openapi" \
  --output-model-name-file zz_generated.model_name.go \
  --report-filename "$report" --update-report --boilerplate "$boilerplate" pkg/apis

kube::codegen::gen_client --with-watch --with-applyconfig \
  --applyconfig-openapi-schema <(go run ./pkg/generated/openapi/cmd/models-schema) \
  --output-dir pkg/generated --output-pkg "$module/pkg/generated" \
  --boilerplate "$boilerplate" pkg/apis

# The scopes of Kubernetes' kinds, for checking repositories offline.
kubernetes=$(cd hack/kube && go mod download k8s.io/kubernetes && go list -m -f '{{.Dir}}' k8s.io/kubernetes)
go run ./hack/scopes "$kubernetes/api/discovery" >pkg/repository/kindscope/zz_generated.kinds.go
