package serving

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// discardUnconfirmed has the system end a connection whose other side does not confirm what was sent for so long.
func discardUnconfirmed(after time.Duration) func(network, address string, conn syscall.RawConn) error {
	return func(_, _ string, conn syscall.RawConn) error {
		var err error
		if failed := conn.Control(func(descriptor uintptr) {
			err = unix.SetsockoptInt(int(descriptor), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
		}); failed != nil {
			return failed
		}
		return err
	}
}
