# `make help` lists the targets. They write to _output/ and to Go's caches only, except conformance, generate and publish.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Plain builds need no C compiler. The race detector does.
export CGO_ENABLED := 0
# Without paths, another clone finds in Go's cache what this one has built, and images and releases share it.
# Traces of gRPC use templates, because of which the linker keeps every exported method: a third of most servers.
export GOFLAGS := -trimpath -tags=grpcnotrace $(filter-out -trimpath -tags=grpcnotrace,$(GOFLAGS))
BIN := _output/bin
# Anything in HA has `make up` run several replicas of everything of ours.
HA ?=
# The state of the development cluster; each directory has its own cluster.
DEV ?= _output/dev$(if $(HA),-ha)
# Anything in SYNC has `make up` run hns-sync, too.
SYNC ?=
# Anything in VIEW has `make up` run hns-gateway, too.
VIEW ?=
# The packages that `make test` tests, and further flags: make test PACKAGES=./pkg/model/forest/... TESTFLAGS='-run Cycle -v'
PACKAGES ?= ./...
TESTFLAGS ?=
# The output of `--version`.
VERSION ?= $(shell hack/version.sh)
# How long `make fuzz` runs each target.
FUZZTIME ?= 30s
# How long `make chaos` subjects replicas to faults.
CHAOSTIME ?= 10m
# The release or commit that `make upgrade` upgrades from.
PREVIOUS ?= $(shell git describe --tags --abbrev=0 2>/dev/null)
# The version of HNC that `make hnc` builds and migrates from.
HNC ?= 1.1.0
# How often `make repeat` repeats tests.
TIMES ?= 20
# How long `make soak` changes a forest.
SOAKTIME ?= 30m
# The flags of `make bench`: see docs/performance.md.
BENCHFLAGS ?=
# The flags of Helm for `make install`: --set and --values; and anything in YES for `make uninstall` not to ask.
VALUES ?=
YES ?=
# The registry that `make images` and `make release` push to, if any.
PUSH ?=
export PUSH
# The files with the output of `make bench` that `make publish` reads.
RESULTS ?= results.json

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: kube
kube: ## build etcd, kube-apiserver, kube-controller-manager and kubectl into _output/bin, once
	@hack/kube/build.sh $(BIN)

.PHONY: binaries
binaries: ## build our own binaries into _output/bin
	@# Go touches binaries that are up to date; those must keep their time, or make up restarts the servers.
	@mkdir -p _output/build
	go build -ldflags '-s -w -X main.version=$(VERSION)' -o _output/build/ ./cmd/...
	@for b in $(notdir $(wildcard cmd/*)); do cmp -s _output/build/$$b $(BIN)/$$b || install -D _output/build/$$b $(BIN)/$$b; done

.PHONY: helm
helm: ## build Helm into _output/bin, once
	@hack/tool.sh helm helm helm.sh/helm/v4/cmd/helm

.PHONY: build
build: kube binaries helm ## build all binaries

.PHONY: test
test: build ## run all tests, with a real control plane where they need one
	@hack/test.sh "$(PACKAGES)" $(TESTFLAGS) | \
		go run ./test/rows -results $(if $(TESTFLAGS)$(filter-out ./...,$(PACKAGES)),-partial)

.PHONY: browser
browser: ## install what the tests of the page in the browser need: Chromium, and axe-core into _output
	@hack/browser.sh

.PHONY: quick
quick: build ## run some tests, with the output of go test: make quick PACKAGES=./test/integration/kinds TESTFLAGS='-run Exceptions'
	@go test -timeout 10m -count=1 $(PACKAGES) $(TESTFLAGS)

.PHONY: long
long: build ## run the long form of the tests that repeat something, faults of replicas, and every benchmark once
	@go test -timeout 60m -count=1 ./test/integration/{chaos,migrate,model,plan,reads,reservations,servers,subtree} -long
	@go test -C test/bench -timeout 60m -count=1 . -long

# Only what runs our code in the test itself: suites that start the servers as processes would just get slower, and so would the policies, which
# kube-apiserver's code evaluates.
RACE_PACKAGES := ./cmd/... ./hack/... ./pkg/... ./test/integration/{propagation,servers,tree}/...
.PHONY: race
race: build ## run the tests whose process runs our code with the race detector, which requires a C compiler
	@CGO_ENABLED=1 go test -race -p 3 -vet=off -timeout 30m $(TESTFLAGS) $$(go list $(if $(filter-out ./...,$(PACKAGES)),$(PACKAGES),$(RACE_PACKAGES)) | grep -v /pkg/admissionpolicy$$)

.PHONY: repeat
repeat: build ## repeat tests TIMES times, 20 by default, beside processes that keep all processors busy: make repeat PACKAGES=./test/integration/model TIMES=50
	@hack/repeat.sh $(TIMES) "$(PACKAGES)" $(TESTFLAGS)

.PHONY: upgrade
upgrade: build ## upgrade a cluster from the build of PREVIOUS, by default the latest tag, and downgrade it: make upgrade PREVIOUS=HEAD~1
	@[ -n "$(PREVIOUS)" ] || { echo "no release is tagged: name the commit to upgrade from, make upgrade PREVIOUS=REF" >&2; exit 1; }
	@go test -timeout 60m -count=1 ./test/integration/upgrade/previous -previous $(PREVIOUS) -v

.PHONY: hnc
hnc: build ## migrate from the real HNC and back, as root, with pods as processes: make hnc HNC=1.0.0
	@go test -timeout 60m -count=1 ./test/integration/hnc -hnc $(HNC) -v

.PHONY: chaos
chaos: build ## subject a highly available cluster to faults for CHAOSTIME, 10m by default, and then compare random operations under faults with a model for as long
	@go test -timeout 0 -count=1 ./test/integration/chaos -run Replicas -v -duration $(CHAOSTIME)
	@go test -timeout 0 -count=1 ./test/integration/model -run Model -v -long -duration $(CHAOSTIME)

.PHONY: conformance
conformance: build ## run Kubernetes' conformance specs in a cluster and in tenant views of it, and write docs/conformance.md
	@test/conformance/build.sh _output/conformance
	@go run ./test/conformance

.PHONY: clients
clients: build ## install and upgrade an application in tenant views with the libraries of Flux and Argo CD
	@go build -C test/clients/argocd -o ../../../_output/clients/ .
	@go test -C test/clients -timeout 30m -count=1 . $(TESTFLAGS)

.PHONY: soak
soak: build ## change a forest of 2,000 namespaces under faults for SOAKTIME, 30m by default, and sample what the servers use into _output/soak.csv
	@go test -timeout 0 -count=1 ./test/integration/model -run Soak -v -soak $(SOAKTIME) -samples "$$PWD/_output/soak.csv"

.PHONY: rows
rows: ## list the rules of HNC's behavior, and whether the last make test tested them or they are documented as different
	@go run ./test/rows -v

.PHONY: verify
verify: ## check formatting, lint with import directions, dead code, generated code, go.mod and known vulnerabilities
	@hack/verify.sh

.PHONY: images
images: ## build the container images into _output/images; PUSH=registry.example.com/hierarchy pushes them
	@cd hack/images && go run . -version $(VERSION) -revision "$$(git rev-parse HEAD)" -created "$$(git log -1 --format=%ct)" $(if $(PUSH),-push $(PUSH))

.PHONY: release
release: kube helm ## write everything that the page of a release holds into _output/release: make release VERSION=v0.1.0
	@hack/verify.sh chart kustomizations monitoring
	@hack/release.sh $(VERSION)

.PHONY: bench
bench: build ## run the benchmarks; print one JSON object for each measurement
	@go build -C test/bench -o ../../_output/build/bench . && _output/build/bench $(foreach flag,$(BENCHFLAGS),'$(flag)')

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME, 30s by default
	@failed=(); while IFS=: read -r file target; do \
		echo "--> $$file $$target" >&2; \
		go test ./$$(dirname "$$file") -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5s </dev/null || failed+=("$$target"); \
	done < <(grep -roE --include='*_test.go' '^func Fuzz\w+' cmd hack pkg test | sed 's/func //' | sort); \
	(($${#failed[@]} == 0)) || { echo "failed: $${failed[*]}; commit the new files in testdata/fuzz with the fix" >&2; exit 1; }

.PHONY: site
site: ## build the site of the pages in docs into _output/site/dist; fails for links to pages that do not exist
	@SITE_VERSION=$(VERSION) hack/site.sh

.PHONY: publish
publish: ## write the benchmarks' results into docs/performance.md and docs/scale.md
	@go build -C test/bench -o ../../_output/build/publish ./publish && _output/build/publish $(RESULTS)

.PHONY: generate
generate: ## regenerate code
	hack/update-codegen.sh

.PHONY: install
install: helm ## install into the cluster of KUBECONFIG: make install VALUES='--set image.registry=registry.example.com/hierarchy'
	$(BIN)/helm upgrade --install hns artifacts/chart --namespace hns-system --create-namespace --set image.tag=$(subst +,_,$(VERSION)) $(VALUES)

.PHONY: uninstall
uninstall: helm binaries ## say what stays in the cluster of KUBECONFIG, ask, and remove the servers; namespaces and copies stay
	@$(BIN)/kubectl-hns uninstall $(if $(YES),--yes)
	@! $(BIN)/helm status hns --namespace hns-system >/dev/null 2>&1 || $(BIN)/helm uninstall hns --namespace hns-system

.PHONY: up
up: kube binaries ## run a development cluster with us installed and a sample tree; SYNC=1 adds hns-sync and a sample repository, VIEW=1 hns-gateway and a view, HA=1 runs several replicas
	@$(if $(HA),go build -o $(BIN)/hns-supervisor ./hack/dev)
	@go run ./hack/dev -dir $(DEV) $(if $(SYNC),-sync) $(if $(VIEW),-view) $(if $(HA),-ha) up

.PHONY: restart
restart: kube binaries ## rebuild our servers and restart them in the development cluster
	@$(if $(HA),go build -o $(BIN)/hns-supervisor ./hack/dev)
	@go run ./hack/dev -dir $(DEV) restart

.PHONY: down
down: ## stop the development cluster; its data are kept
	@go run ./hack/dev -dir $(DEV) down
