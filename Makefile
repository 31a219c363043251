# `make help` lists the targets. Everything that they make lies in _output/ (and in Go's caches).
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Plain builds need no C compiler. The race detector does.
export CGO_ENABLED := 0
BIN := _output/bin
# Where the development cluster keeps its state; with another directory there is another cluster.
DEV ?= _output/dev
HAVE_CC := $(shell command -v $${CC:-cc} || true)
# What `make test` tests, and with which further flags: make test PACKAGES=./pkg/forest/... TESTFLAGS='-run Cycle -v'
PACKAGES ?= ./...
TESTFLAGS ?=
# What `--version` prints.
VERSION ?= $(shell hack/version.sh)
# What `make bench` measures, and how: see docs/performance.md.
BENCHFLAGS ?=
# Which files of what it has printed `make publish` reads.
RESULTS ?= results.json

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: kube
kube: ## build etcd, kube-apiserver, kube-controller-manager and kubectl into _output/bin, once
	@hack/kube/build.sh $(BIN)

.PHONY: binaries
binaries: ## build our own binaries into _output/bin
	@# Go touches what is up to date; what has not changed must keep its time, or make up restarts it.
	@mkdir -p _output/build
	go build -ldflags '-X main.version=$(VERSION)' -o _output/build/ ./cmd/...
	@for b in $(notdir $(wildcard cmd/*)); do cmp -s _output/build/$$b $(BIN)/$$b || install -D _output/build/$$b $(BIN)/$$b; done

.PHONY: build
build: kube binaries ## build everything that runs

.PHONY: test
test: build ## run all tests, against a real control plane where they need one
ifeq ($(HAVE_CC),)
	@echo "no C compiler found: testing without the race detector" >&2
endif
	@$(if $(HAVE_CC),CGO_ENABLED=1) go test $(if $(HAVE_CC),-race) -timeout 30m -json $(TESTFLAGS) $(PACKAGES) | \
		go run ./test/rows -results $(if $(TESTFLAGS)$(filter-out ./...,$(PACKAGES)),-partial)

.PHONY: rows
rows: ## list the rules of HNC's behaviour, and which were tested by the last make test or are documented as different
	@go run ./test/rows -v

.PHONY: verify
verify: ## check formatting, vet, lint, import directions, generated code and go.mod
	@hack/verify.sh

.PHONY: bench
bench: build ## run the benchmarks: one JSON object for each measurement
	@go run ./test/bench $(foreach flag,$(BENCHFLAGS),'$(flag)')

.PHONY: publish
publish: ## write the benchmarks' results into docs/performance.md and docs/scale.md
	@go run ./test/bench/publish $(RESULTS)

.PHONY: generate
generate: ## write generated code anew
	hack/update-codegen.sh

.PHONY: up
up: build ## run a development cluster with us installed and a sample tree
	@go run ./hack/dev -dir $(DEV) up

.PHONY: restart
restart: build ## rebuild our servers and restart them in the development cluster
	@go run ./hack/dev -dir $(DEV) restart

.PHONY: down
down: ## stop the development cluster; its data stay
	@go run ./hack/dev -dir $(DEV) down
