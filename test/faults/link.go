// Package faults contains proxies that fail what passes through them: requests of HTTP, and bytes of any protocol.
package faults

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Network is how a Link treats connections.
type Network int

const (
	// Open passes everything on.
	Open Network = iota
	// Cut ends connections, and accepts none.
	Cut
	// Silent keeps connections and passes nothing on, as a network does that drops packets.
	Silent
	// Slow passes everything on after a delay.
	Slow
)

const delay = 100 * time.Millisecond

// Link forwards TCP connections to one address.
type Link struct {
	listener net.Listener
	target   string

	mu sync.Mutex
	// changed is closed when the network changes.
	changed chan struct{}
	network Network
	open    map[net.Conn]bool
}

// NewLink listens on a loopback port until the context ends.
func NewLink(ctx context.Context, target string) (*Link, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Link{listener: listener, target: target, changed: make(chan struct{}), open: map[net.Conn]bool{}}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p, nil
}

// Address returns the host and port that the link listens on.
func (p *Link) Address() string { return p.listener.Addr().String() }

// Set changes the network for all connections, present and future.
func (p *Link) Set(n Network) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.network = n
	close(p.changed)
	p.changed = make(chan struct{})
	if n == Cut {
		for conn := range p.open {
			_ = conn.Close()
		}
	}
}

// admit registers a connection, unless the network is cut.
func (p *Link) admit(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.network == Cut {
		return false
	}
	p.open[conn] = true
	return true
}

func (p *Link) serve(client net.Conn) {
	defer func() { _ = client.Close() }()
	if !p.admit(client) {
		return
	}
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !p.admit(server) {
		return
	}
	var both sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
		both.Go(func() {
			p.forward(from, to)
			_ = from.Close()
			_ = to.Close()
		})
	}
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, client)
	delete(p.open, server)
}

func (p *Link) forward(from io.Reader, to io.Writer) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			p.pass()
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass returns when the network lets bytes through.
func (p *Link) pass() {
	for {
		p.mu.Lock()
		n, changed := p.network, p.changed
		p.mu.Unlock()
		switch n {
		case Slow:
			time.Sleep(delay)
			return
		case Silent:
			<-changed
		default:
			return
		}
	}
}
