# Takes the Makefile's flags out of GOFLAGS; source it. What comes from the module cache has the same paths in every clone.
GOFLAGS=${GOFLAGS:-}
GOFLAGS=${GOFLAGS//-trimpath/}
export GOFLAGS=${GOFLAGS//-tags=grpcnotrace/}
export CGO_ENABLED=0
