package view

import (
	"net/http"

	"k8s.io/apimachinery/pkg/util/proxy"
	"k8s.io/client-go/transport"
)

// As returns the connection with which the identity of this one impersonates another, whose name must not be empty.
func (c *Connection) As(identity transport.ImpersonationConfig) *Connection {
	var programs http.RoundTripper
	if c.Programs != nil {
		programs = transport.NewImpersonatingRoundTripper(identity, c.Programs)
	}
	return &Connection{
		Transport: transport.NewImpersonatingRoundTripper(identity, c.Transport),
		Programs:  programs,
		Upgrade:   impersonatedUpgrade{c.Upgrade, transport.NewImpersonatingRoundTripper(identity, proxy.MirrorRequest)},
	}
}

// impersonatedUpgrade adds the headers of an impersonation to those that requests get anyway.
type impersonatedUpgrade struct {
	proxy.UpgradeRequestRoundTripper
	headers http.RoundTripper
}

// WrappedRoundTripper implements net.RoundTripperWrapper: the connection is dialed as the wrapped one says, with its
// authorities.
func (u impersonatedUpgrade) WrappedRoundTripper() http.RoundTripper {
	return u.UpgradeRequestRoundTripper
}

// WrapRequest implements proxy.UpgradeRequestRoundTripper.
func (u impersonatedUpgrade) WrapRequest(r *http.Request) (*http.Request, error) {
	response, err := u.headers.RoundTrip(r) //nolint:bodyclose // the caller closes it
	if err != nil {
		return nil, err
	}
	return u.UpgradeRequestRoundTripper.WrapRequest(response.Request)
}
