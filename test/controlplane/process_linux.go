package controlplane

import "syscall"

// dieWithParent has the system kill the child when this process ends, even if it is killed itself.
func dieWithParent(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
