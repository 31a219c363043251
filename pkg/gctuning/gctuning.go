// Package gctuning tunes the garbage collector of servers that keep a large part of a cluster in memory.
package gctuning

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

// gcPercent is how much garbage, in percent of what is in use, a collection waits for. With Go's default of 100, memory
// doubles; less garbage means more collections.
const gcPercent = 60

// limitPercent is how much of the container's memory the collector may let the process use. The rest is for what it
// does not manage.
const limitPercent = 85

// cgroupLimit contains the limit of the container, in bytes, or "max".
const cgroupLimit = "/sys/fs/cgroup/memory.max"

// Tune sets the target of the garbage collector and its memory limit, unless the environment variables GOGC and
// GOMEMLIMIT do.
func Tune() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		if limit := softLimit(cgroupLimit); limit > 0 {
			debug.SetMemoryLimit(limit)
		}
	}
}

// softLimit returns the memory limit that follows from that of a container, or 0 if there is none.
func softLimit(file string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || limit <= 0 {
		return 0
	}
	return limit / 100 * limitPercent
}
