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
	base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if ctx.Value(listKey{}) != nil {
			return newListConn(conn), nil
		}
		return newFetchConn(conn, maxBytes), nil
	}
	client.InstallProtocol("https", githttp.NewClientWithOptions(&http.Client{Transport: base},
		&githttp.ClientOptions{RedirectPolicy: githttp.FollowInitialRedirects}))
	// go-git's client of ssh has no other way to a dialer than a proxy, and keeps some connections open after errors.
	register := func(scheme string, limit time.Duration, bound func(net.Conn) net.Conn) {
		proxy.RegisterDialerType(scheme, func(*url.URL, proxy.Dialer) (proxy.Dialer, error) { return sshDialer{limit, bound}, nil })
	}
	register(listScheme, time.Minute, newListConn)
	register(fetchScheme, 10*time.Minute, func(conn net.Conn) net.Conn { return newFetchConn(conn, maxBytes) })
}

const (
	// maxReceived is how many bytes a server may send besides a repository: go-git holds the bodies of errors in memory.
	maxReceived = 16 << 20
	// maxReferences is how many bytes of references a server may list, some 130,000 references. In memory, they take six
	// times as many.
	maxReferences = 8 << 20
	// listScheme and fetchScheme are those of the proxies that stand for connections of ssh with the bounds of a list of
	// references, and of a repository.
	listScheme, fetchScheme = "hns-list", "hns-fetch"
)

// listKey is the key of the value in the context of a request for references.
type listKey struct{}

// sshDialer connects as without a proxy, and bounds the connections in time, too.
type sshDialer struct {
	limit time.Duration
	bound func(net.Conn) net.Conn
}

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
	if err := conn.SetDeadline(time.Now().Add(d.limit)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return d.bound(conn), nil
}

// boundedConn is a connection that ends with an error after a number of bytes.
type boundedConn struct {
	net.Conn
	left int64
	end  error
}

func newListConn(conn net.Conn) net.Conn {
	return &boundedConn{conn, maxReferences, fmt.Errorf("the server has sent more than %d MiB of references; delete branches and tags", maxReferences>>20)}
}

func newFetchConn(conn net.Conn, maxBytes int64) net.Conn {
	return &boundedConn{conn, maxBytes + maxReceived, errors.New("the server has sent more bytes than a repository may have (--max-repository-bytes)")}
}

// Read implements net.Conn.
func (c *boundedConn) Read(data []byte) (int, error) {
	if c.left <= 0 {
		return 0, c.end
	}
	n, err := c.Conn.Read(data[:min(int64(len(data)), c.left)])
	c.left -= int64(n)
	return n, err
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
	file, err := os.CreateTemp(r.Scratch, scratchPrefix())
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
