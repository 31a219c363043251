package chaos

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// network is how a proxy treats connections.
type network int

const (
	// open passes everything on.
	open network = iota
	// cut ends connections, and accepts none.
	cut
	// silent keeps connections and passes nothing on, as a network does that drops packets.
	silent
	// slow passes everything on after a delay.
	slow
)

const delay = 100 * time.Millisecond

// proxy forwards TCP connections to one address.
type proxy struct {
	listener net.Listener
	target   string

	mu sync.Mutex
	// changed is closed when the network changes.
	changed chan struct{}
	network network
	open    map[net.Conn]bool
}

// newProxy listens on a loopback port until the context ends.
func newProxy(ctx context.Context, target string) (*proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, target: target, changed: make(chan struct{}), open: map[net.Conn]bool{}}
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

// set changes the network for all connections, present and future.
func (p *proxy) set(n network) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.network = n
	close(p.changed)
	p.changed = make(chan struct{})
	if n == cut {
		for conn := range p.open {
			_ = conn.Close()
		}
	}
}

// admit registers a connection, unless the network is cut.
func (p *proxy) admit(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.network == cut {
		return false
	}
	p.open[conn] = true
	return true
}

func (p *proxy) serve(client net.Conn) {
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

func (p *proxy) forward(from io.Reader, to io.Writer) {
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
func (p *proxy) pass() {
	for {
		p.mu.Lock()
		n, changed := p.network, p.changed
		p.mu.Unlock()
		switch n {
		case slow:
			time.Sleep(delay)
			return
		case silent:
			<-changed
		default:
			return
		}
	}
}
