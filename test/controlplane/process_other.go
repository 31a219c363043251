//go:build !linux

package controlplane

import "syscall"

// dieWithParent can't be had on this system: a suite that is killed leaves its control plane running.
func dieWithParent(*syscall.SysProcAttr) {}
