//go:build !linux

package serving

import (
	"syscall"
	"time"
)

// discardUnconfirmed does nothing: only Linux has such a limit.
func discardUnconfirmed(time.Duration) func(network, address string, conn syscall.RawConn) error {
	return nil
}
