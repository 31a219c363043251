package suite

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"k8s.io/client-go/rest"
)

// SlowClient returns a client for those who do not read what they are sent: each request has a connection of its own,
// by HTTP/1.1, which holds little that was not read. With HTTP/2, the client itself would read some megabytes for each
// request.
func SlowClient(config *rest.Config) (*http.Client, error) {
	encryption, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	var transport http.RoundTripper = &http.Transport{
		TLSClientConfig: encryption, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}, DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return connection, connection.(*net.TCPConn).SetReadBuffer(64 << 10)
		},
	}
	transport, err = rest.HTTPWrappersForConfig(config, transport)
	return &http.Client{Transport: transport}, err
}
