// Package memory tunes the garbage collector of servers that keep a large part of a cluster in memory.
package memory

import (
	"os"
	"runtime/debug"
)

// gcPercent is how much garbage, in percent of what is in use, a collection waits for. With Go's default of 100, memory doubles; less garbage means
// more collections.
const gcPercent = 60

// Tune sets the target of the garbage collector, unless the environment variable GOGC does.
func Tune() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
