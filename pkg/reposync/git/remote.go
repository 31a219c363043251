package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	gitstorage "github.com/go-git/go-git/v5/storage"
	"github.com/go-git/go-git/v5/storage/memory"
	"golang.org/x/net/proxy"
)

// RestrictProtocols removes the protocols of go-git that run programs or transfer in clear text, and limits how long a
// server may take to respond, and to how many bytes more than those of a repository. A process calls it once, before it
// reads a repository.
func RestrictProtocols(maxBytes int64) {
	for _, scheme := range []string{"file", "git", "http"} {
		client.InstallProtocol(scheme, nil)
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = time.Minute
	// go-git reads the whole body of an error, and a few bytes decompress to any number.
	base.DisableCompression = true
	base.DisableKeepAlives = true // Each request has a connection, and its bytes, of its own.
	dial := base.DialContext
	lists := NewBudget(maxLists)
	bounded := func(conn net.Conn, list bool) net.Conn {
		c := &boundedConn{Conn: conn, left: maxBytes + maxReceived}
		if list {
			c.left, c.lists = maxReceived, lists
		}
		return c
	}
	base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return bounded(conn, ctx.Value(listKey{}) != nil), nil
	}
	client.InstallProtocol("https", githttp.NewClientWithOptions(&http.Client{Transport: base},
		&githttp.ClientOptions{RedirectPolicy: githttp.FollowInitialRedirects}))
	// go-git's client of ssh has no other way to a dialer than a proxy.
	for scheme, list := range map[string]bool{listScheme: true, fetchScheme: false} {
		proxy.RegisterDialerType(scheme, func(*url.URL, proxy.Dialer) (proxy.Dialer, error) {
			return sshDialer{func(conn net.Conn) net.Conn { return bounded(conn, list) }}, nil
		})
	}
}

const (
	// maxReceived is how many bytes a server may send besides a repository: go-git holds lists of references, some
	// 250,000 in so many bytes, and the bodies of errors in memory.
	maxReceived = 16 << 20
	// maxLists is how many bytes of lists of references may be received at a time. In memory, they take six times as many.
	maxLists = 32 << 20
	// listScheme and fetchScheme are those of the proxies that stand for connections of ssh with the bounds of a list of
	// references, and of a repository.
	listScheme, fetchScheme = "hns-list", "hns-fetch"
)

// listKey is the key of the value in the context of a request for references.
type listKey struct{}

// sshDialer connects as without a proxy, and bounds the connections.
type sshDialer struct{ bound func(net.Conn) net.Conn }

// Dial implements proxy.Dialer.
func (d sshDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialContext implements proxy.ContextDialer.
func (d sshDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := proxy.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return d.bound(conn), nil
}

// boundedConn is a connection that ends after a number of bytes. Those of a list of references count in the budget of all
// lists until it is closed.
type boundedConn struct {
	net.Conn
	left  int64
	lists *Budget
	taken int64
	close sync.Once
}

// Read implements net.Conn.
func (c *boundedConn) Read(data []byte) (int, error) {
	switch {
	case c.left <= 0 && c.lists != nil:
		return 0, fmt.Errorf("the server has sent more than %d MiB of references; delete branches and tags", maxReceived>>20)
	case c.left <= 0:
		return 0, errors.New("the server has sent more bytes than a repository may have (--max-repository-bytes)")
	}
	n, err := c.Conn.Read(data[:min(int64(len(data)), c.left)])
	c.left -= int64(n)
	if !c.lists.take(int64(n), c.taken+int64(n)) {
		return 0, ErrBudget
	}
	c.taken += int64(n)
	return n, err
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.close.Do(func() { c.lists.give(c.taken) })
	return c.Conn.Close()
}

// remoteOptions are those of requests to a server.
type remoteOptions struct {
	auth transport.AuthMethod
	ca   []byte
	// remove deletes temporary files.
	remove func()
	ssh    bool
}

// connection returns the options of a connection with the bounds of a scheme, which those of https have without options.
func (o *remoteOptions) connection(scheme string) transport.ProxyOptions {
	if !o.ssh {
		return transport.ProxyOptions{}
	}
	return transport.ProxyOptions{URL: scheme + "://any"}
}

// remote returns the remote side of a repository. Without a storer, references can be listed only.
func (r *Reader) remote(source Source, credentials *Credentials, storer gitstorage.Storer) (*gogit.Remote, *remoteOptions, error) {
	address, err := url.Parse(source.URL)
	if err != nil {
		return nil, nil, err
	}
	if credentials == nil {
		credentials = &Credentials{}
	}
	options := &remoteOptions{remove: func() {}}
	switch address.Scheme {
	case "https":
		options.ca = credentials.CA
		if credentials.Password != "" || credentials.Username != "" {
			options.auth = &githttp.BasicAuth{Username: credentials.Username, Password: credentials.Password}
		}
	case "ssh":
		if err := r.sshOptions(options, address, credentials); err != nil {
			return nil, nil, err
		}
		options.ssh = true
	default:
		return nil, nil, fmt.Errorf("the scheme of %s is neither https nor ssh", address.Redacted())
	}
	if storer == nil {
		storer = memory.NewStorage()
	}
	return gogit.NewRemote(storer, &config.RemoteConfig{Name: "origin", URLs: []string{source.URL}}), options, nil
}

// sshOptions sets the client's key, and accepts known servers only.
func (r *Reader) sshOptions(options *remoteOptions, address *url.URL, credentials *Credentials) error {
	if len(credentials.Identity) == 0 || len(credentials.KnownHosts) == 0 {
		return errors.New("ssh needs a Secret with the keys identity and known_hosts")
	}
	user := address.User.Username()
	if user == "" {
		user = "git"
	}
	keys, err := gitssh.NewPublicKeys(user, credentials.Identity, credentials.Password)
	if err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	// The parser of known hosts reads files only.
	file, err := os.CreateTemp(r.Scratch, "known-hosts-")
	if err != nil {
		return err
	}
	options.remove = func() { _ = os.Remove(file.Name()) }
	_, err = file.Write(credentials.KnownHosts)
	if err = errors.Join(err, file.Close()); err != nil {
		options.remove()
		return err
	}
	known, err := gitssh.NewKnownHostsDb(file.Name())
	if err != nil {
		options.remove()
		return fmt.Errorf("known_hosts: %w", err)
	}
	keys.HostKeyCallback = known.HostKeyCallback()
	// Otherwise the server may show a key of a kind that is not listed.
	keys.HostKeyAlgorithms = known.HostKeyAlgorithms(net.JoinHostPort(address.Hostname(), cmp.Or(address.Port(), "22")))
	options.auth = keys
	return nil
}
