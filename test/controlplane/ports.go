package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

// Ports are chosen below the range from which systems take the local ports of outgoing connections (32768 on Linux), so
// that nobody's connection sits on one while our server is down and about to come back.
const firstPort, lastPort = 20000, 32000

// ports hands out loopback ports by name and remembers them in a file.
type ports struct {
	file string

	mu     sync.Mutex
	byName map[string]int
	// held are the locked files of the ports that this process has chosen.
	held []*os.File
}

// loadPorts reads the ports chosen earlier; an absent file means none.
func loadPorts(file string) (*ports, error) {
	p := &ports{file: file, byName: map[string]int{}}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &p.byName); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return p, nil
}

// get returns the port of that name, choosing a free one at the first call.
func (p *ports) get(name string) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if port, ok := p.byName[name]; ok {
		return port, nil
	}
	taken := make(map[int]bool, len(p.byName))
	for _, port := range p.byName {
		taken[port] = true
	}
	for range 1000 {
		//nolint:gosec // ports are no secrets
		port := firstPort + rand.IntN(lastPort-firstPort)
		if taken[port] || !p.reserve(port) {
			continue
		}
		p.byName[name] = port
		data, err := json.MarshalIndent(p.byName, "", "  ")
		if err != nil {
			return 0, err
		}
		return port, os.WriteFile(p.file, append(data, '\n'), 0o600)
	}
	return 0, fmt.Errorf("no free loopback port between %d and %d", firstPort, lastPort)
}

// reserve reports whether the port is free, and keeps other processes from choosing it before its server listens on it:
// packages are tested at the same time, each with a control plane of its own.
func (p *ports) reserve(port int) bool {
	dir := filepath.Join(os.TempDir(), "hierarchy-apiserver-ports")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return free(port)
	}
	file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return free(port)
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil || !free(port) {
		_ = file.Close()
		return false
	}
	p.held = append(p.held, file)
	return true
}

// free reports whether nothing listens on the loopback port now.
func free(port int) bool {
	listener, err := net.Listen("tcp", loopback(port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// loopback returns the address host:port.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
